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
    from mcpc.sources import Member, Node

LISTS = ("tools", "prompts")
KEPT = ("logging", "experimental")

HINTS = {
    "resources": "mcpc serves no resources yet; remove it",
    "extensions": "mcpc has no extensions yet; remove it",
    "completions": "mcpc completes no arguments yet; remove it",
    "tasks": "a call is answered when it is done; remove it",
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
    for tool in server.tools:
        problems += _tasks(tool.members)
    return tuple(problems)


def _list(member: Member, server: Server) -> Iterator[Diagnostic]:
    listed = {"tools": len(server.tools), "prompts": len(server.prompts)}
    changes = member.node.get("listChanged")
    # A server with neither is refused for that; the warning would only repeat it.
    if any(listed.values()) and not listed[member.key]:
        yield diagnose("MCP302", member.key_span, f"`{member.key}` is declared, but there are none", "", "remove it")
    elif changes is not None and changes.value is True:
        message = f"the list of {member.key} never changes, but `listChanged` is true"
        yield diagnose("MCP302", changes.span, message, "", "definitions are fixed when the server is built; remove it")


def _other(member: Member) -> Iterator[Diagnostic]:
    if member.key not in KEPT:
        hint = HINTS.get(member.key, "remove it")
        yield diagnose("MCP302", member.key_span, f"this server will not have `{member.key}`", "", hint)


def _tasks(tool: Node) -> Iterator[Diagnostic]:
    execution = tool.get("execution")
    support = execution.get("taskSupport") if execution else None
    if support is not None and support.value in ("optional", "required"):
        message = f"this server runs no tasks, but `taskSupport` is `{support.value}`"
        yield diagnose("MCP302", support.span, message, "`forbidden`, or nothing", HINTS["tasks"])
