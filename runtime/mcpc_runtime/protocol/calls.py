"""Tool calls before their handler runs, and the results of all handlers as each protocol revision encodes them.

A wrong request is answered with a protocol error; wrong arguments of a tool with an error result, because a model can
correct those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpc_runtime.lazy import resolve
from mcpc_runtime.protocol.batches import close_batch
from mcpc_runtime.protocol.constants import INTERNAL_ERROR
from mcpc_runtime.protocol.contents import downgrade_content
from mcpc_runtime.protocol.definitions import Definition, Validator
from mcpc_runtime.protocol.effects import (
    ABSENT,
    Activity,
    Call,
    Effect,
    Ending,
    Failure,
    FinishedResult,
    LogToOperator,
    Outcome,
    SessionState,
    StartPolling,
    TaskRequest,
    text,
    text_outcome,
)
from mcpc_runtime.protocol.jsonrpc import Json, encode, encode_text, error_line, quote, result_line
from mcpc_runtime.protocol.notifications import notification_effects
from mcpc_runtime.protocol.operations import called_operation
from mcpc_runtime.protocol.requests import Request, SendResponse
from mcpc_runtime.protocol.result_limits import limited, limited_answer
from mcpc_runtime.protocol.static_results import static_result as known_answer
from mcpc_runtime.protocol.tolerance import corrected_arguments, object_of
from mcpc_runtime.protocol.validation_errors import error_lines, explain_errors

KNOWN, FINDER = "known", "finder"
SUBSCRIBE = "resources/subscribe"
MAX_CALL_DEPTH = 16
"""How deep tools may call each other, which ends a cycle."""
# As digits, so that `isalnum` accepts what else a name may have.
PUNCTUATION = {ord(mark): "0" for mark in "_.-"}


def call_tool(session: SessionState, request: Request) -> bytes | Failure | Call:
    """Return a call of the tool, or the answer if the request or its arguments are wrong."""
    name = request.params.get("name")
    if type(name) is not str:
        return refuse(request, "tool_name_missing")
    tool = offered_tool(session, name)
    if tool is None:
        return refuse(request, "tool_unknown" if is_valid_tool_name(name) else "tool_name_malformed", name)
    arguments = request.params.get("arguments")
    # `null` stands for no arguments: clients send it, though the schema of the protocol has an object only.
    if arguments is None:
        arguments = {}
    if type(arguments) is not dict:
        arguments = object_of(request, arguments) if session.image.tolerant else None
        if arguments is None:
            return refuse(request, "tool_arguments_not_object")
    return start_tool(request, tool, arguments)


def offered_tool(session: SessionState, name: str) -> Definition | None:
    """Return the tool of this name, if it is offered to the client."""
    return session.image.tool(name) if session.allows is None or session.allows(name) else None


def start_tool(request: Request, tool: Definition, arguments: dict[str, Json]) -> bytes | Failure | Call:
    """Return a call of a tool, or the answer if its arguments are wrong."""
    schema = tool.input
    if schema is not None and not schema.accepts(arguments):
        corrected = corrected_arguments(request, arguments, schema) if request.session.image.tolerant else None
        if corrected is None:
            return reject_arguments(request, tool.name, arguments, schema)
        arguments = corrected
    if tool.contract == KNOWN:
        known: bytes = known_answer(request, tool)
        return limited_answer(request, tool, known) if tool.result_limit else known
    complete = None if schema is None else schema.complete
    operation = called_operation(request.session, tool, arguments) if tool.contract == FINDER else tool
    if isinstance(operation, str):
        return tool_result(request, text_outcome(operation, is_error=True))
    if operation is not tool:
        return start_tool(request, operation, object_at(arguments))
    return Call(request, tool, complete(arguments) if complete else arguments)


def object_at(arguments: dict[str, Json]) -> dict[str, Json]:
    """Return the arguments of an operation, which are one argument of the tool that calls it."""
    values = arguments.get("arguments")
    return values if type(values) is dict else {}


def reject_arguments(request: Request, name: str, arguments: dict[str, Json], schema: Validator) -> bytes | Failure:
    """Return the result that describes what is wrong with the arguments: text for models, and JSON in `_meta`."""
    if "tool_arguments_rejected" in request.session.image.refusals:
        return refuse(request, "tool_arguments_rejected")
    complaint, meta = explain_errors(name, arguments, schema.errors(arguments))
    outcome = Outcome([text(complaint)], is_error=True)
    outcome.meta = meta
    return tool_result(request, outcome)


def refuse(request: Request, situation: str, name: str = "") -> Failure | bytes:
    """Return the refusal of a situation in the server's dialect: a protocol error, or a tool error if its code is 0."""
    code, message = request.session.image.refusals[situation]
    message = message.replace("{name}", name)
    return Failure(code, message) if code else tool_result(request, text_outcome(message, is_error=True))


