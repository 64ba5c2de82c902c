"""The invocation of a mcp-bash tool and its result: the types between its contract and its runner.

Parsing of the output of mcp-bash tools, with that system's rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NotRequired, TypedDict, TypeGuard

from mcpc_runtime.handlers.invocations import ProcessResult
from mcpc_runtime.protocol.client_requests.handler_requests import canonical_json
from mcpc_runtime.protocol.jsonrpc import WHITE_SPACE, Json, encode, scan
from mcpc_runtime.protocol.kept_results import Account
from mcpc_runtime.systems.mcp_bash.settings import McpBashSettings

Roots = list[tuple[str, str, str]]
"""Each root's uri, name and path."""


class ScriptCall:
    """A tool to run, with its inputs.

    `file`: its path below the project.  `arguments` and `meta` are JSON, `token` is the progress token.  `elicits`: the
    client supports elicitation; `asks_roots`: it supports roots, which are in `roots` if they are known, and else are
    passed to `remember`.  `account`: the memory account that is charged for its output.
    """

    __slots__ = ("account", "arguments", "asks_roots", "elicits", "facts", "file", "meta", "name", "remember", "roots",
                 "settings", "token")  # fmt: skip

    def __init__(self, settings: McpBashSettings, file: str, name: str, facts: dict[str, Any]) -> None:
        self.account: Account | None = None
        self.settings = settings
        self.file = file
        self.name = name
        self.facts = facts
        self.arguments = self.meta = b"{}"
        self.token = ""
        self.elicits = self.asks_roots = False
        self.roots: Roots | None = None
        self.remember: Callable[[Roots], None] | None = None


class EmbeddedFile:
    """A file to embed in a result: its path, its media type if the tool named one, its uri, and its bytes."""

    __slots__ = ("data", "mime", "path", "uri")

    def __init__(self, path: str, mime: str, uri: str) -> None:
        self.path = path
        self.mime = mime
        self.uri = uri
        self.data = b""


class ScriptResult:
    """The result of a script.

    `refused`: code, message and data of the error if it was not run.  `error`: the content of its error file;
    `embedded`: the files named in its resources file; `warnings`: which of them were left out, and why.
    """

    __slots__ = ("completed", "embedded", "error", "problem", "refused", "warnings")

    def __init__(self, completed: ProcessResult | None = None, problem: str = "") -> None:
        self.completed = completed or ProcessResult("it was not run")
        self.problem = problem
        self.refused: tuple[int, str, Json] | None = None
        self.error = b""
        self.embedded: list[EmbeddedFile] = []
        self.warnings: list[str] = []


def sorted_json(value: Json) -> bytes:
    """Return a value as JSON, its keys in order."""
    return canonical_json(value) or encode(value)


class PrintedResult(TypedDict):
    """A whole result that a tool has printed."""

    content: list[Json]
    isError: Json
    structuredContent: NotRequired[Json]
    _meta: NotRequired[Json]


UI_KEY = "ui/resourceUri"
ERROR_FLAG, ERROR_CODE = b'"isError"', b'"code"'


def parse_error(value: tuple[Json] | None) -> tuple[int, str, Json] | None:
    """Return the code, the message and the data of an error that was printed."""
    error = value[0] if value is not None else None
    if type(error) is not dict:
        return None
    code, message = error.get("code"), error.get("message")
    # Some programs print an integer as 5.0.
    if type(code) is float and code.is_integer():
        code = int(code)
    return (code, message, error.get("data")) if type(code) is int and type(message) is str else None


def find_error(data: bytes) -> tuple[int, str, Json] | None:
    """Return the first error among consecutive JSON values; the search ends at invalid JSON."""
    # Without the key there is no error, and a long output need not be decoded.
    string, position, error = (
        str(data, "utf-8", "replace").removeprefix("\ufeff") if ERROR_CODE in data else "",
        0,
        None,
    )
    while error is None:
        while position < len(string) and string[position] in WHITE_SPACE:
            position += 1
        try:
            value, position = scan(string, position)
        except (ValueError, StopIteration, SystemError, RecursionError):
            return None
        error = parse_error((value,))
    return error


def exit_code(completed: ProcessResult | None) -> int:
    """Return the exit code of a program as in a shell: a signal is a number above 128."""
    status = 0 if completed is None else completed.status
    return 128 - status if status < 0 else status


def shell_text(data: bytes) -> str:
    """Return a text as in a shell variable: without null bytes and trailing line ends."""
    return str(data.replace(b"\0", b""), "utf-8", "replace").rstrip("\n")


def text_tail(data: bytes, size: int) -> str:
    """Return the last `size` bytes of a text."""
    return shell_text(data[-size:]) if size else ""


def result_meta(status: int, tail: str) -> dict[str, Json]:
    """Return the metadata of every result: exit code and standard error."""
    return {"exitCode": status, "stderr": tail} if tail else {"exitCode": status}


def parse_seconds(value: Json) -> int:
    """Return the number of seconds in a request, 0 for none."""
    if type(value) is str and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if type(value) is int and value > 0 else 0


def is_result(value: Json) -> TypeGuard[PrintedResult]:
    """Tell whether a tool has printed a whole result."""
    return type(value) is dict and type(value.get("content")) is list and "isError" in value


def find_error_result(data: bytes) -> PrintedResult | None:
    """Return the error result of a tool, if it is the first JSON value that was printed.

    A script may continue after printing an error result; the first value counts.
    """
    if ERROR_FLAG not in data:
        return None
    try:
        string = str(data, "utf-8").lstrip()
        value, _ = scan(string, 0)
    except (ValueError, StopIteration, SystemError, RecursionError):
        return None
    return value if is_result(value) and value["isError"] is True else None


def with_current_ui_key(meta: dict[str, Json]) -> dict[str, Json]:
    """Return metadata with the uri of a user interface moved from the old key to the current one."""
    if UI_KEY not in meta:
        return meta
    rest = {name: value for name, value in meta.items() if name != UI_KEY}
    interface = rest.get("ui")
    rest["ui"] = {"resourceUri": meta[UI_KEY], **(interface if type(interface) is dict else {})}
    return rest


def satisfies(schema: object, value: object) -> bool:
    """Tell whether a value matches a schema as far as mcp-bash checks it: required members and their types."""
    if type(schema) is not dict or schema.get("type", "object") != "object":
        return True
    if type(value) is not dict:
        return False
    if not all(name in value for name in schema.get("required", ())):
        return False
    fields = schema.get("properties") or {}
    return all(has_type(fields[name], value[name]) for name in fields if name in value)


def has_type(field: Json, value: Json) -> bool:
    """Tell whether a member has its declared type; null always matches."""
    name = field.get("type") if type(field) is dict else None
    check = TYPES.get(name) if type(name) is str else None
    return value is None or check is None or check(value)


TYPES: dict[str, Callable[[Json], bool]] = {
    "array": lambda value: type(value) is list,
    "boolean": lambda value: type(value) is bool,
    "integer": lambda value: type(value) is int or (type(value) is float and value.is_integer()),
    "number": lambda value: type(value) in (int, float),
    "object": lambda value: type(value) is dict,
    "string": lambda value: type(value) is str,
}
