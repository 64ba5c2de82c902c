"""Ask whether this server will have every capability that its description declares.

A client that believes a capability waits for what never comes, so what this server cannot do is not announced; whoever
declared it should know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.ir import Server
    from mcpc.sources import Member

LISTS = ("tools", "prompts", "resources", "completions")
KEPT = ("logging", "experimental")

HINTS = {
    "extensions": "what a server has of extensions is announced without being named; remove it",
    "tasks": "tasks are an extension now, announced when a tool's handler says `task`; remove it",
    "elicitation": "clients declare it, servers do not; remove it",
    "roots": "clients declare it, servers do not; remove it",
    "sampling": "clients declare it, servers do not; remove it",
}


def capabilities(server: Server) -> Diagnostics:
    """Report capabilities, and promises of tools, that the server will not keep."""
    declared = server.node.get("capabilities")
    problems: list[Diagnostic] = []
    for member in declared.members if declared is not None else ():
        problems += _list(member, server) if member.key in LISTS else _other(member)
    return tuple(problems)


def _list(member: Member, server: Server) -> Iterator[Diagnostic]:
    listed = {
        "tools": bool(server.tools),
        "prompts": bool(server.prompts),
        "resources": server.has_resources,
        "completions": server.completes,
    }
    changes = member.node.get("listChanged")
    # A server with none is refused for that; the warning would only repeat it.
    if any(listed.values()) and not listed[member.key]:
        yield diagnose("MCP302", member.key_span, f"`{member.key}` is declared, but there are none", "", "remove it")
    elif changes is not None and changes.value is True and member.key not in server.changes:
        message = f"the list of {member.key} never changes, but `listChanged` is true"
        yield diagnose("MCP302", changes.span, message, "", "no handler tells of a change (`list_changed`); remove it")


def _other(member: Member) -> Iterator[Diagnostic]:
    if member.key not in KEPT:
        hint = HINTS.get(member.key, "remove it")
        yield diagnose("MCP302", member.key_span, f"this server will not have `{member.key}`", "", hint)
