"""The components of one kind by their names or addresses."""

from __future__ import annotations

import logging
from typing import Generic, TypeVar

from mcpc_runtime.systems.fastmcp.changes import note_change
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.components import Component
from mcpc_runtime.systems.fastmcp.engine.notes import note
from mcpc_runtime.systems.fastmcp.engine.versions import highest, order_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc_runtime.systems.fastmcp.engine.versions import VersionSpec

Kind = TypeVar("Kind", bound=Component)
log = logging.getLogger(__name__)


class Registry(Generic[Kind]):
    """Components in the order of their registration.

    `policy` decides about a second component with the same name and version: `warn` and `replace` let it take the first
    one's place, `ignore` keeps the first one, `error` raises ValueError.  `items`: by each name the component with the
    highest version; `versions`: all of those that have one.
    """

    def __init__(self, policy: str | None = None) -> None:
        self.policy = policy or "warn"
        self.items: dict[str, Kind] = {}
        self.versions: dict[str, dict[str | None, Kind]] = {}

    def add(self, component: Kind) -> Kind:
        """Add a component; return the one that is registered then."""
        key = component.identifier
        top = self.items.get(key)
        present = top if top is None or top.version == component.version else self._older(key, component.version)
        if present is not None and not self._replaces(component):
            return present
        if top is not None and behaviour().versioned and (top.version is None) != (component.version is None):
            raise ValueError(mixed(component, top))
        if top is not None and present is None:
            self.versions.setdefault(key, {top.version: top})
        if key in self.versions:
            self.versions[key][component.version] = component
        if top is None or order_of(component) >= order_of(top):
            self.items[key] = component
        note_change(component.kind)
        return component

    def _older(self, key: str, version: str | None) -> Kind | None:
        return self.versions.get(key, {}).get(version)

    def _replaces(self, component: Kind) -> bool:
        text = behaviour().duplicate.format(kind=component.kind.capitalize(), key=component.key)
        if self.policy == "error":
            raise ValueError(text)
        if self.policy == "warn":
            log.warning(text)
            note(f"{text}: this {component.kind} takes the place of the first one", kind="duplicate")
        return self.policy != "ignore"

    def remove(self, key: str, version: str | None = None) -> Kind | None:
        """Remove a component, or one version of it; return it."""
        removed = self._remove(key, version)
        if removed is not None:
            note_change(removed.kind)
        return removed

    def _remove(self, key: str, version: str | None) -> Kind | None:
        versions = self.versions.get(key, {})
        if version is None:
            self.versions.pop(key, None)
            return self.items.pop(key, None)
        if key in self.items and self.items[key].version == version and len(versions) <= 1:
            return self._remove(key, None)
        removed = versions.pop(version, None)
        if removed is not None:
            self.items[key] = highest(versions.values())
        return removed

    def get(self, key: str, version: VersionSpec | None = None) -> Kind | None:
        """Return the component with the highest version that is wanted."""
        found = self.items.get(key)
        if found is None or version is None:
            return found
        wanted: Kind | None = highest(self.versions.get(key, {}).values() or [found], version)
        return wanted

    def every(self) -> list[Kind]:
        """Return all components, each version of them."""
        if not self.versions:
            return list(self.items.values())
        return [each for key, top in self.items.items() for each in (self.versions.get(key) or {None: top}).values()]

    def __iter__(self) -> Iterator[Kind]:
        """Iterate over the components."""
        return iter(list(self.items.values()))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.items)


def mixed(component: Component, present: Component) -> str:
    """Return why a component is refused: some of its name have a version, and some none."""
    added, other = ("versioned", "an unversioned") if component.version is not None else ("unversioned", "a versioned")
    return f"Cannot add {added} {component.kind} {component.identifier!r}: there is {other} one of this name"
