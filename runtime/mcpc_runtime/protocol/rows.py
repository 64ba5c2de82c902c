"""A row of a table may be a dotted name: it is imported when it is first used, so that a start does not pay for it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

known: dict[str, Any] = {}


def resolve(row: str) -> Any:
    """Return what `package.module:name` names."""
    if row not in known:
        module, _, name = row.partition(":")
        known[row] = getattr(__import__(module, fromlist=[name]), name)
    return known[row]
