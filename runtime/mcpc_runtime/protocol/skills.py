"""Skills: one entry by its uri, and the children of a folder; both were written when the server was built."""

from __future__ import annotations

from mcpc_runtime.protocol.effects import Failure
from mcpc_runtime.protocol.facts import INVALID_PARAMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.protocol.effects import Request
    from mcpc_runtime.protocol.session_state import SessionState


def get(session: SessionState, request: Request) -> bytes | Failure:
    """Return the entry of the skill whose SKILL.md has the uri."""
    found = look_up(session, request, "skills")
    if isinstance(found, Failure):
        return found
    return b'{"skill":%b%b}' % (found, request.wire.cache)


def read_directory(session: SessionState, request: Request) -> bytes | Failure:
    """Return the children of a folder; there is one page, so no cursor was ever given out."""
    if request.params.get("cursor") is not None:
        return Failure(INVALID_PARAMS, "Invalid params: unknown cursor")
    found = look_up(session, request, "directories")
    if isinstance(found, Failure):
        return found
    return b'{"resources":%b%b}' % (found, request.wire.cache)


def look_up(session: SessionState, request: Request, table: str) -> bytes | Failure:
    """Return what the table has for the request's uri, as JSON."""
    uri = request.params.get("uri")
    if type(uri) is not str:
        return Failure(INVALID_PARAMS, "Invalid params: `uri` must be a string")
    found = session.image.value(table, uri)
    if found is not None:
        return found
    kind = "skill" if table == "skills" else "folder"
    return Failure(INVALID_PARAMS, f"Invalid params: no {kind} has this uri", {"uri": uri})
