"""Ask whether every handler can be run in the way its definition asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.definitions.handling import handling
from mcpc.diagnostics import diagnose
from mcpc.ir import BashFunction, Executable, Foreign, PythonFunction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.ir import Handled, Handler, Server

KINDS = {
    BashFunction: "a Bash function",
    Executable: "a program",
    Foreign: "another system's",
    PythonFunction: "a Python function",
}
WAYS: dict[str, tuple[type, str]] = {
    "inline": (PythonFunction, "calls a Python function in the server's own process"),
    "isolated": (BashFunction, "gives a Bash function a shell of its own"),
}
"""A field, the kind of handler it is for, and what it does."""


def running(server: Server) -> Diagnostics:
    """Report fields that the handler's kind does not have."""
    return tuple(problem for one in server.definitions for problem in (*_unfit(one), *_waiting(one)))


def _unfit(definition: Handled) -> Iterator[Diagnostic]:
    said = handling(definition.members)
    if said is None or _is_absent(definition.handler):
        return
    for way, (wanted, meaning) in WAYS.items():
        node = said.get(way)
        is_wanted = node is not None and (node.value is True or node.value == "loop")
        if node is not None and is_wanted and not isinstance(definition.handler, wanted):
            message = f"`{definition.name}` is {KINDS[type(definition.handler)]}, and `{way}` {meaning}"
            yield diagnose("MCP242", node.span, message, "", f"remove `{way}`")


def _waiting(definition: Handled) -> Iterator[Diagnostic]:
    """Yield a function that would wait, for its client or another tool, where nothing else is done meanwhile."""
    handler = definition.handler
    if definition.running.inline == "loop" and isinstance(handler, PythonFunction) and handler.context:
        said = handling(definition.members)
        node = said.get("inline") if said is not None else None
        message = f"`{definition.name}` takes a context, and may wait for what it asks"
        hint = "say `inline` alone: then it has a thread of its own"
        yield diagnose("MCP242", definition.span if node is None else node.span, message, "", hint)


def _is_absent(handler: Handler) -> bool:
    """Say whether a handler only stands in for one that is missing, which is reported anyway."""
    return not handler.file
