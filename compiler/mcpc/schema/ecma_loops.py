"""The loops of a graph: its strongly connected components that have a way around (Tarjan, without recursion)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def loops(after: Sequence[Iterable[int]]) -> list[frozenset[int]]:
    """Return the loops, each after those it leads to; `after[n]`: the nodes that follow the node n."""
    search = _Search(after)
    for root in range(len(after)):
        if root not in search.order:
            search.visit(root)
    return [one for one in search.found if len(one) > 1 or any(node in after[node] for node in one)]


class _Search:
    def __init__(self, after: Sequence[Iterable[int]]) -> None:
        self.after = after
        self.order: dict[int, int] = {}
        self.low: dict[int, int] = {}
        self.stack: list[int] = []
        self.held: set[int] = set()
        self.found: list[frozenset[int]] = []

    def visit(self, root: int) -> None:
        """Search from `root` to everything that was not yet found."""
        waiting = [(root, self.begun(root))]
        while waiting:
            node, rest = waiting[-1]
            for other in rest:
                if other not in self.order:
                    waiting.append((other, self.begun(other)))
                    break
                if other in self.held:
                    self.low[node] = min(self.low[node], self.order[other])
            else:
                waiting.pop()
                if waiting:
                    above = waiting[-1][0]
                    self.low[above] = min(self.low[above], self.low[node])
                if self.low[node] == self.order[node]:
                    self.close(node)

    def begun(self, node: int) -> Iterator[int]:
        self.order[node] = self.low[node] = len(self.order)
        self.stack.append(node)
        self.held.add(node)
        return iter(self.after[node])

    def close(self, node: int) -> None:
        at = self.stack.index(node)
        component = self.stack[at:]
        del self.stack[at:]
        self.held.difference_update(component)
        self.found.append(frozenset(component))
