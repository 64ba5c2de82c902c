"""The requests that run a handler: what they need before, and what their results look like on each wire.

A refusal before the handler runs is a protocol error where the request is wrong, and a tool's own result where only its
arguments are, because a model can mend those.
"""

from __future__ import annotations

from mcpc_runtime.lazy import lazy, resolve
from mcpc_runtime.protocol.batches import close_batch
from mcpc_runtime.protocol.effects import ABSENT, Call, Failure, Look, Outcome, Ready, Send, Tell, text, text_outcome
from mcpc_runtime.protocol.facts import INTERNAL_ERROR, INVALID_PARAMS, LOG_LEVELS
from mcpc_runtime.protocol.jsonrpc import encode, error_line, quote, result_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.protocol.complaint import explain, lines
    from mcpc_runtime.protocol.downgrade import downgrade
    from mcpc_runtime.protocol.effects import Effect, Ending, PromptOutcome, Request
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.known import answer as known_answer
    from mcpc_runtime.protocol.notes import note
    from mcpc_runtime.protocol.ports import Definition, Validator, Wire
    from mcpc_runtime.protocol.session_state import SessionState
else:
    downgrade = lazy("mcpc_runtime.protocol.downgrade:downgrade")
    explain = lazy("mcpc_runtime.protocol.complaint:explain")
    known_answer = lazy("mcpc_runtime.protocol.known:answer", "known_answer")
    lines = lazy("mcpc_runtime.protocol.complaint:lines")
    note = lazy("mcpc_runtime.protocol.notes:note")

KNOWN = "known"
SUBSCRIBE = "resources/subscribe"
MOST_LINKS = 16
"""How deep tools may call each other: a circle ends there."""
PUNCTUATION = {ord(mark): "0" for mark in "_.-"}
UNCHECKED_PROMPTS = frozenset({"mcp_bash_prompt"})
"""Contracts whose prompts take arguments that nobody declared, and of any type: only what is required is asked for."""


def set_level(session: SessionState, request: Request) -> bytes | Failure:
    """Take the least severe level the client wants to see."""
    level = request.params.get("level")
    if level not in LOG_LEVELS:
        return Failure(INVALID_PARAMS, f"Invalid params: `level` must be one of {', '.join(LOG_LEVELS)}")
    session.log_level = level
    return b"{}"


def call_tool(session: SessionState, request: Request) -> bytes | Failure | Call:
    """Find the tool, have its arguments decided, and start it."""
    name = request.params.get("name")
    if type(name) is not str:
        return refuse(request, "tool_name_missing")
    tool = session.image.tool(name) if session.allows is None or session.allows(name) else None
    if tool is None:
        return refuse(request, "tool_unknown" if legal(name) else "tool_name_malformed", name)
    arguments = request.params.get("arguments")
    if arguments is None:
        arguments = {}
    if type(arguments) is not dict:
        return refuse(request, "tool_arguments_not_object")
    schema = tool.input
    if schema is None or schema.accepts(arguments):
        if tool.contract == KNOWN:
            known: bytes = known_answer(request, tool)
            return known
        complete = None if schema is None else schema.complete
        return Call(request, tool, complete(arguments) if complete else arguments)
    return rejected(request, name, arguments, schema)


def rejected(request: Request, name: str, arguments: dict[str, Json], schema: Validator) -> bytes | Failure:
    """Return the result that says what is wrong with the arguments: a text for models, and JSON beside it."""
    if "tool_arguments_rejected" in request.session.image.refusals:
        return refuse(request, "tool_arguments_rejected")
    complaint, meta = explain(name, arguments, schema.errors(arguments))
    outcome = Outcome([text(complaint)], is_error=True)
    outcome.meta = meta
    return tool_result(request, outcome)


def refuse(request: Request, situation: str, name: str = "") -> Failure | bytes:
    """Return the refusal of a situation in the words of the server's dialect: an error, or a tool's own (code 0)."""
    code, words = request.session.image.refusals[situation]
    words = words.replace("{name}", name)
    return Failure(code, words) if code else tool_result(request, text_outcome(words, is_error=True))


def legal(name: str) -> bool:
    """Tell whether a tool could have this name at all."""
    return 0 < len(name) <= 128 and name.isascii() and name.translate(PUNCTUATION).isalnum()


def get_prompt(session: SessionState, request: Request) -> bytes | Failure | Call:
    """Find the prompt, check its arguments (strings, the required ones, no others), and start it."""
    name = request.params.get("name")
    refusals = session.image.refusals
    if type(name) is not str:
        usual = INVALID_PARAMS, "Invalid params: `name` must be a string"
        return Failure(*refusals.get("prompt_name_missing", usual))
    prompt = session.image.prompt(name)
    if prompt is None:
        code, words = refusals.get("prompt_unknown", (INVALID_PARAMS, "Unknown prompt: {name}"))
        return Failure(code, words.replace("{name}", name))
    arguments = request.params.get("arguments")
    if arguments is None:
        arguments = {}
    if type(arguments) is not dict:
        return Failure(INVALID_PARAMS, "Invalid params: arguments must be a JSON object")
    if prompt.contract == KNOWN:
        known: bytes = known_answer(request, prompt)
        return known
    complaint = prompt_complaint(prompt, arguments)
    if complaint:
        return Failure(INVALID_PARAMS, f"Invalid params: {complaint}")
    return Call(request, prompt, arguments)


