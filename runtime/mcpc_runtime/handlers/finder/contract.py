"""The contract of the tools that find and describe operations: nothing is run.

A call of `read_operation` or `change_operation` becomes one of the operation before it is dispatched: none comes here.
"""

from __future__ import annotations

from mcpc_runtime.protocol.effects import Call, Ending, Outcome
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.operations import SEARCH, describe, search


def build_invocation(call: Call, image: Image) -> Outcome:
    """Return the operations that were searched, or the description of one."""
    ask = search if call.definition.handler[1] == SEARCH else describe
    return ask(call.request.session, call.arguments)


def parse_result(call: Call, result: Outcome) -> Ending:
    """Return the result."""
    return result
