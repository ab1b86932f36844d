"""What the rivals run in: a virtual environment of their own, so that their plugins never load in ours."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from schedproof.command import run
from schedproof.data import CHECKOUT
from schedproof.progress import progress

FOLDER = ".venv-bench"
REQUIREMENTS = "requirements-bench.txt"


@dataclass(frozen=True)
class Environment:
    """The rivals' virtual environment.

    Attributes:
        python: Its interpreter.
    """

    python: Path

    def versions(self, names: Sequence[str]) -> dict[str, str]:
        """Return the versions of the packages installed there."""
        code = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
        found: dict[str, str] = json.loads(run([self.python, "-c", code, *names], seconds=60).stdout)
        return found


def ensure() -> Environment:
    """Return the environment, made from the hashed requirements if there is none or they have changed.

    Raises:
        CommandFailed: The package index cannot be reached, or a hash differs.
    """
    folder, requirements = CHECKOUT / FOLDER, CHECKOUT / REQUIREMENTS
    python, ready = folder / "bin" / "python", folder / "ready"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if not (ready.is_file() and ready.read_text() == digest):
        with progress.step(f"virtual environment {FOLDER} from {REQUIREMENTS}"):
            shutil.rmtree(folder, ignore_errors=True)
            run([sys.executable, "-m", "venv", folder], seconds=120)
            (folder / ".gitignore").write_text("*\n")
            pip: list[str | Path] = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
            run([*pip, "--require-hashes", "--requirement", requirements], seconds=600)
            ready.write_text(digest)
    return Environment(python)


@contextmanager
def apart(kind: Path, kubectl: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield a folder to work in and the variables under which programs of other people run.

    kind and kubectl are the given ones on PATH, and KUBECONFIG is a file of the folder: kind writes into the user's
    own otherwise. The folder is removed afterwards.
    """
    with tempfile.TemporaryDirectory(prefix="schedproof-bench-") as name:
        folder = Path(name)
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        (bin_folder / "kind").symlink_to(kind)
        (bin_folder / "kubectl").symlink_to(kubectl)
        yield (
            folder,
            {
                "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
                "KUBECONFIG": str(folder / "kubeconfig"),
                "KUBECACHEDIR": str(folder / "kubectl-cache"),
                "KIND_EXPERIMENTAL_PROVIDER": "docker",
                "PYTHONPATH": "",
                "PYTEST_ADDOPTS": "",
            },
        )
