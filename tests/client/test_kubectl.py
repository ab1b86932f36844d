"""What kubectl prints, read back."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedproof import kubectl
from schedproof.cluster.facts import Facts

PRINTED = """\
LAST SEEN   TYPE     REASON      OBJECT     SUBOBJECT             SOURCE                     MESSAGE
4s          Normal   Scheduled   pod/pod1                         default-scheduler          Successfully  assigned
3s          Normal   Pulled      pod/pod1   spec.containers{a}    kubelet, w1                Container image
2s          Normal   Scheduled   pod/pod3                         my-scheduler, my-sch-5d    Successfully assigned
"""


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    """A cluster whose kubectl prints that table."""
    program = tmp_path / "kubectl"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{PRINTED}END\n")
    program.chmod(0o755)
    return Facts(
        name="c", kubeconfig=Path("k"), kind=None, kubectl=program, kubernetes="v1.37.2", node_image="",
        control_planes=(), workers=(), pause_image="", scheduler_image="", scheduler_image_id="", scheduler_version="",
    )  # fmt: skip


def test_columns_are_the_headings_whatever_is_in_the_cells(facts: Facts) -> None:
    lines = kubectl.table(facts, "get", "events")
    assert list(lines[0]) == ["LAST SEEN", "TYPE", "REASON", "OBJECT", "SUBOBJECT", "SOURCE", "MESSAGE"]
    assert (lines[0]["LAST SEEN"], lines[0]["SUBOBJECT"], lines[1]["SUBOBJECT"]) == ("4s", "", "spec.containers{a}")


def test_sources_of_a_reason_are_by_object_and_without_their_instance(facts: Facts) -> None:
    found = kubectl.event_sources(facts, "ns", "Scheduled")
    assert found == {"pod/pod1": ["default-scheduler"], "pod/pod3": ["my-scheduler"]}


def test_what_kubectl_discovers_is_kept_in_our_cache(tmp_path: Path) -> None:
    program = tmp_path / "kubectl"
    program.write_text('#!/bin/sh\necho "$KUBECONFIG $KUBECACHEDIR"\n')
    program.chmod(0o755)
    told = kubectl.kubectl(program, tmp_path / "mine").stdout.split()
    assert told == [str(tmp_path / "mine"), str(tmp_path / "cache" / "kubectl")]
