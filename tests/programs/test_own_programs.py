"""Go programs of our own: built once for each state of their sources, never inside the checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedproof import programs
from schedproof.errors import ProgramError


@pytest.fixture
def pause(tmp_path: Path) -> Path:
    """A module of ours."""
    folder = tmp_path / "pause"
    folder.mkdir()
    (folder / "go.mod").write_text("module schedproof.invalid/pause\n\ngo 1.26\n")
    (folder / "main.go").write_text("package main\n\nfunc main() {}\n")
    return folder


def test_program_of_ours_is_built_once_and_again_when_its_sources_change(pause: Path, fake_go: Any) -> None:
    go = fake_go()
    before = sorted(pause.iterdir())
    first = programs.build_own(pause, "pause")
    assert programs.build_own(pause, "pause") == first
    assert len(go.builds) == 1
    assert sorted(pause.iterdir()) == before
    (pause / "main.go").write_text("package main\n\nfunc main() { select {} }\n")
    assert programs.build_own(pause, "pause") != first
    assert len(go.builds) == 2


def test_program_against_a_kubernetes_version_gets_its_module_and_its_stamps(pause: Path, fake_go: Any) -> None:
    replace = [{"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}}]
    go = fake_go(theirs={"Go": "1.26.0", "Replace": replace})
    programs.build_own(pause, "kube-scheduler", kubernetes="v1.37.2")
    edits = next(call for call in go.calls if call[:2] == ["mod", "edit"] and call[2] != "-json")
    assert "-require=k8s.io/kubernetes@v1.37.2" in edits
    assert "-replace=k8s.io/api=k8s.io/api@v0.37.2" in edits
    assert any("gitVersion=v1.37.2" in word for word in go.builds[0])


def test_damaged_program_of_ours_is_built_again(pause: Path, fake_go: Any) -> None:
    go = fake_go()
    path = programs.build_own(pause, "pause")
    path.write_bytes(b"#!")
    assert programs.build_own(pause, "pause").read_bytes() != b"#!"
    assert len(go.builds) == 2


def test_folder_without_a_module_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=r"there is no go\.mod"):
        programs.build_own(tmp_path, "pause")
