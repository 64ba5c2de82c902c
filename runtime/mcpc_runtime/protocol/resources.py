"""Reading resources: what is known since the build is answered at once, files and handlers are called.

A uri that could never be served is an invalid parameter in every revision; one that nobody has is what its revision
says: -32002 in the handshake era, an invalid parameter in the stateless one.  A result is never empty in its place.
"""

from __future__ import annotations

from mcpc_runtime.lazy import resolve
from mcpc_runtime.protocol.effects import Call, Failure
from mcpc_runtime.protocol.facts import INVALID_PARAMS, RESOURCE_NOT_FOUND
from mcpc_runtime.protocol.matching import LONGEST, complaint, file_complaint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mcpc_runtime.protocol.effects import Request, ResourceOutcome
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.ports import Definition, Image
    from mcpc_runtime.protocol.session_state import SessionState

PUBLIC, PRIVATE = b'"cacheScope":"public"', b'"cacheScope":"private"'
PATH = "path"
"""The argument of a call that reads a file."""
FORMAT = "mcp_bash"
BY_NAME = {FORMAT: "mcpc_runtime.contracts.mcp_bash_resource:named"}
"""By the format in which a client may name a resource instead: what finds it then."""
MISSING = "Invalid params: `uri` must be a string"
UNLISTED = {FORMAT: "mcpc_runtime.contracts.mcp_bash_resource:unlisted"}
"""By what the index says of a format: what finds resources that nobody listed."""


def read(session: SessionState, request: Request) -> bytes | Failure | Call:
    """Return the contents of the resource that the request names, or what has them."""
    found = find(session.image, request)
    if isinstance(found, Failure):
        return found
    definition, arguments = found
    if definition.contract != "static":
        return Call(request, definition, arguments)
    contents = session.image.read(*definition.handler)
    end = request.wire.cache
    return b'{"contents":%b%b}' % (contents, end.replace(PUBLIC, PRIVATE) if session.principal else end)


def find(image: Image, request: Request) -> tuple[Definition, dict[str, Json]] | Failure:
    """Return the resource that a request names, and the arguments its handler is called with."""
    uri = request.params.get("uri")
    if uri is None and FORMAT in image.index:
        uri = resolve(BY_NAME[FORMAT])(request)
        if uri is None:
            return Failure(*image.refusals.get("resource_uri_missing", (INVALID_PARAMS, MISSING)))
    try:
        found = locate(image, uri)
    except ValueError as problem:
        return Failure(INVALID_PARAMS, f"Invalid params: `uri` {problem}", told(uri))
    return found or unknown(request)


def locate(image: Image, uri: Json) -> tuple[Definition, dict[str, Json]] | None:
    """Return the resource of a uri and the arguments for its handler; raise ValueError for what is no uri to serve."""
    if type(uri) is not str or len(uri) > LONGEST:
        raise ValueError(f"must be a string of at most {LONGEST} characters")
    exact = image.resource(uri)
    if exact is not None:
        return exact, {PATH: exact.handler[1]} if exact.contract == "file" else {}
    problem = complaint(uri)
    if problem:
        raise ValueError(problem)
    found = image.template(uri) or unlisted(image, uri)
    if found is None or found[0].contract != "file":
        return found
    definition, variables = found
    value = variables.get(definition.handler[1])
    path = "/".join(map(str, value)) if type(value) is list else str(value or "")
    problem = file_complaint(uri, path)
    if problem:
        raise ValueError(problem)
    return definition, {PATH: path}


def unlisted(image: Image, uri: str) -> tuple[Definition, dict[str, Json]] | None:
    """Return what reads a uri although nobody listed it, None if nothing does."""
    rows = [row for format_name, row in UNLISTED.items() if format_name in image.index]
    found: Iterator[Any] = (resolve(row)(image, uri) for row in rows)
    return next(filter(None, found), None)


def unknown(request: Request) -> Failure:
    """Return the refusal of a uri that nobody has."""
    uri = request.params.get("uri")
    code = INVALID_PARAMS if request.wire.stateless else RESOURCE_NOT_FOUND
    code, words = request.session.image.refusals.get("resource_unknown", (code, "Resource not found: {name}"))
    if request.wire.stateless and code == RESOURCE_NOT_FOUND:
        code = INVALID_PARAMS  # the code that a dialect says is one that the stateless era has no more
    return Failure(code, words.replace("{name}", str(uri)), told(uri))


def told(uri: Json) -> Json:
    """Return what an error says of the uri it is about; what is none is not said again."""
    return {"uri": uri} if type(uri) is str and len(uri) <= LONGEST else None


def finish(call: Call, outcome: ResourceOutcome) -> bytes:
    """Return the contents that a handler gave, which hold for whoever asked, and for now."""
    wire = call.request.wire
    result: dict[str, Json] = {"contents": outcome.contents}
    if wire.stateless:
        result.update(ttlMs=0, cacheScope="private")
    return wire.seal(result, outcome.meta)
