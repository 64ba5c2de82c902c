"""bx-mcp's methods: what each says at once, or what MCP's own request is and how its result is told here.

Results are texts and nothing but: an object is the text that it is as JSON.  A tool that fails is an error with a code,
and so is what there is not.  Pure: nothing here waits, or knows of HTTP.
"""

from __future__ import annotations

from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import Failure
from mcpc_runtime.protocol.facts import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
)
from mcpc_runtime.protocol.jsonrpc import encode, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.jsonrpc import Json

    Object = dict[str, Json]
    from mcpc_runtime.protocol.complaint import explain
else:
    explain = lazy("mcpc_runtime.protocol.complaint:explain")

FAILED, NOT_FOUND, UNAUTHORIZED = -32000, -32001, -32002
VERSION = "2024-11-05"
KINDS = ("tools", "resources", "prompts")
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""What a request has to say, in the parameter of this name."""
MOST_LISTS = 16


class Asked:
    """A request of MCP's that has the answer: its parameters, and what its result is here."""

    __slots__ = ("conclude", "method", "params")

    def __init__(self, method: str, params: Object, conclude: Callable[[Object], Json | Failure]) -> None:
        self.method = method
        self.params = params
        self.conclude = conclude


class Desk:
    """What is known of one server: its lists are read once, for each set of tools that somebody may see."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self.wire = image.wire(VERSION if VERSION in image.handshake_versions else image.handshake_versions[0])
        self._lists: dict[tuple[str, Any], list[Object]] = {}

    def listed(self, kind: str, allows: Callable[[str], bool] | None) -> list[Object]:
        """Return the whole list of a kind, however many pages it was built in."""
        key = kind, allows if kind == "tools" else None
        found = self._lists.pop(key, None)
        if found is None:
            found = [one for one in self._built(kind) if key[1] is None or key[1](str(one["name"]))]
        self._lists[key] = found
        if len(self._lists) > MOST_LISTS:
            del self._lists[next(iter(self._lists))]
        return found

    def _built(self, kind: str) -> list[Object]:
        method, found = f"{kind}/list", []
        cursor: Any = None
        while method in self.wire.lists:
            page: Any = parse(self.wire.page(method, cursor) or b"{}")
            found += page.get(kind, [])
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        return found

    def about(self, allows: Callable[[str], bool] | None) -> Object:
        """Return what the server says of itself."""
        told: Any = parse(self.wire.initialize())
        info = {key: told["serverInfo"].get(key, "") for key in ("name", "version")}
        capabilities: Object = {kind: {} for kind in KINDS if self.listed(kind, allows)}
        return {"protocolVersion": VERSION, "capabilities": capabilities, "serverInfo": info}


def asked(desk: Desk, message: Json, allows: Callable[[str], bool] | None) -> Json | Failure | Asked:
    """Return what a message comes to: a result, an error, or what has to be asked for it."""
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
    needed = NAMED.get(method)
    if needed and (type(params.get(needed)) is not str or not params[needed]):
        return Failure(INVALID_PARAMS, f"Invalid params: `{needed}` must be a string")
    return row(desk, params, allows)


def is_identifier(value: Json) -> bool:
    """Tell whether this can be a request's id; it may be without one."""
    return value is None or type(value) in (str, int, float)


def arguments_of(params: Object) -> Json:
    """Return the arguments of a call, which have two names."""
    found = params.get("arguments")
    found = params.get("args") if found is None else found
    return {} if found is None else found


def initialize(desk: Desk, _: Object, allows: Any) -> Json:
    """Say who this is."""
    return desk.about(allows)


def ping(*_: object) -> Json:
    """Say that somebody is there."""
    return {}


def list_tools(desk: Desk, _: Object, allows: Any) -> Json:
    """List the tools."""
    return {"tools": [shown(tool) for tool in desk.listed("tools", allows)]}


def shown(tool: Any) -> Object:
    """Return what is told of a tool."""
    schema = {"type": "object", "properties": {}, "required": [], **tool["inputSchema"]}
    return {"name": tool["name"], "description": tool.get("description", ""), "inputSchema": schema}


def list_resources(desk: Desk, *_: Any) -> Json:
    """List the resources."""
    return {"resources": desk.listed("resources", None)}  # type: ignore[dict-item]


def list_prompts(desk: Desk, *_: Any) -> Json:
    """List the prompts."""
    return {"prompts": desk.listed("prompts", None)}  # type: ignore[dict-item]


def call_tool(desk: Desk, params: Object, allows: Callable[[str], bool] | None) -> Failure | Asked:
    """Call a tool."""
    name, arguments = str(params["name"]), arguments_of(params)
    tool = desk.image.tool(name) if allows is None or allows(name) else None
    if tool is None:
        return Failure(NOT_FOUND, f"Tool not found: {name}")
    if type(arguments) is not dict:
        return Failure(INVALID_PARAMS, "Invalid params: `arguments` must be an object")
    schema = tool.input
    if schema is not None and not schema.accepts(arguments):
        complaint: str = explain(name, arguments, schema.errors(arguments))[0]
        return Failure(INVALID_PARAMS, f"Invalid params: {complaint}")
    return Asked("tools/call", {"name": name, "arguments": arguments}, told)


def told(result: Any) -> Json | Failure:
    """Return a tool's result as one text; one that says that it failed is an error."""
    text = "\n".join([text_of(block) for block in result["content"]])
    if result.get("isError"):
        return Failure(FAILED, text)
    return {"content": [{"type": "text", "text": text}]}


def text_of(block: Any) -> str:
    """Return a block of content as a text."""
    return str(block["text"]) if block.get("type") == "text" else encode(block).decode()


def get_prompt(desk: Desk, params: Object, _: Any) -> Failure | Asked:
    """Get a prompt; its arguments are texts, and what is none is the text that it is as JSON."""
    name, arguments = str(params["name"]), arguments_of(params)
    if desk.image.prompt(name) is None:
        return Failure(NOT_FOUND, f"Prompt not found: {name}")
    if type(arguments) is not dict:
        return Failure(INVALID_PARAMS, "Invalid params: `arguments` must be an object")
    texts: Object = {key: value if type(value) is str else encode(value).decode() for key, value in arguments.items()}
    rows = {row["name"]: row for row in desk.listed("prompts", None)}

    def conclude(result: Object) -> Json:
        description = result.get("description", rows.get(name, {}).get("description", ""))
        return {"description": description, "messages": result["messages"]}

    return Asked("prompts/get", {"name": name, "arguments": texts}, conclude)


def read_resource(_: Desk, params: Object, __: Any) -> Asked:
    """Read a resource."""
    return Asked("resources/read", {"uri": params["uri"]}, lambda result: {"contents": result["contents"]})


def refusal(method: str, error: Any) -> Failure:
    """Return an error of MCP's as it is told here: what failed, and what there is not, have codes of their own."""
    code = error["code"]
    if code == INTERNAL_ERROR:
        code = FAILED
    elif code == RESOURCE_NOT_FOUND and method == "resources/read":
        code = NOT_FOUND
    return Failure(code, error["message"], error.get("data"))


METHODS: dict[str, Callable[[Desk, Object, Any], Json | Failure | Asked]] = {
    "initialize": initialize,
    "ping": ping,
    "prompts/get": get_prompt,
    "prompts/list": list_prompts,
    "resources/list": list_resources,
    "resources/read": read_resource,
    "tools/call": call_tool,
    "tools/list": list_tools,
}
