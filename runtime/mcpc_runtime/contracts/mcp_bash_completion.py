"""A completion of mcp-bash: a script that is told what was typed, and prints a list, or a page of one.

    ["a", "b"]        {"suggestions": ["a", "b"], "hasMore": true, "next": 2}

How many values a client wants, and from which on, are extensions: only who uses one is told where the next page begins.
"""

from __future__ import annotations

from hashlib import sha256

from mcpc_runtime.commands import Command
from mcpc_runtime.image import Definition
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import Call, CompletionOutcome, Failure, Ready
from mcpc_runtime.protocol.facts import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.jsonrpc import ParseError, encode, parse
from mcpc_runtime.providers import surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from base64 import urlsafe_b64decode, urlsafe_b64encode
    from json import dumps

    from mcpc_runtime.commands import Completed
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Ending, Request
    from mcpc_runtime.protocol.jsonrpc import Json
else:
    dumps = lazy("json:dumps")
    urlsafe_b64decode = lazy("base64:urlsafe_b64decode")
    urlsafe_b64encode = lazy("base64:urlsafe_b64encode")

CONTRACT = "mcp_bash_completion"
USUAL, MOST = 5, 100
BAD_CURSOR = "Invalid cursor"
FAILED, BROKEN = "Completion provider failed", "Completion provider emitted invalid JSON"
LONGEST_WORDS = 2000
LONGEST_CURSOR = 1024
LATEST = 1 << 31
TO_BASE64, FROM_BASE64 = "base64:urlsafe_b64encode", "base64:urlsafe_b64decode"
FOLDERS = {
    "MCP_PROMPT_REL_PATH": ("MCP_PROMPT_PATH", "prompts"),
    "MCP_RESOURCE_REL_PATH": ("MCP_RESOURCE_PATH", "resources"),
}
"""A path that a script is told twice: the other variable, and the folder where it begins."""


def limit(call: Call) -> float:
    """Return how long the script may take."""
    return float(call.definition.handler[1] or call.definition.seconds)


def prepare(call: Call, image: Image) -> Command:
    """Return the script, with what it is told."""
    file, _, name, *more = call.definition.handler
    folder = surroundings.home(image)
    start = offset(call.request, name)
    given = typed(call)
    normal = dumps(given, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    told = {
        "MCP_COMPLETION_NAME": name,
        "MCP_COMPLETION_ARGS_JSON": encode(given).decode(),
        "MCP_COMPLETION_LIMIT": str(wished(call.request)),
        "MCP_COMPLETION_OFFSET": str(max(start, 0)),
        "MCP_COMPLETION_ARGS_HASH": sha256(normal.encode("utf-8", "surrogatepass")).hexdigest(),
    }
    for variable, value in more[0] if more else ():
        other, below = FOLDERS.get(variable, ("", ""))
        told.update({variable: value, other: value and f"{folder}/{below}/{value}"} if other else {variable: value})
    command = Command(surroundings.words(f"{folder}/{file}"), 0, {})
    found = surroundings.curated(image, "", {name: value.replace("\0", "") for name, value in told.items()})
    command.exact = {**found, **surroundings.json_tool(image, found[b"PATH"])}
    command.told = b""
    command.directory = folder
    command.refusal = BAD_CURSOR if start < 0 else ""
    return command


def typed(call: Call) -> Json:
    """Return what the client said, as the script reads it."""
    argument, ref = call.request.params["argument"], call.request.params["ref"]
    value = call.arguments["value"]
    name = argument.get("name") if type(argument) is dict else ""
    return {
        "query": value,
        "prefix": value,
        "argument": {"name": name, "value": value},
        "context": {"arguments": call.arguments["arguments"]},
        "ref": ref,
    }


def wished(request: Request) -> int:
    """Return how many values the client wants."""
    wish = request.params.get("limit")
    return min(wish, MOST) if type(wish) is int and wish > 0 else USUAL


def offset(request: Request, name: str) -> int:
    """Return from which value on the client wants them, -1 for a cursor that was never given out."""
    cursor = request.params.get("cursor")
    if cursor is None or cursor == "":
        return 0
    if type(cursor) is not str or len(cursor) > LONGEST_CURSOR or not cursor.isascii():
        return -1
    try:
        said = parse(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ParseError, ValueError):
        return -1
    start = said.get("offset") if type(said) is dict and said.get("name") == name else None
    return start if type(start) is int and 0 <= start < LATEST else -1


def cursor_of(name: str, start: int) -> str:
    """Return the cursor of a page."""
    encoded: bytes = urlsafe_b64encode(encode({"name": name, "offset": start}))
    return encoded.decode().rstrip("=")


def conclude(call: Call, completed: Completed) -> Ending:
    """Return the values, as many as the client wants."""
    if completed.problem == BAD_CURSOR:
        return Failure(INVALID_PARAMS, BAD_CURSOR)
    words = str(completed.errors, "utf-8", "replace").strip()[:LONGEST_WORDS]
    if completed.problem or completed.status:
        return Failure(INTERNAL_ERROR, completed.problem or words or FAILED)
    if completed.dropped:
        return Failure(INTERNAL_ERROR, BROKEN)
    page = page_of(completed.printed)
    if page is None:
        return Failure(INTERNAL_ERROR, BROKEN)
    values, has_more, following = page
    name = call.definition.handler[2]
    outcome = shown(call.request, name, values, has_more, following)
    outcome.log = words
    return outcome


def page_of(printed: bytes) -> tuple[list[Json], bool, Json] | None:
    """Return the values that were printed, whether there are more, and where those begin; None for what are none."""
    try:
        said = parse(printed)
    except ParseError:
        said = None  # as the original: what is no JSON has no values
    if type(said) is dict:
        values, has_more, following = said.get("suggestions") or [], said.get("hasMore") is True, said.get("next")
        has_more = has_more or bool(said.get("nextCursor") or said.get("cursor"))
    else:
        values, has_more, following = [] if said is None else said, False, None
    is_right = type(values) is list and all(type(value) is str for value in values)
    return (values, has_more, following) if is_right else None  # type: ignore[return-value]


def shown(request: Request, name: str, values: list[Json], has_more: bool, following: Json) -> Ready:
    """Return values as a result; how many there are in all is said only if that is known."""
    start, wish = offset(request, name), wished(request)
    kept = values[:wish]
    more = has_more or len(values) > wish
    said: dict[str, Json] = {"values": kept, "hasMore": more}
    if not has_more and not start:
        said["total"] = len(values)
    is_asked = "limit" in request.params or "cursor" in request.params
    if more and (is_asked or surroundings.in_dialect(request.session.image)):
        after = following if type(following) is int and following > start else start + len(kept)
        said["nextCursor"] = cursor_of(name, after)
    return Ready({"completion": said})


def otherwise(request: Request, name: str, value: str, context: dict[str, Json]) -> CompletionOutcome | Call:
    """Return what completes something that no definition does: a script that was registered for it, or nothing.

    The original makes three values up for it.
    """
    image = request.session.image
    script = surroundings.built(image).get("completions", {}).get(name)
    if script is not None:
        file, seconds, told, name = script
        record = (CONTRACT, (file, seconds, name, told), (), None, None, None, None)
        return Call(request, Definition(image, name, record), {"value": value, "arguments": context})
    if not surroundings.in_dialect(image):
        return CompletionOutcome([])
    said = value.strip() or name.strip() or "suggestion"
    made = [said, f"{said} snippet", f"{said} example"]
    start = max(offset(request, name), 0)
    values = made[start : start + wished(request)]
    return CompletionOutcome(values, None, start + len(values) < len(made))
