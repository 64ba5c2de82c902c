"""Positions of mistakes in a JSON text, and how parsing continues after them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.sources.json_scanner import JsonError
    from mcpc.sources.json_tree import Json
    from mcpc.sources.source import Source


class Expected(Enum):
    """What may come next.  `ITEM` is a value or the end of an array, `FIRST_KEY` a key or the end of an object."""

    VALUE = auto()
    ITEM = auto()
    KEY = auto()
    FIRST_KEY = auto()
    COLON = auto()
    AFTER = auto()
    END = auto()
    NOTHING = auto()


EXPECTED = {
    Expected.VALUE: "a value",
    Expected.ITEM: "a value or `]`",
    Expected.KEY: "a key in double quotes",
    Expected.FIRST_KEY: "a key in double quotes or `}`",
    Expected.COLON: "`:`",
    Expected.AFTER: "`,` or `{closer}`",
    Expected.END: "the end of the file",
}
OPENERS = {"]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class MistakeContext:
    """The position and the surroundings of a mistake.

    `at`: the offset of the unexpected text; `after`: the end of what was read before it; `comma`: the last comma read;
    `opener`: the enclosing bracket, which `closer` would close (-1 and empty outside all brackets).
    """

    source: Source
    text: str
    at: int
    expect: Expected
    after: int
    comma: int = -1
    opener: int = -1
    closer: str = ""

    @property
    def expected(self) -> str:
        """What is allowed at this position, as text."""
        return EXPECTED[self.expect].replace("{closer}", self.closer)

    @property
    def is_after_comma(self) -> bool:
        """Whether the last token read is a comma."""
        return self.expect is Expected.KEY or (self.expect is Expected.VALUE and self.closer == "]")

    @property
    def is_in_object(self) -> bool:
        """Whether the enclosing bracket is that of an object."""
        return self.closer == "}"

    @property
    def opened(self) -> str:
        """The position of the enclosing bracket, as text."""
        return f"`{OPENERS[self.closer]}` was opened on line {self.source.position(self.opener)[0]}"


@dataclass(frozen=True, slots=True)
class IntendedValue:
    """The key or the value that the author probably meant."""

    value: Json


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong and how to continue: at `resume`, where `then` is expected, or after the intended value `meant`.

    `is_loss`: something that was written, or should have been, is missing from the tree.
    """

    flaw: JsonError
    then: Expected = Expected.NOTHING
    resume: int = 0
    meant: IntendedValue | None = None
    is_loss: bool = False


def quoted_text(text: str, limit: int = 40) -> str:
    """Return text of the file for a message: short, and without invisible characters."""
    text = text if len(text) <= limit else f"{text[: limit - 3]}..."
    return "".join(char if char.isprintable() else f"U+{ord(char):04X}" for char in text)
