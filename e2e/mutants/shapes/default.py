"""Mutants of test_replacing_the_default.py and test_three_config_files.py."""

from __future__ import annotations

from typing import Any

from schedproof.mutants import mutant


@mutant(
    claim="replaced-default",
    input="image",
    fault="the image's name in the manifest was forgotten: kubeadm's own scheduler runs on",
    expect="the default scheduler runs the image under test",
)
def image_forgotten(image: str) -> str:
    return "" if image else image


@mutant(
    claim="replaced-default",
    input="scheduler-config",
    fault="C8: the configuration put in the default's place serves another name: nobody serves default-scheduler",
    expect="is bound * it asks for default-scheduler",
    renames=True,
)
def another_profile(config: str) -> str:
    return config.replace("default-scheduler", "my-scheduler")


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
