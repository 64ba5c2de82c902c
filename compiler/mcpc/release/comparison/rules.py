"""Every kind of change, with its stable id and its verdict; one change; the likely new name of what is gone.

A verdict is about clients that were written for the old version: `breaking` (some of what they do fails or means
something else), `additive`, `routing` (texts by which models choose tools and write arguments), `cosmetic`, and
`undecided`.  Ids are never renamed, because projects refer to them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcpc.client import ServerLists

    Json = Any
    Item = dict[str, Any]


class Impact(StrEnum):
    """What a change means to clients; the most important first."""

    BREAKING = "breaking"
    UNDECIDED = "undecided"
    ADDITIVE = "additive"
    ROUTING = "routing"
    COSMETIC = "cosmetic"


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of change."""

    id: str
    verdict: Impact
    title: str


_LISTED = {
    Impact.BREAKING: {
        "tool-removed": "a tool is gone",
        "prompt-removed": "a prompt is gone",
        "resource-removed": "a resource is gone",
        "template-removed": "a resource template is gone",
        "input-property-removed": "an argument is gone",
        "input-property-required": "an argument is newly required",
        "input-additional-refused": "arguments that are not declared are refused",
        "input-schema-narrowed": "arguments that were accepted are refused",
        "output-property-removed": "a property of results is gone",
        "output-property-optional": "a property of results is no longer certain",
        "output-schema-widened": "results may be what they were not",
        "output-schema-removed": "results are no longer structured",
        "read-only-hint-lost": "a tool is no longer read-only",
        "destructive-hint-set": "a tool may now destroy",
        "idempotent-hint-lost": "a tool is no longer idempotent",
        "open-world-hint-set": "a tool now reaches the outside world",
        "task-support-narrowed": "a tool runs in fewer ways, as a task or at once",
        "prompt-argument-removed": "an argument of a prompt is gone",
        "prompt-argument-required": "an argument of a prompt is newly required",
        "resource-type-changed": "the media type of a resource is another",
        "template-type-changed": "the media type of a resource template is another",
        "scope-required": "a scope is newly required",
        "setting-required": "a setting is newly required",
        "setting-narrowed": "values of a setting that were accepted are refused",
        "python-raised": "the server needs a newer Python",
        "platform-dropped": "the server does not run on a platform any more",
        "revision-dropped": "the server does not speak a revision any more",
        "path-removed": "a virtual server is gone",
        "capability-removed": "a capability is gone",
    },
    Impact.ADDITIVE: {
        "tool-added": "a tool is new",
        "prompt-added": "a prompt is new",
        "resource-added": "a resource is new",
        "template-added": "a resource template is new",
        "input-property-added": "an argument is new, and optional",
        "input-property-optional": "an argument is no longer required",
        "input-additional-accepted": "arguments that are not declared are accepted",
        "input-schema-widened": "more arguments are accepted",
        "output-property-added": "a property of results is new",
        "output-property-required": "a property of results is now certain",
        "output-schema-narrowed": "results are described more exactly",
        "output-schema-added": "results are now structured",
        "read-only-hint-set": "a tool is now read-only",
        "destructive-hint-lost": "a tool does not destroy any more",
        "idempotent-hint-set": "a tool is now idempotent",
        "open-world-hint-lost": "a tool no longer reaches the outside world",
        "task-support-widened": "a tool runs in more ways, as a task or at once",
        "prompt-argument-added": "an argument of a prompt is new, and optional",
        "prompt-argument-optional": "an argument of a prompt is no longer required",
        "scope-dropped": "a scope is no longer required",
        "setting-added": "a setting is new, and optional",
        "setting-optional": "a setting is no longer required",
        "setting-removed": "a setting is gone",
        "setting-widened": "more values of a setting are accepted",
        "python-lowered": "the server runs on an older Python",
        "platform-added": "the server runs on one more platform",
        "revision-added": "the server speaks one more revision",
        "path-added": "a virtual server is new",
        "capability-added": "a capability is new",
    },
    Impact.ROUTING: {
        "tool-listing-changed": "a tool is not listed any more, or is now",
        "tool-title-changed": "the title of a tool is another",
        "tool-description-changed": "the description of a tool is another",
        "input-description-changed": "the description of an argument is another",
        "input-title-changed": "the title of an argument is another",
        "input-default-changed": "the default of an argument is another",
        "input-examples-changed": "the examples of an argument are others",
        "input-deprecated-changed": "an argument is deprecated, or no longer",
        "output-description-changed": "the description of a property of results is another",
        "output-title-changed": "the title of a property of results is another",
        "prompt-title-changed": "the title of a prompt is another",
        "prompt-description-changed": "the description of a prompt is another",
        "prompt-argument-text-changed": "the title or description of an argument of a prompt is another",
        "resource-text-changed": "the name, title or description of a resource is another",
        "template-text-changed": "the name, title or description of a resource template is another",
        "instructions-changed": "the instructions of the server are others",
    },
    Impact.COSMETIC: {
        "input-schema-rewritten": "the same arguments are accepted, written differently",
        "output-schema-rewritten": "the same results are described, written differently",
        "input-annotation-changed": "an annotation of an argument is another",
        "output-annotation-changed": "an annotation of a property of results is another",
        "hint-written-out": "a hint is written out, or left out, that equals its default",
        "hint-without-effect": "a hint has changed that means nothing for a read-only tool",
        "tool-metadata-changed": "icons or metadata of a tool are others",
        "prompt-metadata-changed": "icons or metadata of a prompt are others",
        "resource-metadata-changed": "icons, size or metadata of a resource are others",
        "template-metadata-changed": "icons or metadata of a resource template are others",
        "order-changed": "a list is in another order",
        "setting-text-changed": "the title or description of a setting is another",
        "server-name-changed": "the name of the server is another",
        "server-information-changed": "title, icons or website of the server are others",
        "version-changed": "the version is another",
    },
    Impact.UNDECIDED: {
        "input-schema-undecided": "it cannot be decided whether all arguments are still accepted",
        "output-schema-undecided": "it cannot be decided whether results are still what they were",
        "setting-default-changed": "the default of a setting is another",
    },
}
RULES = {name: Rule(name, verdict, title) for verdict, rows in _LISTED.items() for name, title in rows.items()}
"""All rules by their ids."""


