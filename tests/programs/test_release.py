"""Releases: the official layout, checksums, hosts that are silent, downloads that break off, mirrors and proxies."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schedproof import folders, programs
from schedproof.errors import ProgramError
from schedproof.programs import cache, download
from schedproof.programs.provider import architecture

KIND = b"#!/bin/sh\necho kind v0.33.0\n"
KIND_FILE = f"/v0.33.0/kind-linux-{architecture()}"


def sum_of(body: bytes) -> bytes:
    return f"{hashlib.sha256(body).hexdigest()}  kind-linux\n".encode()


def test_kind_comes_from_its_release_page_and_is_kept(releases: Any, choose: Any, fake_go: Any) -> None:
    go = fake_go()
    releases.serve(KIND_FILE, KIND)
    releases.serve(f"{KIND_FILE}.sha256sum", sum_of(KIND))
    path = programs.ensure(["kind"], "", choose())["kind"]
    assert path.read_bytes() == KIND
    assert path.stat().st_mode & 0o111
    assert cache.Note.model_validate_json(path.with_name("kind.json").read_bytes()).provider == "release"
    assert go.calls == []
    asked = len(releases.asked)
    assert programs.ensure(["kind"], "", choose()) == {"kind": path}
    assert len(releases.asked) == asked


def test_kubernetes_programs_come_from_their_release_page_and_the_rest_is_built(
    releases: Any, choose: Any, fake_go: Any
) -> None:
    go = fake_go()
    body = b"#!/bin/sh\necho Kubernetes v1.37.2\n"
    place = f"/v1.37.2/bin/linux/{architecture()}/kube-scheduler"
    releases.serve(place, body)
    releases.serve(f"{place}.sha256", hashlib.sha256(body).hexdigest().encode())
    found = programs.ensure(["kube-scheduler", "kubelet"], "v1.37.2", choose())
    assert found["kube-scheduler"].read_bytes() == body
    assert [build[-1] for build in go.builds] == ["k8s.io/kubernetes/cmd/kubelet"]


def test_wrong_checksum_stops_everything_and_leaves_nothing(releases: Any, choose: Any, fake_go: Any) -> None:
    go = fake_go()
    releases.serve(KIND_FILE, KIND + b"tampered")
    releases.serve(f"{KIND_FILE}.sha256sum", sum_of(KIND))
    with pytest.raises(download.ChecksumError, match="tampered with"):
        programs.ensure(["kind"], "", choose())
    assert go.calls == []
    assert not [path for path in folders.cache().rglob("*") if path.is_file()]


def test_download_that_ends_early_is_tried_once_more(releases: Any, choose: Any) -> None:
    releases.serve(KIND_FILE, releases.cut(KIND, 9), KIND)
    releases.serve(f"{KIND_FILE}.sha256sum", sum_of(KIND))
    assert programs.ensure(["kind"], "", choose())["kind"].read_bytes() == KIND
    assert releases.asked.count(KIND_FILE) == 2


def test_download_that_always_ends_early_is_named_with_its_bytes(releases: Any, choose: Any, fake_go: Any) -> None:
    go = fake_go()
    releases.serve(KIND_FILE, releases.cut(KIND, 9))
    releases.serve(f"{KIND_FILE}.sha256sum", sum_of(KIND))
    with pytest.raises(ProgramError, match=f"ended early: 9 bytes read, {len(KIND) - 9} more expected") as caught:
        programs.ensure(["kind"], "", choose(providers="kind=release"))
    assert "forces release" in str(caught.value)
    assert go.calls == []
    assert not [path for path in folders.cache().rglob("*") if path.is_file()]


def test_silent_host_is_asked_once_and_then_passed_over(
    releases: Any, choose: Any, fake_go: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_go()
    monkeypatch.setattr(download, "PATIENCE", 0.1)
    releases.open.clear()
    programs.ensure(["kubelet", "kubeadm"], "v1.37.2", choose())
    programs.ensure(["kube-proxy"], "v1.37.2", choose())
    assert len(releases.asked) == 1
    releases.open.set()


@pytest.mark.parametrize(
    ("page", "reason"), [(b"<html>please log in", "no checksum"), (None, "HTTP 404")], ids=["log-in page", "absent"]
)
def test_release_without_checksum_is_passed_over(
    releases: Any, choose: Any, page: bytes | None, reason: str, fake_go: Any
) -> None:
    fake_go(failing={"mod": "no go today"})
    releases.serve(KIND_FILE, KIND)
    if page is not None:
        releases.serve(f"{KIND_FILE}.sha256sum", page)
    with pytest.raises(ProgramError, match=reason):
        programs.ensure(["kind"], "", choose())


def test_proxy_is_honoured(releases: Any, choose: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDPROOF_KIND_RELEASES", "http://releases.invalid/kind")
    monkeypatch.setenv("HTTP_PROXY", releases.base)
    releases.serve(f"http://releases.invalid/kind{KIND_FILE}", KIND)
    releases.serve(f"http://releases.invalid/kind{KIND_FILE}.sha256sum", sum_of(KIND))
    assert programs.ensure(["kind"], "", choose())["kind"].read_bytes() == KIND


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:1", "http://", "socks5://127.0.0.1:1", "ftp//:odd"])
def test_proxy_that_is_in_the_way_is_named(
    proxy: str, choose: Any, monkeypatch: pytest.MonkeyPatch, fake_go: Callable[..., Any]
) -> None:
    fake_go(failing={"mod": "no go today"})
    monkeypatch.setenv("SCHEDPROOF_KIND_RELEASES", "http://releases.invalid")
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(ProgramError) as caught:
        programs.ensure(["kind"], "", choose())
    assert "HTTP_PROXY" in str(caught.value)
    assert "no go today" in str(caught.value)


def test_full_disk_is_named_and_nothing_is_left(releases: Any, tmp_path: Path) -> None:
    target = tmp_path / "kind"
    target.symlink_to("/dev/full")
    releases.serve(KIND_FILE, KIND)
    with pytest.raises(ProgramError, match="No space left on device"):
        download.fetch(releases.base + KIND_FILE, hashlib.sha256(KIND).hexdigest(), target)
    assert not target.is_symlink()
