"""Where in a JSON text a mistake was met, and what was made of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.sources.json_scanner import Flaw
    from mcpc.sources.json_tree import Json
    from mcpc.sources.source import Source


class Expect(Enum):
    """What may stand next.  `ITEM` is a value or the end of an array, `FIRST_KEY` a key or the end of an object."""

    VALUE = auto()
    ITEM = auto()
    KEY = auto()
    FIRST_KEY = auto()
    COLON = auto()
    AFTER = auto()
    END = auto()
    NOTHING = auto()


EXPECTED = {
    Expect.VALUE: "a value",
    Expect.ITEM: "a value or `]`",
    Expect.KEY: "a key in double quotes",
    Expect.FIRST_KEY: "a key in double quotes or `}`",
    Expect.COLON: "`:`",
    Expect.AFTER: "`,` or `{closer}`",
    Expect.END: "the end of the file",
}
OPENERS = {"]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Context:
    """The place of a mistake.

    `at`: what should not be there; `after`: the end of what was read before it; `comma`: the last comma read;
    `opener`: the bracket around the place, which `closer` would close (-1 and empty outside all brackets).
    """

    source: Source
    text: str
    at: int
    expect: Expect
    after: int
    comma: int = -1
    opener: int = -1
    closer: str = ""

    @property
    def expected(self) -> str:
        """What may stand at this place, in words."""
        return EXPECTED[self.expect].replace("{closer}", self.closer)

    @property
    def is_after_comma(self) -> bool:
        """Whether the last thing read is a comma."""
        return self.expect is Expect.KEY or (self.expect is Expect.VALUE and self.closer == "]")

    @property
    def is_in_object(self) -> bool:
        """Whether the bracket around the place is that of an object."""
        return self.closer == "}"

    @property
    def opened(self) -> str:
        """Where the bracket around this place is, in words."""
        return f"`{OPENERS[self.closer]}` was opened on line {self.source.position(self.opener)[0]}"


@dataclass(frozen=True, slots=True)
class Meant:
    """The key or the value that a mistake was meant to be."""

    value: Json


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong and how to go on: at `resume`, where `then` is expected, or after the value that was `meant`.

    `is_loss`: something that was written, or should have been, has no place in the tree.
    """

    flaw: Flaw
    then: Expect = Expect.NOTHING
    resume: int = 0
    meant: Meant | None = None
    is_loss: bool = False


def shown(text: str, limit: int = 40) -> str:
    """Return text of the file as it can stand in a message: short, and nothing invisible in it."""
    text = text if len(text) <= limit else f"{text[: limit - 3]}..."
    return "".join(char if char.isprintable() else f"U+{ord(char):04X}" for char in text)
