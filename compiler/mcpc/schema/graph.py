"""Which schemas lead back to themselves: the strongly connected components of a graph, without recursion."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpc.sources import Node


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
