"""Whether a scheduler runs the image that was pushed, and not one of the same name that a node had already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedproof.errors import ClaimFailed

if TYPE_CHECKING:
    from schedproof.api import Object
    from schedproof.delivery.registry import Pushed
    from schedproof.shapes.in_pods import InPods


def assert_pulled(scheduler: InPods, pushed: Pushed) -> None:
    """Assert that each Pod of a scheduler runs exactly the image that was pushed (case I3).

    Raises:
        ClaimFailed: A Pod runs another one.
    """
    running = {pod["metadata"]["name"]: _image_ids(pod) for pod in scheduler.pods()}
    others = {name: ids for name, ids in running.items() if not any(one.endswith(pushed.digest) for one in ids)}
    if others or not running:
        raise ClaimFailed(
            f"{scheduler.title} runs the image that was pushed: {pushed.name}, {pushed.digest}",
            seen="\n".join(f"Pod {name} runs {', '.join(ids)}" for name, ids in others.items()) or "it has no Pod",
            scheduler=scheduler.state(),
            cause="its manifest names another image, or the tag was moved after it was pushed",
        )


def _image_ids(pod: Object) -> list[str]:
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return [str(status.get("imageID") or "no image") for status in statuses]
