"""Items of lists: which are gone and which are new, their order, and members that are compared by equality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.model import Change, change
from mcpc.release.comparison.renames import likely_item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ItemKind:
    """A kind of items.  `members`: rules by the members whose change they are; `compare`: the rest of a comparison."""

    name: str
    key: str
    members: Mapping[str, str]
    compare: Callable[[Item, Item], Iterator[Change]]


def item_changes(kind: ItemKind, old: Sequence[Item], new: Sequence[Item]) -> Iterator[Change]:
    """Yield the changes of a list."""
    before, after = ({str(each[kind.key]): each for each in items} for items in (old, new))
    fresh = [each for name, each in after.items() if name not in before]
    for name, gone in before.items():
        if name not in after:
            hint = likely_item(gone, fresh, kind.key)
            yield change(f"{kind.name}-removed", kind.name, name, "is gone", hint=hint)
    for each in fresh:
        yield change(f"{kind.name}-added", kind.name, str(each[kind.key]), "is new")
    for name, one in before.items():
        if name in after:
            yield from member_changes(kind, name, one, after[name])
            yield from kind.compare(one, after[name])
    kept = [[name for name in items if name in before and name in after] for items in (before, after)]
    if kept[0] != kept[1]:
        yield change("order-changed", kind.name, "*", f"the list of {kind.name}s is in another order")


def member_changes(kind: ItemKind, name: str, old: Item, new: Item) -> Iterator[Change]:
    """Yield the changes of members that are compared by equality."""
    for member, rule in kind.members.items():
        if old.get(member) != new.get(member):
            verb = "is new" if member not in old else "is gone" if member not in new else "is another"
            details = {"pointer": f"/{member}", "old": old.get(member), "new": new.get(member)}
            yield change(rule, kind.name, name, f"{member} {verb}", **details)
