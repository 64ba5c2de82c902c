"""The contract of executables: a program reads the arguments as JSON from standard input, and prints the result.

Status 0: standard output is the result as text; with an output schema it is one JSON value, the structured output; an
object that is a whole result is used as such.  Standard error goes to the log.  Any other status is a tool error with
all output.  Arguments are never in its command line or its environment.  A resource's program reads the uri in MCPC_URI
and prints the contents; a completion program prints the values, one per line.  The client's answers to the definition's
questions are in the variable mcpc_answers, as JSON.
"""

from __future__ import annotations

import _signal

from mcpc_runtime.artifact.extraction import extracted_folder
from mcpc_runtime.handlers.invocations import Command, ProcessResult
from mcpc_runtime.handlers.results import (
    BROKEN_OUTPUT,
    BROKEN_PROMPT,
    is_result,
    outcome_of_result,
    parse_program_result,
    parse_single_value,
    prompt_outcome,
    uri_variable,
)
from mcpc_runtime.protocol.constants import INTERNAL_ERROR
from mcpc_runtime.protocol.effects import Call, Ending, Failure, Outcome, text, text_outcome
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import encode
from mcpc_runtime.protocol.traces import trace_variables
from mcpc_runtime.transports.platforms import LINE_END

ANSWERS_VARIABLE = b"mcpc_answers"
MAX_ANSWERS_LENGTH = 120_000
"""Bytes: no variable of a program's environment may be longer than 128 KiB on Linux."""


def build_invocation(call: Call, image: Image) -> Command:
    """Return the command: the extracted program, its command-line arguments, and the call's arguments as input."""
    file, argv = call.definition.handler
    base = extracted_folder(image)
    variables = {b"MCPC_TOOL": call.definition.name.encode(), b"MCPC_FILES": base.encode("utf-8", "surrogateescape")}
    extra = {**variables, **trace_variables(call), **uri_variable(call)}
    command = Command([f"{base}/{file}", *argv], call.definition.environment, extra)
    command.stdin = encode(call.arguments) + b"\n"
    if call.definition.asks:
        answers = encode({key: call.answers.get(key) for key, _, _ in call.definition.asks})
        extra[ANSWERS_VARIABLE] = answers
        if len(answers) > MAX_ANSWERS_LENGTH:
            command.refusal = (
                f"the answers are too long for a program: {len(answers)} bytes; the maximum is {MAX_ANSWERS_LENGTH}"
            )
    return command


def parse_result(call: Call, completed: ProcessResult) -> Ending:
    """Convert the result of the program to an ending."""
    if completed.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: {completed.problem}")
    if call.is_tool:
        return parse_tool_result(call, completed)
    if call.is_prompt:
        return parse_prompt_result(completed)
    return parse_program_result(call, completed, failure_text(completed) if completed.status else "")


def parse_tool_result(call: Call, completed: ProcessResult) -> Ending:
    """Return the result of a tool."""
    if completed.status:
        return text_outcome(failure_text(completed), is_error=True)
    outcome = parse_successful_output(completed, call.definition.output is not None)
    outcome.log = error_text(completed)
    return outcome


def parse_successful_output(completed: ProcessResult, is_structured: bool) -> Outcome | Failure:
    """Return the result of a program with status 0."""
    # A search is quick, and most outputs are texts that need not be parsed.
    value = parse_single_value(completed.printed) if is_structured or b'"content"' in completed.printed else None
    if value is not None and is_result(value[0]):
        return outcome_of_result(value[0])
    string = output_text(completed.printed)
    if not is_structured:
        return text_outcome(with_dropped_count(string, completed.dropped))
    if value is None:
        return Failure(INTERNAL_ERROR, f"{BROKEN_OUTPUT}: it is not a single JSON value")
    return Outcome([text(string)], value[0])


def parse_prompt_result(completed: ProcessResult) -> Ending:
    """Return the messages of a prompt; a plain text is one user message."""
    if completed.status:
        return Failure(INTERNAL_ERROR, f"{BROKEN_PROMPT}: {failure_text(completed)}")
    value = parse_single_value(completed.printed) if b'"messages"' in completed.printed else None
    is_object = value is not None and type(value[0]) is dict and "messages" in value[0]
    outcome = prompt_outcome(value[0] if value is not None and is_object else output_text(completed.printed))
    if outcome is None:
        return Failure(INTERNAL_ERROR, f"{BROKEN_PROMPT}: its messages are not all objects with `role` and `content`")
    outcome.log = error_text(completed)
    return outcome


def failure_text(completed: ProcessResult) -> str:
    """Return the output of a failed program, or how it ended if it printed nothing."""
    string = with_dropped_count(str(completed.output, "utf-8", "replace").strip(), completed.dropped)
    if completed.status > 0:
        return string or f"ended with status {completed.status} without output"
    how = f"ended by {signal_name(-completed.status)}"
    return f"{string}\n[{how}]" if string else how


def signal_name(number: int) -> str:
    """Return the name of a signal."""
    # SIG_DFL and its like are not signals.
    names = (name for name in dir(_signal) if name.startswith("SIG") and "_" not in name)
    return next((name for name in names if getattr(_signal, name) == number), f"signal {number}")


def output_text(printed: bytes) -> str:
    """Return an output as text, without the final line end."""
    string = str(printed, "utf-8", "replace")
    return string.removesuffix(LINE_END if string.endswith(LINE_END) else "\n")


def with_dropped_count(string: str, dropped: int) -> str:
    """Return a text, with the number of dropped bytes at its end, if any."""
    return f"{string}\n[{dropped} more bytes were dropped]" if dropped else string


def error_text(completed: ProcessResult) -> str:
    """Return what was written to standard error."""
    return str(completed.errors, "utf-8", "replace").strip()
