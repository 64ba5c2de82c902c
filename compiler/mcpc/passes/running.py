"""Check that every handler supports the options of its definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.model.definitions.handler_options import HANDLER_KEY
from mcpc.model.ir import BashFunction, Executable, ExternalHandler, PythonFunction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.model.ir import HasHandler, Server

KINDS = {
    BashFunction: "a Bash function",
    Executable: "a program",
    ExternalHandler: "another system's",
    PythonFunction: "a Python function",
}
OPTION_FIELDS: dict[str, tuple[type, str]] = {
    "inline": (PythonFunction, "calls a Python function in the server's own process"),
    "isolated": (BashFunction, "runs a Bash function in a separate shell"),
}
"""A field, the kind of handler that supports it, and what it does."""


def check_handler_options(server: Server) -> Diagnostics:
    """Report fields that the handler's kind does not support."""
    chosen = [item for item in server.definitions if item.running.inline or item.running.isolated]
    return tuple(problem for item in chosen for problem in (*_unfit(item), *_waiting(item)))


def _unfit(definition: HasHandler) -> Iterator[Diagnostic]:
    if not definition.handler.file:
        return  # a stand-in for a missing handler, which is reported anyway
    requested = {"inline": bool(definition.running.inline), "isolated": definition.running.isolated}
    for field, (wanted, meaning) in OPTION_FIELDS.items():
        if requested[field] and not isinstance(definition.handler, wanted):
            message = f"`{definition.name}` is {KINDS[type(definition.handler)]}, but `{field}` {meaning}"
            yield diagnose("MCP242", _place(definition, field), message, "", f"remove `{field}`")


def _waiting(definition: HasHandler) -> Iterator[Diagnostic]:
    """Yield inline functions that would wait for the client or another tool and block the server."""
    handler = definition.handler
    if definition.running.inline == "loop" and isinstance(handler, PythonFunction) and handler.context:
        message = f"`{definition.name}` takes a context, and may wait for the client"
        hint = 'use `"inline": true`: then it runs in a separate thread'
        yield diagnose("MCP242", _place(definition, "inline"), message, "", hint)


def _place(definition: HasHandler, field: str) -> Span:
    """Return the position of a definition's handler options."""
    return definition.node.span_of("_meta", HANDLER_KEY, field) or definition.span
