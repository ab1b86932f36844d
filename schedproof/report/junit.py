"""JUnit XML, for the CI systems that show it: a false claim is a *failure*, a harness error is an *error*."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from schedproof import folders
from schedproof.results import Result, Run

_TAG = {"false": "failure", "survived": "failure", "harness": "error", "skipped": "skipped"}
_ALLOWED = {"\t", "\n", "\r"}


def write(run: Run, path: Path | None = None) -> Path:
    """Write a run as JUnit XML, whole or not at all, by default as ``artifacts/junit.xml``."""
    return folders.write_text(path or folders.artifacts() / "junit.xml", render(run))


def render(run: Run) -> str:
    """Return a run as JUnit XML; claim, lines, category, binder, mutant and evidence are properties of each case."""
    tags = [_TAG.get(result.outcome) for result in run.results]
    outside = 1 if run.harness else 0
    suite = Element(
        "testsuite",
        name=f"schedproof {run.suite}",
        timestamp=run.started,
        time=f"{run.seconds:.3f}",
        tests=str(len(run.results) + outside),
        failures=str(tags.count("failure")),
        errors=str(tags.count("error") + outside),
        skipped=str(tags.count("skipped")),
    )
    _properties(suite, {"kubernetes": run.kubernetes, "scheduler": run.scheduler, "exit_code": str(run.exit_code)})
    for result in run.results:
        _case(suite, result, run.suite)
    if run.harness:
        case = SubElement(suite, "testcase", classname=run.suite or "schedproof", name="harness", time="0")
        _told(case, "error", run.harness)
    suites = Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def harness_as_error(path: Path) -> None:
    """Turn harness errors in a file that pytest's own ``--junitxml`` wrote from *failure* into *error*.

    pytest knows the phase only; the category is the property that the plugin set.
    """
    if not path.is_file():
        return
    tree = ElementTree.parse(path)  # noqa: S314 - pytest wrote it a moment ago
    for suite in tree.iter("testsuite"):
        for case in suite.iter("testcase"):
            found = {p.get("name"): p.get("value") for p in case.iter("property")}
            wanted = {"behaviour": "failure", "harness": "error"}.get(found.get("category") or "")
            for child in case:
                if wanted and child.tag in ("failure", "error"):
                    child.tag = wanted
        for tag, attribute in (("failure", "failures"), ("error", "errors")):
            suite.set(attribute, str(sum(1 for _ in suite.iter(tag))))
    text = '<?xml version="1.0" encoding="utf-8"?>' + ElementTree.tostring(tree.getroot(), encoding="unicode")
    folders.write_text(path, text)


def _case(suite: Element, result: Result, classname: str) -> None:
    name = f"{result.claim}[{result.mutant}]" if result.mutant else result.claim
    case = SubElement(suite, "testcase", classname=classname, name=name, time=f"{result.seconds:.3f}")
    _properties(
        case,
        {
            "claim": result.claim,
            "lines": ",".join(result.lines),
            "sentence": result.sentence,
            "category": {"failure": "behaviour", "error": "harness"}.get(_TAG.get(result.outcome, ""), ""),
            "binder": result.binder,
            "mutant": result.mutant,
            "evidence": result.evidence,
        },
    )
    if tag := _TAG.get(result.outcome):
        _told(case, tag, result.message)


def _told(case: Element, tag: str, message: str) -> None:
    text = "".join(char if char >= " " or char in _ALLOWED else "?" for char in message)
    told = SubElement(case, tag, message=text.partition("\n")[0])
    told.text = text


def _properties(parent: Element, pairs: dict[str, str]) -> None:
    holder = SubElement(parent, "properties")
    for name, value in pairs.items():
        if value:
            SubElement(holder, "property", name=name, value=value)
