"""The contract of programs written for FastMCP or the official SDK: the project's own server handles the request.

The worker runs the program (`program.py`), or starts its process (`original/`), and returns results in the
protocol's form (`calls.py`).  Arguments of tools
are validated there, as the framework of the project does.  A structured result that does not match the tool's output
schema is an error result, which the model can read.
"""

from __future__ import annotations

from mcpc_runtime.handlers.python import contract as python_contract
from mcpc_runtime.handlers.python.contract import COMPLETE, FunctionResult, Invocation
from mcpc_runtime.http.request import HttpRequest
from mcpc_runtime.protocol.capabilities import client_capabilities
from mcpc_runtime.protocol.constants import CLIENT_INFO_KEY, INTERNAL_ERROR
from mcpc_runtime.protocol.effects import ABSENT, Call, Ending, Failure, FinishedResult, Outcome, text_outcome
from mcpc_runtime.protocol.handler_errors import error_ending
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.run_time_lists import list_ending
from mcpc_runtime.protocol.tolerance import is_tolerated
from mcpc_runtime.protocol.validation_errors import error_lines
from mcpc_runtime.systems.fastmcp.interfaces import Object
from mcpc_runtime.transports.platforms import system

ROUTE = "http/route"
"""Stands for the method of a request for an HTTP route of the program (`routes.py`)."""
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
SETTINGS = "fastmcp"
"""The key of the index with the program's entry."""
CALLS = "calls"
"""The key of the entry with the module whose functions the worker calls: with stand-ins, or the original framework."""
FUNCTIONS = {
    "prompts/get": "get_prompt",
    "resources/read": "read_resource",
    COMPLETE: "complete",
    **dict.fromkeys(LISTS, "list_definitions"),
    ROUTE: "answer_route",
}
"""The functions of that module by the method of a request."""
FORWARD = "answer_request"
"""The function for a method of an extension, which only the original framework answers."""


def build_invocation(call: Call, image: Image) -> Invocation:
    """Return the invocation of the function that handles a call in the worker."""
    request = call.request
    function = "call_tool" if call.is_tool else FUNCTIONS.get(request.method, FORWARD)
    entry: dict[str, Json] = image.index[SETTINGS]
    session: Object = {
        "request_id": request.identifier,
        "session_id": session_id(call),
        "protocol_version": request.wire.version,
        "client_info": client_info(call),
        "transport": "stdio" if request.origin is None else "http",
        **http_facts(request.origin),
    }
    if call.is_tool and not call.chain:
        session.update(serving_facts(call, image))
    arguments: dict[str, Json] = {
        "program": {"entry": entry, "folder": "", "arguments": None},
        "name": subject(call),
        "values": call.arguments,
        "session": session,
    }
    invocation = Invocation(str(entry[CALLS]).replace(".", "/") + ".py", function, arguments, [])
    invocation.context = "context"
    invocation.environment = call.definition.environment
    invocation.name = call.definition.name
    meta = request.params.get("_meta")
    invocation.meta = meta if type(meta) is dict else {}
    invocation.more = {"client": client_capabilities(request), "answers": {}}
    return invocation


def serving_facts(call: Call, image: Image) -> Object:
    """Return what the worker is to know of the options with which the server was started."""
    facts: Object = {}
    if image.tolerant:
        facts["tolerant"] = is_tolerated(call.request)
    choice = image.choice
    if choice is not None and choice.needs_entries and "tools" in image.run_time_kinds:
        facts["choice"] = {**choice.as_row(), "refusal": [*image.refusals["tool_unknown"]]}
    return facts


def list_result(call: Call, returned: FunctionResult) -> Ending:
    """Return the ending of a list that the program has made, or could not make."""
    if returned.raised is not None:
        raised: Ending = error_ending(call, returned.raised)
        return raised
    if returned.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: the list cannot be made: {returned.problem}")
    made: Ending = list_ending(call, returned.value)
    return made


def route_result(returned: FunctionResult) -> Ending:
    """Return the response of an HTTP route, or why there is none."""
    if returned.problem or type(returned.value) is not dict:
        return Failure(INTERNAL_ERROR, f"Internal error: the route failed: {returned.problem or 'no response'}")
    return FinishedResult(returned.value)


def forwarded_result(call: Call, returned: FunctionResult) -> Ending:
    """Return the ending of a request that the program has answered."""
    value = returned.value
    if returned.raised is not None:
        raised: Ending = error_ending(call, returned.raised)
        return raised
    if returned.problem or type(value) is not dict:
        return Failure(INTERNAL_ERROR, f"Internal error: {returned.problem or 'the program returned no result'}")
    meta = value.pop("_meta", None)
    if value.get("resultType") == "complete":
        del value["resultType"]
    return FinishedResult(value, meta if type(meta) is dict else None)


def subject(call: Call) -> Json:
    """Return what a request is about: a name, a URI, or what is completed."""
    params = call.request.params
    if call.is_tool:
        return call.definition.name
    method = call.request.method
    if method in LISTS or method == ROUTE or method not in FUNCTIONS:
        return method
    if method == COMPLETE:
        return {"ref": params.get("ref"), "argument": params.get("argument")}
    return params.get("name") if call.is_prompt else params.get("uri")


def client_info(call: Call) -> dict[str, Json]:
    """Return the description of the client, which it sends with each request in the stateless era."""
    meta = call.request.params.get("_meta")
    found = meta.get(CLIENT_INFO_KEY) if type(meta) is dict else None
    return found if type(found) is dict else {}


def http_facts(origin: object) -> Object:
    """Return what the program sees of the HTTP request of a call: its head, and who has sent it, if that is known."""
    found: HttpRequest | None = getattr(origin, "http_request", None)
    if found is None:
        return {}
    client = list(found.client) if found.client is not None else None
    head = {"headers": found.headers.pairs, "path": found.path, "query": found.query, "client": client}
    principal = found.principal
    if not principal.name:
        return {"http": head}
    scopes = None if principal.scopes is None else sorted(principal.scopes)
    return {"http": head, "principal": {"name": principal.name, "scopes": scopes, "expires": principal.expires}}


def session_id(call: Call) -> str:
    """Return a name that no other session of this server has; over HTTP a session is kept under it by its client."""
    session = call.request.session
    if session.conversation:
        return str(session.conversation)
    if not session.unique_id:
        session.unique_id = system.urandom(16).hex()
    return str(session.unique_id)


def parse_result(call: Call, returned: FunctionResult) -> Ending:
    """Return the ending of a call from the protocol's result that the worker returned."""
    if call.request.method in LISTS and not call.is_tool:
        return list_result(call, returned)
    if call.request.method == ROUTE and not call.is_tool:
        return route_result(returned)
    if call.request.method not in FUNCTIONS and not call.is_tool:
        return forwarded_result(call, returned)
    ending = python_contract.parse_result(call, returned)
    output = call.definition.output
    if output is None or type(ending) is not Outcome or ending.is_error:
        return ending
    if ending.structured is not ABSENT and output.accepts(ending.structured):
        return ending
    problems = ["there is no structured content"]
    if ending.structured is not ABSENT:
        problems = error_lines(ending.structured, output.errors(ending.structured))[0]
    return text_outcome("\n".join(["Output validation error:", *problems]), is_error=True)
