"""What a provider is: one way to come by programs, which says why when it is passed over."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from schedproof.errors import ProgramError
from schedproof.programs.table import Program, Source
from schedproof.progress import Step


@dataclass(frozen=True)
class PassedOver:
    """Why a provider does not have a program, and what would change that."""

    why: str
    cure: str = ""


@dataclass(frozen=True)
class Wanted:
    """What is asked of a provider.

    Attributes:
        programs: Of one family.
        version: Of all of them.
        forced: Whether the user named this provider, so that patience is worth more than going on.
    """

    programs: Sequence[Program]
    version: str
    forced: bool = False


Answers = Mapping[str, Path | PassedOver]
"""For each program wanted: the file, or why there is none."""


class Provider(Protocol):
    """One way to come by programs."""

    name: Source

    def offer(self, wanted: Wanted, folder: Path, step: Step) -> Answers:
        """Return an answer for every program wanted; files that it makes are put into ``folder``.

        Raises:
            ProgramError: Something is so wrong that no other provider should be asked (a checksum that differs).
        """


def architecture() -> str:
    """Return this machine's architecture in Go's words.

    Raises:
        ProgramError: It is one that Kubernetes is not built for here.
    """
    machine = platform.machine().lower()
    known = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
    if machine not in known:
        raise ProgramError(
            "the machine's architecture is amd64 or arm64", seen=machine, cure="run schedproof on such a machine"
        )
    return known[machine]