def is_valid_tool_name(name: str) -> bool:
    """Return whether the specification allows a tool to have this name."""
    return 0 < len(name) <= 128 and name.isascii() and name.translate(PUNCTUATION).isalnum()


def finish_call(session: SessionState, call: Activity, ending: Ending) -> list[Effect]:
    """Return the effects of a handler's end; an empty list if its call was cancelled.

    The call counts as running until its answer is made: if that fails, this function can be called with the failure.
    """
    request = call.request
    # The id of a cancelled request may be that of another call by then.
    if session.running.get(request.identifier) is not call:
        return []
    answer = make_result(call, ending)
    code = 0
    if isinstance(answer, Failure):
        code = answer.code
        line = error_line(request.identifier, code, answer.message, answer.data)
    else:
        line = result_line(request.identifier, answer)
    effects: list[Effect] = []
    log = answer.log if isinstance(answer, Failure) else ending.log
    if log and (session.log_level is not None or request.wire.stateless):
        effects += notification_effects(session, call, {"log": "warning", "data": log})
    del session.running[request.identifier]
    after: list[Effect] = [LogToOperator(answer.log)] if isinstance(answer, Failure) and answer.log else []
    if request.method == SUBSCRIBE and not code:
        after.append(StartPolling())
    if request.batch is None:
        return [*effects, SendResponse(line, request, code), *after]
    return [*effects, *close_batch(call, line), *after]


def make_result(call: Activity, ending: Ending) -> bytes | Failure:
    """Return the result of a call in the revision of its request, as JSON; a failure if it ends with an error."""
    if isinstance(ending, Failure):
        return ending
    if isinstance(ending, FinishedResult):
        return call.request.wire.seal(ending.result, ending.meta)
    if isinstance(call, TaskRequest):
        raise TypeError(f"{call.name} ends with a FinishedResult")
    row = RESULTS[call.request.method]
    result: bytes | Failure = (resolve(row) if isinstance(row, str) else row)(call, ending)
    return result


def nested_call(session: SessionState, parent: Call, called: Definition | Json, arguments: Json) -> Call | str:
    """Return the call of another tool that a tool makes, or why it cannot be made; `called`: the tool, or its name.

    It uses the newest revision, whatever the client uses, and only the tool gets its result.
    """
    chain = (*parent.chain, parent.definition.name)
    if len(chain) >= MAX_CALL_DEPTH:
        return f"tool calls are nested more than {MAX_CALL_DEPTH} deep: {' > '.join(chain)}"
    tool = called if isinstance(called, Definition) else session.image.any_tool(called) if type(called) is str else None
    if tool is None:
        return f"Unknown tool: {called if type(called) is str else encode(called).decode()}"  # type: ignore[arg-type]
    values = {} if arguments is None else arguments
    if type(values) is not dict:
        return "the arguments of a tool must be an object"
    if tool.input is not None and not tool.input.accepts(values):
        return explain_errors(tool.name, values, tool.input.errors(values))[0]
    operation = called_operation(session, tool, values) if tool.contract == FINDER else tool
    if operation is not tool:
        return operation if isinstance(operation, str) else nested_call(session, parent, operation, object_at(values))
    complete = tool.input and tool.input.complete
    call = Call(parent.request, tool, complete(values) if complete else values, chain)
    call.is_task = parent.is_task
    return call


