"""The configuration that kind reads: the file of manifests/kind/ with this machine's paths filled in, as data."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import yaml

from schedproof import folders
from schedproof.data import manifests
from schedproof.errors import UsageError

FILES = {1: "one-node.yaml", 3: "three-nodes.yaml"}

PLACE = "AUDIT_POLICY_FOLDER"
"""Stands in the files for the folder that holds the audit policy on this machine."""

AUDIT_LOG = "/var/log/kubernetes/audit.log"
"""The API server's audit log inside each control-plane node; root's, mode 0600."""


def digest(nodes: int) -> str:
    """Return a short hash of everything that shapes a cluster besides its node image; comments do not."""
    files = (manifests("kind", FILES[nodes]), manifests("audit", "policy.yaml"))
    data = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]


def write(folder: Path, nodes: int) -> Path:
    """Write kind's configuration and the audit policy into a cluster's folder; return the configuration's path.

    Raises:
        UsageError: The path cannot be mounted into a container.
    """
    if ":" in str(folder):
        raise UsageError(
            "the state folder's path has no colon: docker separates the parts of a mount by it",
            seen=str(folder),
            cure="choose another place with SCHEDPROOF_STATE",
        )
    policy = folder / "audit" / "policy.yaml"
    with folders.whole_file(policy) as part:
        shutil.copyfile(manifests("audit", "policy.yaml"), part)
    config: dict[str, Any] = yaml.safe_load(manifests("kind", FILES[nodes]).read_text(encoding="utf-8"))
    for node in config["nodes"]:
        for mount in node.get("extraMounts", []):
            if mount["hostPath"] == PLACE:
                mount["hostPath"] = str(policy.parent)
    return folders.write_text(folder / "kind.yaml", yaml.safe_dump(config, sort_keys=False))
