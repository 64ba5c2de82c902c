"""All changes between two versions of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.release.comparison.accepted import Policy
from mcpc.release.comparison.items import item_changes
from mcpc.release.comparison.model import Comparison, in_order
from mcpc.release.comparison.next_version import is_enough, level_of, next_version
from mcpc.release.comparison.prompts import PROMPTS, RESOURCES, TEMPLATES
from mcpc.release.comparison.server_facts import server_changes
from mcpc.release.comparison.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.client import ServerLists
    from mcpc.release.comparison.model import Change

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
