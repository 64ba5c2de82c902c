"""Python: a function gets the call's arguments as keywords, and what it returns is the answer.

A string is a text; nothing is an empty answer; a list of content blocks is the content; an object with `content` is
a whole result; any other JSON value is shown as compact JSON.  Where an output schema is declared, the value (or the
whole result's `structuredContent`) is the structured output as well.  An exception is a tool error that says what was
raised.
"""

from __future__ import annotations

from mcpc_runtime.commands import Invocation
from mcpc_runtime.protocol.effects import ABSENT, Failure, Outcome, text_outcome
from mcpc_runtime.protocol.facts import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.results import as_text, is_content, is_result, prompt_outcome, whole_result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.commands import Returned
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Ending


def prepare(call: Call, image: Image) -> Invocation:
    """Return the call the worker is to make."""
    file, function, context, is_async, *binding = call.definition.handler
    invocation = Invocation(file, function, call.arguments, binding)
    invocation.context, invocation.is_async = context, is_async
    invocation.environment = call.definition.environment
    invocation.name = call.definition.name
    meta = call.request.params.get("_meta")
    invocation.meta = meta if context and type(meta) is dict else {}
    return invocation


def conclude(call: Call, returned: Returned) -> Ending:
    """Return what the function's end means."""
    if call.is_prompt:
        return conclude_prompt(returned)
    if returned.refused:
        name = call.definition.name
        return text_outcome(f"Invalid arguments for {name}: 1 problem; fix and call again\n- {returned.refused}", True)
    if returned.problem:
        return text_outcome(returned.problem, is_error=True)
    value = returned.value
    if is_result(value):
        return whole_result(value)  # type: ignore[arg-type]
    content = value if is_content(value) else [] if value is None else [as_text(value)]
    return Outcome(content, value if call.definition.output is not None else ABSENT)  # type: ignore[arg-type]


def conclude_prompt(returned: Returned) -> Ending:
    """Return a prompt's messages: those returned, or one of the user's for a plain text."""
    if returned.refused:
        return Failure(INVALID_PARAMS, f"Invalid params: {returned.refused}")
    if returned.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: prompt execution failed: {returned.problem}")
    outcome = prompt_outcome(returned.value)
    if outcome is None:
        problem = "it returned neither a text nor messages with `role` and `content`"
        return Failure(INTERNAL_ERROR, f"Internal error: prompt execution failed: {problem}")
    return outcome
