"""Items of lists: which are gone and which are new, and the changes of a tool, a prompt, a resource or a template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.placed_schemas import escaped
from mcpc.release.comparison.rules import Change, change, likely_item, likely_property
from mcpc.release.comparison.schemas import INPUT, OUTPUT, schema_changes

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
    # What is new or gone would move the others, which is no other order.
    common = [[name for name in items if name in before and name in after] for items in (before, after)]
    if common[0] != common[1]:
        yield change("order-changed", kind.name, "*", f"the list of {kind.name}s is in another order")


def member_changes(kind: ItemKind, name: str, old: Item, new: Item) -> Iterator[Change]:
    """Yield the changes of members that are compared by equality."""
    for member, rule in kind.members.items():
        if old.get(member) != new.get(member):
            verb = "is new" if member not in old else "is gone" if member not in new else "is another"
            details = {"pointer": f"/{member}", "old": old.get(member), "new": new.get(member)}
            yield change(rule, kind.name, name, f"{member} {verb}", **details)


UNLISTED = "unlisted"
"""The member of a tool that other tools find."""


def as_operation(tool: Item) -> Item:
    """Return a tool that is not listed as an item of a comparison."""
    return {**tool, UNLISTED: True}


# The defaults are those of `ToolAnnotations` in the schema of MCP.
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
    annotations = tool.get("annotations")
    return annotations if isinstance(annotations, dict) else {}


def _text(value: Any) -> str:
    return str(value).lower()


TOOLS = ItemKind(
    "tool",
    "name",
    {
        UNLISTED: "tool-listing-changed",
        "title": "tool-title-changed",
        "description": "tool-description-changed",
        "icons": "tool-metadata-changed",
        "_meta": "tool-metadata-changed",
    },
    tool_changes,
)


def prompt_changes(old: Item, new: Item) -> Iterator[Change]:
    """Yield the changes of the arguments of a prompt that is in both versions."""
    prompt = str(old["name"])
    before, after = _arguments(old), _arguments(new)
    fresh = {name: each for name, each in after.items() if name not in before}
    for name, gone in before.items():
        at = f"/arguments/{escaped(name)}"
        if name not in after:
            hint = likely_property(name, gone, fresh)
            yield change("prompt-argument-removed", "prompt", prompt, f"`{name}` is gone", pointer=at, hint=hint)
            continue
        was, required = gone.get("required") is True, after[name].get("required") is True
        if was != required:
            rule, words = (
                ("prompt-argument-required", "is required now")
                if required
                else ("prompt-argument-optional", "is no longer required")
            )
            yield change(rule, "prompt", prompt, f"`{name}` {words}", pointer=at, old=was, new=required)
        for member in ("title", "description"):
            if gone.get(member) != after[name].get(member):
                details = {"pointer": f"{at}/{member}", "old": gone.get(member), "new": after[name].get(member)}
                message = f"the {member} of `{name}` is another"
                yield change("prompt-argument-text-changed", "prompt", prompt, message, **details)
    for name, each in fresh.items():
        required = each.get("required") is True
        rule = "prompt-argument-required" if required else "prompt-argument-added"
        message = f"`{name}` is new" + (", and required" if required else "")
        yield change(rule, "prompt", prompt, message, pointer=f"/arguments/{escaped(name)}")


def _arguments(prompt: Item) -> dict[str, Item]:
    arguments = prompt.get("arguments")
    rows = arguments if isinstance(arguments, list) else []
    return {each["name"]: each for each in rows if isinstance(each, dict) and isinstance(each.get("name"), str)}


def no_changes(_old: Item, _new: Item) -> Iterator[Change]:
    """Yield nothing: all members are compared by equality."""
    yield from ()


PROMPTS = ItemKind(
    "prompt",
    "name",
    {
        "title": "prompt-title-changed",
        "description": "prompt-description-changed",
        "icons": "prompt-metadata-changed",
        "_meta": "prompt-metadata-changed",
    },
    prompt_changes,
)
RESOURCES = ItemKind(
    "resource",
    "uri",
    {
        "mimeType": "resource-type-changed",
        **dict.fromkeys(("name", "title", "description"), "resource-text-changed"),
        **dict.fromkeys(("annotations", "icons", "size", "_meta"), "resource-metadata-changed"),
    },
    no_changes,
)
TEMPLATES = ItemKind(
    "template",
    "uriTemplate",
    {
        "mimeType": "template-type-changed",
        **dict.fromkeys(("name", "title", "description"), "template-text-changed"),
        **dict.fromkeys(("annotations", "icons", "_meta"), "template-metadata-changed"),
    },
    no_changes,
)
