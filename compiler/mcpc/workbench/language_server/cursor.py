"""Where a cursor is in a file of keys and values (JSON, YAML, TOML), and what can be written there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Step = str | int


@dataclass(slots=True)
class OpenValue:
    """An array or object that is open at a place: `key` of the current member, `index` of the current item.

    `scalars`: the texts of its members so far. YAML: `column` of a block, -1 between brackets; `is_implied`: a sequence
    whose dashes are below the key; `has_value`: the current member or item has begun.
    """

    is_array: bool
    key: str | None = None
    index: int = 0
    keys: list[str] = field(default_factory=list)
    has_colon: bool = False
    scalars: dict[str, str] = field(default_factory=dict)
    column: int = -1
    is_implied: bool = False
    has_value: bool = False

    @property
    def step(self) -> Step:
        """The step from this value to its current member or item."""
        return self.index if self.is_array else self.key or ""


@dataclass(frozen=True, slots=True)
class Cursor:
    """`path` leads to the value, or to the object whose key is written (`is_key`).

    `start` and `end`: the token at the cursor, empty if there is none. `keys`: the other keys of the object.
    `has_colon`: a colon or equals sign follows the token. `may_be_key`: a value that may become an object with this
    key, as in YAML. `beside`: for each step of the path the texts of the members before it. `lead`: what has to stand
    before a new text, `tail` behind it. TOML: `header` is `[` or `[[` in one; `table`: how the headers of the
    tables in the current one begin, where one can be written.
    """

    path: tuple[Step, ...]
    is_key: bool
    start: int
    end: int
    keys: tuple[str, ...] = ()
    has_colon: bool = False
    may_be_key: bool = False
    beside: tuple[Mapping[str, str], ...] = ()
    lead: str = ""
    tail: str = ""
    table: str | None = None
    header: str = ""

    @property
    def key(self) -> Step | None:
        """The last step of the path."""
        return self.path[-1] if self.path else None
