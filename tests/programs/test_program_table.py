"""The table: what is known, what is refused, what programs answer, and the same table in the documentation."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

import pytest

from schedproof import programs
from schedproof.errors import ProgramError, UsageError
from schedproof.programs import cache, table, version_check

SEEN = {
    "kind": "kind v0.33.0 go1.26.8 linux/amd64",
    "kubectl": "Client Version: v1.37.2\nKustomize Version: v5.8.1",
    "kubelet": "Kubernetes v1.37.2",
    "kubeadm": "v1.37.2",
    "etcd": "etcd Version: 3.7.0\nGit SHA: \nGo Version: go1.26.8",
    "containerd": "containerd github.com/containerd/containerd/v2 v2.2.9 ",
    "ctr": "ctr github.com/containerd/containerd/v2 v2.2.9",
    "containerd-shim-runc-v2": "containerd-shim-runc-v2:\n  Version:  v2.2.9\n  Revision: \n  Go version: go1.26.8",
    "crictl": "crictl version v1.34.0",
    "coredns": "CoreDNS-1.14.6\nlinux/amd64, go1.26.8, ",
    "flannel": "v0.27.4",
}
"""What the real programs answered on 2026-12-01."""


@pytest.mark.parametrize("name", SEEN)
def test_version_is_read_from_what_the_real_program_answers(name: str, fake: Any) -> None:
    place = fake("answers", f"print({SEEN[name]!r})").path
    expected = re.search(r"\d+\.\d+\.\d+", SEEN[name])
    assert expected
    assert version_check.answered(table.lookup(name), place) == f"v{expected.group()}"


def test_documentation_shows_the_table_of_the_code() -> None:
    page = Path(__file__).parents[2] / "docs" / "programs.md"
    assert table.markdown() in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("names", "version", "providers", "words"),
    [
        (["kubelett"], "v1.37.2", "", "kubelett"),
        (["kubelet"], "1.37", "", "such as v1.2.3"),
        (["kubelet"], "", "", "such as v1.2.3"),
        (["kubelet"], "v1.37.2; rm -rf", "", "such as v1.2.3"),
        (["kubelet"], "v1.37.2/../..", "", "such as v1.2.3"),
        (["etcd"], "v3.7.0", "etcd=release", "one of cache, module"),
    ],
)
def test_unknown_names_versions_and_providers_are_the_callers_fault(
    names: list[str], version: str, providers: str, words: str, choose: Any
) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        programs.ensure(names, version, choose(providers=providers))


@pytest.mark.parametrize(
    ("name", "answer", "suits"),
    [
        ("kubectl", "Client Version: v1.36.9", True),
        ("kubectl", "Client Version: v1.38.0", True),
        ("kubectl", "Client Version: v1.32.4-dispatcher", False),
        ("kubectl", "Client Version: v1.x", False),
        ("kind", "kind v0.33.0 go1.26.8", True),
        ("kind", "kind v0.34.1 go1.26.8", True),
        ("kind", "kind v0.17.0 go1.19", False),
        ("kind", "something else", False),
    ],
)
def test_program_on_path_is_taken_when_its_version_suits(
    name: str, answer: str, suits: bool, fake: Any, choose: Any
) -> None:
    theirs = fake(name, f"print({answer!r})")
    version = "v1.37.2" if name == "kubectl" else "v0.33.0"
    with contextlib.nullcontext() if suits else pytest.raises(ProgramError, match=re.escape(str(theirs.path))):
        assert programs.ensure([name], version, choose(providers=f"{name}=path")) == {name: theirs.path}


def test_unsuitable_program_on_path_gives_way_to_the_next_provider(fake: Any, fake_go: Any, choose: Any) -> None:
    theirs = fake("kind", "print('kind v0.17.0 go1.19')")
    fake_go()
    assert programs.ensure(["kind"], "", choose())["kind"] != theirs.path


def test_program_for_an_image_is_never_taken_from_path(fake: Any, fake_go: Any, choose: Any) -> None:
    theirs = fake("kubectl", "print('Client Version: v1.37.2')")
    fake_go()
    assert programs.ensure(["kubectl"], "v1.37.2", choose(), exact=True)["kubectl"] != theirs.path
    assert theirs.calls == []


def test_companions_are_the_versions_that_kubeadm_names(tmp_path: Path, choose: Any) -> None:
    kubeadm = tmp_path / "kubeadm"
    kubeadm.write_text(
        "#!/bin/sh\n"
        '[ "$*" = "config images list --kubernetes-version v1.37.2" ] || exit 3\n'
        "echo registry.k8s.io/kube-proxy:v1.37.2\necho registry.k8s.io/coredns/coredns:v1.14.6\n"
        "echo localhost:5000/pause:3.10.2\necho registry.k8s.io/etcd:3.7.0-0\n"
    )
    cache.store(kubeadm, cache.shelf("kubernetes", "v1.37.2") / "kubeadm", version="v1.37.2", provider="module")
    assert programs.companions("v1.37.2", choose()) == {"etcd": "v3.7.0", "coredns": "v1.14.6", "pause": "3.10.2"}
    versions = programs.versions("v1.37.2", choose())
    assert set(versions) == set(programs.PROGRAMS)
    assert (versions["etcd"], versions["kubelet"], versions["ctr"]) == ("v3.7.0", "v1.37.2", "v2.2.9")
