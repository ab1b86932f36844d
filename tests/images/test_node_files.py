"""The data files of the node image: they parse, agree with each other, and give kind what it looks for."""

from __future__ import annotations

import configparser
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from schedproof.data import CHECKOUT, manifests

NODE = manifests("images", "node")
ROOT = NODE / "rootfs"
SCRIPTS = sorted(path for path in NODE.rglob("*") if path.is_file() and path.read_bytes().startswith(b"#!"))
UNITS = sorted((ROOT / "etc/systemd/system").iterdir())


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


@pytest.mark.parametrize("script", SCRIPTS, ids=names(SCRIPTS))
def test_every_script_parses_with_the_shell_it_names(script: Path) -> None:
    shell = script.read_text().splitlines()[0].removeprefix("#!").strip()

    done = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if shell == "/bin/bash":
        assert "set -euo pipefail" in script.read_text()


@pytest.mark.parametrize("unit", UNITS, ids=names(UNITS))
def test_every_unit_is_one_and_runs_programs_that_the_image_has(unit: Path) -> None:
    parsed = configparser.ConfigParser(strict=False, interpolation=None)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    parsed.read_string(unit.read_text().replace("\\\n", ""))

    assert parsed["Unit"]["Description"]
    for key in ("ExecStart", "ExecStartPre"):
        program = parsed.get("Service", key, fallback="").split(" ")[0].lstrip("-")
        if program.startswith("/usr/local/lib"):
            assert (ROOT / program.lstrip("/")).is_file()


def test_units_that_are_switched_on_can_be() -> None:
    (line,) = [line for line in (NODE / "assemble.sh").read_text().splitlines() if line.startswith("systemctl enable")]
    for unit in line.removeprefix("systemctl enable ").split(" >")[0].split():
        assert "WantedBy=multi-user.target" in (ROOT / "etc/systemd/system" / unit).read_text()


def test_containerds_configuration_is_what_kind_and_this_machine_need() -> None:
    plugins = tomllib.loads((ROOT / "etc/containerd/config.toml").read_text())["plugins"]
    runtime = plugins["io.containerd.cri.v1.runtime"]

    assert plugins["io.containerd.cri.v1.images"]["snapshotter"] == "overlayfs"  # kind load reads it
    assert runtime["restrict_oom_score_adj"] is True
    assert runtime["containerd"]["runtimes"]["runc"]["options"]["SystemdCgroup"] is True


def test_the_pod_network_has_kinds_signals_and_a_list_for_the_address_that_kind_adds() -> None:
    text = (ROOT / "kind/manifests/default-cni.yaml").read_text()
    objects = list(yaml.safe_load_all(text.replace("{{ .PodSubnet }}", "10.244.0.0/16")))
    (daemons,) = [item for item in objects if item["kind"] == "DaemonSet"]
    (container,) = daemons["spec"]["template"]["spec"]["containers"]

    assert "would you kindly template this file" in text
    assert "would you kindly patch this file" in text
    assert isinstance(container["env"], list)  # kind appends CONTROL_PLANE_ENDPOINT with a JSON patch
    assert "CONTROL_PLANE_ENDPOINT" in container["command"][-1]
    assert container["imagePullPolicy"] == "IfNotPresent"


def test_the_default_storage_class_waits_for_a_pod() -> None:
    storage = yaml.safe_load((ROOT / "kind/manifests/default-storage.yaml").read_text())

    assert storage["metadata"]["name"] == "standard"
    assert storage["volumeBindingMode"] == "WaitForFirstConsumer"


def test_the_entrypoint_says_the_words_that_kind_waits_for_after_the_groups_are_made() -> None:
    text = (ROOT / "usr/local/bin/entrypoint").read_text()

    made, said = text.index("  make_kubelet_groups_v1\n"), text.index("say 'detected cgroup v1'")
    assert made < said


def test_no_data_names_a_mirror_or_a_folder_of_the_machine_it_was_written_on() -> None:
    for path in sorted(path for path in NODE.rglob("*") if path.is_file()):
        text = path.read_text()
        assert str(CHECKOUT) not in text
        assert not re.search(r"\bdeb\.|https?://\S*/debian", text)
