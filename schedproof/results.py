"""The results of a run: one schema with a version, shared by table, JUnit, docs/claims.md and later verdicts.

``artifacts/results.json`` is a :class:`Run`. A field may be added within a version; a change of meaning is a new
version.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schedproof import folders
from schedproof.errors import ExitCode, UsageError

SCHEMA = 1

Outcome = Literal["proved", "false", "harness", "skipped", "caught", "survived"]
"""proved/false: the claim holds or not. harness: nothing is known. caught/survived: of a mutant's run."""


class Result(BaseModel):
    """What came of one claim, or of one mutant of it."""

    model_config = ConfigDict(extra="forbid")

    claim: str = Field(description="stable id, e.g. pod3-bound-by-my-scheduler")
    lines: list[str] = Field(description="ids of docs/documents.md, e.g. A-31")
    test: str = Field(description="pytest node id")
    sentence: str = Field(description="the claim as a sentence")
    outcome: Outcome
    binder: str = Field(default="", description="who bound the pods of the claim, as seen; empty when no pod was bound")
    measured: list[str] = Field(default_factory=list, description="what the claim measured or counted, in words")
    seconds: float = Field(description="set-up, call and teardown, wall time in seconds")
    waited: float = Field(default=0.0, description="seconds of it spent in waits")
    message: str = Field(default="", description="the failure, at most 25 lines")
    evidence: str = Field(default="", description="folder below the artifacts folder")
    mutant: str = Field(default="", description="name of the mutant; empty for the claim itself")
    fault: str = Field(default="", description="the real fault that the mutant stands for")


class Run(BaseModel):
    """Everything that one run found out."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = SCHEMA
    started: str = Field(description="RFC 3339, UTC")
    seconds: float = Field(description="wall time of the whole run")
    suite: str
    kubernetes: str = Field(description="version of the API server")
    scheduler: str = Field(description="image under test")
    exit_code: int
    allowed_skips: list[str] = Field(default_factory=list)
    workers: int = Field(default=1, description="claims side by side")
    prepare_seconds: float = Field(default=0.0, description="from the start until the cluster and the image were ready")
    claims_seconds: float = Field(default=0.0, description="wall time of the claims, first start to last end")
    not_run: list[str] = Field(default_factory=list, description="claims selected whose run did not come to its end")
    harness: str = Field(default="", description="message of a harness error outside any claim")
    results: list[Result] = Field(default_factory=list)


def exit_code(
    results: list[Result], *, allowed_skips: frozenset[str] = frozenset(), harness: str = "", interrupted: bool = False
) -> ExitCode:
    """Return the exit code that these results deserve; the worse news wins."""
    outcomes = {result.outcome for result in results}
    if interrupted:
        return ExitCode.INTERRUPTED
    if outcomes & {"false", "survived"}:
        return ExitCode.CLAIM_FAILED
    if harness or "harness" in outcomes:
        return ExitCode.HARNESS
    if not results:
        return ExitCode.NOTHING_PROVED
    if any(result.outcome == "skipped" and result.claim not in allowed_skips for result in results):
        return ExitCode.SKIPPED
    return ExitCode.PROVED


def write(run: Run, path: Path | None = None) -> Path:
    """Write the run as JSON, whole or not at all, by default as ``artifacts/results.json``."""
    return folders.write_text(path or folders.artifacts() / "results.json", run.model_dump_json(indent=1) + "\n")


def read(path: Path) -> Run:
    """Read a run back.

    Raises:
        UsageError: There is no such file, it is no run, or it is of another schema version.
    """
    try:
        run = Run.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise UsageError(
            f"{path} holds the results of a run", seen=str(error), cure="make it again: make e2e"
        ) from error
    if run.schema_version != SCHEMA:
        raise UsageError(
            f"{path} is of schema version {SCHEMA}",
            seen=f"version {run.schema_version}",
            cure="make it again with this schedproof",
        )
    return run
