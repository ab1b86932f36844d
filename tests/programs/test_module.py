"""Builds with Go: one build for a version, stamped, checked before it is kept, and failures that name their cure."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from schedproof import folders, programs
from schedproof.errors import ProgramError
from schedproof.programs import gobuild, module, version_check
from schedproof.programs.table import FLANNEL, KUBERNETES

THEIRS = {
    "Go": "1.26.0",
    "GoDebug": [{"Key": "default", "Value": "go1.26"}],
    "Replace": [
        {"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}},
        {"Old": {"Path": "example.com/forked"}, "New": {"Path": "example.com/fork", "Version": "v1.0.1"}},
    ],
}
THREE = ["kube-scheduler", "kubelet", "kubeadm"]


def test_missing_programs_of_one_version_are_built_by_one_build(fake_go: Any, choose: Any) -> None:
    go = fake_go(theirs=THEIRS)
    found = programs.ensure(THREE, "v1.37.2", choose())
    assert list(found) == THREE
    assert len(go.builds) == 1
    programs.ensure([*THREE, "kube-proxy"], "v1.37.2", choose())
    assert [build[-1] for build in go.builds[1:]] == ["k8s.io/kubernetes/cmd/kube-proxy"]
    assert "k8s.io/kubernetes/cmd/kubelet" not in go.builds[1]


def test_build_is_stamped_and_takes_over_what_counts_of_their_module(fake_go: Any, choose: Any) -> None:
    go = fake_go(theirs=THEIRS)
    programs.ensure(["kubelet"], "v1.37.2", choose())
    flags = next(word for word in go.builds[0] if word.startswith("-ldflags"))
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        for value in ("gitVersion=v1.37.2", "gitMajor=1", "gitMinor=37", "gitCommit=c0ffee"):
            assert f"-X={package}.{value}" in flags
    assert {"-trimpath", "-mod=mod"} <= set(go.builds[0])
    lines = go.go_mod()
    assert "go 1.26.0" in lines
    assert "godebug default=go1.26" in lines
    assert "replace k8s.io/api => k8s.io/api v0.37.2" in lines
    assert "replace example.com/forked => example.com/fork v1.0.1" in lines


def test_go_works_in_our_folders_only(fake_go: Any, choose: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=vendor")
    go = fake_go()
    programs.ensure(["kubelet"], "v1.37.2", choose())
    seen = go.environment()
    assert (seen["CGO_ENABLED"], seen["GOFLAGS"]) == ("0", "-modcacherw -buildvcs=false")
    for name in ("GOCACHE", "GOMODCACHE", "GOPATH"):
        assert Path(seen[name]).is_relative_to(folders.cache())


def test_replacement_by_a_folder_is_dropped_where_the_published_version_is_required() -> None:
    assert module.replacements(THEIRS, "v3.7.0", staged=False) == {"example.com/forked": "example.com/fork v1.0.1"}


def test_program_named_after_its_folder_gets_its_own_name(fake_go: Any, choose: Any) -> None:
    fake_go()
    assert programs.ensure(["etcd"], "v3.7.0", choose())["etcd"].name == "etcd"


def test_flannel_is_built_with_c_and_static(fake_go: Any, choose: Any) -> None:
    go = fake_go()
    programs.ensure(["flannel"], "", choose())
    assert go.environment()["CGO_ENABLED"] == "1"
    assert "-extldflags=-static" in module.ldflags(FLANNEL, "v0.27.4")
    assert "static" not in module.ldflags(KUBERNETES, "v1.37.2")


def test_program_that_answers_another_version_is_refused_and_not_kept(fake_go: Any, choose: Any) -> None:
    fake_go(answers="v0.0.0")
    with pytest.raises(version_check.WrongVersionError, match=r"kubelet answers v1\.37\.2(.|\n)*it answers v0\.0\.0"):
        programs.ensure(["kubelet"], "v1.37.2", choose())
    assert not [path for path in (folders.cache() / "programs").rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"go": "go1.24.1", "toolchain": "local"}, ("Go 1.26.0", "GOTOOLCHAIN=auto")),
        ({"failing": {"build": "go: cannot: no space left on device"}}, ("the disk is full", "SCHEDPROOF_CACHE")),
        ({"failing": {"mod download": "reading https://p.invalid/x: 404 Not Found"}}, ("does not serve", "GOPROXY")),
        ({"failing": {"mod download": "dial tcp: lookup p.invalid: no such host"}}, ("cannot be reached", "GOPROXY")),
        ({"failing": {"list": "go: x requires go >= 1.27 (running go 1.26)"}}, ("too old", "Go 1.27")),
        (
            {
                "failing": {
                    "mod download": '{"Error": "x@v1.37.2: reading https://p.invalid/x: 403 Forbidden\\n\\tgone"}'
                }
            },
            ("reading https://p.invalid/x: 403 Forbidden", "does not serve"),
        ),
        ({"failing": {"build": "main.go:1: undefined: x"}}, ("undefined: x", "go build -v")),
    ],
    ids=["old Go", "full disk", "version not served", "no proxy", "toolchain", "version withheld", "does not compile"],
)
def test_failure_of_go_is_named_with_its_cure(
    options: dict[str, Any], words: tuple[str, str], fake_go: Any, choose: Any
) -> None:
    fake_go(**options)
    with pytest.raises(ProgramError) as caught:
        programs.ensure(["kubelet"], "v1.37.2", choose())
    for word in words:
        assert word in str(caught.value)


def test_old_go_that_may_fetch_a_newer_one_is_let_do_so(fake_go: Any, choose: Any) -> None:
    go = fake_go(go="go1.24.1", toolchain="auto")
    programs.ensure(["kubelet"], "v1.37.2", choose())
    assert len(go.builds) == 1


def test_missing_go_is_named_with_every_other_provider_that_was_passed_over(
    choose: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(ProgramError) as caught:
        programs.ensure(["kind"], "", choose())
    message = str(caught.value)
    for reason in ("none on PATH", "not there", "refused", "install Go 1.26 or newer"):
        assert reason in message


def test_two_threads_that_want_the_same_build_it_once(fake_go: Any, choose: Any) -> None:
    go = fake_go()
    found: list[dict[str, Path]] = []
    threads = [
        threading.Thread(target=lambda: found.append(programs.ensure(["kubelet"], "v1.37.2", choose())))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1]
    assert len(go.builds) == 1


def test_two_processes_that_want_the_same_build_it_once(fake_go: Any) -> None:
    go = fake_go()
    code = (
        "from schedproof import programs; from schedproof.settings import settings;"
        "print(programs.ensure(['kubelet'], 'v1.37.2', settings({}, {}))['kubelet'])"
    )
    both = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = {process.communicate(timeout=60)[0] for process in both}
    assert len(answers) == 1
    assert len(go.builds) == 1


def test_build_cache_over_its_bound_loses_what_was_used_least_recently(
    fake_go: Any, choose: Any, monkeypatch: pytest.MonkeyPatch, lines: io.StringIO
) -> None:
    fake_go()
    monkeypatch.setattr(gobuild, "BUILD_CACHE_BOUND", 25)
    monkeypatch.setattr(gobuild, "BUILD_CACHE_AFTERWARDS", 20)
    place = folders.cache() / "go" / "build" / "00"
    place.mkdir(parents=True)
    for age, name in enumerate(("newest", "middle", "oldest")):
        (place / name).write_bytes(b"0123456789")
        os.utime(place / name, (1000 - age, 1000 - age))
    found = programs.ensure(["kubelet"], "v1.37.2", choose())
    assert sorted(path.name for path in place.iterdir()) == ["middle", "newest"]
    assert "Go's build cache was over" in lines.getvalue()
    assert programs.prune() == 20
    assert not place.exists()
    assert found["kubelet"].exists()
