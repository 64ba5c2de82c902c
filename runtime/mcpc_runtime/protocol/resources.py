"""Reading resources: static contents are returned at once, files and handlers are called.

A URI that could never be served is an invalid parameter in every revision. A URI without a resource has the error code
of its revision: -32002 in the handshake era, invalid parameter in the stateless era. It never has an empty result.
"""

from __future__ import annotations

from collections.abc import Iterator

from mcpc_runtime.lazy import resolve
from mcpc_runtime.protocol.constants import INVALID_PARAMS, RESOURCE_NOT_FOUND
from mcpc_runtime.protocol.definitions import Definition
from mcpc_runtime.protocol.effects import Call, Failure, ResourceOutcome, SessionState
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.requests import Request
from mcpc_runtime.protocol.uri_matching import MAX_URI_LENGTH, file_path_problem, uri_problem

PUBLIC, PRIVATE = b'"cacheScope":"public"', b'"cacheScope":"private"'
PATH = "path"
"""The argument of a call that reads a file."""
MISSING = "Invalid params: `uri` must be a string"


def read_resource(session: SessionState, request: Request) -> bytes | Failure | Call:
    """Return the contents of the resource that the request names, or the call that reads them."""
    kept_results = session.image.kept_results
    if (
        kept_results is not None
        and (contents := kept_results.read(session.conversation, request.params.get("uri"))) is not None
    ):
        return b'{"contents":%b%b}' % (contents, request.wire.cache.replace(PUBLIC, PRIVATE))
    resource = find_resource(session.image, request)
    if isinstance(resource, Failure):
        return resource
    definition, arguments = resource
    if definition.contract != "static":
        return Call(request, definition, arguments)
    contents = session.image.read(*definition.handler)
    # Where principals are told apart, a shared cache must not answer in place of the server.
    end = request.wire.cache
    return b'{"contents":%b%b}' % (contents, end.replace(PUBLIC, PRIVATE) if session.principal else end)


def find_resource(image: Image, request: Request) -> tuple[Definition, dict[str, Json]] | Failure:
    """Return the resource that a request names, and the arguments for its handler."""
    uri = request.params.get("uri")
    if uri is None and (rows := image.hooks("name_resource")):
        uri = next((uri for row in rows if (uri := resolve(row)(request)) is not None), None)
        if uri is None:
            return Failure(*image.refusals.get("resource_uri_missing", (INVALID_PARAMS, MISSING)))
    try:
        resource = locate_uri(image, uri)
    except ValueError as problem:
        return Failure(INVALID_PARAMS, f"Invalid params: `uri` {problem}", error_data(uri))
    return resource or unknown_resource(request)


def locate_uri(image: Image, uri: Json) -> tuple[Definition, dict[str, Json]] | None:
    """Return the resource of a URI and the arguments for its handler; raise ValueError for an invalid URI."""
    if type(uri) is not str or len(uri) > MAX_URI_LENGTH:
        raise ValueError(f"must be a string of at most {MAX_URI_LENGTH} characters")
    exact = image.resource(uri)
    if exact is not None:
        return exact, {PATH: exact.handler[1]} if exact.contract == "file" else {}
    # A declared URI is served as it is spelled; one that a template takes apart has to be harmless.
    problem = uri_problem(uri)
    if problem:
        raise ValueError(problem)
    match = image.template(uri) or find_unlisted_resource(image, uri)
    if match is None or match[0].contract != "file":
        return match
    definition, variables = match
    value = variables.get(definition.handler[1])
    path = "/".join(map(str, value)) if type(value) is list else str(value or "")
    problem = file_path_problem(uri, path)
    if problem:
        raise ValueError(problem)
    return definition, {PATH: path}


def find_unlisted_resource(image: Image, uri: str) -> tuple[Definition, dict[str, Json]] | None:
    """Return the resource of a URI that is in no list, from the `find_resource` hooks; None if there is none."""
    matches: Iterator[tuple[Definition, dict[str, Json]] | None] = (
        resolve(row)(image, uri) for row in image.hooks("find_resource")
    )
    return next(filter(None, matches), None)


def unknown_resource(request: Request) -> Failure:
    """Return the error for a URI that no resource has."""
    uri = request.params.get("uri")
    code = INVALID_PARAMS if request.wire.stateless else RESOURCE_NOT_FOUND
    code, template = request.session.image.refusals.get("resource_unknown", (code, "Resource not found: {name}"))
    if request.wire.stateless and code == RESOURCE_NOT_FOUND:
        code = INVALID_PARAMS  # the stateless era does not have this code of a dialect
    return Failure(code, template.replace("{name}", str(uri)), error_data(uri))


def error_data(uri: Json) -> Json:
    """Return the data of an error about a URI; None if it is not a valid string, so that it is not repeated."""
    return {"uri": uri} if type(uri) is str and len(uri) <= MAX_URI_LENGTH else None


def finish_resource(call: Call, outcome: ResourceOutcome) -> bytes:
    """Return the contents that a handler returned; they are valid for this client only, and only now."""
    wire = call.request.wire
    result: dict[str, Json] = {"contents": outcome.contents}
    if wire.stateless:
        result.update(ttlMs=0, cacheScope="private")
    return wire.seal(result, outcome.meta)
