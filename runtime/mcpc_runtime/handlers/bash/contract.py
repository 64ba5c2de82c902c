"""The contract of mcbox: a Bash function gets the call's arguments as one JSON text, and prints the result.

The output is trimmed.  A status other than 0 is a tool error with all output in order.  A tool with an output schema
must print one JSON value; its standard error is then separate (in mcbox itself it would break the value).  A prompt
prints an object with `messages`.  One shell reads every library of the server, as mcbox does.  Extensions to mcbox: a
resource's function gets the variables of its template, reads the uri in MCPC_URI and prints the contents; a completion
function gets `value` and `arguments` and prints the values, one per line.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcpc_runtime.handlers.invocations import ProcessResult, ShellCall
from mcpc_runtime.handlers.results import BROKEN_OUTPUT, BROKEN_PROMPT, parse_program_result, uri_variable
from mcpc_runtime.protocol.constants import INTERNAL_ERROR
from mcpc_runtime.protocol.effects import Call, Ending, Failure, PromptOutcome, text_outcome
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, encode, parse, quote
from mcpc_runtime.protocol.traces import trace_variables

UNSUPPORTED_TEXT = "a null character or an unpaired surrogate"
# That of ASCII; `strip` by itself removes all white space of Unicode.
WHITE_SPACE = " \t\n\r\v\f"


def build_invocation(call: Call, image: Image) -> ShellCall:
    """Return the function to call, its argument as indented JSON, and its declared variables."""
    definition = call.definition
    file, function, traps, errexit, variables, calls_tools, part = definition.handler
    command = ShellCall(file, function, indented_json(call.arguments), definition.environment)
    command.traps = traps
    command.errexit = errexit
    command.calls_tools = calls_tools
    command.isolated = definition.isolated
    command.slice = part
    command.exported = {**trace_variables(call), **uri_variable(call)}
    command.merged = definition.output is None and call.is_tool
    if definition.asks:
        command.variables["mcpc_answers"] = encode({key: call.answers.get(key) for key, _, _ in definition.asks})
    for name, variable in variables:
        if name in call.arguments:
            try:
                command.variables[variable] = encode_variable(call.arguments[name])
            except ValueError:
                command.refusal = f"the argument `{name}` has {UNSUPPORTED_TEXT}, which a shell variable cannot hold"
    return command


def encode_variable(value: Json) -> bytes | list[bytes]:
    """Encode a value for a shell variable: a list of scalars is an array, nested values are compact JSON."""
    if type(value) is list and not any(type(item) in (list, dict) for item in value):
        return [encode_scalar(item) for item in value]
    return encode_scalar(value)


def encode_scalar(value: Json) -> bytes:
    """Encode a string as it is, null as empty, and others as JSON; raise ValueError for a text with a null byte."""
    if value is None:
        return b""
    if type(value) is not str:
        return encode(value)
    if "\0" in value:
        raise ValueError(value)
    return value.encode()


def parse_result(call: Call, completed: ProcessResult) -> Ending:
    """Convert the result of the function to an ending."""
    if completed.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: {completed.problem}")
    if call.is_tool:
        return parse_tool_result(call, completed)
    if call.is_prompt:
        return parse_prompt_result(call, completed)
    return parse_program_result(call, completed, trim_output(completed.output, completed.dropped))


def parse_tool_result(call: Call, completed: ProcessResult) -> Ending:
    """Return the result of a tool."""
    if completed.status:
        string = trim_output(completed.output, completed.dropped)
        return text_outcome(string or silent_failure_text(call, completed.status), is_error=True)
    outcome = text_outcome(trim_output(completed.printed, completed.dropped))
    if call.definition.output is not None:
        try:
            outcome.structured = parse(completed.printed)
        except ParseError:
            return Failure(INTERNAL_ERROR, BROKEN_OUTPUT)
        outcome.log = error_text(completed)
    return outcome


def silent_failure_text(call: Call, status: int) -> str:
    """Describe the failure of a function without output; mcbox itself has no such text."""
    refusals: Mapping[str, tuple[int, str]] = call.request.session.image.refusals
    if "handler_wrote_nothing" in refusals:
        return refusals["handler_wrote_nothing"][1]
    how = f"with status {status}" if status > 0 else f"by signal {-status}"
    return f"ended {how} without output"


def parse_prompt_result(call: Call, completed: ProcessResult) -> Ending:
    """Return the messages of a prompt, printed as an object."""
    if completed.status:
        output = trim_output(completed.output, completed.dropped)
        why = output or silent_failure_text(call, completed.status)
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
    outcome.log = error_text(completed)
    return outcome


def is_message(message: Json) -> bool:
    """Tell whether this is a prompt message: a role, and one content block."""
    if type(message) is not dict or message.get("role") not in ("user", "assistant"):
        return False
    content = message.get("content")
    return type(content) is dict and type(content.get("type")) is str


def trim_output(output: bytes, dropped: int) -> str:
    """Return an output as text without surrounding white space, with the number of dropped bytes, if any."""
    string = str(output, "utf-8", "replace").strip(WHITE_SPACE)
    return f"{string}\n[{dropped} more bytes were dropped]" if dropped else string


def error_text(completed: ProcessResult) -> str:
    """Return what was written to standard error."""
    return str(completed.errors, "utf-8", "replace").strip(WHITE_SPACE)


def indented_json(arguments: Json) -> bytes:
    """Return JSON indented by two spaces, the format of mcbox."""
    try:
        return "".join(json_pieces(arguments, "\n")).encode("utf-8", "backslashreplace")
    except RecursionError:  # too deep to be read by a person
        return encode(arguments)


def json_pieces(value: Json, line: str) -> list[str]:
    """Return the parts of the indented JSON of `value`; `line` is a line break with the current indentation."""
    inner = line + "  "
    if type(value) is dict:
        pairs = [f"{inner}{quote(key)}: {''.join(json_pieces(item, inner))}" for key, item in value.items()]
        return ["{", ",".join(pairs), line, "}"] if pairs else ["{}"]
    if type(value) is list:
        items = [f"{inner}{''.join(json_pieces(item, inner))}" for item in value]
        return ["[", ",".join(items), line, "]"] if items else ["[]"]
    if type(value) is str:
        return [quote(value)]
    return [JSON_CONSTANTS[value] if value is None or type(value) is bool else repr(value)]


JSON_CONSTANTS = {None: "null", True: "true", False: "false"}
