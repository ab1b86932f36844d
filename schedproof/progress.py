"""What is being done and for how long: a live line per step on a terminal, plain lines when something changes in a log.

Steps may run side by side (threads); each is shown on its own. The finished steps are kept with their times, so that a
run can say what it cost. One process-wide :data:`progress` is enough: there is one terminal.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn


@dataclass
class Step:
    """One step under way or finished; times are ``time.monotonic()`` seconds."""

    title: str
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    outcome: str = "running"
    task: TaskID | None = None
    owner: Steps | None = None

    @property
    def seconds(self) -> float:
        """How long it ran, or has run so far."""
        return (self.ended or time.monotonic()) - self.began

    def note(self, text: str) -> None:
        """Say what it is at now ("compiling k8s.io/api"); shown on a terminal only, a log would drown in it."""
        if self.owner is not None:
            self.owner.show(self, note=text)

    def say(self, text: str) -> None:
        """Say something worth a line of its own in a log too ("passed over the release: no network")."""
        if self.owner is not None:
            self.owner.line(f"  {self.title}: {text}")

    def advance(self, done: float, total: float | None = None) -> None:
        """Move the bar: ``done`` of ``total`` (bytes, packages, nodes; any unit)."""
        if self.owner is not None:
            self.owner.show(self, done=done, total=total)


class Steps:
    """The steps of this process and where they are shown."""

    def __init__(self, console: Console | None = None) -> None:
        """Show on ``console``, by default standard error."""
        self.console = console or Console(file=sys.stderr, highlight=False, soft_wrap=True)
        self.finished: list[Step] = []
        self._lock = threading.RLock()
        self._live: Progress | None = None
        self._running = 0

    @contextlib.contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Show ``title`` from here to the end of the block, then what it took and whether it went well."""
        step = Step(title, owner=self)
        self._begin(step)
        try:
            yield step
        except BaseException:
            step.outcome = "failed"
            raise
        else:
            step.outcome = "done"
        finally:
            step.ended = time.monotonic()
            self._end(step)

    def line(self, text: str) -> None:
        """Print one line above the live ones."""
        with self._lock:
            self.console.print(text, markup=False)

    def show(
        self, step: Step, *, note: str | None = None, done: float | None = None, total: float | None = None
    ) -> None:
        """Update the live line of a step; a log shows nothing of it."""
        with self._lock:
            if self._live is None or step.task is None:
                return
            title = step.title if note is None else f"{step.title}: {note[-60:]}"
            self._live.update(step.task, description=title, completed=done, total=total)

    def _begin(self, step: Step) -> None:
        with self._lock:
            self._running += 1
            if not self.console.is_terminal:
                self.line(f"> {step.title}")
                return
            if self._live is None:
                self._live = Progress(
                    SpinnerColumn(),
                    TextColumn("{task.description}", markup=False),
                    BarColumn(bar_width=24),
                    TimeElapsedColumn(),
                    console=self.console,
                    transient=True,
                )
                self._live.start()
            step.task = self._live.add_task(step.title, total=None)

    def _end(self, step: Step) -> None:
        with self._lock:
            self._running -= 1
            self.finished.append(step)
            if self._live is not None and step.task is not None:
                self._live.remove_task(step.task)
                if self._running == 0:
                    self._live.stop()
                    self._live = None
            self.line(f"{'+' if step.outcome == 'done' else '!'} {step.title} ({step.outcome}, {step.seconds:.1f} s)")


progress = Steps()
"""The one of this process."""
