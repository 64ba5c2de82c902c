"""Tasks: a request about one has no handler; whoever keeps the tasks has the answer, and it is an ending already."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Ending


def prepare(call: Call, image: Image) -> Call:
    """Return the call itself."""
    return call


def conclude(call: Call, ending: Ending) -> Ending:
    """Return the answer itself."""
    return ending
