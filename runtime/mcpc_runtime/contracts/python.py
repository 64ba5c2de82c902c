"""Python: a function gets the call's arguments as keywords, and what it returns is the answer.

A string is a text; nothing is an empty answer; a list of content blocks is the content; an object with `content` is
a whole result; any other JSON value is shown as compact JSON.  Where an output schema is declared, the value (or the
whole result's `structuredContent`) is the structured output as well.  An exception is a tool error that says what was
raised.
"""

from __future__ import annotations

from mcpc_runtime.commands import Invocation
from mcpc_runtime.protocol.effects import ABSENT, Failure, Outcome, PromptOutcome, text, text_outcome
from mcpc_runtime.protocol.facts import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.jsonrpc import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.commands import Returned
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Ending
    from mcpc_runtime.protocol.jsonrpc import Json

CONTENT_FIELDS = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource": ("resource",),
    "resource_link": ("uri", "name"),
}
RESULT_FIELDS = {"content", "structuredContent", "isError", "_meta"}


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


def as_text(value: Json) -> Json:
    """Return a text block: a string as it is, anything else as compact JSON."""
    return text(value if type(value) is str else encode(value).decode())


def is_block(value: Json) -> bool:
    """Tell whether this is a content block: a known kind with the fields it needs."""
    if type(value) is not dict or type(value.get("type")) is not str:
        return False
    fields = CONTENT_FIELDS.get(value["type"])  # type: ignore[arg-type]
    return fields is not None and all(field in value for field in fields)


def is_content(value: Json) -> bool:
    """Tell whether this is a list of content blocks."""
    return type(value) is list and bool(value) and all(map(is_block, value))


def is_result(value: Json) -> bool:
    """Tell whether this is a whole result."""
    if type(value) is not dict or not value.keys() <= RESULT_FIELDS:
        return False
    content = value.get("content")
    return type(content) is list and all(map(is_block, content))


def whole_result(value: dict[str, Json]) -> Outcome:
    """Return the outcome that a whole result describes."""
    outcome = Outcome(value["content"], value.get("structuredContent", ABSENT), value.get("isError") is True)  # type: ignore[arg-type]
    meta = value.get("_meta")
    outcome.meta = meta if type(meta) is dict else {}
    return outcome


def conclude_prompt(returned: Returned) -> Ending:
    """Return a prompt's messages: those returned, or one of the user's for a plain text."""
    if returned.refused:
        return Failure(INVALID_PARAMS, f"Invalid params: {returned.refused}")
    if returned.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: prompt execution failed: {returned.problem}")
    value = returned.value
    description = value.get("description") if type(value) is dict else None
    given = value.get("messages") if type(value) is dict else value
    messages = [as_message(item) for item in (given if type(given) is list else [given])]
    if not all(messages):
        problem = "it returned neither a text nor messages with `role` and `content`"
        return Failure(INTERNAL_ERROR, f"Internal error: prompt execution failed: {problem}")
    return PromptOutcome(messages, description if type(description) is str else None)


def as_message(value: Json) -> Json:
    """Return a prompt message, or None if `value` cannot be one."""
    if type(value) is str:
        return {"role": "user", "content": text(value)}
    if type(value) is not dict or value.get("role") not in ("user", "assistant"):
        return None
    content = value.get("content")
    if type(content) is str:
        content = text(content)
    return {"role": value["role"], "content": content} if is_block(content) else None
