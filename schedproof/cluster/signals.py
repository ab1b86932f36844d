"""SIGTERM, SIGINT and SIGHUP: end the work once, never the cleaning up.

pytest alone would die of a SIGTERM without any teardown. Within :func:`terminable` the first signal becomes an
exception in the main thread, like Ctrl-C; further ones are ignored, since cleaning up has begun. Within
:func:`shielded` (a deletion) a signal waits for the end of the block.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from schedproof import command
from schedproof.progress import progress

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """The run was told to end by a signal; pytest treats it like Ctrl-C (exit code 2, with teardown)."""


class _State:
    """What has been received so far, and whether something runs that must not be interrupted."""

    def __init__(self) -> None:
        self.shields = 0
        self.installed = 0
        self.received = ""
        self.raised = False
        self.lock = threading.RLock()

    def handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signature of a handler
        name = signal.Signals(number).name
        if self.received:
            progress.line(f"! {name} again: already cleaning up, please wait")
            return
        self.received = name
        if self.shields:
            progress.line(f"! {name}: ends after the clean-up that is under way")
            return
        self.interrupt()

    def due(self) -> bool:
        in_main = threading.current_thread() is threading.main_thread()
        return bool(in_main and not self.shields and self.received and not self.raised)

    def interrupt(self) -> None:
        self.raised = True
        progress.line(f"! {self.received}: ending; what this run made is removed")
        raise Terminated(self.received)


_state = _State()


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Turn the first SIGTERM, SIGINT or SIGHUP within the block into :class:`Terminated`.

    The handlers are restored after it. Programs that other threads were running are ended as well when the block is
    left that way. Outside the main thread, where Python allows no handlers, the block runs as it is. Blocks may be
    nested: the outermost one counts.
    """
    if threading.current_thread() is not threading.main_thread() or _state.installed:
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    _state.installed, _state.received, _state.raised = 1, "", False
    for number in SIGNALS:
        # nohup ignores SIGHUP for us, so that the run outlives its terminal: that is meant.
        if number != signal.SIGHUP or before[number] != signal.SIG_IGN:
            signal.signal(number, _state.handle)
    try:
        yield
    except KeyboardInterrupt:
        command.end_all()
        raise
    finally:
        _state.installed = 0
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def shielded() -> Iterator[None]:
    """Let a signal wait until the block has ended: a deletion half done would leave a cluster behind.

    Raises:
        Terminated: After the block, when a signal came within it and nothing had been interrupted before.
    """
    with terminable():
        with _state.lock:
            _state.shields += 1
        try:
            yield
        finally:
            with _state.lock:
                _state.shields -= 1
            if _state.due():
                _state.interrupt()  # over a fault of the block too, which stays visible as its context
