"""What a name says that a tool does: its words, and the verb that decides.

The first verb of a name decides: `list_deleted_files` reads, `delete_list` destroys.
"""

from __future__ import annotations

import re
from typing import NamedTuple


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


DESTROYS = word_set(
    "delete remove drop destroy purge erase wipe truncate kill terminate uninstall revoke overwrite prune del rm unlink"
)
WRITES = word_set(
    "create update write insert edit modify rename upload publish deploy send post put save move copy "
    "append transfer pay buy order submit assign install merge push commit close approve cancel reply comment "
    "invite grant schedule book"
)
READS = word_set(
    "get list read search find query fetch show describe view count check lookup browse inspect preview validate "
    "explain analyze analyse compare summarize status export estimate calculate compute plan suggest diff "
    "simulate dry"
)
PART = re.compile(r"[A-Z]{2,20}(?![a-z])|[A-Z]?[a-z]{1,40}|[0-9]{1,20}")


class ToolVerb(NamedTuple):
    """The verb of a name, and what it does: `reads`, `writes`, `destroys`, or nothing that is known."""

    word: str
    effect: str


def verb_of(name: str) -> ToolVerb:
    """Return the verb that decides what a name says."""
    for word in words_of(name)[:3]:
        for effect, verbs in (("reads", READS), ("destroys", DESTROYS), ("writes", WRITES)):
            if word in verbs:
                return ToolVerb(word, effect)
    return ToolVerb("", "")


def words_of(name: str) -> list[str]:
    """Return the words of a name in any style, in lower case."""
    return [part.lower() for part in PART.findall(name[:200])]
