"""The contract of mcp-bash completions: a script gets what was typed, and prints a list, or a page of one.

    ["a", "b"]        {"suggestions": ["a", "b"], "hasMore": true, "next": 2}

The number of values and the first one are extensions: only requests that use them get a cursor of the next page.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from json import dumps

from mcpc_runtime.handlers.invocations import Command, ProcessResult
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.definitions import Definition
from mcpc_runtime.protocol.effects import Call, CompletionOutcome, Ending, Failure, FinishedResult
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, encode, parse
from mcpc_runtime.protocol.requests import Request
from mcpc_runtime.systems.mcp_bash.providers import environment as provider_environment
from mcpc_runtime.systems.mcp_bash.settings import settings_of

CONTRACT = "mcp_bash_completion"
DEFAULT_VALUES, MAX_VALUES = 5, 100
BAD_CURSOR = "Invalid cursor"
FAILED, BROKEN = "Completion provider failed", "Completion provider emitted invalid JSON"
MAX_ERROR_LENGTH = 2000
MAX_CURSOR_LENGTH = 1024
MAX_OFFSET = 1 << 31
PATH_VARIABLES = {
    "MCP_PROMPT_REL_PATH": ("MCP_PROMPT_PATH", "prompts"),
    "MCP_RESOURCE_REL_PATH": ("MCP_RESOURCE_PATH", "resources"),
}
"""Variables with relative paths: the variable with the absolute path, and its base folder."""


def limit(call: Call) -> float:
    """Return the timeout of the script in seconds."""
    return float(call.definition.handler[1] or call.definition.seconds)


def build_invocation(call: Call, image: Image) -> Command:
    """Return the command of the script, with its environment."""
    file, _, name, *more = call.definition.handler
    folder = provider_environment.project_folder(image)
    start = parse_offset(call.request, name)
    typed = completion_input(call)
    # Sorted and without blanks, so that equal input has one hash.
    normalized = dumps(typed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    variables = {
        "MCP_COMPLETION_NAME": name,
        "MCP_COMPLETION_ARGS_JSON": encode(typed).decode(),
        "MCP_COMPLETION_LIMIT": str(requested_count(call.request)),
        "MCP_COMPLETION_OFFSET": str(max(start, 0)),
        "MCP_COMPLETION_ARGS_HASH": sha256(normalized.encode("utf-8", "surrogatepass")).hexdigest(),
    }
    script = provider_environment.script_start(f"{folder}/{file}")
    for variable, value in more[0] if more else ():
        variables[variable] = value
        other, below = PATH_VARIABLES.get(variable, ("", ""))
        if other:
            variables[other] = value and script.write_path(f"{folder}/{below}/{value}")
    command = Command(script.argv, 0, {})
    environment = provider_environment.build_environment(
        image, "", {name: value.replace("\0", "") for name, value in variables.items()}, script.write_path
    )
    json_tool = provider_environment.json_tool_variables(image, environment.get(b"PATH", b""), script.write_path)
    command.exact = {**environment, **json_tool}
    command.stdin = b""
    command.directory = folder
    command.refusal = BAD_CURSOR if start < 0 else ""
    return command


def completion_input(call: Call) -> Json:
    """Return the client's input in the script's format."""
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


def requested_count(request: Request) -> int:
    """Return the requested number of values."""
    count = request.params.get("limit")
    return min(count, MAX_VALUES) if type(count) is int and count > 0 else DEFAULT_VALUES


def parse_offset(request: Request, name: str) -> int:
    """Return the index of the first requested value, -1 for an invalid cursor."""
    cursor = request.params.get("cursor")
    if cursor is None or cursor == "":
        return 0
    if type(cursor) is not str or len(cursor) > MAX_CURSOR_LENGTH or not cursor.isascii():
        return -1
    try:
        # The padding that `encode_cursor` has removed is added again.
        value = parse(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ParseError, ValueError):
        return -1
    start = value.get("offset") if type(value) is dict and value.get("name") == name else None
    return start if type(start) is int and 0 <= start < MAX_OFFSET else -1


def encode_cursor(name: str, start: int) -> str:
    """Return the cursor of the page that begins at `start`."""
    encoded: bytes = urlsafe_b64encode(encode({"name": name, "offset": start}))
    return encoded.decode().rstrip("=")


def parse_result(call: Call, completed: ProcessResult) -> Ending:
    """Return the requested number of values, or an error."""
    if completed.problem == BAD_CURSOR:
        return Failure(INVALID_PARAMS, BAD_CURSOR)
    errors = str(completed.errors, "utf-8", "replace").strip()[:MAX_ERROR_LENGTH]
    if completed.problem or completed.status:
        return Failure(INTERNAL_ERROR, completed.problem or errors or FAILED)
    if completed.dropped:
        return Failure(INTERNAL_ERROR, BROKEN)
    page = parse_page(completed.printed)
    if page is None:
        return Failure(INTERNAL_ERROR, BROKEN)
    values, has_more, following = page
    name = call.definition.handler[2]
    outcome = completion_result(call.request, name, values, has_more, following)
    outcome.log = errors
    return outcome


def parse_page(printed: bytes) -> tuple[list[Json], bool, Json] | None:
    """Return the printed values, whether there are more, and where those begin; None for an invalid output."""
    try:
        page = parse(printed)
    except ParseError:
        page = None  # as in the original: output that is not JSON has no values
    if type(page) is dict:
        values, has_more, following = page.get("suggestions") or [], page.get("hasMore") is True, page.get("next")
        has_more = has_more or bool(page.get("nextCursor") or page.get("cursor"))
    else:
        values, has_more, following = [] if page is None else page, False, None
    if type(values) is not list or not all(type(value) is str for value in values):
        return None
    return values, has_more, following


def completion_result(
    request: Request, name: str, values: list[Json], has_more: bool, following: Json
) -> FinishedResult:
    """Return values as a result, with the total number only if it is known."""
    start, count = parse_offset(request, name), requested_count(request)
    returned = values[:count]
    more = has_more or len(values) > count
    completion: dict[str, Json] = {"values": returned, "hasMore": more}
    if not has_more and not start:
        completion["total"] = len(values)
    is_paged = "limit" in request.params or "cursor" in request.params
    if more and (is_paged or settings_of(request.session.image).in_dialect):
        # A page that does not advance would be requested for ever.
        after = following if type(following) is int and following > start else start + len(returned)
        completion["nextCursor"] = encode_cursor(name, after)
    return FinishedResult({"completion": completion})


def complete_unknown(request: Request, name: str, value: str, context: dict[str, Json]) -> CompletionOutcome | Call:
    """Complete an argument without a completion: with a script that was registered for it, or with no values.

    The original server invents three values, which its dialect does, too.
    """
    image = request.session.image
    script = settings_of(image).built.get("completions", {}).get(name)
    if script is not None:
        file, seconds, variables, name = script
        record = (CONTRACT, (file, seconds, name, variables), (), None, None, None, None)
        return Call(request, Definition(image, name, record), {"value": value, "arguments": context})
    if not settings_of(image).in_dialect:
        return CompletionOutcome([])
    word = value.strip() or name.strip() or "suggestion"
    suggestions = [word, f"{word} snippet", f"{word} example"]
    start = max(parse_offset(request, name), 0)
    values = suggestions[start : start + requested_count(request)]
    return CompletionOutcome(values, None, start + len(values) < len(suggestions))
