"""The contract of ToolBox in Python: a module's function `default` gets the whole request, and returns the result.

As in JavaScript, arguments are not validated, an exception is an error result whose text is its message as JSON, and
each call is logged; the worker does this (see `mcpc_runtime.systems.toolbox.python_binding`).
"""

from __future__ import annotations

from mcpc_runtime.handlers.python.contract import FunctionResult, Invocation
from mcpc_runtime.protocol.effects import Call, Ending
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.systems.toolbox.results import build_request, caller_name, is_logged, parse_tool_result
from mcpc_runtime.systems.toolbox.runner import call_log_file


def build_invocation(call: Call, image: Image) -> Invocation:
    """Return the call for a worker."""
    file, function, context, is_async, *binding = call.definition.handler
    arguments = {
        "caller": caller_name(call),
        "log": "" if is_logged(call, image) else call_log_file(image),
        "chains": call_log_file(image),
    }
    invocation = Invocation(file, function, {"request": build_request(call), **arguments}, binding)
    invocation.context, invocation.is_async = context, is_async
    invocation.environment = call.definition.environment
    invocation.name = call.definition.name
    return invocation


def parse_result(call: Call, returned: FunctionResult) -> Ending:
    """Convert what the function returned to an ending."""
    return parse_tool_result(call, returned)
