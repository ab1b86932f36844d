"""Mutants of test_three_config_files.py."""

from __future__ import annotations

from typing import Any

from schedproof.mutants import mutant


@mutant(
    claim="three-config-files",
    input="my-scheduler-2-config.yaml",
    fault="L1: the file keeps leaderElect and loses the lease's name: it stands by behind the default one",
    expect="pod4 is bound * it elects its leader with the default scheduler's lease",
)
def lease_name_lost(content: dict[str, Any]) -> None:
    content["leaderElection"] = {"leaderElect": True}


@mutant(
    claim="three-config-files",
    input="scheduler-config.yaml",
    fault="the control plane's file switches a plugin off at one extension point and not at the other",
    expect="pods Ready * SchedulerError",
)
def half_a_plugin(content: dict[str, Any]) -> None:
    content["profiles"][0]["plugins"] = {"preFilter": {"disabled": [{"name": "*"}]}, "filter": {"disabled": []}}
