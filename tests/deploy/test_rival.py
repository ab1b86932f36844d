"""A rival: the same names, served by another identity."""

from __future__ import annotations

import pytest

from schedproof import data
from schedproof.deploy import bundle
from schedproof.deploy.manifests import load, renamed
from schedproof.deploy.rival import rival_of
from schedproof.errors import UsageError


def test_rival_serves_the_same_name_under_another_identity() -> None:
    own = renamed(load(data.manifests("kubernetes", "second-scheduler")), name="red")
    rival = rival_of(own)
    workload, mine = bundle.workload(rival), bundle.workload(own)
    assert workload is not None
    assert mine is not None
    assert bundle.served(rival) == bundle.served(own) == ("red",)
    assert bundle.service_account(workload) == "red-rival" != bundle.service_account(mine)
    assert {obj["metadata"]["name"] for obj in rival}.isdisjoint(obj["metadata"]["name"] for obj in own)


def test_rival_adopts_no_pod_of_the_first() -> None:
    own = renamed(load(data.manifests("kubernetes", "second-scheduler")), name="red")
    selectors = [obj["spec"]["selector"] for obj in (*own, *rival_of(own)) if obj["kind"] == "Deployment"]
    assert selectors[0] != selectors[1]


def test_a_bundle_without_a_configuration_has_no_rival() -> None:
    own = [obj for obj in load(data.manifests("kubernetes", "second-scheduler")) if obj["kind"] != "ConfigMap"]
    with pytest.raises(UsageError, match="a workload and a configuration"):
        rival_of(own)
