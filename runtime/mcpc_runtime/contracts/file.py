"""Files below a folder of the machine that serves: what one has is the contents, as text if its type says so."""

from __future__ import annotations

from mcpc_runtime.commands import Reading
from mcpc_runtime.contents import contents_of
from mcpc_runtime.protocol.effects import Failure, ResourceOutcome
from mcpc_runtime.protocol.facts import INTERNAL_ERROR
from mcpc_runtime.protocol.media import media_type
from mcpc_runtime.protocol.resources import PATH, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.commands import Found
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Ending


def prepare(call: Call, image: Image) -> Reading:
    """Return the file to read."""
    return Reading(call.definition.handler[0], str(call.arguments[PATH]))


def conclude(call: Call, found: Found) -> Ending:
    """Return the contents, or why there are none; that a file is refused looks to a client as if there were none."""
    if found.missing:
        failure = unknown(call.request)
        if found.problem:
            failure.log = f"{call.definition.name}: {call.arguments[PATH]!r} was not read: {found.problem}"
        return failure
    uri = str(call.request.params["uri"])
    if found.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: {uri}: {found.problem}")
    mime = call.definition.mime or media_type(str(call.arguments[PATH]), found.data)
    return ResourceOutcome([contents_of(uri, mime, found.data)])
