"""ToolBox's contract in Python: the function `default` of a module gets the whole request, and returns the result.

As in JavaScript, nothing was checked, an exception is an error whose text is its message as JSON, and each call is a
line of the log; all of that is done beside the function (see `mcpc_runtime.bindings.toolbox`).
"""

from __future__ import annotations

from mcpc_runtime.commands import Invocation
from mcpc_runtime.node.answers import caller_of, is_logged, request_of, tool_ending
from mcpc_runtime.node.places import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.commands import Returned
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Ending


def prepare(call: Call, image: Image) -> Invocation:
    """Return the call that a worker is to make."""
    file, function, context, is_async, *binding = call.definition.handler
    known = {"caller": caller_of(call), "log": "" if is_logged(call, image) else log(image), "chains": log(image)}
    invocation = Invocation(file, function, {"request": request_of(call), **known}, binding)
    invocation.context, invocation.is_async = context, is_async
    invocation.environment = call.definition.environment
    invocation.name = call.definition.name
    return invocation


def conclude(call: Call, returned: Returned) -> Ending:
    """Return what the answer means."""
    return tool_ending(call, returned)
