"""Parts of objects, read with all that is wrong with them, and objects made of parts that keep their places."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.definitions.kinds import mismatch
from mcpc.diagnostics import diagnose
from mcpc.frontends.blueprints.base import start
from mcpc.sources import Member, Node

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.frontends.blueprints.base import Base
    from mcpc.sources import Json


@dataclass(frozen=True, slots=True)
class Reading:
    """One knowledge base while it is read: where its paths lead, and the problems found so far."""

    base: Base
    problems: list[Diagnostic] = field(default_factory=list)

    def report(self, code: str, span: Span, message: str, expected: str = "", hint: str = "") -> None:
        """Keep a problem."""
        self.problems.append(diagnose(code, span, message, expected, hint))

    def is_a(self, node: Node, kind: str, label: str) -> bool:
        """Say whether a value is of a kind; report one that is not."""
        if node.kind != kind:
            self.report("MCP101", node.span, mismatch(label, kind, node))
        return node.kind == kind

    def part(self, node: Node, key: str, kind: str, label: str) -> Node | None:
        """Return a member that must be there, and of that kind."""
        found = node.get(key)
        if found is None:
            self.report("MCP102", start(node), f"{label} has no `{key}`")
            return None
        return found if self.is_a(found, kind, f"`{key}` of {label}") else None

    def text(self, node: Node, key: str, label: str) -> str | None:
        """Return a string that must be there."""
        found = self.part(node, key, "string", label)
        return None if found is None else str(found.value)

    def strangers(self, node: Node, known: tuple[str, ...], label: str) -> None:
        """Report members that mean nothing."""
        for member in node.members:
            if member.key not in known:
                near = difflib.get_close_matches(member.key, known, n=1)
                hint = f"did you mean `{near[0]}`?" if near else "it has no effect: remove it"
                self.report("MCP103", member.key_span, f"`{member.key}` means nothing in {label}", "", hint)

    def objects(self, node: Node, key: str, label: str) -> tuple[Node, ...]:
        """Return the objects of an array that may be missing."""
        found = node.get(key)
        if found is None or not self.is_a(found, "array", f"`{key}` of {label}"):
            return ()
        return tuple(item for item in found.items if self.is_a(item, "object", f"an item of `{key}` of {label}"))


def renamed(node: Node, names: dict[str, str]) -> Iterable[Member]:
    """Yield the members of an object that have these names, each under its other one."""
    for key, name in names.items():
        found = next((member for member in reversed(node.members) if member.key == key), None)
        if found is not None:
            yield Member(name, found.key_start, found.key_end, found.node)


def assembled(node: Node, members: Iterable[Member]) -> Node:
    """Return an object of these members in the place of another one."""
    parts = tuple(members)
    return Node({one.key: one.node.value for one in parts}, node.path, node.start, node.end, parts)


def said(key: str, value: Json, at: Node) -> Member:
    """Return a member that nobody wrote; it stands where the object begins."""
    span = start(at)
    return Member(key, span.start, span.end, unwritten(value, span))


def unwritten(value: Json, span: Span) -> Node:
    """Return a value that nobody wrote as a node at one place."""
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()
    if isinstance(value, dict):
        members = tuple(Member(key, span.start, span.end, unwritten(part, span)) for key, part in value.items())
    elif isinstance(value, list):
        items = tuple(unwritten(item, span) for item in value)
    return Node(value, span.path, span.start, span.end, members, items)


def compact(value: Json) -> bytes:
    """Return JSON without spaces, in UTF-8; a lone surrogate stays an escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")
