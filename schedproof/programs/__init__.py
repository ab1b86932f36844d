"""Programs from PATH, cache, release pages or Go modules: one table says in which order.

``ensure(names, version, settings)`` is the front door; ``versions(kubernetes, settings)`` says which version of what
goes with a Kubernetes version; ``build_own(folder, name)`` builds our own Go programs under the same rules.
"""

from schedproof.programs.gobuild import prune
from schedproof.programs.kubeadm import companions, images, versions
from schedproof.programs.own import build_own
from schedproof.programs.search import ensure
from schedproof.programs.table import KIND, PROGRAMS

__all__ = ["PROGRAMS", "build_own", "companions", "ensure", "images", "kind_version", "prune", "versions"]


def kind_version() -> str:
    """Return the version of kind that schedproof is made for."""
    return KIND.pinned
