"""Provider ``release``: the official binaries, each checked against the checksum that is published beside it.

``SCHEDPROOF_KIND_RELEASES`` and ``SCHEDPROOF_KUBERNETES_RELEASES`` name mirrors with the same layout.
"""

from __future__ import annotations

import os
from pathlib import Path

from schedproof.programs import download
from schedproof.programs.provider import Answers, PassedOver, Wanted, architecture
from schedproof.programs.table import KIND, Program, Source
from schedproof.progress import Step

KIND_RELEASES = "https://github.com/kubernetes-sigs/kind/releases/download"
"""Layout: VERSION/kind-linux-ARCH, VERSION/kind-linux-ARCH.sha256sum."""

KUBERNETES_RELEASES = "https://dl.k8s.io/release"
"""Layout: VERSION/bin/linux/ARCH/NAME, VERSION/bin/linux/ARCH/NAME.sha256."""


class Release:
    """Downloads from the release pages."""

    name: Source = "release"

    def offer(self, wanted: Wanted, folder: Path, step: Step) -> Answers:
        """Download each program; a checksum that differs stops everything."""
        return {program.name: _downloaded(program, wanted, folder, step) for program in wanted.programs}


def urls(program: Program, version: str) -> tuple[str, str]:
    """Return the addresses of a program and of its checksum."""
    arch = architecture()
    if program.family is KIND:
        base = os.environ.get("SCHEDPROOF_KIND_RELEASES") or KIND_RELEASES
        file = f"{base.rstrip('/')}/{version}/kind-linux-{arch}"
        return file, f"{file}.sha256sum"
    base = os.environ.get("SCHEDPROOF_KUBERNETES_RELEASES") or KUBERNETES_RELEASES
    file = f"{base.rstrip('/')}/{version}/bin/linux/{arch}/{program.name}"
    return file, f"{file}.sha256"


def _downloaded(program: Program, wanted: Wanted, folder: Path, step: Step) -> Path | PassedOver:
    file, checksum = urls(program, wanted.version)
    try:
        sha256 = download.checksum(checksum, forced=wanted.forced)
        step.note(f"downloading {program.name}")
        path = download.fetch(file, sha256, folder / program.name, step.advance)
    except (download.HostSilentError, download.NotServedError, download.DownloadEndedEarlyError) as error:
        return PassedOver(
            error.message.seen,
            "set HTTPS_PROXY, or SCHEDPROOF_KIND_RELEASES or SCHEDPROOF_KUBERNETES_RELEASES to a mirror",
        )
    path.chmod(0o755)
    return path
