"""Where a `$ref` leads, and which schemas lead back to themselves.

Only references into the same schema exist: `#`, and `#` followed by a JSON Pointer (RFC 6901) with percent escapes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpc.diagnostics import Diagnostic
    from mcpc.sources import Node

INDEX = re.compile(r"0|[1-9][0-9]*")
ESCAPE = re.compile("~([01])")
UNESCAPED = {"0": "~", "1": "/"}


def resolve(root: Node, reference: Node) -> Node | Diagnostic:
    """Return the value that the string `reference` means inside `root`, or the problem that there is none."""
    text = str(reference.value)
    if not text.startswith("#"):
        hint = "put the schema under `$defs` and refer to it as `#/$defs/...`"
        message = f"`{text}` leads out of the schema; only references into the same schema are compiled"
        return diagnose("MCP113", reference.span, message, "`#` or `#/...`", hint)
    fragment = unquote(text[1:])
    if fragment and not fragment.startswith("/"):
        hint = "refer to the place by a JSON Pointer: `#/$defs/...`"
        return diagnose(
            "MCP111", reference.span, f"references to anchors, such as `{text}`, are not compiled yet", "", hint
        )
    node: Node | None = root
    for token in fragment.split("/")[1:]:
        node = node and _step(node, ESCAPE.sub(lambda match: UNESCAPED[match[1]], token))
    return node or diagnose("MCP113", reference.span, f"`{text}` leads to nothing in the schema")


def _step(node: Node, token: str) -> Node | None:
    if node.kind != "array":
        return node.get(token)
    is_index = INDEX.fullmatch(token) and len(token) < 10
    return node.items[int(token)] if is_index and int(token) < len(node.items) else None


def components(edges: Mapping[Node, Iterable[Node]]) -> list[tuple[Node, ...]]:
    """Return the strongly connected components, each after every component it leads to."""
    search = _Tarjan(edges)
    for node in edges:
        search.explore(node)
    return search.found


class _Tarjan:
    """Tarjan's search for strongly connected components, with a stack of its own instead of Python's."""

    def __init__(self, edges: Mapping[Node, Iterable[Node]]) -> None:
        self.edges = edges
        self.order: dict[Node, int] = {}
        self.low: dict[Node, int] = {}
        self.open: dict[Node, None] = {}
        self.path: list[tuple[Node, Iterator[Node]]] = []
        self.found: list[tuple[Node, ...]] = []

    def explore(self, start: Node) -> None:
        """Find every component that can be reached from `start` and was not found before."""
        if start not in self.order:
            self.enter(start)
        while self.path:
            node, successors = self.path[-1]
            following = next((successor for successor in successors if self.is_new(node, successor)), None)
            if following is None:
                self.leave()
            else:
                self.enter(following)

    def enter(self, node: Node) -> None:
        """Begin with `node`."""
        self.order[node] = self.low[node] = len(self.order)
        self.open[node] = None
        self.path.append((node, iter(self.edges[node])))

    def is_new(self, node: Node, successor: Node) -> bool:
        """Say whether `successor` has not been seen; if it is still open, `node` is in a cycle with it."""
        if successor in self.open:
            self.low[node] = min(self.low[node], self.order[successor])
        return successor not in self.order

    def leave(self) -> None:
        """End with the last node; if it leads to nothing before it, what is open behind it is a component."""
        node, _ = self.path.pop()
        if self.path:
            before = self.path[-1][0]
            self.low[before] = min(self.low[before], self.low[node])
        if self.low[node] == self.order[node]:
            component: list[Node] = []
            while node in self.open:
                component.append(self.open.popitem()[0])
            self.found.append(tuple(component))


def is_cycle(component: tuple[Node, ...], edges: Mapping[Node, Iterable[Node]]) -> bool:
    """Say whether the nodes of `component` lead back to themselves."""
    return len(component) > 1 or component[0] in edges[component[0]]
