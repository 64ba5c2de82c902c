"""The contract of Python handlers: a function gets the arguments as keywords and returns the result.

For a tool, a string is a text block, None an empty result, a list of content blocks the content, an object with
`content` a whole result; bytes are a text, UTF-8 or base64; any other JSON value becomes compact JSON.  With an output
schema, the value (or the whole result's `structuredContent`) is also the structured output.  An exception is a tool
error with its text.  A resource's function gets the variables of its template: a string is text, bytes are a blob, None
means that the resource does not exist, other values are JSON.  A completion's function returns the values.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.artifact.extraction import extracted_folder
from mcpc_runtime.handlers.results import (
    blob_text,
    completion_outcome,
    is_blob,
    is_content,
    is_result,
    outcome_of_result,
    prompt_outcome,
    resource_outcome,
    text_block,
)
from mcpc_runtime.protocol.capabilities import client_capabilities
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.effects import ABSENT, Call, Ending, Failure, Outcome, text_outcome
from mcpc_runtime.protocol.handler_errors import error_ending
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.resources import unknown_resource

COMPLETE = "completion/complete"
IMPORTS_FROM_DISK = "imports_from_disk"
"""The index key of servers whose handlers are imported from a folder."""


def handlers_folder(image: Image) -> str:
    """Return the folder from which handlers are imported, empty for the archive; raise ExtractionError."""
    return extracted_folder(image) if IMPORTS_FROM_DISK in image.index else ""


class Invocation:
    """A Python function to call: the module's file, its name, the arguments, and their binding.

    `binding`: empty for keyword arguments, else a row of `BINDINGS` and its options.  `context`: the parameter for the
    call's context, if it has one; for it, `meta` is the request's `_meta`, and `more` has `client` (the client's
    capabilities) and `answers` (its answers so far).
    """

    __slots__ = ("arguments", "binding", "context", "environment", "file", "function", "is_async", "meta", "more",
                 "name")  # fmt: skip

    def __init__(self, file: str, function: str, arguments: dict[str, Json], binding: list[str]) -> None:
        self.file = file
        self.function = function
        self.arguments = arguments
        self.binding = binding
        self.context = ""
        self.is_async = False
        self.environment = 0
        self.meta: dict[str, Json] = {}
        self.more: dict[str, Json] = {}
        self.name = ""


class FunctionResult:
    """The result of a Python or JavaScript function: a JSON value, or the text of the exception that was raised.

    `refused`: why it was not called, because an argument does not match its type.  `raised`: the JSON-RPC error with
    which the request ends: `code`, `message`, and optional `data`.
    """

    __slots__ = ("problem", "raised", "refused", "value")

    def __init__(self, value: Json = None, problem: str = "", refused: str = "") -> None:
        self.value = value
        self.raised: dict[str, Json] | None = None
        self.problem = problem
        self.refused = refused


def build_invocation(call: Call, image: Image) -> Invocation:
    """Return the invocation of a call's function."""
    file, function, context, is_async, *binding = call.definition.handler
    arguments = call.arguments
    # A tool in the chain is called as tools are, whatever the request that began it.
    if call.request.method == COMPLETE and not call.chain:
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
        invocation.more = {"client": client_capabilities(call.request), "answers": answers}
    return invocation


def parse_result(call: Call, returned: FunctionResult) -> Ending:
    """Return the ending of a call from the result of its function."""
    if returned.raised is not None:
        raised: Ending = error_ending(call, returned.raised)
        return raised
    if not call.is_tool:
        if returned.refused:
            return Failure(INVALID_PARAMS, f"Invalid params: {returned.refused}")
        return CONCLUSIONS[call.request.method](call, returned)
    value = returned.value
    # Most results: a string needs none of the checks below.
    if type(value) is str and not returned.refused and not returned.problem:
        return Outcome([{"type": "text", "text": value}], value if call.definition.output is not None else ABSENT)
    return conclude_tool(call, returned)


def conclude_tool(call: Call, returned: FunctionResult) -> Ending:
    """Return the ending of a tool whose result is not a string."""
    if returned.refused:
        name = call.definition.name
        # Worded as the validator words it; a conversion stops at its first problem, so there is one.
        return text_outcome(f"Invalid arguments for {name}: 1 problem; fix and call again\n- {returned.refused}", True)
    if returned.problem:
        return text_outcome(returned.problem, is_error=True)
    value = returned.value
    if is_blob(value):
        value = blob_text(value)
    if is_result(value):
        return outcome_of_result(value)
    content = value if is_content(value) else [] if value is None else [text_block(value)]
    return Outcome(content, value if call.definition.output is not None else ABSENT)


def conclude_prompt(call: Call, returned: FunctionResult) -> Ending:
    """Return the messages that a prompt's function returned, or one user message for a string."""
    if returned.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: prompt execution failed: {returned.problem}")
    outcome = prompt_outcome(returned.value)
    if outcome is None:
        problem = "the handler must return a string or messages with `role` and `content`"
        return Failure(INTERNAL_ERROR, f"Internal error: prompt execution failed: {problem}")
    return outcome


def conclude_resource(call: Call, returned: FunctionResult) -> Ending:
    """Return the contents that a resource's function returned; None means that the resource does not exist."""
    if returned.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: the resource cannot be read: {returned.problem}")
    if returned.value is None:
        failure: Failure = unknown_resource(call.request)
        return failure
    outcome = resource_outcome(call, returned.value)
    return outcome or Failure(INTERNAL_ERROR, "Internal error: the resource cannot be read: `contents` are malformed")


def conclude_completion(call: Call, returned: FunctionResult) -> Ending:
    """Return the values that a completion's function returned."""
    if returned.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: the completion failed: {returned.problem}")
    outcome = completion_outcome(returned.value)
    return outcome or Failure(INTERNAL_ERROR, "Internal error: the completion failed: the values are not strings")


CONCLUSIONS: dict[str, Callable[[Call, FunctionResult], Ending]] = {
    COMPLETE: conclude_completion,
    "prompts/get": conclude_prompt,
    "resources/read": conclude_resource,
}
"""How the result of a function becomes an ending, by method, for all but tools."""
