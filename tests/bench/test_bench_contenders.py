"""How rivals are run: apart from the user's kubeconfig, on a cluster shaped like ours, and without a trace."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench import contenders, environment
from bench.environment import Environment
from bench.inputs import Images
from schedproof.errors import HarnessError

KIND = """
import pathlib
clusters = pathlib.Path({clusters!r})
if argv[:2] == ["get", "clusters"]:
    print("\\n".join(sorted(each.name for each in clusters.iterdir())))
elif argv[:2] == ["delete", "cluster"]:
    (clusters / argv[argv.index("--name") + 1]).unlink()
    open(os.environ["KUBECONFIG"], "a").write("touched")
"""

RIVAL = """#!{python}
import json, os, pathlib
(pathlib.Path({clusters!r}) / os.environ["BENCH_CLUSTER"]).touch()
pathlib.Path({seen!r}).write_text(json.dumps(dict(os.environ)))
pathlib.Path("junit.xml").write_text({junit!r})
raise SystemExit(1)
"""

JUNIT = """<testsuites><testsuite>
<testcase name="test_pod1"/>
<testcase name="test_pod2"><failure message="assert 'a' == 'b'&#10;more">long</failure></testcase>
<testcase name="test_pod3"/><testcase name="test_pod3"><error message="failed on teardown"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def clusters(tmp_path: Path) -> Path:
    folder = tmp_path / "clusters"
    folder.mkdir()
    return folder


@pytest.fixture
def things(fake: Callable[..., Any], clusters: Path) -> contenders.Ingredients:
    kind = fake("kind", KIND.format(clusters=str(clusters))).path
    images = Images("some/scheduler:1", "/bin/scheduler", "some/pause:3")
    return contenders.Ingredients(kind, fake("kubectl").path, "some/node:1", "v1.37.2", 3, images, "sha256:0")


@pytest.fixture
def rival(things: contenders.Ingredients, clusters: Path, tmp_path: Path) -> Iterator[contenders.Rivals]:
    python = tmp_path / "their-python"
    seen = str(tmp_path / "seen")
    python.write_text(RIVAL.format(python=sys.executable, clusters=str(clusters), seen=seen, junit=JUNIT))
    python.chmod(0o755)
    with contenders.rivals(things, Environment(python)) as one:
        yield one


def test_outcome_of_a_rival_is_read_test_by_test(rival: contenders.Rivals) -> None:
    outcome = rival.run("pytest-kind", "session")

    assert outcome.code == 1
    assert outcome.red == {"test_pod2": "assert 'a' == 'b'", "test_pod3": "failed on teardown"}
    assert "test_pod1" in outcome.green
    assert "test_pod2" not in outcome.green


def test_rival_gets_the_given_programs_and_never_the_users_kubeconfig(
    rival: contenders.Rivals, things: contenders.Ingredients, tmp_path: Path
) -> None:
    rival.run("pytest-kubernetes", "function", patience=7)

    seen: dict[str, str] = json.loads((tmp_path / "seen").read_text())
    assert (seen["BENCH_CLUSTER_PER"], seen["BENCH_PATIENCE"]) == ("function", "7")
    assert Path(seen["PATH"].split(os.pathsep)[0], "kind").resolve() == things.kind
    assert not Path(seen["KUBECONFIG"]).is_relative_to(Path.home())
    assert seen["BENCH_CLUSTER"].startswith("schedproof-bench-")


def test_clusters_of_the_benchmark_are_deleted_whatever_happens_and_others_never(
    things: contenders.Ingredients, clusters: Path
) -> None:
    for name in ("schedproof-bench-left-by-a-killed-run", "kind", "schedproof-0123abcd"):
        (clusters / name).touch()

    def stop_half_way() -> None:
        with contenders.rivals(things, Environment(Path(sys.executable))):
            assert not (clusters / "schedproof-bench-left-by-a-killed-run").exists()
            (clusters / "schedproof-bench-pytest-kind").touch()
            raise HarnessError("stopped half-way")

    with pytest.raises(HarnessError, match="half-way"):
        stop_half_way()

    assert sorted(each.name for each in clusters.iterdir()) == ["kind", "schedproof-0123abcd"]


def test_rivals_cluster_has_our_shape_and_node_image(things: contenders.Ingredients, tmp_path: Path) -> None:
    config = yaml.safe_load(contenders.kind_config(tmp_path, "schedproof-bench-x", things).read_text())

    assert config["name"] == "schedproof-bench-x"
    assert [node["role"] for node in config["nodes"]] == ["control-plane", "worker", "worker"]
    assert {node["image"] for node in config["nodes"]} == {"some/node:1"}
    assert ["failCgroupV1" in patch for patch in config["kubeadmConfigPatches"]] == [True]


def test_folder_of_other_peoples_programs_is_removed(things: contenders.Ingredients) -> None:
    with environment.apart(things.kind, things.kubectl) as (folder, variables):
        assert Path(variables["KUBECONFIG"]).parent == folder
        assert Path(variables["KUBECACHEDIR"]).parent == folder
    assert not folder.exists()
