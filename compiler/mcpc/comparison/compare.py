"""All changes between two versions of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.comparison.accepted import Policy
from mcpc.comparison.items import item_changes
from mcpc.comparison.model import Comparison, in_order
from mcpc.comparison.next_version import is_enough, level_of, next_version
from mcpc.comparison.prompts import PROMPTS, RESOURCES, TEMPLATES
from mcpc.comparison.server_facts import server_changes
from mcpc.comparison.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.comparison.model import Change
    from mcpc.server_lists import ServerLists

NO_POLICY = Policy()


def compare(old: ServerLists, new: ServerLists, policy: Policy = NO_POLICY) -> Comparison:
    """Return the comparison of two versions of a server."""
    changes, unused = policy.applied(all_changes(old, new))
    level = level_of(changes)
    suggested = next_version(old.version, level)
    fits = None if suggested is None else is_enough(new.version, suggested)
    return Comparison(old, new, in_order(changes), suggested, level, fits, unused)


def all_changes(old: ServerLists, new: ServerLists) -> Iterator[Change]:
    """Yield all changes."""
    yield from item_changes(TOOLS, old.tools, new.tools)
    yield from item_changes(PROMPTS, old.prompts, new.prompts)
    yield from item_changes(RESOURCES, old.resources, new.resources)
    yield from item_changes(TEMPLATES, old.templates, new.templates)
    yield from server_changes(old, new)
