"""mcbox: a Bash function gets the call's arguments as one JSON text, and its trimmed output is the answer.

A status other than 0 is a tool error with everything written, in order.  A tool with an output schema must print one
JSON value; what it writes to standard error is then kept out of it (in mcbox itself it would break the value).
A prompt prints an object with `messages`.  One shell reads every library of the server, as mcbox does.  What mcbox
has not: a resource's function gets the variables of its template, finds the uri in MCPC_URI and prints the contents;
one that completes an argument gets `value` and `arguments` and prints the values, one a line.
"""

from __future__ import annotations

from mcpc_runtime.commands import ShellCall
from mcpc_runtime.protocol.effects import Failure, PromptOutcome, text_outcome
from mcpc_runtime.protocol.facts import INTERNAL_ERROR
from mcpc_runtime.protocol.jsonrpc import ParseError, encode, parse, quote
from mcpc_runtime.protocol.traces import trace_of
from mcpc_runtime.results import program_ending, uri_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc_runtime.commands import Completed
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Ending
    from mcpc_runtime.protocol.jsonrpc import Json

UNHELD = "a null character or half a character"
WHITE_SPACE = " \t\n\r\v\f"
BROKEN_OUTPUT = "Internal error: tool output does not match outputSchema"
BROKEN_PROMPT = "Internal error: prompt execution failed"


def prepare(call: Call, image: Image) -> ShellCall:
    """Return the function to call, its argument as indented JSON, and its variables if it asks for any."""
    definition = call.definition
    file, function, traps, variables, calls_tools, part = definition.handler
    command = ShellCall(file, function, pretty(call.arguments), definition.environment)
    command.traps = traps
    command.calls_tools = calls_tools
    command.isolated = definition.isolated
    command.slice = part
    command.exported = {**trace_of(call), **uri_of(call)}
    command.merged = definition.output is None and call.is_tool
    if definition.asks:
        command.variables["mcpc_answers"] = encode({key: call.answers.get(key) for key, _, _ in definition.asks})
    for name, variable in variables:
        if name in call.arguments:
            try:
                command.variables[variable] = variable_of(call.arguments[name])
            except ValueError:
                command.refusal = f"the argument `{name}` has {UNHELD}, which no shell variable can hold"
    return command


def variable_of(value: Json) -> bytes | list[bytes]:
    """Return a value as a shell variable holds it: a list of scalars is an array, what is nested is compact JSON."""
    if type(value) is list and not any(type(item) in (list, dict) for item in value):
        return [scalar(item) for item in value]
    return scalar(value)


def scalar(value: Json) -> bytes:
    """Return a string as it is, null as nothing, and anything else as JSON; raise ValueError if none can be held."""
    if value is None:
        return b""
    if type(value) is not str:
        return encode(value)
    if "\0" in value:
        raise ValueError(value)
    return value.encode()


def conclude(call: Call, completed: Completed) -> Ending:
    """Return what the function's end means."""
    if completed.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: {completed.problem}")
    if call.is_tool:
        return conclude_tool(call, completed)
    if call.is_prompt:
        return conclude_prompt(call, completed)
    return program_ending(call, completed, trimmed(completed.output, completed.dropped))


def conclude_tool(call: Call, completed: Completed) -> Ending:
    """Return a tool's answer."""
    if completed.status:
        string = trimmed(completed.output, completed.dropped)
        return text_outcome(string or wrote_nothing(call, completed.status), is_error=True)
    outcome = text_outcome(trimmed(completed.printed, completed.dropped))
    if call.definition.output is not None:
        try:
            outcome.structured = parse(completed.printed)
        except ParseError:
            return Failure(INTERNAL_ERROR, BROKEN_OUTPUT)
        outcome.log = errors_of(completed)
    return outcome


def wrote_nothing(call: Call, status: int) -> str:
    """Return how a function ended that failed without a word; mcbox itself does not say."""
    refusals: Mapping[str, tuple[int, str]] = call.request.session.image.refusals
    if "handler_wrote_nothing" in refusals:
        return refusals["handler_wrote_nothing"][1]
    how = f"with status {status}" if status > 0 else f"by signal {-status}"
    return f"ended {how} and wrote nothing"


def conclude_prompt(call: Call, completed: Completed) -> Ending:
    """Return a prompt's messages, which its function printed as an object."""
    if completed.status:
        output = trimmed(completed.output, completed.dropped)
        why = output or wrote_nothing(call, completed.status)
        return Failure(INTERNAL_ERROR, f"{BROKEN_PROMPT}: {why}" if why else BROKEN_PROMPT)
    try:
        value = parse(completed.printed)
    except ParseError as problem:
        return Failure(INTERNAL_ERROR, f"{BROKEN_PROMPT}: its output is not JSON ({problem})")
    messages = value.get("messages") if type(value) is dict else None
    if type(value) is not dict or type(messages) is not list or not all(map(is_message, messages)):
        return Failure(INTERNAL_ERROR, f"{BROKEN_PROMPT}: its output is not an object with `messages`")
    description = value.get("description")
    outcome = PromptOutcome(messages, description if type(description) is str else None)
    outcome.log = errors_of(completed)
    return outcome


def is_message(message: Json) -> bool:
    """Tell whether this is a prompt message: a role, and one content block."""
    if type(message) is not dict or message.get("role") not in ("user", "assistant"):
        return False
    content = message.get("content")
    return type(content) is dict and type(content.get("type")) is str


def trimmed(output: bytes, dropped: int) -> str:
    """Return an output as text without white space at its ends; what was dropped of it is counted at its end."""
    string = str(output, "utf-8", "replace").strip(WHITE_SPACE)
    return f"{string}\n[{dropped} more bytes were dropped]" if dropped else string


def errors_of(completed: Completed) -> str:
    """Return what was written to standard error alone."""
    return str(completed.errors, "utf-8", "replace").strip(WHITE_SPACE)


def pretty(arguments: Json) -> bytes:
    """Return JSON indented by two spaces, as functions written for mcbox have always been given it."""
    try:
        return "".join(pieces(arguments, "\n")).encode("utf-8", "backslashreplace")
    except RecursionError:  # too deep to be read by a person
        return encode(arguments)


def pieces(value: Json, line: str) -> list[str]:
    """Return the texts that make up `value`; `line` is a line break with the indentation of its place."""
    inner = line + "  "
    if type(value) is dict:
        pairs = [f"{inner}{quote(key)}: {''.join(pieces(item, inner))}" for key, item in value.items()]
        return ["{", ",".join(pairs), line, "}"] if pairs else ["{}"]
    if type(value) is list:
        items = [f"{inner}{''.join(pieces(item, inner))}" for item in value]
        return ["[", ",".join(items), line, "]"] if items else ["[]"]
    if type(value) is str:
        return [quote(value)]
    return [WORDS[value] if value is None or type(value) is bool else repr(value)]


WORDS = {None: "null", True: "true", False: "false"}
