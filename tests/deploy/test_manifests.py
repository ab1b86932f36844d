"""Reading manifests: what is wrong is named with file, line and cure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from schedproof import data
from schedproof.deploy import bundle
from schedproof.deploy.manifests import load
from schedproof.errors import UsageError

BUNDLE = data.manifests("kubernetes", "second-scheduler")

BROKEN = {
    "a tab": ("kind: Pod\n\tname: x\n", "line 2", "cannot start any token"),
    "an open bracket": ("a: [1,\nb: 2\n", "line 2", "expected"),
    "a key twice": ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  name: b\n", "line 5", "second time"),
    "a number as key": ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  1: a\n", "line 5", "quotes"),
    "a control character": ("apiVersion: v1\nkind: \x07Pod\n", "line 2", "does not allow"),
    "a second document without kind": (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\nmetadata: {name: b}\n", "line 5", "kind: missing",
    ),
    "an object without a name": ("apiVersion: v1\nkind: Pod\n", "line 1", "metadata.name"),
    "a list": ("- a\n- b\n", "line 1", "a list"),
    "a bare scheduler configuration": (
        "# comment\napiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n",
        "line 2", "under data: of a ConfigMap",
    ),
    "an object that contains itself": (
        "apiVersion: v1\nkind: Pod\nmetadata: &m {name: a, labels: *m}\n", "line 1", "JSON",
    ),
    "an unknown tag": ("apiVersion: v1\nkind: !!python/object:os.system {}\n", "line 2", "tag"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "why"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_manifest_is_named_with_file_and_line(tmp_path: Path, text: str, line: str, why: str) -> None:
    path = tmp_path / "odd name é.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load(path)
    assert f"{path}, {line}:" in str(caught.value)
    assert why in str(caught.value)
    assert caught.value.message.cure


@pytest.mark.parametrize("text", ["", "---\n---\n# nothing\n"])
def test_an_empty_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "empty.yaml").write_text(text)
    with pytest.raises(UsageError, match="it is empty"):
        load(tmp_path / "empty.yaml")


def test_a_folder_without_manifests_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a: b")
    with pytest.raises(UsageError, match="no file that ends in"):
        load(tmp_path)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    for name in ("absent.yaml", "binary.yaml"):
        with pytest.raises(UsageError, match="can be read as text"):
            load(tmp_path / name)


def test_a_missing_kind_is_named_with_what_is_there() -> None:
    with pytest.raises(UsageError, match=re.escape("holds a Deployment")) as caught:
        load(data.manifests("kubernetes", "pod1.yaml"), expect=["Deployment"])
    assert "it holds Pod" in str(caught.value)


def test_dates_stay_text_and_the_items_of_a_list_are_objects(tmp_path: Path) -> None:
    path = tmp_path / "list.yaml"
    path.write_text(
        "apiVersion: v1\nkind: List\nitems:\n"
        "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {day: 2026-12-01}}\n"
        "- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n"
    )
    config_map, pod = load(path)
    assert config_map["data"]["day"] == "2026-12-01"
    assert pod["metadata"]["name"] == "b"


def test_the_second_scheduler_is_complete_and_in_kube_system() -> None:
    objects = load(BUNDLE, expect=["Deployment"])
    assert [obj["kind"] for obj in objects] == [
        "ServiceAccount", "ClusterRoleBinding", "ClusterRoleBinding", "RoleBinding", "ConfigMap", "Deployment",
    ]  # fmt: skip
    assert {obj["roleRef"]["name"] for obj in objects if "roleRef" in obj} == {
        "system:kube-scheduler", "system:volume-scheduler", "extension-apiserver-authentication-reader",
    }  # fmt: skip
    assert bundle.served(objects) == ("my-scheduler",)
    assert bundle.lease(objects) is None


@pytest.mark.parametrize(
    ("name", "asked"),
    [("pod1", None), ("pod2", "default-scheduler"), ("pod3", "my-scheduler")],
    ids=["pod1", "pod2", "pod3"],
)
def test_the_documents_pods_ask_for_their_scheduler(name: str, asked: str | None) -> None:
    (pod,) = load(data.manifests("kubernetes", f"{name}.yaml"), expect=["Pod"])
    assert pod["spec"].get("schedulerName") == asked


@pytest.mark.parametrize("path", sorted(data.manifests("kubernetes").rglob("*.yaml")), ids=lambda path: path.name)
def test_every_manifest_of_ours_can_be_loaded(path: Path) -> None:
    assert load(path)
