"""A line of arguments given to the scheduler under test, without any cluster: what it says, and how it ends.

Flags are parsed and the configuration is decoded before the API server is asked for anything, so the image alone tells
what becomes of an old line (HAMi#782, scheduler-plugins#394).
"""

from __future__ import annotations

import secrets
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from schedproof.command import CommandFailed
from schedproof.deploy import causes
from schedproof.errors import ImageError
from schedproof.host.docker import docker

if TYPE_CHECKING:
    from schedproof.cluster.facts import Facts

SECONDS = 60.0
"""Deadline of one run of the image; it takes half a second."""

FOLDER = "/etc/kubernetes"
"""Where the documents have their configuration files, and where a line's files are mounted."""

WRITES = "--write-config-to=/dev/stdout"
"""With it the program accepts its arguments, prints its whole configuration and ends, without asking an API server."""

NOWHERE = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "nowhere", "cluster": {"server": "http://127.0.0.1:1"}}],
    "contexts": [{"name": "nowhere", "context": {"cluster": "nowhere", "user": "nobody"}}],
    "users": [{"name": "nobody", "user": {}}],
    "current-context": "nowhere",
}
"""A kubeconfig that the program can read, of an API server that it never asks."""


@dataclass
class Line:
    """Arguments, and the files that they find.

    Attributes:
        args: Arguments of the program.
        files: Path below :data:`FOLDER` to content: a text, or an object that becomes YAML.
        program: Path of another program in the image; empty for the scheduler.
    """

    args: list[str]
    files: dict[str, Any] = field(default_factory=dict)
    program: str = ""

    def __str__(self) -> str:
        """Return the arguments as one line."""
        return " ".join(self.args)


@dataclass(frozen=True)
class Outcome:
    """How the program ended.

    Attributes:
        line: What it was given.
        version: Version of the scheduler under test.
        code: Its exit code.
        said: What it wrote on standard error.
        printed: What it wrote on standard output.
    """

    line: Line
    version: str
    code: int
    said: str
    printed: str

    @property
    def words(self) -> str:
        """What it said last, in one line."""
        return causes.last_words(self.said)

    @property
    def cause(self) -> str:
        """What the harness makes of its words: the cause, with what to write instead; empty when it knows none."""
        return causes.from_log(self.said)

    @property
    def configuration(self) -> dict[str, Any]:
        """The configuration that it would run with, complete with all defaults; empty when it accepted none."""
        try:
            read = yaml.safe_load(self.printed)
        except yaml.YAMLError:
            return {}
        return read if isinstance(read, dict) else {}

    @property
    def served(self) -> list[str]:
        """Names of its profiles."""
        return [str(profile.get("schedulerName")) for profile in self.configuration.get("profiles") or []]


def run(facts: Facts, line: Line) -> Outcome:
    """Give a line to the scheduler under test and return how it ended.

    Raises:
        ImageError: It did not end.
        EngineError: The engine could not be asked.
    """
    name = f"schedproof-line-{secrets.token_hex(4)}"
    with tempfile.TemporaryDirectory(prefix="line-") as scratch:
        folder = Path(scratch)
        _write(folder, line.files)
        mounted = ["--mount", f"type=bind,source={folder},target={FOLDER},readonly"] if line.files else []
        try:
            done = docker(
                "run", "--rm", "--name", name, "--network", "none", *mounted,
                "--entrypoint", line.program or facts.scheduler_command, facts.scheduler_image, *line.args,
                *([] if line.program else [WRITES]),
                seconds=SECONDS, check=False,
            )  # fmt: skip
        except CommandFailed as error:
            docker("rm", "--force", name, check=False)
            raise ImageError(
                f"the program in {facts.scheduler_image} ends when it is given: {line}",
                seen=error.message.seen,
                cause="it is no kube-scheduler: it does not know --write-config-to and runs on",
            ) from error
    return Outcome(line, facts.scheduler_version, done.code, done.stderr, done.stdout)


def _write(folder: Path, files: dict[str, Any]) -> None:
    folder.chmod(0o755)  # an image may run as somebody else than root; nothing in here is a secret
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content), encoding="utf-8")
