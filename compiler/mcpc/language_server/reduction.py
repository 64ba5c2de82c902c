"""Slices of a file: its definitions or functions, and the same file with all but some of them blank.

A blank slice is as long as the slice and has its lines, so that every position stays. A change inside of a slice costs
the slice; any other change slices the file again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpc.language_server.text_buffer import BufferEdit

JSON_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\[\]{}]')
JSON_NAME = re.compile(r'"(?:name|uri|uriTemplate)"\s*:\s*"((?:[^"\\\n]|\\.)*)"')
PYTHON_FUNCTION = re.compile(
    r"^(?:@[^\n]*\n(?:[ \t)\]}][^\n]*\n|\r?\n)*)*(?:async[ ]+)?def[ ]+(?P<name>\w+)[^\n]*(?:\n|\Z)"
    r"(?:[ \t)\]}#][^\n]*(?:\n|\Z)|\r?\n)*",
    re.MULTILINE,
)
BASH_FUNCTION = re.compile(
    r"^(?:function[ ]+)?(?P<name>[\w.:-]+)[ ]*(?:\(\))?[ ]*\{[ \t]*\r?\n(?:[^\n]*\n)*?\}[^\n]*(?:\n|\Z)", re.MULTILINE
)
PREFIXES = ("tool_", "prompt_", "resource_", "complete_")
MAX_AROUND = 20
"""With a change of more slices than this, others that had their names wait for the complete check."""
ITEM_DEPTH = 2
"""Depth of the items in `{"tools": [...]}`."""


@dataclass(slots=True)
class Slices:
    """A file in slices: slice number N is from `starts[N]` to `ends[N]`; `blanked` is the file with all slices blank.

    `separated`: slices are items of an array, with commas between them.
    """

    text: str
    starts: list[int]
    ends: list[int]
    keys: list[frozenset[str]]
    separated: bool
    blanked: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Blank the slices, and the commas between them."""
        pieces, place = [], 0
        for start, end in zip(self.starts, self.stops, strict=True):
            pieces += [self.text[place:start], blank(self.text[start:end])]
            place = end
        self.blanked = "".join((*pieces, self.text[place:]))

    @property
    def stops(self) -> list[int]:
        """The ends of slices with what separates each from the next one."""
        return [*self.starts[1:], *self.ends[-1:]] if self.separated else self.ends

    def at(self, start: int, end: int) -> int:
        """Return the number of the slice that a range is inside of, -1 if there is none."""
        number = bisect_right(self.starts, start) - 1
        inside = number >= 0 and self.starts[number] < start and end < self.ends[number]
        return number if inside else -1

    def gap(self, offset: int) -> tuple[int, int]:
        """Return the range between the slices around an offset."""
        number = bisect_right(self.starts, offset)
        before = self.ends[number - 1] if number else 0
        return min(before, offset), self.starts[number] - 1 if number < len(self.starts) else len(self.text)

    def edited(self, number: int, edit: BufferEdit, text: str) -> None:
        """Take over a change inside of a slice to the file, whose text is now `text`."""
        self.text = text
        new = blank(text[edit.start : edit.new_end])
        self.blanked = self.blanked[: edit.start] + new + self.blanked[edit.end :]
        self.ends[number:] = [end + edit.shift for end in self.ends[number:]]
        self.starts[number + 1 :] = [start + edit.shift for start in self.starts[number + 1 :]]
        self.keys[number] = keys_of(text[self.starts[number] : self.ends[number]], self.separated)

    def keys_around(self, edit: BufferEdit) -> frozenset[str]:
        """Return the keys of the slices that a change touches, before it is taken over."""
        low, high = bisect_right(self.ends, edit.start - 1), bisect_right(self.starts, edit.end)
        return frozenset[str]().union(*self.keys[max(low - 1, 0) : high][:MAX_AROUND])

    def with_only(self, numbers: Sequence[int]) -> str:
        """Return the file with all slices blank but these, which are sorted."""
        pieces, place = [], 0
        for count, number in enumerate(numbers):
            stop = self.stop_of(number) if count + 1 < len(numbers) else self.ends[number]
            pieces += [self.blanked[place : self.starts[number]], self.text[self.starts[number] : stop]]
            place = stop
        return "".join((*pieces, self.blanked[place:]))

    def stop_of(self, number: int) -> int:
        """Return the end of a slice with what separates it from the next one."""
        return self.starts[number + 1] if self.separated and number + 1 < len(self.starts) else self.ends[number]

    def with_keys(self, keys: frozenset[str]) -> list[int]:
        """Return the numbers of slices that share a key."""
        return [number for number, own in enumerate(self.keys) if own & keys]


def blank(text: str) -> str:
    """Return a text of the same length and lines, of spaces."""
    return "\n".join([" " * len(line) for line in text.split("\n")])


def function_keys(name: str) -> frozenset[str]:
    """Return the names of definitions that a function may implement."""
    return frozenset((name, *(name.removeprefix(prefix) for prefix in PREFIXES)))


def definition_key(name: str) -> str:
    """Return a definition's name as that of a function."""
    return re.sub(r"\W", "_", name)


def keys_of(text: str, is_json: bool) -> frozenset[str]:
    """Return the keys of a slice: the names by which it belongs to others."""
    if is_json:
        return frozenset(map(definition_key, JSON_NAME.findall(text)[:2]))
    found = PYTHON_FUNCTION.search(text) or BASH_FUNCTION.search(text)
    return function_keys(found["name"]) if found else frozenset()


def slice_json(text: str) -> Slices | None:
    """Return the definitions of a file with a list of them; None if it has none."""
    places = [*_items(text)]
    if not places:
        return None
    starts, ends = ([each[side] for each in places] for side in (0, 1))
    return Slices(text, starts, ends, [keys_of(text[low:high], True) for low, high in places], separated=True)


def _items(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the items of the first list are; a list after it is never sliced."""
    depth, start = 0, -1
    for token in JSON_TOKEN.finditer(text):
        character = text[token.start()]
        if character in "[{":
            if depth == ITEM_DEPTH and start < 0:
                start = token.start()
            depth += 1
        elif character in "]}":
            depth -= 1
            if depth == ITEM_DEPTH and start >= 0:
                yield start, token.end()
                start = -1
            if depth < ITEM_DEPTH and start < 0 and character == "]":
                return


def slice_functions(pattern: re.Pattern[str]) -> Callable[[str], Slices | None]:
    """Return the function that slices a file into its functions."""

    def sliced(text: str) -> Slices | None:
        found = [(*match.span(), function_keys(match["name"])) for match in pattern.finditer(text)]
        if not found:
            return None
        starts, ends, keys = ([each[part] for each in found] for part in range(3))
        return Slices(text, starts, ends, keys, separated=False)  # type: ignore[arg-type]

    return sliced


SLICERS: dict[str, Callable[[str], Slices | None]] = {
    **dict.fromkeys(("tools.json", "prompts.json"), slice_json),
    **dict.fromkeys(("tools.py", "prompts.py", "resources.py", "server.py"), slice_functions(PYTHON_FUNCTION)),
    **dict.fromkeys(("tools.bash", "prompts.bash", "resources.bash"), slice_functions(BASH_FUNCTION)),
}
"""The files that are sliced, by path."""
SLICED_FOLDERS = ("tools.d/", "prompts.d/")
"""Folders whose files are definitions: those that are not concerned are left out."""
