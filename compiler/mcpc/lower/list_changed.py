"""Find what handlers may report as changed while the server runs: lists and contents of resources.

The lists of a built file are fixed, but results of handlers may change, and a handler that reports a change is
believed. The changed list is determined from the argument of the call; if that is not constant, any list may change.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.definitions import Definition
    from mcpc.options import Options

CONTENTS = re.compile(r"\b(?:resource_updated|mcpc_updated)\b")
LISTS = re.compile(r"\b(?:list_changed|mcpc_changed)\b[\s(]*[\"']?(tools|prompts|resources)?")
KINDS = ("tools", "prompts", "resources")
ENDINGS = (".py", ".bash", ".sh")


EVER = "ever"
"""Added to the lists: changes are announced even for lists that are empty."""


def declared_changes(definition: Definition, options: Options) -> frozenset[str]:
    """Return the lists, and `contents`, that may change."""
    always = (*KINDS, EVER) if options.live else ()
    return frozenset((*always, *_mentioned_lists(definition)))


def _mentioned_lists(definition: Definition) -> Iterator[str]:
    sources = (*definition.beside, *(library.source for library in definition.libraries))
    for source in sources:
        if source.path.endswith(ENDINGS):
            if CONTENTS.search(source.text):
                yield "contents"
            for match in LISTS.finditer(source.text):
                yield from (match[1],) if match[1] else KINDS
