"""Make the virtual environment of a checkout from the hashed requirements; needs nothing but Python itself."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

NEEDED = (3, 11)
CURE_VENV = "on Debian and Ubuntu: apt-get install python3-venv"


def main(folder: str) -> int:
    """Make the environment in ``folder``; return 0, or 3 (harness error) with a cure on standard error."""
    if sys.version_info < NEEDED:
        needed, this = ".".join(map(str, NEEDED)), sys.version.split()[0]
        return say(f"Python {needed} or newer is needed; this is {this}. Name one: make PYTHON=python3.12")
    if not has_venv():
        return say(f"this Python cannot make virtual environments (ensurepip is missing); {CURE_VENV}")
    began = time.monotonic()
    venv, python = Path(folder), Path(folder) / "bin" / "python"
    say(f"> virtual environment {venv} from requirements.txt (once)")
    # One that an interruption left half-made is not worth mending.
    shutil.rmtree(venv, ignore_errors=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    for argv in (
        [sys.executable, "-m", "venv", str(venv)],
        [*pip, "--require-hashes", "--requirement", "requirements.txt"],
        [*pip, "--no-deps", "--no-build-isolation", "--editable", "."],
    ):
        code = subprocess.run(argv, check=False).returncode
        if code != 0:
            return say(f"`{' '.join(argv)}` ended with {code}; is the Python package index reachable?")
    (venv / "ready").touch()
    say(f"+ virtual environment ({time.monotonic() - began:.0f} s)")
    return 0


def has_venv() -> bool:
    """Debian splits ensurepip off; as root it is installed, as everything else that a bare machine lacks."""
    probe = [sys.executable, "-c", "import ensurepip, venv"]
    if subprocess.run(probe, check=False, stderr=subprocess.DEVNULL).returncode == 0:
        return True
    forbidden = os.environ.get("BOOTSTRAP") == "0" or os.environ.get("PLAN") == "1"
    if forbidden or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    say("> python3-venv is missing: apt-get install python3-venv (BOOTSTRAP=0 forbids it)")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for argv in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "python3-venv"],
    ):
        subprocess.run(argv, check=False, env=quiet)
    return subprocess.run(probe, check=False).returncode == 0


def say(text: str) -> int:
    """Print a line on standard error and return the exit code of a harness error."""
    print(text, file=sys.stderr)  # noqa: T201 - nothing of schedproof is installed yet
    return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
