"""The commands that send a server one request as a client would, and print its result.

Parse the arguments of a tool from a command line (`NAME=VALUE`), by the schema of the tool.

| the schema of the argument allows | VALUE is |
|---|---|
| strings only | that string, unchanged: `5` is "5" |
| no strings | JSON |
| strings and others | JSON if its type is allowed (also a string in quotes), else that string |
| anything, or the argument is unknown | JSON if valid, else that string |

Invalid values are left to the validator, which rejects them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout

from mcpc_runtime.protocol.constants import (
    CAPABILITIES_KEY,
    LOG_LEVEL_KEY,
    MAX_MESSAGE_BYTES,
    METHOD_NOT_FOUND,
    VERSION_KEY,
)
from mcpc_runtime.protocol.image import Image, StoredPage
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server.stdio_driver import StdioDriver
from mcpc_runtime.tools.cli import printing as console_text
from mcpc_runtime.tools.cli.artifact_info import Object, list_all, operation_entries
from mcpc_runtime.tools.cli.dry_run import dry_run
from mcpc_runtime.tools.cli.printing import (
    SUCCESS,
    TOOL_ERROR,
    UsageError,
    origin,
    printable,
    put_contents,
    put_json,
    put_messages,
    put_notification,
    put_tool_result,
    put_values,
    suggestion,
    terminal_text,
    wants_json,
)
from mcpc_runtime.transports.platforms.pipes import incoming


def call_tool(image: Image, archive: str, arguments: list[str]) -> int:
    """Call a tool as a client would, and print its result."""
    tools = [*list_all(image, "tools", ask_program), *operation_entries(image)]
    if not arguments:
        raise UsageError(console_text.TOOL_MISSING + some_names([tool["name"] for tool in tools]))
    is_dry = DRY_RUN in arguments
    arguments = [word for word in arguments if word != DRY_RUN]
    schema: Object = next((tool["inputSchema"] for tool in tools if tool["name"] == arguments[0]), {})
    params = {"name": arguments[0], "arguments": tool_arguments(arguments[1:], schema)}
    if is_dry:
        reply = dry_run(image, request_line(image, "tools/call", params))
    else:
        reply = SingleRequestChannel(image).ask("tools/call", params)
    result = result_of_reply(reply, archive, "tools/call", params, [tool["name"] for tool in tools])
    if result is None:
        return TOOL_ERROR
    put_tool_result(result)
    return TOOL_ERROR if result.get("isError") else SUCCESS


def tool_arguments(arguments: list[str], schema: Object) -> Object:
    """Return the arguments of a command line, by a schema."""
    if arguments[:1] == ["--json"]:
        if len(arguments) != 2:
            raise UsageError(console_text.JSON_MISSING)
        return parse_json_object(sys.stdin.read() if arguments[1] == "-" else arguments[1])
    return parse_arguments(arguments, schema)


def parse_json_object(text: str) -> Object:
    """Return the object that `text` is."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise UsageError(console_text.TOO_DEEP) from None
    except ValueError as problem:
        raise UsageError(console_text.NOT_JSON.format(problem=problem)) from None
    if not isinstance(value, dict):
        raise UsageError(console_text.NOT_AN_OBJECT)
    return value


def read_resource(image: Image, archive: str, arguments: list[str]) -> int:
    """Read a resource as a client would, and print its contents."""
    uris = [item["uri"] for item in list_all(image, "resources", ask_program)]
    if not arguments:
        raise UsageError(console_text.URI_MISSING + some_names(uris))
    as_json = wants_json(arguments[1:])
    result = request_result(image, archive, "resources/read", {"uri": arguments[0]}, uris)
    return print_result(result, put_json if as_json else put_contents)


def get_prompt(image: Image, archive: str, arguments: list[str]) -> int:
    """Get a prompt as a client would, and print its messages; its arguments are strings."""
    prompts = {item["name"]: item for item in list_all(image, "prompts", ask_program)}
    if not arguments:
        raise UsageError(console_text.PROMPT_MISSING + some_names([*prompts]))
    known = [argument["name"] for argument in prompts.get(arguments[0], {}).get("arguments", ())]
    params = {"name": arguments[0], "arguments": dict(split_arguments(arguments[1:], known))}
    return print_result(request_result(image, archive, "prompts/get", params, [*prompts]), put_messages)


