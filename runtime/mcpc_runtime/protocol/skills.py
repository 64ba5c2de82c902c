"""Skills: one entry by its URI, and the children of a folder; both are generated at build time."""

from __future__ import annotations

from mcpc_runtime.protocol.constants import INVALID_PARAMS
from mcpc_runtime.protocol.effects import Failure, SessionState
from mcpc_runtime.protocol.requests import Request


def get_skill(session: SessionState, request: Request) -> bytes | Failure:
    """Return the entry of the skill whose SKILL.md has the URI."""
    skill = look_up_uri(session, request, "skills")
    if isinstance(skill, Failure):
        return skill
    return b'{"skill":%b%b}' % (skill, request.wire.cache)


def read_directory(session: SessionState, request: Request) -> bytes | Failure:
    """Return the children of a folder; there is one page, so no cursor was ever issued."""
    if request.params.get("cursor") is not None:
        return Failure(INVALID_PARAMS, "Invalid params: unknown cursor")
    directory = look_up_uri(session, request, "directories")
    if isinstance(directory, Failure):
        return directory
    return b'{"resources":%b%b}' % (directory, request.wire.cache)


def look_up_uri(session: SessionState, request: Request, table: str) -> bytes | Failure:
    """Return the JSON that a table has for the request's URI."""
    uri = request.params.get("uri")
    if type(uri) is not str:
        return Failure(INVALID_PARAMS, "Invalid params: `uri` must be a string")
    value = session.image.table_value(table, uri)
    if value is not None:
        return value
    kind = "skill" if table == "skills" else "folder"
    return Failure(INVALID_PARAMS, f"Invalid params: unknown {kind} URI", {"uri": uri})