ORDER = {verdict: number for number, verdict in enumerate(Impact)}
"""Verdicts in the order of a report."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    `kind` and `item`: what it is a change of (`tool`, its name); `pointer`: where in its definition.  `reason`:
    why it is undecided, or has no effect.  `hint`: the likely new name of what is gone.  `accepted`: the project has
    accepted it, with this reason.
    """

    rule: str
    kind: str
    item: str
    pointer: str = ""
    message: str = ""
    old: Json = None
    new: Json = None
    reason: str = ""
    hint: str = ""
    verdict: Impact = Impact.COSMETIC
    accepted: str | None = None

    @property
    def location(self) -> str:
        """The place by which a project accepts it: `tool:NAME/inputSchema/properties/city`."""
        return f"{self.kind}:{self.item}{self.pointer}"


def change(rule: str, kind: str, item: str, message: str, **details: Any) -> Change:
    return Change(rule, kind, item, message=message, **{"verdict": RULES[rule].verdict, **details})


@dataclass(frozen=True, slots=True)
class Comparison:
    """All changes between two versions, the most important first.  `unused`: acceptances of changes that are not there.

    `suggested`: the next version number; None if the old one has another form.  `fits`: whether the new version is at
    least that; None if this cannot be told.
    """

    old: ServerLists
    new: ServerLists
    changes: tuple[Change, ...]
    suggested: str | None = None
    level: str = ""
    fits: bool | None = None
    unused: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Return the number of changes by verdict."""
        return {str(verdict): sum(each.verdict is verdict for each in self.changes) for verdict in Impact}


def in_order(changes: list[Change]) -> tuple[Change, ...]:
    """Return changes by verdict; within one verdict in the order in which they were found."""
    return tuple(sorted(changes, key=lambda each: ORDER[each.verdict]))


ENOUGH = 0.6
MAX_COMPARED = 200
"""New items that one is compared with, because similarity takes time."""
TEXTS = ("title", "description")
SHAPES = ("inputSchema", "outputSchema", "arguments", "mimeType", "annotations")
IDENTITIES = ("name", "uri", "uriTemplate")


def likely_item(gone: Item, fresh: Iterable[Item], key: str) -> str:
    """Return the identity of the new item that is likely the one that is gone; empty if there is none."""
    best = max(((_similarity(gone, each), each[key]) for each in [*fresh][:MAX_COMPARED]), default=(0.0, ""))
    return str(best[1]) if best[0] >= ENOUGH else ""


def likely_property(name: str, gone: Any, fresh: Mapping[str, Any]) -> str:
    """Return the name of the new property that is likely the one that is gone; empty if there is none."""
    rows = [(_property_similarity(name, gone, each, schema), each) for each, schema in sorted(fresh.items())]
    best = max(rows[:MAX_COMPARED], default=(0.0, ""))
    return best[1] if best[0] >= ENOUGH else ""


def _similarity(gone: Item, fresh: Item) -> float:
    """Return how similar two items are, from 0 to 1: two fifths of it shape, two fifths texts, the rest names."""
    shape = _ratio(_text(gone, SHAPES), _text(fresh, SHAPES))
    texts = _ratio(_text(gone, TEXTS), _text(fresh, TEXTS))
    names = max(_ratio(str(gone.get(key, "")), str(fresh.get(key, ""))) for key in IDENTITIES if key in gone)
    return shape * 0.4 + texts * 0.4 + names * 0.2


def _property_similarity(name: str, gone: Any, other: str, fresh: Any) -> float:
    if not isinstance(gone, dict) or not isinstance(fresh, dict):
        return 0.0
    shapes = [{key: each for key, each in schema.items() if key not in TEXTS} for schema in (gone, fresh)]
    same = 1.0 if shapes[0] == shapes[1] else 0.0
    has_texts = any(key in gone for key in TEXTS)
    texts = _ratio(_text(gone, TEXTS), _text(fresh, TEXTS)) if has_texts else 0.0
    # Where the old property has no texts, its name gets their weight.
    return same * 0.4 + texts * 0.4 + _ratio(name, other) * (0.2 if has_texts else 0.6)


def _text(item: Item, names: Iterable[str]) -> str:
    # The time of SequenceMatcher grows with the square of the length.
    return json.dumps({name: item[name] for name in names if name in item}, sort_keys=True)[:2_000]


def _ratio(one: str, other: str) -> float:
    # Automatic junk would ignore characters that are frequent in a text of 200 or more.
    return 1.0 if one == other else SequenceMatcher(None, one, other, autojunk=False).ratio()
