"""Mutants of test_replacing_the_default.py."""

from __future__ import annotations

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
