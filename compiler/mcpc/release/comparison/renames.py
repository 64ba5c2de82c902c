"""The likely new name of what is gone: what is most similar among what is new, if it is similar enough."""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Item = dict[str, Any]

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
    """Return how similar two items are, from 0 to 1: half of it shape, a third texts, the rest names."""
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
    return same * 0.4 + texts * 0.4 + _ratio(name, other) * (0.2 if has_texts else 0.6)


def _text(item: Item, names: Iterable[str]) -> str:
    return json.dumps({name: item[name] for name in names if name in item}, sort_keys=True)[:2_000]


def _ratio(one: str, other: str) -> float:
    return 1.0 if one == other else SequenceMatcher(None, one, other, autojunk=False).ratio()
