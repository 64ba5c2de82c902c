"""A tool or a prompt whose answer was known when the server was built; no arguments change it, and nothing is run.

Clients are answered at once (`mcpc_runtime.protocol.known`); this is for the other tools of a server, which call it as
they would any other.
"""

from __future__ import annotations

from mcpc_runtime.protocol.effects import Outcome, PromptOutcome
from mcpc_runtime.protocol.jsonrpc import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Ending
    from mcpc_runtime.protocol.jsonrpc import Json


def prepare(call: Call, image: Image) -> list[Json]:
    """Return what is said, in its richest form."""
    _, offset, length = call.definition.handler[1]
    found = parse(image.read(offset, length))
    return found if type(found) is list else []


def conclude(call: Call, result: list[Json]) -> Ending:
    """Return it as an answer."""
    return PromptOutcome(result) if call.is_prompt else Outcome(result)
