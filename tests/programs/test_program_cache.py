"""What lies in the cache is used only when it is the file that was stored, and for this machine."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest

from schedproof import folders, programs
from schedproof.errors import ProgramError
from schedproof.programs import cache
from schedproof.programs.provider import PassedOver


@pytest.fixture
def kubelet(fake_go: Any, choose: Any) -> Path:
    """A kubelet in the cache, built by the fake Go."""
    fake_go()
    return programs.ensure(["kubelet"], "v1.37.2", choose())["kubelet"]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def change(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"Kubernetes", b"Kuberneted"))


def lose_note(path: Path) -> None:
    path.with_name("kubelet.json").unlink()


def spoil_note(path: Path) -> None:
    path.with_name("kubelet.json").write_text('{"name": "kube')


@pytest.mark.parametrize("spoil", [cut, change, lose_note, spoil_note])
def test_file_that_is_not_what_was_stored_is_made_again_and_a_line_says_so(
    spoil: Any, kubelet: Path, fake_go: Any, choose: Any, lines: io.StringIO
) -> None:
    whole = kubelet.read_bytes()
    spoil(kubelet)
    assert programs.ensure(["kubelet"], "v1.37.2", choose())["kubelet"].read_bytes() == whole
    assert len(fake_go().builds) == 2
    assert "it is made again" in lines.getvalue()


def test_file_whose_time_changed_is_checked_once_and_used(kubelet: Path, fake_go: Any, choose: Any) -> None:
    os.utime(kubelet, (5, 5))
    programs.ensure(["kubelet"], "v1.37.2", choose())
    assert len(fake_go().builds) == 1
    note = cache.Note.model_validate_json(kubelet.with_name("kubelet.json").read_bytes())
    assert note.mtime_ns == 5 * 10**9


def test_program_for_another_machine_is_passed_over(kubelet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64" if os.uname().machine == "x86_64" else "x86_64")
    assert isinstance(cache.found(kubelet), PassedOver)


def test_forced_provider_does_not_take_what_another_one_left(kubelet: Path, choose: Any) -> None:
    assert programs.ensure(["kubelet"], "v1.37.2", choose(providers="kubernetes=module")) == {"kubelet": kubelet}
    assert programs.ensure(["kubelet"], "v1.37.2", choose(providers="kubelet=cache")) == {"kubelet": kubelet}
    with pytest.raises(ProgramError, match="came from module, not from release"):
        programs.ensure(["kubelet"], "v1.37.2", choose(providers="kubelet=release"))


def test_forced_cache_makes_nothing(fake_go: Any, choose: Any) -> None:
    go = fake_go()
    with pytest.raises(ProgramError, match="cache passed over: not there"):
        programs.ensure(["kubelet"], "v1.37.2", choose(providers="kubelet=cache"))
    assert go.builds == []


def test_left_overs_of_a_killed_run_are_removed_by_the_next(fake_go: Any, choose: Any) -> None:
    fake_go()
    shelf = cache.shelf("kubernetes", "v1.37.2")
    (shelf / ".making" / "module").mkdir(parents=True)
    (shelf / ".kubelet.abc.part").write_bytes(b"half")
    programs.ensure(["kubelet"], "v1.37.2", choose())
    assert sorted(path.name for path in shelf.iterdir()) == ["kubelet", "kubelet.json"]


def test_full_disk_while_storing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tmp_path / "made"
    made.write_bytes(b"program")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.move", full)
    target = folders.cache() / "programs" / "kubelet"
    with pytest.raises(ProgramError, match="No space left on device"):
        cache.store(made, target, version="v1.37.2", provider="module")
    assert list(target.parent.iterdir()) == []
