"""What a signed state is for: one kind of state, of one server at one path; anywhere else it is not valid.

A server is known by its name and by the path of its endpoint, and not by the file that serves it: replicas, and the
builds of a rolling upgrade, go on with each other's state; another server that has the same keys does not.
"""

from __future__ import annotations

from mcpc_runtime.protocol.facts import SERVER_INFO_KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.protocol.ports import Image


def purpose(kind: str, image: Image) -> str:
    """Return the purpose that a kind of state is signed for."""
    return f"{kind} {image.endpoint} {image.result_meta[SERVER_INFO_KEY]['name']}"
