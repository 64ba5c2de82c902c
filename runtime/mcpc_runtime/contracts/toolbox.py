"""ToolBox: a module's default export gets the whole request, and what it returns is the result.

Nothing of the arguments was checked or filled in, and none are there if the client sent none.  An exception is an error
whose text is what was thrown, as JSON.  The handlers of prompts and resources are called in the same way.
"""

from __future__ import annotations

from mcpc_runtime.node.answers import caller_of, is_logged, other_ending, request_of, tool_ending
from mcpc_runtime.node.child import NodeCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.commands import Returned
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Ending

LIST, LISTS = "resources/list", "resources"


def prepare(call: Call, image: Image) -> NodeCall:
    """Return the call that the process is to make."""
    _, kind, name = call.definition.handler
    if call.is_tool:
        asked = NodeCall(kind, name, request_of(call), call.definition.environment)
        asked.caller, asked.logged = caller_of(call), is_logged(call, image)
        return asked
    kind = LISTS if call.request.method == LIST else kind
    return NodeCall(kind, name, request_of(call), call.definition.environment)


def conclude(call: Call, returned: Returned) -> Ending:
    """Return what the answer means."""
    return tool_ending(call, returned) if call.is_tool else other_ending(call, returned)
