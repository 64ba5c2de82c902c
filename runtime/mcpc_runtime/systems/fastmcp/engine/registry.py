"""The components of one kind by their names or addresses."""

from __future__ import annotations

import logging
from typing import Generic, TypeVar

from mcpc_runtime.systems.fastmcp.changes import note_change
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.components import Component
from mcpc_runtime.systems.fastmcp.engine.notes import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = TypeVar("Kind", bound=Component)
log = logging.getLogger(__name__)


class Registry(Generic[Kind]):
    """Components in the order of their registration, by their names or addresses.

    `policy` decides about a second component with the same name: `warn` and `replace` let it take the first one's
    place, `ignore` keeps the first one, `error` raises ValueError.
    """

    def __init__(self, policy: str | None = None) -> None:
        self.policy = policy or "warn"
        self.items: dict[str, Kind] = {}

    def add(self, component: Kind) -> Kind:
        """Add a component; return the one that is registered then."""
        key = component.identifier
        if key in self.items and not self._replaces(component):
            return self.items[key]
        self.items[key] = component
        note_change(component.kind)
        return component

    def _replaces(self, component: Kind) -> bool:
        text = behaviour().duplicate.format(kind=component.kind.capitalize(), key=component.key)
        if self.policy == "error":
            raise ValueError(text)
        if self.policy == "warn":
            log.warning(text)
            note(f"{text}: this {component.kind} takes the place of the first one", kind="duplicate")
        return self.policy != "ignore"

    def remove(self, key: str) -> Kind | None:
        """Remove a component; return it."""
        removed = self.items.pop(key, None)
        if removed is not None:
            note_change(removed.kind)
        return removed

    def get(self, key: str) -> Kind | None:
        """Return a component, or None."""
        return self.items.get(key)

    def __iter__(self) -> Iterator[Kind]:
        """Iterate over the components."""
        return iter(list(self.items.values()))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.items)
