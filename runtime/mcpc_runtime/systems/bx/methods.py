"""The methods of bx-mcp: each returns a result, or the MCP request to make and the conversion of its result.

Results contain texts only: an object is encoded as JSON text.  A failed tool, and an unknown name, is an error with a
code.  This module does no IO, and does not depend on HTTP.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpc_runtime.protocol.constants import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
)
from mcpc_runtime.protocol.effects import Failure
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json, encode, parse
from mcpc_runtime.protocol.tolerance import corrected
from mcpc_runtime.protocol.validation_errors import explain_errors

Object = dict[str, Any]
Allows = Callable[[str], bool] | None
"""Selects the tools that a principal may see; None for all."""


FAILED, NOT_FOUND, UNAUTHORIZED = -32000, -32001, -32002
VERSION = "2024-11-05"
KINDS = ("tools", "resources", "prompts")
EVERYBODY = "1"
"""The tolerance for all clients; here they do not say who they are."""
REQUIRED_PARAMETER = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The required parameter of each method."""
MAX_CACHED_LISTS = 16


class McpRequest:
    """An MCP request to make: its method, its parameters, and the conversion of its result."""

    __slots__ = ("convert", "method", "params")

    def __init__(self, method: str, params: Object, convert: Callable[[Object], Json | Failure]) -> None:
        self.method = method
        self.params = params
        self.convert = convert


class ServerView:
    """The lists of one server, read once for each selection of visible tools."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self.wire = image.revision(VERSION if VERSION in image.handshake_versions else image.handshake_versions[0])
        self._lists: dict[tuple[str, Allows], list[Object]] = {}

    def listed(self, kind: str, allows: Allows) -> list[Object]:
        """Return the complete list of a kind, from all its pages."""
        key = kind, allows if kind == "tools" else None
        items = self._lists.pop(key, None)
        if items is None:
            items = [item for item in self._offered(kind) if key[1] is None or key[1](str(item["name"]))]
        # At the end: the first one is that which was used the longest ago.
        self._lists[key] = items
        if len(self._lists) > MAX_CACHED_LISTS:
            del self._lists[next(iter(self._lists))]
        return items

    def _offered(self, kind: str) -> list[Object]:
        """Return the items that are offered, of the tools those that were chosen when the server was started."""
        choice = self.image.choice if kind == "tools" else None
        return [item for item in self._built(kind) if choice is None or item["name"] in choice.names]

    def _built(self, kind: str) -> list[Object]:
        method, items = f"{kind}/list", []
        cursor: str | None = None
        while method in self.wire.lists:
            page: Any = parse(self.wire.page(method, cursor) or b"{}")
            items += page.get(kind, [])
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        return items

    def about(self, allows: Allows) -> Object:
        """Return the description of the server: protocol version, capabilities, name and version."""
        answer: Any = parse(self.wire.initialize())
        info = {key: answer["serverInfo"].get(key, "") for key in ("name", "version")}
        capabilities: Object = {kind: {} for kind in KINDS if self.listed(kind, allows)}
        return {"protocolVersion": VERSION, "capabilities": capabilities, "serverInfo": info}


def resolve_request(view: ServerView, message: Json, allows: Allows) -> Json | Failure | McpRequest:
    """Return the result of a message, an error, or the MCP request to make for it."""
    method = message.get("method") if type(message) is dict else None
    if type(message) is not dict or type(method) is not str or not method or not is_identifier(message.get("id")):
        return Failure(INVALID_REQUEST, "Invalid request: a request is an object with a `method`, and an `id`")
    row = METHODS.get(method)
    if row is None:
        return Failure(METHOD_NOT_FOUND, f"Method not found: {method}")
    params = message.get("params")
    if params is None:
        params = {}
    if type(params) is not dict:
        return Failure(INVALID_PARAMS, "Invalid params: `params` must be an object")
    needed = REQUIRED_PARAMETER.get(method)
    if needed and (type(params.get(needed)) is not str or not params[needed]):
        return Failure(INVALID_PARAMS, f"Invalid params: `{needed}` must be a string")
    return row(view, params, allows)


def is_identifier(value: Json) -> bool:
    """Tell whether this is a valid request id; null is allowed."""
    return value is None or type(value) in (str, int, float)


def arguments_of(params: Object) -> Json:
    """Return the arguments of a call, from `arguments` or `args`."""
    arguments = params.get("arguments")
    arguments = params.get("args") if arguments is None else arguments
    return {} if arguments is None else arguments


def initialize(view: ServerView, _: Object, allows: Allows) -> Json:
    """Return the description of the server."""
    return view.about(allows)


def ping(*_: object) -> Json:
    """Return an empty result."""
    return {}


def list_tools(view: ServerView, _: Object, allows: Allows) -> Json:
    """List the tools."""
    return {"tools": [tool_entry(tool) for tool in view.listed("tools", allows)]}


def tool_entry(tool: Object) -> Object:
    """Return the list entry of a tool."""
    schema = {"type": "object", "properties": {}, "required": [], **tool["inputSchema"]}
    return {"name": tool["name"], "description": tool.get("description", ""), "inputSchema": schema}


def list_resources(view: ServerView, *_: object) -> Object:
    """List the resources."""
    return {"resources": view.listed("resources", None)}


def list_prompts(view: ServerView, *_: object) -> Object:
    """List the prompts."""
    return {"prompts": view.listed("prompts", None)}


def call_tool(view: ServerView, params: Object, allows: Allows) -> Failure | McpRequest:
    """Call a tool."""
    name, arguments = str(params["name"]), arguments_of(params)
    tool = view.image.tool(name) if allows is None or allows(name) else None
    # A tool that the token does not allow is reported as unknown: nobody learns that it exists.
    if tool is None:
        return Failure(NOT_FOUND, f"Tool not found: {name}")
    if type(arguments) is not dict:
        return Failure(INVALID_PARAMS, "Invalid params: `arguments` must be an object")
    schema = tool.input
    if schema is not None and not schema.accepts(arguments):
        valid = corrected(arguments, schema.errors, schema.accepts) if view.image.tolerant == EVERYBODY else None
        if valid is None:
            problem: str = explain_errors(name, arguments, schema.errors(arguments))[0]
            return Failure(INVALID_PARAMS, f"Invalid params: {problem}")
        arguments = valid
    return McpRequest("tools/call", {"name": name, "arguments": arguments}, convert_tool_result)


def convert_tool_result(result: Object) -> Json | Failure:
    """Return a tool's result as one text; an error result becomes an error."""
    text = "\n".join([block_text(block) for block in result["content"]])
    if result.get("isError"):
        return Failure(FAILED, text)
    return {"content": [{"type": "text", "text": text}]}