def prompt_complaint(prompt: Definition, arguments: dict[str, Json]) -> str:
    """Return what is wrong with a prompt's arguments, or nothing."""
    known = dict(prompt.arguments)
    for name, value in arguments.items() if prompt.contract not in UNCHECKED_PROMPTS else ():
        if name not in known:
            return f"unknown argument {name!r}"
        if type(value) is not str:
            return f"argument {name!r} must be a string"
    missing = [name for name, required in prompt.arguments if required and name not in arguments]
    return f"missing required argument {missing[0]!r}" if missing else ""


def finish(session: SessionState, call: Call, ending: Ending) -> list[Effect]:
    """Return the effects of a handler's end; none if its call was cancelled.

    The call counts as running until its answer is made: if making it fails, it can still be answered with that.
    """
    request = call.request
    if session.running.get(request.identifier) is not call:
        return []
    answer = result(call, ending)
    code = 0
    if isinstance(answer, Failure):
        code = answer.code
        line = error_line(request.identifier, code, answer.message, answer.data)
    else:
        line = result_line(request.identifier, answer)
    effects: list[Effect] = []
    log = answer.log if isinstance(answer, Failure) else ending.log
    if log and (session.log_level is not None or request.wire.stateless):  # noise, for those who ask for it
        effects += note(session, call, {"log": "warning", "data": log})
    del session.running[request.identifier]
    told: list[Effect] = [Tell(answer.log)] if isinstance(answer, Failure) and answer.log else []
    if request.method == SUBSCRIBE and not code:
        told.append(Look())
    if request.batch is None:
        return [*effects, Send(line, request, code), *told]
    return [*effects, *close_batch(call, line), *told]


def result(call: Call, ending: Ending) -> bytes | Failure:
    """Return what a handler's end is on its call's wire: a result, or an error."""
    if isinstance(ending, Failure):
        return ending
    if isinstance(ending, Ready):
        return call.request.wire.seal(ending.result, {})
    row = RESULTS[call.request.method]
    made: bytes | Failure = (resolve(row) if isinstance(row, str) else row)(call, ending)
    return made


def call_within(session: SessionState, parent: Call, name: Json, arguments: Json) -> Call | str:
    """Return the call that a tool makes of another one, or why it cannot be made.

    It speaks the newest revision, whatever the client does, and is answered to the tool alone.
    """
    chain = (*parent.chain, parent.definition.name)
    if len(chain) >= MOST_LINKS:
        return f"tools have called each other {MOST_LINKS} deep: {' > '.join(chain)}"
    tool = session.image.tool(name) if type(name) is str else None
    if tool is None or type(name) is not str:
        return f"Unknown tool: {name if type(name) is str else encode(name).decode()}"
    given = {} if arguments is None else arguments
    if type(given) is not dict:
        return "the arguments of a tool are an object"
    if tool.input is not None and not tool.input.accepts(given):
        return explain(name, given, tool.input.errors(given))[0]
    complete = tool.input and tool.input.complete
    call = Call(parent.request, tool, complete(given) if complete else given)
    call.chain = chain
    call.is_task = parent.is_task
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


def finish_text(session: SessionState, call: Call, string: str) -> list[Effect]:
    """Return the effects of a tool's end whose answer is one text: what `finish` does, by the shortest way."""
    request = call.request
    if request.batch is not None or session.running.get(request.identifier) is not call:
        return finish(session, call, text_outcome(string))
    del session.running[request.identifier]
    body = quote(string).encode("utf-8", "backslashreplace")
    line = b'{"content":[{"type":"text","text":%b}]%b}' % (body, request.wire.tail)
    return [Send(result_line(request.identifier, line), request)]


def finish_tool(call: Call, outcome: Outcome) -> bytes | Failure:
    """Return a tool's result; a structured result that breaks its schema is the server's own failure."""
    failed = call.request.session.image.refusals.get("tool_failed") if outcome.is_error else None
    if failed is not None:
        return Failure(failed[0], failed[1].replace("{message}", words_of(outcome)))
    output, structured = call.definition.output, outcome.structured
    if output is None or outcome.is_error or (structured is not ABSENT and output.accepts(structured)):
        return tool_result(call.request, outcome)
    failure = Failure(INTERNAL_ERROR, "Internal error: tool output does not match outputSchema")
    failure.log = "\n".join([*filter(None, [outcome.log]), mismatch(call.definition.name, output, structured)])
    return failure


def words_of(outcome: Outcome) -> str:
    """Return what a tool says, as one text."""
    texts = [one["text"] for one in outcome.content if type(one) is dict and type(one.get("text")) is str]
    return "\n".join(map(str, texts))


def mismatch(name: str, schema: Validator, structured: object) -> str:
    """Return what is wrong with a tool's structured output, for whoever can mend the tool; the reply does not say."""
    head = f"tool {name}: its output does not match its outputSchema"
    if structured is ABSENT:
        return f"{head}: it has no structured content"
    return "\n".join([head, *lines(structured, schema.errors(structured))[0]])


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
            return [downgrade(block, wire.content) for block in content]
    return content


RESULTS: dict[str, Callable[[Call, Any], bytes | Failure] | str] = {
    "completion/complete": "mcpc_runtime.protocol.completion:finish",
    "prompts/get": finish_prompt,
    "resources/read": "mcpc_runtime.protocol.resources:finish",
    SUBSCRIBE: "mcpc_runtime.protocol.subscriptions:subscribed",
    "tools/call": finish_tool,
}
"""What a handler's end becomes for each method; a dotted name is resolved when it is first needed."""
