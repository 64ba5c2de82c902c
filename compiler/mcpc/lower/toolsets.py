"""Lower the `toolsets` of a server: groups of its tools, by patterns of their names.

"toolsets": {"issues": ["*_issue", "list_issues"], "users": ["get_user"]}
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.model.ir import Toolset
from mcpc.reading import member_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import Member, Node

KEY = "toolsets"
NAME = re.compile(r"[^\s,*]{1,128}")
"""Names are written in lists that are separated by commas."""
PATTERNS = 'a list of names of tools, such as `["get_issue", "list_*"]`'


def read_toolsets(server: Node) -> Iterator[Toolset]:
    """Yield the toolsets that are valid."""
    for member in _members(server):
        if not [*_problems(member)]:
            patterns = tuple((str(item.value), item.span) for item in member.node.items)
            yield Toolset(member.key, patterns)


def check_toolsets(server: Node) -> Iterator[Diagnostic]:
    """Yield what is wrong with toolsets; whether there are such tools is known later."""
    for member in _members(server):
        yield from _problems(member)


def _members(server: Node) -> tuple[Member, ...]:
    found = member_of(server, KEY, "object")
    return () if found is None else found.members


def _problems(member: Member) -> Iterator[Diagnostic]:
    if not NAME.fullmatch(member.key):
        message = f"`{member.key}` cannot be the name of a toolset"
        yield diagnose("MCP162", member.node.span, message, "a name without spaces, commas and `*`")
    if member.node.kind != "array" or not member.node.items:
        yield diagnose("MCP162", member.node.span, f"the toolset `{member.key}` has no tools", PATTERNS)
    for item in member.node.items:
        if item.kind != "string" or not NAME.fullmatch(str(item.value).replace("*", "x")):
            yield diagnose("MCP162", item.span, f"this is no name of a tool in the toolset `{member.key}`", PATTERNS)
