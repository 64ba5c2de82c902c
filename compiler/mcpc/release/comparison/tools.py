"""Changes of one tool: its schemas, its hints with the specification's defaults, and its texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.items import ItemKind
from mcpc.release.comparison.model import Change, change
from mcpc.release.comparison.schemas import INPUT, OUTPUT, schema_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Item = dict[str, Any]

HINTS = {
    "readOnlyHint": (False, "read-only-hint-lost", "read-only-hint-set", False),
    "destructiveHint": (True, "destructive-hint-set", "destructive-hint-lost", True),
    "idempotentHint": (False, "idempotent-hint-lost", "idempotent-hint-set", False),
    "openWorldHint": (True, "open-world-hint-set", "open-world-hint-lost", True),
}
"""By a hint: its default, the rules of a change for the worse and the better, and the worse value."""
READ_ONLY, WITHOUT_MEANING = "readOnlyHint", ("destructiveHint", "idempotentHint")
"""Hints that mean nothing for a tool that is read-only."""


def tool_changes(old: Item, new: Item) -> Iterator[Change]:
    """Yield the changes of a tool that is in both versions."""
    name = str(old["name"])
    yield from schema_changes(name, INPUT, old.get("inputSchema", {}), new.get("inputSchema", {}))
    before, after = old.get("outputSchema"), new.get("outputSchema")
    if before is not None and after is not None:
        yield from schema_changes(name, OUTPUT, before, after)
    elif before is not None:
        yield change("output-schema-removed", "tool", name, "results have no schema any more", pointer="/outputSchema")
    elif after is not None:
        yield change("output-schema-added", "tool", name, "results have a schema now", pointer="/outputSchema")
    yield from hint_changes(name, _annotations(old), _annotations(new))


def hint_changes(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the changes of a tool's annotations."""
    stays_read_only = old.get(READ_ONLY) is True and new.get(READ_ONLY) is True
    for hint, (default, worse, better, worse_value) in HINTS.items():
        before, after = old.get(hint, default), new.get(hint, default)
        details = {"pointer": f"/annotations/{hint}", "old": old.get(hint), "new": new.get(hint)}
        if before == after:
            if (hint in old) != (hint in new):
                yield change("hint-written-out", "tool", name, f"{hint} is {_text(after)}, as before", **details)
        elif stays_read_only and hint in WITHOUT_MEANING:
            message = f"{hint} means nothing for a tool that is read-only"
            yield change("hint-without-effect", "tool", name, message, **details)
        else:
            rule = worse if after is worse_value else better
            yield change(rule, "tool", name, f"{hint} was {_text(before)}, and is {_text(after)}", **details)
    if old.get("title") != new.get("title"):
        details = {"pointer": "/annotations/title", "old": old.get("title"), "new": new.get("title")}
        yield change("tool-title-changed", "tool", name, "the title of its annotations is another", **details)


def _annotations(tool: Item) -> Mapping[str, Any]:
    found = tool.get("annotations")
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    return str(value).lower()


TOOLS = ItemKind(
    "tool",
    "name",
    {
        "title": "tool-title-changed",
        "description": "tool-description-changed",
        "icons": "tool-metadata-changed",
        "_meta": "tool-metadata-changed",
    },
    tool_changes,
)
