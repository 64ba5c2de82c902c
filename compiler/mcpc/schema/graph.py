"""The strongly connected components of a graph, by Tarjan's algorithm without recursion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

Vertex = TypeVar("Vertex", bound="Hashable")


def components(edges: Mapping[Vertex, Iterable[Vertex]]) -> list[tuple[Vertex, ...]]:
    """Return the strongly connected components, each after every component it leads to."""
    search = _Tarjan(edges)
    for node in edges:
        search.explore(node)
    return search.found


class _Tarjan(Generic[Vertex]):
    """Tarjan's search for strongly connected components, with an explicit stack."""

    def __init__(self, edges: Mapping[Vertex, Iterable[Vertex]]) -> None:
        self.edges = edges
        self.order: dict[Vertex, int] = {}
        self.low: dict[Vertex, int] = {}
        # A set and a stack at once: `popitem` takes the node that was entered last.
        self.open: dict[Vertex, None] = {}
        self.path: list[tuple[Vertex, Iterator[Vertex]]] = []
        self.found: list[tuple[Vertex, ...]] = []

    def explore(self, start: Vertex) -> None:
        """Find every component that can be reached from `start` and was not found before."""
        if start not in self.order:
            self.enter(start)
        while self.path:
            node, successors = self.path[-1]
            # The iterator continues where it was left when a successor was entered.
            following = next((successor for successor in successors if self.is_new(node, successor)), None)
            if following is None:
                self.leave()
            else:
                self.enter(following)

    def enter(self, node: Vertex) -> None:
        """Begin with `node`."""
        self.order[node] = self.low[node] = len(self.order)
        self.open[node] = None
        self.path.append((node, iter(self.edges[node])))

    def is_new(self, node: Vertex, successor: Vertex) -> bool:
        """Tell whether `successor` has not been visited; if it is still open, `node` is in a cycle with it."""
        if successor in self.open:
            self.low[node] = min(self.low[node], self.order[successor])
        return successor not in self.order

    def leave(self) -> None:
        """Finish the last node; if it leads to no earlier one, the open nodes after it are a component."""
        node, _ = self.path.pop()
        if self.path:
            before = self.path[-1][0]
            self.low[before] = min(self.low[before], self.low[node])
        if self.low[node] == self.order[node]:
            component: list[Vertex] = []
            while node in self.open:
                component.append(self.open.popitem()[0])
            self.found.append(tuple(component))


def is_cycle(component: tuple[Vertex, ...], edges: Mapping[Vertex, Iterable[Vertex]]) -> bool:
    """Tell whether the nodes of `component` are a cycle."""
    return len(component) > 1 or component[0] in edges[component[0]]


def cycles(edges: Mapping[Vertex, Iterable[Vertex]]) -> list[frozenset[Vertex]]:
    """Return the components that are cycles, each after those it leads to."""
    return [frozenset(component) for component in components(edges) if is_cycle(component, edges)]
