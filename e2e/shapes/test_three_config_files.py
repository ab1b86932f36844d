"""The second document's three configuration files at once, each with a scheduler name of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from schedproof import data
from schedproof.binder import DEFAULT
from schedproof.deploy import bundle

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.shapes.default import DefaultScheduler


def _file(manifests: Manifests, name: str) -> dict[str, Any]:
    text = data.manifests("scheduler", name).read_text(encoding="utf-8")
    content: dict[str, Any] = manifests.input(name, yaml.safe_load(text))
    return content


@pytest.mark.serial
@pytest.mark.claim("three-config-files", lines=["B-08", "B-09", "B-11", "B-12", "B-13", "B-19", "B-20", "B-30", "B-31"])
def test_each_of_the_three_configuration_files_is_served_by_its_scheduler(
    default_scheduler: DefaultScheduler, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """scheduler-config by the control plane's own scheduler, the other two files by schedulers of their own."""
    default_scheduler.replace(config=yaml.safe_dump(_file(manifests, "scheduler-config.yaml")))
    # As printed it would stand by behind the default scheduler's lease for ever.
    alone = {**_file(manifests, "my-scheduler-config.yaml"), "leaderElection": {"leaderElect": False}}
    mine = schedulers.create(objects=bundle.with_config(manifests.scheduler("my-scheduler"), alone))
    elected = _file(manifests, "my-scheduler-2-config.yaml")
    second = schedulers.create(objects=bundle.with_config(manifests.scheduler("my-scheduler-2"), elected))
    second.allow_lease()
    assert (mine.served, second.served) == (("my-scheduler",), ("my-scheduler-2",))
    mine.deploy()
    second.deploy().wait_until_ready()
    mine.wait_until_ready()

    pod1 = pods.apply(manifests.pod("pod1"))
    pod3 = pods.apply(manifests.pod("pod3", schedulerName="my-scheduler"))
    pod4 = pods.apply(manifests.pod("pod3", name="pod4", input="pod4", schedulerName="my-scheduler-2"))

    binder.assert_bound_by(pod1, DEFAULT)
    binder.assert_bound_by(pod3, mine)
    binder.assert_bound_by(pod4, second)
