"""Selection of the parts of Bash libraries that a function needs, as far as their text shows.

In doubt a part is kept: a function is kept if its name occurs anywhere in the kept text, as a word of any kind; if a
computed command is run (`eval`, `source`, `"$command"`), everything is kept.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.languages.bash.lexer import scan_library

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpc.languages.bash.lexer_state import Chunk

WORD = re.compile(r"""[^\s;&|()<>"'`$\\{}\[\]=,!*?#~]+""")
BEFORE_NAME = re.compile(r"\s*(?:function[ \t]+)?")
TRAP_OF_A_VARIABLE = re.compile(r"\btrap\b[^\n;]*\$")


@dataclass(frozen=True, slots=True)
class LibraryPart:
    """Some whole commands.

    `names`: the functions defined in it; `removable`: it is the definition of one function and nothing else; `words`:
    the words in it; `traps` and `dynamic`: see `Chunk`.
    """

    text: str
    names: tuple[str, ...]
    removable: bool
    words: frozenset[str]
    traps: bool
    dynamic: bool


@dataclass(frozen=True, slots=True)
class Outline:
    """The libraries that one shell reads: their parts in order, and the parts by the functions they define."""

    parts: tuple[LibraryPart, ...]
    defined: Mapping[str, tuple[LibraryPart, ...]]

    @property
    def is_open(self) -> bool:
        """While the libraries are read, they may define functions that are not in their text."""
        return any(part.dynamic and not part.removable for part in self.parts)

    def trapping(self) -> frozenset[str]:
        """Return the functions that may change how their shell ends."""
        return self._reaching({name for part in self.parts if part.traps for name in part.names})

    def mentioning(self, word: str) -> frozenset[str]:
        """Return the functions that may run the command `word`."""
        return self._reaching({name for part in self.parts if word in part.words for name in part.names})

    def matching(self, pattern: re.Pattern[str]) -> frozenset[str]:
        """Return the functions that may run a part in which a pattern is found."""
        return self._reaching({name for part in self.parts if pattern.search(part.text) for name in part.names})

    def _reaching(self, wanted: set[str]) -> frozenset[str]:
        """Return `wanted`, and the functions that may call any of it.  O(words)."""
        if self.is_open:
            return frozenset(self.defined)
        callers: dict[str, list[str]] = {}
        for part in self.parts:
            for word in part.words & self.defined.keys():
                callers.setdefault(word, []).extend(part.names)
        names: set[str] = set()
        rest = list(wanted)
        if rest:
            # What a dynamic part calls is not known, so it may be any of those wanted.
            rest += [name for part in self.parts if part.dynamic for name in part.names]
        while rest:
            name = rest.pop()
            if name not in names:
                names.add(name)
                rest += callers.get(name, ())
        return frozenset(names)

    def slice(self, function: str) -> str:
        """Return the text that `function` needs, with unchanged line numbers; empty if that is everything."""
        if self.is_open:
            return ""
        kept: set[str] = set()
        # What is not removable runs whenever the libraries are read, so that it needs what it mentions.
        rest = {function}.union(*(part.words & self.defined.keys() for part in self.parts if not part.removable))
        while rest:
            name = rest.pop()
            kept.add(name)
            for part in self.defined.get(name, ()):
                if part.dynamic:
                    return ""
                rest |= part.words & self.defined.keys() - kept
        return "".join(part.text if is_kept(part, kept) else blank_lines(part.text) for part in self.parts)


def is_kept(part: LibraryPart, kept: set[str]) -> bool:
    """Tell whether a part is in a slice."""
    return not part.removable or part.names[0] in kept


def blank_lines(text: str) -> str:
    """Return as many empty lines as `text` has lines."""
    return "\n" * text.count("\n")


def outline_libraries(texts: Sequence[str]) -> Outline:
    """Return the outline of these libraries, which one shell reads in this order."""
    parts = tuple(part for text in texts for part in parts_of(text))
    defined: dict[str, tuple[LibraryPart, ...]] = {}
    for part in parts:
        for name in part.names:
            defined[name] = (*defined.get(name, ()), part)
    return Outline(parts, defined)


@lru_cache(maxsize=8)
def parts_of(text: str) -> tuple[LibraryPart, ...]:
    """Return the parts of one library, with a line break at its end."""
    scanned = scan_library(text)
    functions = sorted(scanned.functions, key=lambda word: word.start)
    starts = [word.start for word in functions]
    parts = []
    for chunk in scanned.chunks:
        inside = functions[bisect_left(starts, chunk.start) : bisect_left(starts, chunk.end)]
        piece = text[chunk.start : chunk.end]
        dynamic = chunk.dynamic or "`" in piece or TRAP_OF_A_VARIABLE.search(piece) is not None
        names = tuple(word.text for word in inside)
        words = frozenset(WORD.findall(piece))
        parts.append(LibraryPart(piece, names, is_definition(text, chunk), words, chunk.traps, dynamic))
    # The next library must not go on in the last line of this one.
    return (*parts, LibraryPart("\n", (), False, frozenset(), False, False))


def is_definition(text: str, chunk: Chunk) -> bool:
    """Tell whether a chunk defines one function and does nothing else."""
    if len(chunk.definitions) != 1 or chunk.joined:
        return False
    word = chunk.definitions[0]
    return BEFORE_NAME.fullmatch(text, chunk.start, word.start) is not None and WORD.fullmatch(word.text) is not None
