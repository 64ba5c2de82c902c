"""Python: a function gets the call's arguments as keywords, and what it returns is the answer.

A string is a text; nothing is an empty answer; a list of content blocks is the content; an object with `content` is
a whole result; any other JSON value is shown as compact JSON.  Where an output schema is declared, the value (or the
whole result's `structuredContent`) is the structured output as well.  An exception is a tool error that says what was
raised.  A resource's function gets the variables of its template: a string is a text, bytes are a blob, nothing says
that there is no such resource, and other values are JSON; one that completes an argument returns the values.
"""

from __future__ import annotations

from mcpc_runtime.commands import Invocation
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.capabilities import declared
from mcpc_runtime.protocol.effects import ABSENT, Failure, Outcome, text_outcome
from mcpc_runtime.protocol.facts import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.results import (
    as_text,
    completion_outcome,
    is_blob,
    is_content,
    is_result,
    prompt_outcome,
    resource_outcome,
    whole_result,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.commands import Returned
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Ending
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.raised import ending
    from mcpc_runtime.protocol.resources import unknown
else:
    ending = lazy("mcpc_runtime.protocol.raised:ending")
    unknown = lazy("mcpc_runtime.protocol.resources:unknown")

COMPLETE = "completion/complete"


def prepare(call: Call, image: Image) -> Invocation:
    """Return the call the worker is to make."""
    file, function, context, is_async, *binding = call.definition.handler
    arguments = call.arguments
    if not call.is_tool and call.request.method == COMPLETE:
        arguments = {"value": arguments["value"], "context_arguments": arguments["arguments"]}
        binding = ["named"]
    invocation = Invocation(file, function, arguments, binding)
    invocation.context, invocation.is_async = context, is_async
    invocation.environment = call.definition.environment
    invocation.name = call.definition.name
    meta = call.request.params.get("_meta")
    if context:
        invocation.meta = meta if type(meta) is dict else {}
        answers: Json = {key: call.answers[key] for key, _, _ in call.definition.asks if key in call.answers}
        invocation.more = {"client": declared(call.request), "answers": answers}
    return invocation


def conclude(call: Call, returned: Returned) -> Ending:
    """Return what the function's end means."""
    if returned.raised is not None:
        made: Ending = ending(call, returned.raised)
        return made
    if call.is_tool:
        return conclude_tool(call, returned)
    if returned.refused:
        return Failure(INVALID_PARAMS, f"Invalid params: {returned.refused}")
    return CONCLUSIONS[call.request.method](call, returned)


def conclude_tool(call: Call, returned: Returned) -> Ending:
    """Return a tool's answer."""
    if returned.refused:
        name = call.definition.name
        return text_outcome(f"Invalid arguments for {name}: 1 problem; fix and call again\n- {returned.refused}", True)
    if returned.problem:
        return text_outcome(returned.problem, is_error=True)
    value = returned.value
    if is_blob(value):
        return text_outcome("TypeError: the handler returned bytes, which JSON cannot carry", is_error=True)
    if is_result(value):
        return whole_result(value)  # type: ignore[arg-type]
    content = value if is_content(value) else [] if value is None else [as_text(value)]
    return Outcome(content, value if call.definition.output is not None else ABSENT)  # type: ignore[arg-type]


def conclude_prompt(call: Call, returned: Returned) -> Ending:
    """Return a prompt's messages: those returned, or one of the user's for a plain text."""
    if returned.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: prompt execution failed: {returned.problem}")
    outcome = prompt_outcome(returned.value)
    if outcome is None:
        problem = "it returned neither a text nor messages with `role` and `content`"
        return Failure(INTERNAL_ERROR, f"Internal error: prompt execution failed: {problem}")
    return outcome


def conclude_resource(call: Call, returned: Returned) -> Ending:
    """Return the contents that a resource's function returned; that it returned nothing says that there is none."""
    if returned.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: the resource cannot be read: {returned.problem}")
    if returned.value is None:
        failure: Failure = unknown(call.request)
        return failure
    outcome = resource_outcome(call, returned.value)
    return outcome or Failure(INTERNAL_ERROR, "Internal error: the resource cannot be read: `contents` are malformed")


def conclude_completion(call: Call, returned: Returned) -> Ending:
    """Return the values that a function found."""
    if returned.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: nothing can be completed: {returned.problem}")
    outcome = completion_outcome(returned.value)
    return outcome or Failure(INTERNAL_ERROR, "Internal error: nothing can be completed: the values are no strings")


CONCLUSIONS: dict[str, Callable[[Call, Returned], Ending]] = {
    COMPLETE: conclude_completion,
    "prompts/get": conclude_prompt,
    "resources/read": conclude_resource,
}
"""What the end of a function that is no tool's means, by the request it answers."""
