"""What of a server may change while it runs, as far as the project's sources mention that they tell clients of it.

A list is the same as long as a built file serves; but what a handler does may depend on the day, and one that tells of
a change means it.  Which list is told of is read from the word beside the call; where none can be read, it may be any.
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
"""Beside the lists: they are promised also while there is nothing in them."""


def changes(definition: Definition, options: Options) -> frozenset[str]:
    """Return `contents`, and the lists, that may change."""
    always = (*KINDS, EVER) if options.live else ()
    return frozenset((*always, *_mentioned(definition)))


def _mentioned(definition: Definition) -> Iterator[str]:
    sources = (*definition.beside, *(library.source for library in definition.libraries))
    for source in sources:
        if source.path.endswith(ENDINGS):
            if CONTENTS.search(source.text):
                yield "contents"
            for match in LISTS.finditer(source.text):
                yield from (match[1],) if match[1] else KINDS