def block_text(block: Object) -> str:
    """Return a content block as text."""
    return str(block["text"]) if block.get("type") == "text" else encode(block).decode()


def get_prompt(view: ServerView, params: Object, _: Allows) -> Failure | McpRequest:
    """Get a prompt; arguments that are not strings are encoded as JSON text."""
    name, arguments = str(params["name"]), arguments_of(params)
    if view.image.prompt(name) is None:
        return Failure(NOT_FOUND, f"Prompt not found: {name}")
    if type(arguments) is not dict:
        return Failure(INVALID_PARAMS, "Invalid params: `arguments` must be an object")
    texts: Object = {key: value if type(value) is str else encode(value).decode() for key, value in arguments.items()}
    rows = {row["name"]: row for row in view.listed("prompts", None)}

    def convert(result: Object) -> Json:
        description = result.get("description", rows.get(name, {}).get("description", ""))
        return {"description": description, "messages": result["messages"]}

    return McpRequest("prompts/get", {"name": name, "arguments": texts}, convert)


def read_resource(_: ServerView, params: Object, __: Allows) -> McpRequest:
    """Read a resource."""
    return McpRequest("resources/read", {"uri": params["uri"]}, lambda result: {"contents": result["contents"]})


def convert_error(method: str, error: Object) -> Failure:
    """Convert an MCP error: failures and unknown resources have their own codes in bx-mcp."""
    code = error["code"]
    if code == INTERNAL_ERROR:
        code = FAILED
    elif code == RESOURCE_NOT_FOUND and method == "resources/read":
        code = NOT_FOUND
    return Failure(code, error["message"], error.get("data"))


METHODS: dict[str, Callable[[ServerView, Object, Allows], Json | Failure | McpRequest]] = {
    "initialize": initialize,
    "ping": ping,
    "prompts/get": get_prompt,
    "prompts/list": list_prompts,
    "resources/list": list_resources,
    "resources/read": read_resource,
    "tools/call": call_tool,
    "tools/list": list_tools,
}