def some_names(names: list[str]) -> str:
    """Return what a server offers, for a message that asks for the name of one."""
    if not names:
        return ""
    more = console_text.OTHERS.format(count=len(names) - MOST_NAMES) if len(names) > MOST_NAMES else ""
    return console_text.NAMES.format(names=printable(", ".join(names[:MOST_NAMES]))) + more


MOST_NAMES = 8


def complete(image: Image, archive: str, arguments: list[str]) -> int:
    """Print completions of a prompt argument or a template variable."""
    if len(arguments) not in (2, 3):
        raise UsageError(console_text.COMPLETION_MISSING)
    name, argument = arguments[:2]
    ref = {"type": "ref/resource", "uri": name} if ":" in name else {"type": "ref/prompt", "name": name}
    params = {"ref": ref, "argument": {"name": argument, "value": arguments[2] if arguments[2:] else ""}}
    return print_result(request_result(image, archive, "completion/complete", params, []), put_values)


def print_result(result: Object | None, printing: Callable[[Object], None]) -> int:
    """Print a result, if there is one; return the exit status."""
    if result is None:
        return TOOL_ERROR
    printing(result)
    return SUCCESS


def request_result(image: Image, archive: str, method: str, params: Object, names: list[str]) -> Object | None:
    """Return the result of a request, or print the error, with a suggestion from the `known` names."""
    return result_of_reply(SingleRequestChannel(image).ask(method, params), archive, method, params, names)


def result_of_reply(reply: Object, archive: str, method: str, params: Object, names: list[str]) -> Object | None:
    """Return the result of a reply, or print its error."""
    if "error" not in reply:
        return reply.get("result")
    if reply["error"]["code"] == METHOD_NOT_FOUND and method in UNOFFERED and not names:
        sys.stderr.write(console_text.OFFERS_NONE.format(kind=UNOFFERED[method]))
        return None
    requested = params.get("name") or params.get("uri")
    lists = f"mcpc inspect {origin.project}" if origin.project else f"{archive} list"
    hint = ""
    if requested is not None and names and requested not in names:
        hint = suggestion(requested, names) or console_text.LISTS_NAMES.format(command=lists)
    sys.stderr.write(terminal_text(f"error {reply['error']['code']}: {reply['error']['message']}{hint}\n", sys.stderr))
    return None


DRY_RUN = "--dry-run"
UNOFFERED = {
    "tools/call": "tools",
    "resources/read": "resources",
    "prompts/get": "prompts",
    "completion/complete": "completions",
}
"""What a server lacks that does not know a method."""


def ask_program(image: Image, method: str, params: Object) -> Object:
    """Return the reply to a request for a list that is made at run time; an error is printed."""
    arguments = {key: value for key, value in params.items() if key != "_meta"}
    reply = SingleRequestChannel(image).ask(method, arguments)
    if "error" in reply and reply["error"]["code"] != METHOD_NOT_FOUND:
        text = f"{method}: error {reply['error']['code']}: {reply['error']['message']}\n"
        sys.stderr.write(terminal_text(text, sys.stderr))
    return reply


def request_line(image: Image, method: str, params: Object) -> bytes:
    """Return the line of a request, which asks for progress and log messages."""
    envelope = {VERSION_KEY: image.stateless_versions[-1], CAPABILITIES_KEY: {}}
    meta = {**envelope, LOG_LEVEL_KEY: "debug", "progressToken": 1}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    return json.dumps(body).encode()


