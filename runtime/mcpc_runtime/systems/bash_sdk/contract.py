"""The contract of the MCP Server Bash SDK: a function gets its arguments as one JSON text, and prints a text.

Several versions of the SDK's `mcpserver_core.sh` are in use, and each project contains its own.  They differ in what
becomes of the output, and of a failure; the compiler finds out which one a project has, and a server answers alike.
Trailing line breaks are dropped by all of them, because they capture the output by a command substitution.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.handlers.bash.contract import error_text, indented_json
from mcpc_runtime.handlers.invocations import ProcessResult, ShellCall
from mcpc_runtime.handlers.results import BROKEN_OUTPUT
from mcpc_runtime.protocol.constants import INTERNAL_ERROR
from mcpc_runtime.protocol.effects import Call, Ending, Failure, text_outcome
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import ParseError, encode, parse
from mcpc_runtime.protocol.traces import trace_variables

SIGNAL_STATUS = 128
"""Added by a shell to the number of the signal that ended a function."""


class AnswerStyle:
    """How a version of the SDK answers.

    `is_indented`: arguments are indented JSON, as jq prints it; else compact.  `is_merged`: standard error is part of
    the output.  `text`: the text of a result.  `failure`: the ending for the output of a function that failed, and its
    status.
    """

    __slots__ = ("failure", "is_indented", "is_merged", "text")

    def __init__(
        self,
        text: Callable[[str], str],
        failure: Callable[[Call, str, int], Ending],
        *,
        is_indented: bool = False,
        is_merged: bool = False,
    ) -> None:
        self.text = text
        self.failure = failure
        self.is_indented = is_indented
        self.is_merged = is_merged


def error_ending(call: Call, output: str, status: int) -> Ending:
    """Return a JSON-RPC error, in the words of the SDK up to version 0.2."""
    details = f" : {output}" if output not in ("", "null") else ""
    return Failure(INTERNAL_ERROR, f"Tool execution error{details}")


def result_ending(call: Call, output: str, status: int) -> Ending:
    """Return an error result, in the words of the SDK since version 0.3."""
    return text_outcome(output or f"Tool '{call.name}' failed with exit status {status}", is_error=True)


def named_ending(call: Call, output: str, status: int) -> Ending:
    """Return an error result that names the tool."""
    return text_outcome(f"Error executing {call.name}: {output}", is_error=True)


def one_line(output: str) -> str:
    """Return an output in one line; the SDK turns line breaks into spaces, also the one that it adds."""
    return output.replace("\n", " ") + " \n"


def with_line_break(output: str) -> str:
    """Return an output with the line break that `echo` adds."""
    return f"{output}\n"


def unchanged(output: str) -> str:
    """Return an output as it is."""
    return output


STYLES = {
    "one_line": AnswerStyle(one_line, error_ending, is_indented=True),
    "lines": AnswerStyle(with_line_break, error_ending, is_indented=True),
    "result": AnswerStyle(unchanged, result_ending),
    "merged": AnswerStyle(unchanged, named_ending, is_merged=True),
}
"""By the name that the compiler gives a version: see `mcpc.frontends.bash_sdk.scripts`."""


def build_invocation(call: Call, image: Image) -> ShellCall:
    """Return the function to call, and its argument."""
    file, function, style_name, traps, isolated = call.definition.handler
    style = STYLES[style_name]
    argument = indented_json(call.arguments) if style.is_indented else encode(call.arguments)
    command = ShellCall(file, function, argument, call.definition.environment)
    command.traps = traps
    command.errexit = "" if style.is_merged else "f"
    command.isolated = isolated
    command.merged = style.is_merged
    command.exported = trace_variables(call)
    return command


def parse_result(call: Call, completed: ProcessResult) -> Ending:
    """Convert the output and the status of the function to an ending."""
    if completed.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: {completed.problem}")
    style = STYLES[call.definition.handler[2]]
    output = captured_text(completed)
    if completed.status:
        status = completed.status if completed.status > 0 else SIGNAL_STATUS - completed.status
        ending = style.failure(call, output, status)
    else:
        ending = result_of(call, style, output)
    ending.log = error_text(completed)
    return ending


def result_of(call: Call, style: AnswerStyle, output: str) -> Ending:
    """Return the result of a function that succeeded: its text, and the value that an output schema promises."""
    outcome = text_outcome(style.text(output))
    if call.definition.output is not None:
        try:
            outcome.structured = parse(output.encode())
        except ParseError:
            return Failure(INTERNAL_ERROR, BROKEN_OUTPUT)
    return outcome


def captured_text(completed: ProcessResult) -> str:
    """Return an output as a command substitution of Bash captures it, with the number of dropped bytes, if any."""
    # Bash drops null bytes and line breaks at the end; bytes that are not UTF-8 could not be sent.
    text = str(completed.printed.replace(b"\0", b""), "utf-8", "replace").rstrip("\n")
    return f"{text}\n[{completed.dropped} more bytes were dropped]" if completed.dropped else text
