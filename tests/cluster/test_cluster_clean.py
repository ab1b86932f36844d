"""`make clean` lists what we made and removes that alone; a foreign cluster is only looked at."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from schedproof import folders
from schedproof.cluster import clean, foreign, owner, start
from schedproof.errors import ClusterError
from schedproof.settings import Settings

NODE_IMAGE = "schedproof/node:v1.37.2"


def begin(engine: Any, chosen: Settings) -> Any:
    return start.start(chosen, kind=engine.kind, kubectl=engine.kubectl, node_image=NODE_IMAGE, kubernetes="v1.37.2")


def test_clean_removes_the_kept_cluster_network_images_and_folders_and_nothing_of_others(
    engine: Any, kept: Settings
) -> None:
    engine.set(images={**engine["images"], "somebody/elses:1": "sha256:1"})
    begin(engine, kept).close()
    (folders.cache() / "program").write_text("x")

    listed = clean.items()

    assert [item.kind for item in listed] == ["cluster", "network", "image", "folder", "folder"]
    assert clean.remove(listed) == []
    assert engine.names == []
    assert engine["network"] == ""
    assert engine["images"] == {"somebody/elses:1": "sha256:1"}
    assert not (folders.cache() / "program").exists()


def test_container_of_a_killed_image_build_is_removed_and_that_of_a_live_build_is_not(engine: Any) -> None:
    versions = ("v1.36.3", "v1.37.2")
    container = {"cluster": "", "role": "", "status": "exited", "image": "sha256:1"}
    named = [{**container, "id": each, "name": f"{clean.BUILDER}{each}"} for each in versions]
    engine.set(containers=[*named, {**container, "id": "other", "name": "somebodys"}])
    with folders.lock("node-image-v1.36.3"):
        listed = [item for item in clean.items() if item.kind == "container"]
        assert [item.name for item in listed] == ["schedproof-node-image-v1.37.2"]
        assert clean.remove(listed) == []
    assert engine.names == ["schedproof-node-image-v1.36.3", "somebodys"]


def test_registry_of_a_dead_run_is_removed_by_the_next_one_and_that_of_a_live_run_is_not(
    engine: Any, chosen: Settings
) -> None:
    container = {"cluster": "", "role": "", "status": "running", "image": "sha256:1"}
    registries = [{**container, "id": name, "name": f"registry-{name}", "registry": name} for name in ("dead", "live")]
    engine.set(containers=registries)
    live = owner.take("live")
    assert live is not None

    assert [item.name for item in clean.items() if item.kind == "registry"] == ["of dead"]
    begin(engine, chosen).close()

    assert engine.names == ["registry-live"]
    live.release()
    assert clean.remove([item for item in clean.items() if item.kind == "registry"]) == []
    assert engine.names == []


@pytest.mark.parametrize("rebuilt", [False, True])
def test_node_image_that_lost_its_name_to_a_newer_build_goes_with_its_cluster(
    engine: Any, kept: Settings, *, rebuilt: bool
) -> None:
    cluster = begin(engine, kept)
    if rebuilt:
        engine.set(images={NODE_IMAGE: "sha256:newer"})
    cluster.delete()

    removed = [call[1] for call in engine.calls("docker", "rmi")]
    assert removed == ([cluster.record.node_image_id] if rebuilt else [])


def test_cluster_of_a_live_run_is_not_listed(engine: Any, kept: Settings) -> None:
    cluster = begin(engine, kept)
    assert "cluster" not in [item.kind for item in clean.items()]
    cluster.close()
    assert "cluster" in [item.kind for item in clean.items()]


def test_network_that_was_there_before_us_is_not_ours(engine: Any, kept: Settings) -> None:
    engine.set(network="network-of-somebody")
    begin(engine, kept).close()

    assert "network" not in [item.kind for item in clean.items()]


def test_network_stays_while_a_cluster_of_somebody_else_uses_it(engine: Any, kept: Settings) -> None:
    begin(engine, kept).close()
    engine.add_cluster("somebody-elses")

    (fault,) = clean.remove(clean.items())

    assert fault.startswith("network kind:")
    assert "somebody-elses-worker" in fault
    assert engine["network"]


def test_without_an_engine_only_folders_are_listed(engine: Any) -> None:
    engine.set(engine="down")
    (folders.state() / "x").write_text("x")

    assert [item.kind for item in clean.items()] == ["folder"]


def test_state_folder_stays_while_a_cluster_of_ours_remains(engine: Any, kept: Settings) -> None:
    cluster = begin(engine, kept)

    (fault,) = clean.remove([item for item in clean.items() if item.kind == "folder"])

    assert f"there are records of {cluster.name}" in fault
    assert owner.read(cluster.name)


KUBECTL = """#!{python} -IS
import os, sys
print({version!r} if sys.argv[1] == "version" else {nodes!r})
sys.exit(int(os.environ["KUBECONFIG"] != {kubeconfig!r}))
"""


def nodes_of(provider: str) -> list[dict[str, Any]]:
    images = [{"names": ["registry.k8s.io/pause:3.9"]}, {"names": ["registry.k8s.io/pause:3.10.1"]}, {"names": None}]
    return [
        {
            "metadata": {"name": "a", "labels": {"node-role.kubernetes.io/control-plane": ""}},
            "spec": {"providerID": provider},
            "status": {"images": images},
        },
        {"metadata": {"name": "b"}, "spec": {}, "status": {"images": images[:1]}},
    ]


@pytest.mark.parametrize(
    ("provider", "name"), [("kind://docker/theirs/a", "theirs"), ("aws:///eu/i-0", "foreign"), ("", "foreign")]
)
def test_foreign_cluster_is_known_by_its_nodes(engine: Any, tmp_path: Path, provider: str, name: str) -> None:
    kubeconfig = tmp_path / "their kubeconfig"
    engine.kubectl.write_text(
        KUBECTL.format(
            python=sys.executable,
            version=json.dumps({"serverVersion": {"gitVersion": "v1.36.1"}}),
            nodes=json.dumps({"items": nodes_of(provider)}),
            kubeconfig=str(kubeconfig),
        )
    )

    facts = foreign.adopt(kubeconfig, engine.kubectl)

    assert (facts.name, facts.kubernetes, facts.owned, facts.kind) == (name, "v1.36.1", False, None)
    assert (facts.control_planes, facts.workers) == (("a",), ("b",))
    assert facts.pause_image == "registry.k8s.io/pause:3.9"  # the newer one is on one node only
    assert facts.audit


def test_foreign_cluster_without_an_engine_of_ours_has_no_audit_log(engine: Any) -> None:
    engine.set(engine="down")

    assert not foreign._audit_readable("a")


def test_foreign_cluster_that_does_not_answer_is_a_harness_error(engine: Any, tmp_path: Path) -> None:
    engine.kubectl.write_text(f"#!{sys.executable} -IS\nraise SystemExit('connection refused')\n")

    with pytest.raises(ClusterError, match="connection refused"):
        foreign.adopt(tmp_path / "kubeconfig", engine.kubectl)


def test_record_is_of_this_process_while_it_runs(engine: Any, chosen: Settings) -> None:
    cluster = begin(engine, chosen)
    (record,) = owner.records()
    assert (record.pid, record.phase, record.keep) == (os.getpid(), "ready", False)
    cluster.close()