class SingleRequestChannel:
    """A channel that delivers one request and stores the reply."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._reply: Object = {}
        self._requests: list[bytes] = []
        self.ended = self.full = False
        self.unsent = self.bytes_written = 0
        self.descriptor = self.output = self._other_end = -1

    def ask(self, method: str, params: Object) -> Object:
        """Return the reply to a request; progress and log messages are printed as they come."""
        self._requests.append(request_line(self._image, method, params))
        self.descriptor, self._other_end = incoming()  # nothing is ever written to it
        with redirect_stdout(sys.stderr):  # what inline handlers print; the result is printed after it
            StdioDriver(self._image, Session(self._image), self, MAX_MESSAGE_BYTES).run()
        return self._reply

    def read(self) -> list[bytes]:
        """Return the request, once."""
        return [self._requests.pop()] if self._requests else []

    def watch_parent(self) -> int:
        """Return that the parent is not watched: the command ends with its reply."""
        return -1

    def write_later(self, page: StoredPage) -> None:
        """Store a reply that is read while it is written."""
        self.write(b"".join(page.pieces()))

    def write(self, data: bytes) -> None:
        """Store the reply, which ends the session, or print a notification."""
        message = json.loads(data)
        if "method" in message:
            put_notification(message)
        else:
            self._reply = message
            self.ended = True

    def flush(self) -> bool:
        """Return True: nothing is buffered."""
        return True


ALL_TYPES = frozenset({"null", "boolean", "object", "array", "number", "string"})
"""The types of JSON; integers are numbers here, since the validator distinguishes them."""
TYPES = {type(None): "null", bool: "boolean", dict: "object", list: "array", int: "number", float: "number"}
MAX_DEPTH = 8
"""The most nested schemas that are followed; deeper ones allow anything."""


class ArgumentValueError(Exception):
    """The arguments cannot be parsed; the message states why."""


def parse_arguments(words: Iterable[str], schema: Object) -> Object:
    """Return the arguments of a command line."""
    properties = schema.get("properties")
    properties = properties if type(properties) is dict else {}
    arguments: Object = {}
    for name, value in split_arguments(words, properties):
        arguments[name] = parse_value(value, allowed_types(properties.get(name, True), schema, MAX_DEPTH))
    return arguments


def split_arguments(words: Iterable[str], known: Iterable[str] = ()) -> Iterable[tuple[str, str]]:
    """Yield name and value of each argument; raise ArgumentValueError if one is not NAME=VALUE or a repeated name.

    `known`: names for a suggestion.
    """
    seen: set[str] = set()
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise ArgumentValueError(f"{word!r} is not NAME=VALUE{suggested(word, [*known], seen)}")
        if name in seen:
            raise ArgumentValueError(f"{name} is given twice; several values are one JSON array: {name}='[…, …]'")
        seen.add(name)
        yield name, value


def suggested(word: str, known: list[str], seen: set[str]) -> str:
    """Return how a word may have been meant: as an option of a known name, or as the value of the next name."""
    left = [name for name in known if name not in seen]
    if word.lstrip("-") in left:
        return f"; did you mean {word.lstrip('-')}=VALUE?"
    return f"; did you mean {left[0]}={word}?" if left and word.isalnum() else ""


def parse_value(text: str, allowed: frozenset[str]) -> Json:
    """Return the value of a text where values of these types are allowed."""
    # A VALUE that may be only a string is never parsed, so that `5` and `true` need no quotes.
    if allowed == {"string"}:
        return text
    try:
        value = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return text
    return value if "string" not in allowed or TYPES.get(type(value), "string") in allowed else text


def refuse_constant(word: str) -> None:
    """Reject `NaN` and `Infinity`, which Python accepts as JSON."""
    raise ValueError(word)


def allowed_types(schema: object, root: Object, depth: int) -> frozenset[str]:
    """Return the types that a schema allows, by `type`, `enum`, `const`, `$ref` and combinations."""
    if type(schema) is not dict or depth == 0:
        return ALL_TYPES
    types = type_keyword(schema.get("type"))
    # Intersections: a schema allows what all of its keywords allow.
    for values in (schema.get("enum"), [schema["const"]] if "const" in schema else None):
        if type(values) is list:
            types &= {TYPES.get(type(value), "string") for value in values}
    reference = schema.get("$ref")
    if type(reference) is str:
        types &= allowed_types(resolve_reference(reference, root), root, depth - 1)
    for keyword in ("anyOf", "oneOf"):
        if type(schema.get(keyword)) is list:
            types &= frozenset().union(*(allowed_types(part, root, depth - 1) for part in schema[keyword]))
    if type(schema.get("allOf")) is list:
        types &= ALL_TYPES.intersection(*(allowed_types(part, root, depth - 1) for part in schema["allOf"]))
    return types


def type_keyword(value: Json) -> frozenset[str]:
    """Return the types that the keyword `type` allows."""
    if type(value) is not str and type(value) is not list:
        return ALL_TYPES
    names = [value] if type(value) is str else value
    return frozenset("number" if name == "integer" else name for name in names if type(name) is str)


def resolve_reference(reference: str, root: Object) -> Json:
    """Return the schema of a reference into the same schema; True for other references."""
    schema: Json = root
    path, _, pointer = reference.partition("#")
    if path:
        return True
    for part in pointer.split("/")[1:]:
        # In this order, so that `~01` becomes `~1` (RFC 6901, section 4).
        name = part.replace("~1", "/").replace("~0", "~")
        if type(schema) is not dict or name not in schema:
            return True
        schema = schema[name]
    return schema
