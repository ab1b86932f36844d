"""Folders, whole files, locks: what a full disk, an interruption and a second run do to them."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from schedproof import folders
from schedproof.errors import HarnessError
from schedproof.folders import NotWritten, whole_file, write_text


def test_a_file_is_there_as_a_whole_with_its_mode(tmp_path: Path) -> None:
    path = write_text(tmp_path / "new folder" / "Ü", "text", mode=0o600)
    assert path.read_text() == "text"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("step", ["write_text", "chmod", "replace"])
def test_a_full_disk_is_named_leaves_nothing_and_the_old_file_stays(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "results.json"
    target.write_text("old")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "some part")

    with monkeypatch.context() as patched:
        patched.setattr(Path, step, full)
        with pytest.raises(NotWritten, match="No space left on device") as failed:
            write_text(target, "new")
    assert str(target) in failed.value.message.expected
    assert "free space" in failed.value.message.cure
    assert failed.value.category == "harness"
    assert target.read_text() == "old"
    assert list(tmp_path.glob(".*")) == []


def test_a_full_disk_at_the_first_step_is_named_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    with pytest.raises(NotWritten, match="No space left on device"):
        write_text(tmp_path / "x", "new")


def test_an_interruption_leaves_the_old_file_and_no_part(tmp_path: Path) -> None:
    target = tmp_path / "program"
    target.write_text("old")

    def interrupted() -> None:
        with whole_file(target) as part:
            part.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir() if path.is_file()] == [("program", "old")]


def test_a_folder_that_cannot_be_made_is_named_with_the_variable_that_moves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SCHEDPROOF_CACHE", str(tmp_path / "file" / "below"))
    with pytest.raises(HarnessError, match="SCHEDPROOF_CACHE"):
        folders.cache()


def test_folders_follow_our_variable_then_xdg_then_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folders.state() == tmp_path / "state"
    monkeypatch.delenv("SCHEDPROOF_STATE")
    assert folders.state() == tmp_path / "home" / ".local" / "state" / "schedproof"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    assert folders.state() == tmp_path / "xdg" / "schedproof"


def test_a_lock_is_held_by_one_and_free_afterwards() -> None:
    with folders.lock("engine"):
        with (
            pytest.raises(HarnessError, match="another schedproof run still holds it"),
            folders.lock("engine", seconds=0),
        ):
            pytest.fail("two held one lock")
        with folders.lock("another", seconds=0):
            pass
    with folders.lock("engine", seconds=0):
        pass
