"""The requests that run a handler: what they need before, and what their results look like on each wire.

A refusal before the handler runs is a protocol error where the request is wrong, and a tool's own result where only its
arguments are, because a model can mend those.
"""

from __future__ import annotations

from mcpc_runtime.protocol.batches import close_batch
from mcpc_runtime.protocol.effects import ABSENT, Call, Failure, Outcome, Send, Tell, text, text_outcome
from mcpc_runtime.protocol.facts import INTERNAL_ERROR, INVALID_PARAMS, LOG_LEVELS
from mcpc_runtime.protocol.jsonrpc import encode, error_line, quote, result_line
from mcpc_runtime.protocol.rows import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.effects import Effect, Ending, PromptOutcome, Request
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.ports import Definition, Validator, Wire
    from mcpc_runtime.protocol.session import Session

EXPLAIN = "mcpc_runtime.protocol.complaint:explain"
LINES = "mcpc_runtime.protocol.complaint:lines"
DOWNGRADE = "mcpc_runtime.protocol.downgrade:downgrade"
MOST_LINKS = 16
"""How deep tools may call each other: a circle ends there."""
PUNCTUATION = {ord(mark): "0" for mark in "_.-"}


def set_level(session: Session, request: Request) -> bytes | Failure:
    """Take the least severe level the client wants to see."""
    level = request.params.get("level")
    if level not in LOG_LEVELS:
        return Failure(INVALID_PARAMS, f"Invalid params: `level` must be one of {', '.join(LOG_LEVELS)}")
    session.log_level = level
    return b"{}"


def call_tool(session: Session, request: Request) -> bytes | Failure | Call:
    """Find the tool, have its arguments decided, and start it."""
    name = request.params.get("name")
    if type(name) is not str:
        return refuse(session, "tool_name_missing")
    tool = session.image.tool(name)
    if tool is None:
        return refuse(session, "tool_unknown" if legal(name) else "tool_name_malformed", name)
    arguments = request.params.get("arguments")
    if arguments is None:
        arguments = {}
    if type(arguments) is not dict:
        return refuse(session, "tool_arguments_not_object")
    schema = tool.input
    if schema is None or schema.accepts(arguments):
        complete = None if schema is None else schema.complete
        return Call(request, tool, complete(arguments) if complete else arguments)
    if "tool_arguments_rejected" in session.image.refusals:
        return refuse(session, "tool_arguments_rejected")
    return rejected(request, name, arguments, schema)


def rejected(request: Request, name: str, arguments: dict[str, Json], schema: Validator) -> bytes:
    """Return the result that says what is wrong with the arguments: a text for models, and JSON beside it."""
    complaint, meta = resolve(EXPLAIN)(name, arguments, schema.errors(arguments))
    outcome = Outcome([text(complaint)], is_error=True)
    outcome.meta = meta
    return tool_result(request, outcome)


def refuse(session: Session, situation: str, name: str = "") -> Failure:
    """Return the refusal of a situation in the words of the server's dialect."""
    return Failure(INVALID_PARAMS, session.image.refusals[situation].replace("{name}", name))


def legal(name: str) -> bool:
    """Tell whether a tool could have this name at all."""
    return 0 < len(name) <= 128 and name.isascii() and name.translate(PUNCTUATION).isalnum()


def get_prompt(session: Session, request: Request) -> Failure | Call:
    """Find the prompt, check its arguments (strings, the required ones, no others), and start it."""
    name = request.params.get("name")
    if type(name) is not str:
        return Failure(INVALID_PARAMS, "Invalid params: `name` must be a string")
    prompt = session.image.prompt(name)
    if prompt is None:
        return Failure(INVALID_PARAMS, f"Unknown prompt: {name}")
    arguments = request.params.get("arguments")
    if arguments is None:
        arguments = {}
    if type(arguments) is not dict:
        return Failure(INVALID_PARAMS, "Invalid params: arguments must be a JSON object")
    complaint = prompt_complaint(prompt, arguments)
    if complaint:
        return Failure(INVALID_PARAMS, f"Invalid params: {complaint}")
    return Call(request, prompt, arguments)


def prompt_complaint(prompt: Definition, arguments: dict[str, Json]) -> str:
    """Return what is wrong with a prompt's arguments, or nothing."""
    known = dict(prompt.arguments)
    for name, value in arguments.items():
        if name not in known:
            return f"unknown argument {name!r}"
        if type(value) is not str:
            return f"argument {name!r} must be a string"
    missing = [name for name, required in prompt.arguments if required and name not in arguments]
    return f"missing required argument {missing[0]!r}" if missing else ""


def finish(session: Session, call: Call, ending: Ending) -> list[Effect]:
    """Return the effects of a handler's end; none if its call was cancelled.

    The call counts as running until its answer is made: if making it fails, it can still be answered with that.
    """
    request = call.request
    if session.running.get(request.identifier) is not call:
        return []
    answer = ending if isinstance(ending, Failure) else RESULTS[request.method](call, ending)
    if isinstance(answer, Failure):
        line = error_line(request.identifier, answer.code, answer.message, answer.data)
    else:
        line = result_line(request.identifier, answer)
    effects: list[Effect] = []
    log = answer.log if isinstance(answer, Failure) else ending.log
    if log and (session.log_level is not None or request.wire.stateless):  # noise, for those who ask for it
        effects += session.note(call, {"log": "warning", "data": log})
    del session.running[request.identifier]
    told = [Tell(answer.log)] if isinstance(answer, Failure) and answer.log else []
    if request.batch is None:
        return [*effects, Send(line), *told]
    return [*effects, *close_batch(call, line), *told]


