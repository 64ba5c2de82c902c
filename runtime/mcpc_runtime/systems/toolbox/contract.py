"""The contract of ToolBox: a module's default export gets the whole request, and returns the result.

Arguments are not validated, get no defaults, and are missing if the client sent none.  An exception is an error result
whose text is the thrown value as JSON.  The handlers of prompts and resources are called in the same way.
"""

from __future__ import annotations

from mcpc_runtime.handlers.python.contract import FunctionResult
from mcpc_runtime.protocol.effects import Call, Ending
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.systems.toolbox.node_process import NodeCall
from mcpc_runtime.systems.toolbox.results import (
    build_request,
    caller_name,
    is_logged,
    parse_other_result,
    parse_tool_result,
)

LIST_METHOD, LIST_KIND = "resources/list", "resources"


def build_invocation(call: Call, image: Image) -> NodeCall:
    """Return the call for the Node process."""
    _, kind, name = call.definition.handler
    if call.is_tool:
        tool_call = NodeCall(kind, name, build_request(call), call.definition.environment)
        tool_call.caller, tool_call.logged = caller_name(call), is_logged(call, image)
        return tool_call
    kind = LIST_KIND if call.request.method == LIST_METHOD else kind
    return NodeCall(kind, name, build_request(call), call.definition.environment)


def parse_result(call: Call, returned: FunctionResult) -> Ending:
    """Convert what the handler returned to an ending."""
    return parse_tool_result(call, returned) if call.is_tool else parse_other_result(call, returned)
