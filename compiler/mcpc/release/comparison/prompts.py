"""Changes of one prompt: its arguments; and of resources and templates, whose members are compared by equality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.items import ItemKind
from mcpc.release.comparison.model import Change, change
from mcpc.release.comparison.pointers import escaped
from mcpc.release.comparison.renames import likely_property

if TYPE_CHECKING:
    from collections.abc import Iterator

    Item = dict[str, Any]


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
    found = prompt.get("arguments")
    rows = found if isinstance(found, list) else []
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
