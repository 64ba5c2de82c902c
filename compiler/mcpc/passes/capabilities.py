"""Check that the server implements every declared capability.

A client that relies on a missing capability waits forever, so it is not announced; its author is warned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Capability, Server

LISTS = ("tools", "prompts", "resources", "completions")
SERVED_CAPABILITIES = ("logging", "experimental")

HINTS = {
    "extensions": "extensions are announced automatically; remove it",
    "tasks": "tasks are an extension now, announced when a tool's handler says `task`; remove it",
    "elicitation": "clients declare it, servers do not; remove it",
    "roots": "clients declare it, servers do not; remove it",
    "sampling": "clients declare it, servers do not; remove it",
}


def check_capabilities(server: Server) -> Diagnostics:
    """Report declared capabilities and notifications that the server does not implement."""
    problems: list[Diagnostic] = []
    for declared in server.capabilities:
        problems += _list(declared, server) if declared.name in LISTS else _other(declared)
    return tuple(problems)


def _list(declared: Capability, server: Server) -> Iterator[Diagnostic]:
    listed = {
        "tools": bool(server.tools),
        "prompts": bool(server.prompts),
        "resources": server.has_resources,
        "completions": server.completes,
    }
    # A server without definitions is refused anyway; the warning would only repeat it.
    if any(listed.values()) and not listed[declared.name]:
        yield diagnose("MCP302", declared.span, f"`{declared.name}` is declared, but there are none", "", "remove it")
    elif declared.list_changed and declared.name not in server.changes:
        message = f"the list of {declared.name} never changes, but `listChanged` is true"
        yield diagnose(
            "MCP302", declared.list_changed_span, message, "", "no handler reports changes (`list_changed`); remove it"
        )


def _other(declared: Capability) -> Iterator[Diagnostic]:
    if declared.name not in SERVED_CAPABILITIES:
        hint = HINTS.get(declared.name, "remove it")
        yield diagnose("MCP302", declared.span, f"this server will not have `{declared.name}`", "", hint)
