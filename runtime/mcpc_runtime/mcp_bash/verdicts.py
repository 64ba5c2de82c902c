"""What a project's own policy says of a tool: it may be called, or the error that the call ends with.

Its law: a policy that cannot be asked allows nothing.
"""

from __future__ import annotations

from mcpc_runtime.errors import tell
from mcpc_runtime.protocol.jsonrpc import ParseError, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.commands import Completed
    from mcpc_runtime.protocol.jsonrpc import Json

INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
ALLOWED = b"allowed"


def verdict(name: str, completed: Completed) -> tuple[int, str, Json] | None:
    """Return the error of a tool that is not allowed: code, message, data; None for one that is."""
    word, *said = completed.printed.split(b"\0")
    if completed.status or completed.problem or word not in (ALLOWED, b"denied") or len(said) != 4:
        why = completed.problem or str(completed.errors.strip(), "utf-8", "replace") or f"status {completed.status}"
        tell(f"the policy of the project could not be asked about {name}: {why}")
        return INTERNAL_ERROR, f"Tool '{name}' blocked by policy: the policy could not be asked", None
    if word == ALLOWED:
        return None
    code, message, data = (str(text, "utf-8", "replace") for text in said[:3])
    words = message or f"Tool '{name}' blocked by policy"
    return number(code) or INVALID_PARAMS, words, value(data)


def number(text: str) -> int:
    """Return a whole number, 0 for anything else."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0


def value(text: str) -> Json:
    """Return the JSON value that a text is; one that is none is itself the value."""
    try:
        return parse(text.encode()) if text else None
    except ParseError:
        return text
