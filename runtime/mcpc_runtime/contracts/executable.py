"""A program of the project: the arguments come on its standard input, as one line of JSON, and what it prints answers.

Status 0: standard output is the answer as text; where an output schema is declared it is one JSON value, the structured
output; and an object that is a whole result is that result.  Standard error goes to the log.  Any other status is a
tool error with everything that was written.  No argument is ever among its words or in its environment.  A resource's
program finds the uri in MCPC_URI and prints the contents; one that completes an argument prints the values, one a line.
What the definition asked the client is in the variable mcpc_answers, as JSON.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]

from mcpc_runtime.commands import Command
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import Failure, Outcome, text, text_outcome
from mcpc_runtime.protocol.facts import INTERNAL_ERROR
from mcpc_runtime.protocol.jsonrpc import ParseError, encode, parse
from mcpc_runtime.protocol.traces import trace_of
from mcpc_runtime.results import is_result, program_ending, prompt_outcome, uri_of, whole_result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.commands import Completed
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Call, Ending
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.unpacking import folder
else:
    folder = lazy("mcpc_runtime.unpacking:folder")

BROKEN_OUTPUT = "Internal error: tool output does not match outputSchema"
BROKEN_PROMPT = "Internal error: prompt execution failed"
ANSWERS = b"mcpc_answers"
MOST_ANSWERED = 120_000
"""Bytes: no variable of a program's environment may be longer than 128 KiB on Linux."""


def prepare(call: Call, image: Image) -> Command:
    """Return the command: the program where it was unpacked, its own words, and the arguments for it to read."""
    file, words = call.definition.handler
    home: str = folder(image)
    more = {b"MCPC_TOOL": call.definition.name.encode(), b"MCPC_HOME": home.encode("utf-8", "surrogateescape")}
    given = {**more, **trace_of(call), **uri_of(call)}
    command = Command([f"{home}/{file}", *words], call.definition.environment, given)
    command.told = encode(call.arguments) + b"\n"
    if call.definition.asks:
        answers = encode({key: call.answers.get(key) for key, _, _ in call.definition.asks})
        given[ANSWERS] = answers
        if len(answers) > MOST_ANSWERED:
            command.refusal = f"the answers are too long for a program: {len(answers)} of {MOST_ANSWERED} bytes"
    return command


def conclude(call: Call, completed: Completed) -> Ending:
    """Return what the program's end means."""
    if completed.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: {completed.problem}")
    if call.is_tool:
        return conclude_tool(call, completed)
    if call.is_prompt:
        return conclude_prompt(completed)
    return program_ending(call, completed, failed(completed) if completed.status else "")


def conclude_tool(call: Call, completed: Completed) -> Ending:
    """Return a tool's answer."""
    if completed.status:
        return text_outcome(failed(completed), is_error=True)
    outcome = answered(completed, call.definition.output is not None)
    outcome.log = errors_of(completed)
    return outcome


def answered(completed: Completed, is_structured: bool) -> Outcome | Failure:
    """Return the answer of a program that ended well."""
    value = json_of(completed.printed) if is_structured or b'"content"' in completed.printed else None
    if value is not None and is_result(value[0]):
        return whole_result(value[0])  # type: ignore[arg-type]
    string = text_of(completed.printed)
    if not is_structured:
        return text_outcome(counted(string, completed.dropped))
    if value is None:
        return Failure(INTERNAL_ERROR, f"{BROKEN_OUTPUT}: it is not one JSON value")
    return Outcome([text(string)], value[0])


def conclude_prompt(completed: Completed) -> Ending:
    """Return a prompt's messages, or one of the user's for a plain text."""
    if completed.status:
        return Failure(INTERNAL_ERROR, f"{BROKEN_PROMPT}: {failed(completed)}")
    value = json_of(completed.printed) if b'"messages"' in completed.printed else None
    is_object = value is not None and type(value[0]) is dict and "messages" in value[0]
    outcome = prompt_outcome(value[0] if value is not None and is_object else text_of(completed.printed))
    if outcome is None:
        return Failure(INTERNAL_ERROR, f"{BROKEN_PROMPT}: its messages are not all objects with `role` and `content`")
    outcome.log = errors_of(completed)
    return outcome


def json_of(printed: bytes) -> tuple[Json] | None:
    """Return the one JSON value that was printed, None if it is anything else."""
    try:
        return (parse(printed),)
    except ParseError:
        return None


def failed(completed: Completed) -> str:
    """Return what a program wrote that did not end well, and how it ended if it did not say."""
    string = counted(str(completed.output, "utf-8", "replace").strip(), completed.dropped)
    if completed.status > 0:
        return string or f"ended with status {completed.status} and wrote nothing"
    how = f"ended by {signal_name(-completed.status)}"
    return f"{string}\n[{how}]" if string else how


def signal_name(number: int) -> str:
    """Return what a signal is called."""
    names = (name for name in dir(_signal) if name.startswith("SIG") and "_" not in name)
    return next((name for name in names if getattr(_signal, name) == number), f"signal {number}")


def text_of(printed: bytes) -> str:
    """Return an output as text, without the line end that nearly every program puts at its end."""
    return str(printed, "utf-8", "replace").removesuffix("\n")


def counted(string: str, dropped: int) -> str:
    """Return a text; what was dropped of it is counted at its end."""
    return f"{string}\n[{dropped} more bytes were dropped]" if dropped else string


def errors_of(completed: Completed) -> str:
    """Return what was written to standard error."""
    return str(completed.errors, "utf-8", "replace").strip()
