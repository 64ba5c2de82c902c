"""What is known of an exception (`mcpc_runtime.artifact.build_time.raised`), and when project code is run."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcpc.reading import SourceTree

MAX_NUMBER = 1 << 31


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception: its type with its bases, its message, and the last place in the project.

    `column`, `end_column`: in bytes, -1 if unknown.  `name`: what was not found: a name, an attribute (of `owner`,
    which is a module if `of_module`), a key, a keyword (`is_keyword`); `known`: the names among which it may be.
    `partial`: a module that was still being imported.  `file`: what could not be opened, or started (`is_program`).
    `fields`: those of a model that are not valid, and the `variables` they are from.  `absent`: variables that the
    project looked up and that are not set, the last one at the end.
    """

    type: str = ""
    bases: tuple[str, ...] = ()
    message: str = ""
    path: str = ""
    line: int = 0
    column: int = -1
    end_line: int = 0
    end_column: int = -1
    name: str = ""
    owner: str = ""
    of_module: bool = False
    known: tuple[str, ...] = ()
    partial: str = ""
    file: str = ""
    is_program: bool = False
    is_keyword: bool = False
    fields: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Occasion:
    """How project code is run during a build: what does it, and when else code may do what a build cannot."""

    does: str
    later: str


IMPORTED = Occasion("the build imports the file", "inside the function that needs it")
STARTED = Occasion("the build runs the program until it serves", "when a tool is called, or in `lifespan`")


@dataclass(frozen=True, slots=True)
class FailedRun:
    """An exception, the project it is of, and how its code was run."""

    raised: Raised
    tree: SourceTree
    occasion: Occasion

    @property
    def other_time(self) -> str:
        """When code may do what a build cannot."""
        return self.occasion.later

    def has(self, *names: str) -> bool:
        """Tell whether the exception is of one of these types."""
        return not {*names}.isdisjoint((self.raised.type, *self.raised.bases))


def parse_raised(row: object) -> Raised | None:
    """Return what a process said of an exception; None if it has another shape, because project code may write it."""
    if not isinstance(row, dict) or not row.keys() <= {field.name for field in fields(Raised)}:
        return None
    values = {field.name: parsed(row[field.name], field.default) for field in fields(Raised) if field.name in row}
    return None if None in values.values() else Raised(**values)


def parsed(value: object, default: object) -> Any:
    """Return a value of the type of a default, None if it has another one."""
    if isinstance(default, tuple):
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return tuple(value) if is_list and isinstance(value, list) else None
    if type(value) is not type(default):
        return None
    return value if not isinstance(value, int) or -1 <= value < MAX_NUMBER else None
