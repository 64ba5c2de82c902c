"""The result of a project's policy script for a tool: allowed, or the error of the call.

If the policy script fails, no tool is allowed.
"""

from __future__ import annotations

from mcpc_runtime.handlers.invocations import ProcessResult
from mcpc_runtime.log.operator_log import log_line
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, parse

ALLOWED = b"allowed"


def parse_policy_result(name: str, completed: ProcessResult) -> tuple[int, str, Json] | None:
    """Return the error of a denied tool: code, message, data; None if it is allowed."""
    decision, *fields = completed.printed.split(b"\0")
    if completed.status or completed.problem or decision not in (ALLOWED, b"denied") or len(fields) != 4:
        reason = completed.problem or str(completed.errors.strip(), "utf-8", "replace") or f"status {completed.status}"
        log_line(f"the project's policy script failed for {name}: {reason}")
        return INTERNAL_ERROR, f"Tool '{name}' blocked by policy: the policy script failed", None
    if decision == ALLOWED:
        return None
    code, message, data = (str(text, "utf-8", "replace") for text in fields[:3])
    message = message or f"Tool '{name}' blocked by policy"
    return parse_code(code) or INVALID_PARAMS, message, parse_data(data)


def parse_code(text: str) -> int:
    """Return the integer in a text, 0 for anything else."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0


def parse_data(text: str) -> Json:
    """Return the JSON value in a text, or the text itself if it is not JSON."""
    try:
        return parse(text.encode()) if text else None
    except ParseError:
        return text
