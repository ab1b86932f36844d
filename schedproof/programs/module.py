"""Provider ``module``: programs built with Go from their published module.

``go install`` refuses modules with replace lines, so each build is a module of our own that requires the one wanted and
takes over what would count if that one were the main module: its go and godebug lines and its replacements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schedproof.programs import gobuild
from schedproof.programs.provider import Answers, PassedOver, Wanted
from schedproof.programs.table import Family, Source, numbers
from schedproof.progress import Step


class Module:
    """Builds with Go, all programs of a family in one go."""

    name: Source = "module"

    def offer(self, wanted: Wanted, folder: Path, step: Step) -> Answers:
        """Build them; every reason why that cannot be is the same for all."""
        family = wanted.programs[0].family
        try:
            commit = write_module(folder / "src", family, wanted.version, step)
            gobuild.build(
                folder / "src",
                [program.import_path for program in wanted.programs],
                folder / "bin",
                step,
                ldflags=ldflags(family, wanted.version, commit),
                cgo=family.cgo,
            )
        except gobuild.GoError as error:
            command = error.message.expected if error.message.expected.startswith("`") else ""
            parts = (
                command and f"this failed: {command.removesuffix(' succeeds')}",
                error.message.seen,
                error.message.cause,
            )
            passed = PassedOver("\n".join(part for part in parts if part), error.message.cure)
            return {program.name: passed for program in wanted.programs}
        return {program.name: _built(folder / "bin", program.import_path, program.name) for program in wanted.programs}


def _built(folder: Path, import_path: str, name: str) -> Path | PassedOver:
    """Go names a program after its folder, without a version: `.../etcd/server/v3` gives `server`."""
    parts = import_path.split("/")
    last = parts[-2] if parts[-1].startswith("v") and parts[-1][1:].isdigit() else parts[-1]
    path = folder / last
    if not path.is_file():
        return PassedOver(f"Go built no {last}")
    if last == name:
        return path
    return path.rename(folder / name)


def write_module(folder: Path, family: Family, version: str, step: Step) -> str:
    """Write a go.mod that builds the programs of ``family``, and return the commit that the proxy names, if it does.

    Raises:
        GoError: Go is missing or too old, or the module cannot be downloaded.
    """
    folder.mkdir(parents=True, exist_ok=True)
    step.note(f"downloading {family.module} {version}")
    origin, theirs = _published(folder, family, version, step)
    gobuild.require_version(str(theirs.get("Go", "")), folder)
    (folder / "go.mod").write_text(
        module_text(
            f"schedproof.invalid/{family.name}",
            str(theirs.get("Go", "")),
            {family.module: version},
            replacements(theirs, version, staged=family.staged),
            [f"{line['Key']}={line['Value']}" for line in theirs.get("GoDebug") or ()],
        ),
        encoding="utf-8",
    )
    return origin


def _published(folder: Path, family: Family, version: str, step: Step) -> tuple[str, dict[str, Any]]:
    """Download a module; return its commit (or nothing) and its go.mod as ``go mod edit -json`` shows it."""
    (folder / "go.mod").write_text("module schedproof.invalid/none\n", encoding="utf-8")
    spec = f"{family.module}@{version}"
    facts = gobuild.read_json(
        gobuild.go("mod", "download", "-json", spec, cwd=folder, seconds=gobuild.DOWNLOAD, step=step)
    )
    theirs = gobuild.read_json(gobuild.go("mod", "edit", "-json", str(facts.get("GoMod", "")), cwd=folder, seconds=60))
    return str((facts.get("Origin") or {}).get("Hash", "")), theirs


def replacements(theirs: Mapping[str, Any], version: str, *, staged: bool) -> dict[str, str]:
    """Return ``module -> "module version"`` for the replace lines that count for us.

    A replacement by a folder has no meaning outside of their repository: Kubernetes publishes those folders as v0.Y.Z
    (``staged``), others require the published version beside the replacement.
    """
    number = version.removeprefix("v").split(".", 1)[1]
    found: dict[str, str] = {}
    for line in theirs.get("Replace") or ():
        old, new = str(line["Old"]["Path"]), line["New"]
        if new.get("Version"):
            found[old] = f"{new['Path']} {new['Version']}"
        elif staged:
            found[old] = f"{old} v0.{number}"
    return found


def module_text(
    name: str, go_version: str, requires: Mapping[str, str], replaces: Mapping[str, str], godebug: Sequence[str]
) -> str:
    """Return the text of a go.mod."""
    lines = [f"module {name}", ""]
    lines += [f"go {go_version}", ""] if go_version else []
    lines += [f"godebug {setting}" for setting in godebug]
    lines += [f"require {module} {version}" for module, version in requires.items()]
    lines += [f"replace {old} => {new}" for old, new in replaces.items()]
    return "\n".join(lines) + "\n"


def ldflags(family: Family, version: str, commit: str = "") -> str:
    """Return the linker's flags: no symbol tables, the version stamped, and static where C is in it."""
    major, minor, _ = numbers(version)
    words = {"version": version, "number": version.removeprefix("v"), "major": major, "minor": minor, "commit": commit}
    flags = ["-s", "-w", *(f"-X={stamp.format(**words)}" for stamp in family.stamps)]
    return " ".join([*flags, *(["-extldflags=-static"] if family.cgo else [])])
