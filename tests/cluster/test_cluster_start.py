"""A cluster is made, reused or refused; whatever goes wrong, nothing remains and the first error is the one told."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from schedproof import folders
from schedproof.cluster import kind as kind_module
from schedproof.cluster import owner, start
from schedproof.cluster.kind import Cluster, refuse_users_own
from schedproof.errors import ClusterError, ImageError, UsageError
from schedproof.settings import Settings

NODE_IMAGE = "schedproof/node:v1.37.2"


def begin(engine: Any, chosen: Settings, **more: Any) -> Cluster:
    return start.start(
        chosen, kind=engine.kind, kubectl=engine.kubectl, node_image=NODE_IMAGE, kubernetes="v1.37.2", **more
    )


def left_on_disk() -> list[str]:
    return sorted(path.name for path in owner.root().iterdir())


def test_creation_names_image_config_and_a_kubeconfig_of_ours_and_removal_leaves_nothing(
    engine: Any, chosen: Settings
) -> None:
    own = Path.home() / ".kube" / "config"
    own.parent.mkdir()
    own.write_text("mine")

    cluster = begin(engine, chosen)
    (created,) = engine.calls("kind", "create")
    cluster.close()

    given = dict(zip(created[2:-1:2], created[3::2], strict=True))
    assert given["--image"] == NODE_IMAGE
    assert given["--name"] == cluster.name
    assert given["--name"].startswith("schedproof-")
    assert Path(given["--kubeconfig"]).is_relative_to(folders.state())
    assert Path(given["--config"]).is_relative_to(folders.state())
    assert created[-1] == "--retain"
    assert engine.names == []
    assert left_on_disk() == []
    assert list(Path.cwd().iterdir()) == []  # pytest-kind would litter .pytest-kind/
    assert own.read_text() == "mine"


def test_facts_name_the_nodes_by_role_and_are_json_both_ways(engine: Any, chosen: Settings) -> None:
    cluster = begin(engine, chosen)
    facts = cluster.facts()

    assert facts.control_planes == (f"{cluster.name}-control-plane",)
    assert facts.workers == (f"{cluster.name}-worker", f"{cluster.name}-worker2")
    assert facts.pause_image == "registry.k8s.io/pause:3.10.2"
    assert type(facts).from_json(facts.to_json()) == facts


def test_creation_that_fails_half_way_is_removed_and_says_at_which_step(engine: Any, chosen: Settings) -> None:
    engine.set(create_fails="ERROR: failed to create cluster: failed to init node with kubeadm: exit status 1")

    with pytest.raises(ClusterError, match="kubeadm could not bring up") as caught:
        begin(engine, chosen)

    assert "while: Starting control-plane" in str(caught.value)
    assert (Path(caught.value.message.evidence) / "kind.txt").read_text().count("Preparing nodes") == 1
    assert engine.names == []
    assert left_on_disk() == []


def test_kubeconfig_that_was_not_written_is_named(engine: Any, chosen: Settings) -> None:
    engine.set(kubeconfig=False)

    with pytest.raises(ClusterError, match="its kubeconfig could not be written"):
        begin(engine, chosen)

    assert engine.names == []


def test_kind_that_hangs_is_ended_at_its_deadline(
    engine: Any, chosen: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "hang")
    engine.set(hang=str(tmp_path / "hang"))
    monkeypatch.setattr(kind_module, "CREATE_SECONDS", 0.4)

    with pytest.raises(ClusterError, match="did not end within"):
        begin(engine, chosen)

    assert engine.names == []


def test_engine_that_stops_during_the_creation_is_the_error_and_the_record_stays_for_the_next_run(
    engine: Any, chosen: Settings
) -> None:
    engine.set(create_fails="ERROR: Cannot connect to the Docker daemon", engine_after="down")

    with pytest.raises(ClusterError, match="the container engine stopped answering") as caught:
        begin(engine, chosen)

    assert "and afterwards" in caught.value.__notes__[0]
    assert len(owner.records()) == 1

    engine.set(create_fails="", engine="up", engine_after="up")
    begin(engine, chosen).close()
    assert engine.names == []
    assert left_on_disk() == []


def test_removal_that_leaves_a_container_by_kind_is_finished_by_the_engine(engine: Any, chosen: Settings) -> None:
    cluster = begin(engine, chosen)
    engine.set(delete_leaves=True)
    cluster.close()

    assert engine.names == []
    assert engine.calls("docker", "rm")


@pytest.mark.parametrize("said", ["kind v0.31.0 go1.24 linux/amd64", "kind is a word"])
def test_kind_that_is_too_old_or_no_kind_is_refused_before_anything_is_made(
    engine: Any, chosen: Settings, said: str
) -> None:
    engine.set(kind_version=said)

    with pytest.raises(ClusterError, match=r"kind is v0\.32\.0 or newer"):
        begin(engine, chosen)

    assert not engine.calls("kind", "create")


def test_node_image_that_is_not_in_the_engine_is_named(engine: Any, chosen: Settings) -> None:
    engine.set(images={})

    with pytest.raises(ImageError, match=NODE_IMAGE):
        begin(engine, chosen)


@pytest.mark.parametrize("name", ["Upper", "a b", "ümlaut", "-dash", "x" * 60, "a/b", "$(id)", "a\nb"])
def test_name_that_kind_or_a_host_name_cannot_take_is_refused(engine: Any, chosen: Settings, name: str) -> None:
    with pytest.raises(UsageError, match="a cluster's name has"):
        begin(engine, chosen, name=name)


def test_state_folder_with_a_colon_is_refused_because_docker_splits_mounts_by_it(
    engine: Any, chosen: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SCHEDPROOF_STATE", str(tmp_path / "a:b"))

    with pytest.raises(UsageError, match="no colon"):
        begin(engine, chosen)


def test_state_folder_with_blanks_and_quotes_is_fine(
    engine: Any, chosen: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SCHEDPROOF_STATE", str(tmp_path / "it's ünder a\"blank"))

    begin(engine, chosen).close()

    assert engine.names == []


def test_kept_cluster_is_left_by_its_run_and_used_again_by_the_next(engine: Any, kept: Settings) -> None:
    first = begin(engine, kept)
    first.close()
    second = begin(engine, kept)
    second.close()

    assert second.name == first.name
    assert len(engine.calls("kind", "create")) == 1
    assert len(engine.names) == 3


def test_kept_cluster_in_use_by_a_live_run_is_not_shared(engine: Any, kept: Settings, lines: io.StringIO) -> None:
    first = begin(engine, kept)
    second = begin(engine, kept)
    second.close()

    assert second.name.startswith(first.name + "-")
    assert f"in use by process {os.getpid()}" in lines.getvalue()
    assert engine.names == [f"{first.name}-{node}" for node in ("control-plane", "worker", "worker2")]


@pytest.mark.parametrize(
    ("breakage", "why"),
    [("stopped", "is exited"), ("config", "another configuration"), ("kubeconfig", "kubeconfig is gone")],
)
def test_kept_cluster_of_ours_that_is_broken_is_explained_and_made_anew(
    engine: Any, kept: Settings, breakage: str, why: str, lines: io.StringIO
) -> None:
    first = begin(engine, kept)
    first.close()
    if breakage == "stopped":
        engine.set(containers=[{**each, "status": "exited"} for each in engine["containers"]])
    elif breakage == "config":
        record = owner.root() / f"{first.name}.json"
        record.write_text(json.dumps({**json.loads(record.read_text()), "config": "older"}))
    else:
        first.kubeconfig_path.unlink()

    begin(engine, kept)

    assert why in lines.getvalue()
    assert len(engine.calls("kind", "create")) == 2
    assert len(engine.names) == 3


def test_existing_cluster_of_the_name_with_another_image_is_refused_and_left(engine: Any, kept: Settings) -> None:
    first = begin(engine, kept)
    first.close()
    engine.set(containers=[{**each, "image": "sha256:other"} for each in engine["containers"]])

    with pytest.raises(ClusterError, match="it is left alone") as caught:
        begin(engine, kept)

    assert "sha256:other" in str(caught.value)
    assert len(engine.names) == 3
    assert not engine.calls("kind", "delete")


def test_existing_cluster_that_we_have_no_record_of_is_refused_and_left(engine: Any, kept: Settings) -> None:
    engine.add_cluster("mine")

    with pytest.raises(ClusterError, match="no record of making it"):
        begin(engine, kept, name="mine")

    assert len(engine.names) == 3
    assert not engine.calls("kind", "delete")


@pytest.mark.parametrize("where", ["home", "variable"])
def test_kubeconfig_that_is_the_users_own_is_refused(
    where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = Path.home() / ".kube" / "config" if where == "home" else tmp_path / "there.yaml"
    if where == "variable":
        monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'first.yaml'}:{own}")
    link = tmp_path / "link"
    link.symlink_to(own)

    for path in (own, link):
        with pytest.raises(UsageError, match="is your own"):
            refuse_users_own(path)
    refuse_users_own(tmp_path / "another.yaml")


def test_work_beside_the_creation_sees_all_nodes_and_its_error_removes_the_cluster(
    engine: Any, chosen: Settings
) -> None:
    seen: list[int] = []

    def work(cluster: Cluster) -> None:
        seen.append(len(cluster.nodes()))
        raise ImageError("the image loads", seen="it does not")

    with pytest.raises(ImageError, match="it does not"):
        begin(engine, chosen, while_booting=work)

    assert seen == [3]
    assert engine.names == []


def test_failure_inside_a_run_removes_the_cluster_and_a_fault_of_the_removal_does_not_hide_it(
    engine: Any, chosen: Settings
) -> None:
    arguments = {"kind": engine.kind, "kubectl": engine.kubectl, "node_image": NODE_IMAGE, "kubernetes": "v1.37.2"}

    def claim() -> None:
        engine.set(engine="down")
        raise AssertionError("the claim is false")

    with pytest.raises(AssertionError, match="the claim is false") as caught, start.running(chosen, **arguments):
        claim()

    assert "and afterwards" in caught.value.__notes__[0]