def call_within(session: Session, parent: Call, name: Json, arguments: Json) -> Call | str:
    """Return the call that a tool makes of another one, or why it cannot be made.

    It speaks the newest revision, whatever the client does, and is answered to the tool alone.
    """
    chain = (*parent.chain, parent.definition.name)
    if len(chain) >= MOST_LINKS:
        return f"tools have called each other {MOST_LINKS} deep: {' > '.join(chain)}"
    tool = session.image.tool(name) if type(name) is str else None
    if tool is None:
        return f"Unknown tool: {name if type(name) is str else encode(name).decode()}"
    given = {} if arguments is None else arguments
    if type(given) is not dict:
        return "the arguments of a tool are an object"
    if tool.input is not None and not tool.input.accepts(given):
        complaint: str = resolve(EXPLAIN)(name, given, tool.input.errors(given))[0]
        return complaint
    complete = tool.input and tool.input.complete
    call = Call(parent.request, tool, complete(given) if complete else given)
    call.chain = chain
    return call


def result_within(call: Call, ending: Ending) -> dict[str, Json]:
    """Return the result of such a call, as the tool that made it gets it."""
    if isinstance(ending, Failure):
        return {"content": [text(ending.message)], "isError": True}
    outcome: Outcome = ending  # type: ignore[assignment]
    output, structured = call.definition.output, outcome.structured
    if output is not None and not outcome.is_error and (structured is ABSENT or not output.accepts(structured)):
        return {"content": [text("Internal error: tool output does not match outputSchema")], "isError": True}
    result: dict[str, Json] = {"content": outcome.content, "isError": outcome.is_error}
    if structured is not ABSENT:
        result["structuredContent"] = structured  # type: ignore[assignment]
    return {**result, "_meta": outcome.meta} if outcome.meta else result


def finish_text(session: Session, call: Call, string: str) -> list[Effect]:
    """Return the effects of a tool's end whose answer is one text: what `finish` does, by the shortest way."""
    request = call.request
    if request.batch is not None or session.running.get(request.identifier) is not call:
        return finish(session, call, text_outcome(string))
    del session.running[request.identifier]
    body = quote(string).encode("utf-8", "backslashreplace")
    result = b'{"content":[{"type":"text","text":%b}]%b}' % (body, request.wire.tail)
    return [Send(result_line(request.identifier, result))]


def finish_tool(call: Call, outcome: Outcome) -> bytes | Failure:
    """Return a tool's result; a structured result that breaks its schema is the server's own failure."""
    output, structured = call.definition.output, outcome.structured
    if output is None or outcome.is_error or (structured is not ABSENT and output.accepts(structured)):
        return tool_result(call.request, outcome)
    failure = Failure(INTERNAL_ERROR, "Internal error: tool output does not match outputSchema")
    failure.log = "\n".join([*filter(None, [outcome.log]), mismatch(call.definition.name, output, structured)])
    return failure


def mismatch(name: str, schema: Validator, structured: object) -> str:
    """Return what is wrong with a tool's structured output, for whoever can mend the tool; the reply does not say."""
    head = f"tool {name}: its output does not match its outputSchema"
    if structured is ABSENT:
        return f"{head}: it has no structured content"
    return "\n".join([head, *resolve(LINES)(structured, schema.errors(structured))[0]])


def tool_result(request: Request, outcome: Outcome) -> bytes:
    """Return an outcome as the request's wire shows it."""
    wire = request.wire
    result: dict[str, Json] = {"content": shown(outcome.content, wire)}
    structured = outcome.structured
    if structured is not ABSENT and wire.shows_structured(structured):
        result["structuredContent"] = structured  # type: ignore[assignment]
    if outcome.is_error:
        result["isError"] = True
    return wire.seal(result, outcome.meta)


def finish_prompt(call: Call, outcome: PromptOutcome) -> bytes:
    """Return a prompt's messages."""
    wire = call.request.wire
    result: dict[str, Json] = {}
    if outcome.description is not None:
        result["description"] = outcome.description
    result["messages"] = [
        {**message, "content": shown([message["content"]], wire)[0]}  # type: ignore[dict-item,index,call-overload]
        for message in outcome.messages
    ]
    return wire.seal(result, {})


def shown(content: list[Json], wire: Wire) -> list[Json]:
    """Return content blocks as a revision may show them: a kind it does not know becomes text."""
    for block in content:
        if type(block) is not dict or block.get("type") not in wire.content:
            return [resolve(DOWNGRADE)(block, wire.content) for block in content]
    return content


RESULTS: dict[str, Callable[[Call, Ending], bytes | Failure]] = {
    "prompts/get": finish_prompt,  # type: ignore[dict-item]
    "tools/call": finish_tool,  # type: ignore[dict-item]
}