def nested_result(call: Call, ending: Ending) -> dict[str, Json]:
    """Return the result of a nested call for the tool that made it."""
    if isinstance(ending, Failure):
        return {"content": [text(ending.message)], "isError": True}
    if not isinstance(ending, Outcome):
        raise TypeError(f"a tool cannot end with {type(ending).__name__}")
    outcome = ending
    output, structured = call.definition.output, outcome.structured
    if output is not None and not outcome.is_error and (structured is ABSENT or not output.accepts(structured)):
        return {"content": [text("Internal error: tool output does not match outputSchema")], "isError": True}
    result: dict[str, Json] = {"content": outcome.content, "isError": outcome.is_error}
    if structured is not ABSENT:
        result["structuredContent"] = structured  # type: ignore[assignment]
    return {**result, "_meta": outcome.meta} if outcome.meta else result


def finish_with_text(session: SessionState, call: Call, string: str) -> list[Effect]:
    """Return the effects of a tool's end whose result is one text block: a fast path of `finish_call`."""
    request = call.request
    if request.batch is not None or call.definition.result_limit or session.running.get(request.identifier) is not call:
        return finish_call(session, call, text_outcome(string))
    del session.running[request.identifier]
    body = encode_text(quote(string))
    line = b'{"content":[{"type":"text","text":%b}]%b}' % (body, request.wire.tail)
    return [SendResponse(result_line(request.identifier, line), request)]


def finished_tool_result(call: Call, outcome: Outcome) -> bytes | Failure:
    """Return a tool's result; a structured result that does not match its schema is an internal error."""
    failed = call.request.session.image.refusals.get("tool_failed") if outcome.is_error else None
    if failed is not None:
        return Failure(failed[0], failed[1].replace("{message}", text_of(within_limit(call, outcome))))
    output, structured = call.definition.output, outcome.structured
    if output is None or outcome.is_error or (structured is not ABSENT and output.accepts(structured)):
        return tool_result(call.request, within_limit(call, outcome))
    failure = Failure(INTERNAL_ERROR, "Internal error: tool output does not match outputSchema")
    failure.log = "\n".join([*filter(None, [outcome.log]), describe_mismatch(call.definition.name, output, structured)])
    return failure


def within_limit(call: Call, outcome: Outcome) -> Outcome:
    """Return a tool's result within the limit of the tool, if that has one."""
    return limited(call.request, call.definition, outcome) if call.definition.result_limit else outcome


def text_of(outcome: Outcome) -> str:
    """Return the text blocks of a tool's result, joined."""
    texts = [block["text"] for block in outcome.content if type(block) is dict and type(block.get("text")) is str]
    return "\n".join(map(str, texts))


def describe_mismatch(name: str, schema: Validator, structured: object) -> str:
    """Return what is wrong with a tool's structured output, for the operator's log; the answer does not contain it."""
    head = f"tool {name}: its output does not match its outputSchema"
    if structured is ABSENT:
        return f"{head}: it lacks structured content"
    return "\n".join([head, *error_lines(structured, schema.errors(structured))[0]])


def tool_result(request: Request, outcome: Outcome) -> bytes:
    """Return an outcome as a result in the request's revision, as JSON."""
    wire, content = request.wire, outcome.content
    for block in content:
        # Most results have nothing but known content, and are not copied.
        if type(block) is not dict or block.get("type") not in wire.content:
            content = [downgrade_content(each, wire.content) for each in content]
            break
    result: dict[str, Json] = {"content": content}
    structured = outcome.structured
    if structured is not ABSENT and wire.shows_structured(structured):
        result["structuredContent"] = structured  # type: ignore[assignment]
    if outcome.is_error:
        result["isError"] = True
    return wire.seal(result, outcome.meta)


RESULTS: dict[str, Callable[[Call, Any], bytes | Failure] | str] = {
    "completion/complete": "mcpc_runtime.protocol.completion:finish",
    "prompts/get": "mcpc_runtime.protocol.prompts:prompt_result",
    "resources/read": "mcpc_runtime.protocol.resources:finish_resource",
    SUBSCRIBE: "mcpc_runtime.protocol.subscriptions:finish_subscription",
    "tools/call": finished_tool_result,
}
"""The functions that make the result of each method; a string is resolved when it is used."""
