"""A scheduler of one's own in place of the default one, with the second document's first configuration file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof import data
from schedproof.binder import DEFAULT

if TYPE_CHECKING:
    from fixtures.held import ClaimPods
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.cluster.facts import Facts
    from schedproof.shapes.default import DefaultScheduler


@pytest.mark.serial
@pytest.mark.claim("replaced-default", lines=["B-05", "B-11", "B-16"])
def test_scheduler_under_test_in_place_of_the_default_one_binds_the_pods_that_name_none(
    default_scheduler: DefaultScheduler, facts: Facts, manifests: Manifests, pods: ClaimPods, binder: Judge
) -> None:
    """Packaged as the default scheduler it binds pods without a name; put back, kubeadm's own does again."""
    kubeadms = default_scheduler.runs_image()
    config = data.manifests("scheduler", "scheduler-config.yaml").read_text(encoding="utf-8")

    default_scheduler.replace(
        image=manifests.input("image", facts.scheduler_image),
        command=facts.scheduler_command,
        config=manifests.input("scheduler-config", config),
    )
    pod1 = pods.apply(manifests.pod("pod1"))
    pod2 = pods.apply(manifests.pod("pod2"))

    binder.assert_bound_by(pod1, DEFAULT)
    binder.assert_bound_by(pod2, DEFAULT)
    assert default_scheduler.runs_image() == facts.scheduler_image_id, "the default scheduler runs the image under test"

    default_scheduler.restore()
    later = pods.apply(manifests.pod("pod1", name="later"))
    binder.assert_bound_by(later, DEFAULT)
    assert default_scheduler.runs_image() == kubeadms
