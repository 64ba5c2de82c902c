"""Slices of a file: its definitions or functions, and the same file with all but some of them blank.

A blank slice has the lines of the slice and the length of its last one, so that lines and columns stay; offsets are
translated back. A change inside of a slice costs the slice; any other change slices the file again.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpc.workbench.language_server.text_buffer import BufferEdit

JSON_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\[\]{}]')
JSON_NAME = re.compile(r'"(?:name|id|uri|uriTemplate)"\s*:\s*"((?:[^"\\\n]|\\.)*)"')
PYTHON_FUNCTION = re.compile(
    r"^(?:@[^\n]*\n(?:[ \t)\]}][^\n]*\n|\r?\n)*)*(?:async[ ]+)?def[ ]+(?P<name>\w+)[^\n]*(?:\n|\Z)"
    r"(?:[ \t)\]}#][^\n]*(?:\n|\Z)|\r?\n)*",
    re.MULTILINE,
)
BASH_FUNCTION = re.compile(
    r"^(?:function[ ]+)?(?P<name>[\w.:-]+)[ ]*(?:\(\))?[ ]*\{[ \t]*\r?\n(?:[^\n]*\n)*?\}[^\n]*(?:\n|\Z)", re.MULTILINE
)
PREFIXES = ("tool_", "prompt_", "resource_", "complete_")
MAX_JSON_NAMES = 3
MAX_AROUND = 20
"""With a change of more slices than this, others that had their names wait for the complete check."""
ITEM_DEPTH = 2
"""Depth of the items in `{"tools": [...]}`."""


@dataclass(slots=True)
class Slices:
    """A file in slices: slice number N is from `starts[N]` to `ends[N]`; `blanked` is the file with all slices blank.

    `separated`: slices are items of an array, with commas between them, which are blank, too. `blanks`: where the blank
    of each slice is in `blanked`. `is_loose`: something between slices has changed.
    """

    text: str
    starts: list[int]
    ends: list[int]
    keys: list[frozenset[str]]
    separated: bool
    blanked: str = field(default="", repr=False)
    blanks: list[tuple[int, int]] = field(default_factory=list, repr=False)
    is_loose: bool = False

    def __post_init__(self) -> None:
        """Blank the slices, and the commas between them."""
        pieces, place, length = [], 0, 0
        for number, start in enumerate(self.starts):
            kept, empty = self.text[place:start], self._blank_of(number)
            pieces += [kept, empty]
            self.blanks.append((length + len(kept), length + len(kept) + len(empty)))
            place, length = self.stop_of(number), self.blanks[-1][1]
        self.blanked = "".join((*pieces, self.text[place:]))

    def _blank_of(self, number: int) -> str:
        return blank(self.text[self.starts[number] : self.stop_of(number)])

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
        self.ends[number:] = [end + edit.shift for end in self.ends[number:]]
        self.starts[number + 1 :] = [start + edit.shift for start in self.starts[number + 1 :]]
        self.keys[number] = keys_of(text[self.starts[number] : self.ends[number]], self.separated)
        self._blank_again(number)

    def edited_between(self, edit: BufferEdit, text: str) -> list[int]:
        """Take over a change between two items of an array, before the first or behind the last one.

        Return the numbers of the items around it, none if the file has to be sliced again. A new item is a slice only
        after that; until then it is checked with those around it.
        """
        before = bisect_left(self.starts, edit.start) - 1
        fits = before < 0 or self.ends[before] <= edit.start
        if not self.separated or not fits or (before + 1 < len(self.starts) and edit.end > self.starts[before + 1]):
            return []
        self.text, self.is_loose = text, True
        self.starts[before + 1 :] = [start + edit.shift for start in self.starts[before + 1 :]]
        self.ends[before + 1 :] = [end + edit.shift for end in self.ends[before + 1 :]]
        if before < 0:
            low = self.blanks[0][0]
            self.blanked = text[: self.starts[0]] + self.blanked[low:]
            self.blanks = [(start + edit.shift, end + edit.shift) for start, end in self.blanks]
        elif before + 1 == len(self.starts):
            self.blanked = self.blanked[: self.blanks[-1][1]] + text[self.ends[-1] :]
        else:
            self._blank_again(before)
        return [number for number in (before, before + 1) if 0 <= number < len(self.starts)]

    def _blank_again(self, number: int) -> None:
        low, high = self.blanks[number]
        new = self._blank_of(number)
        self.blanked = self.blanked[:low] + new + self.blanked[high:]
        self.blanks[number] = (low, low + len(new))
        shift = low + len(new) - high
        if shift:
            self.blanks[number + 1 :] = [(start + shift, end + shift) for start, end in self.blanks[number + 1 :]]

    def keys_around(self, edit: BufferEdit) -> frozenset[str]:
        """Return the keys of the slices that a change touches, before it is taken over."""
        low, high = bisect_right(self.ends, edit.start - 1), bisect_right(self.starts, edit.end)
        return frozenset[str]().union(*self.keys[max(low - 1, 0) : high][:MAX_AROUND])

    def stop_of(self, number: int) -> int:
        """Return the end of a slice with what separates it from the next one."""
        return self.starts[number + 1] if self.separated and number + 1 < len(self.starts) else self.ends[number]

    def with_keys(self, keys: frozenset[str]) -> list[int]:
        """Return the numbers of slices that share a key."""
        return [number for number, own in enumerate(self.keys) if not own.isdisjoint(keys)]

    def with_only(self, numbers: Sequence[int]) -> PartialText:
        """Return the file with all slices blank but these, which are sorted."""
        pieces, parts, place, length = [], [], 0, 0
        for count, number in enumerate(numbers):
            start, end = self.starts[number], self.ends[number]
            between = self.text[end : self.stop_of(number)]
            low, high = self.blanks[number]
            kept = self.text[start:end] + (between if count + 1 < len(numbers) else blank(between))
            pieces += [self.blanked[place:low], kept]
            length += low - place
            parts.append((length, number, len(kept)))
            place, length = high, length + len(kept)
        return PartialText("".join((*pieces, self.blanked[place:])), self, tuple(parts))

    def original(self, offset: int) -> int:
        """Return where an offset of `blanked` is in the file; one in a blank is at the beginning of its slice."""
        number = bisect_right(self.blanks, (offset, len(self.blanked))) - 1
        if number < 0:
            return offset
        low, high = self.blanks[number]
        return self.starts[number] if low <= offset < high else self.stop_of(number) + offset - high


@dataclass(frozen=True, slots=True)
class PartialText:
    """A file with only some of its slices; `parts`: where each of them is in `text`, its number, and its length."""

    text: str
    slices: Slices
    parts: tuple[tuple[int, int, int], ...]

    def original(self, offset: int) -> int:
        """Return where an offset is in the whole file."""
        grown = 0
        for place, number, length in self.parts:
            if offset < place:
                break
            if offset < place + length:
                return self.slices.starts[number] + offset - place
            low, high = self.slices.blanks[number]
            grown += length - (high - low)
        return self.slices.original(offset - grown)

    def original_span(self, span: Span) -> Span:
        """Return where a span is in the whole file."""
        if span.start == span.end == 0:
            return span
        start = self.original(span.start)
        return Span(span.path, start, self.original(span.end - 1) + 1 if span.end > span.start else start)


def blank(text: str) -> str:
    """Return a text with the same lines, which are empty, and the same last line, of spaces."""
    lines = text.count("\n")
    return "\n" * lines + " " * (len(text) - text.rfind("\n") - 1)


def function_keys(name: str) -> frozenset[str]:
    """Return the names of definitions that a function may implement."""
    return frozenset((name, *(name.removeprefix(prefix) for prefix in PREFIXES)))


def definition_key(name: str) -> str:
    """Return a definition's name as that of a function."""
    return re.sub(r"\W", "_", name)


def keys_of(text: str, is_json: bool) -> frozenset[str]:
    """Return the keys of a slice: the names by which it belongs to others."""
    if is_json:
        return frozenset(map(definition_key, JSON_NAME.findall(text)[:MAX_JSON_NAMES]))
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


def slice_only(pattern: str, slicer: Callable[[str], Slices | None]) -> Callable[[str], Slices | None]:
    """Return a function that slices the files in which a pattern is found, and no others."""
    mark = re.compile(pattern)
    return lambda text: slicer(text) if mark.search(text) else None


SLICERS: dict[str, Callable[[str], Slices | None]] = {
    **dict.fromkeys(("tools.json", "prompts.json"), slice_json),
    **dict.fromkeys(("tools.py", "prompts.py", "resources.py", "server.py"), slice_functions(PYTHON_FUNCTION)),
    **dict.fromkeys(("tools.bash", "prompts.bash", "resources.bash"), slice_functions(BASH_FUNCTION)),
}
"""The files of ours that are sliced, by path."""
OTHER_SLICERS: tuple[tuple[re.Pattern[str], Callable[[str], Slices | None]], ...] = (
    (re.compile(r"(?:tools/)?[^/]+\.py"), slice_only(r"(?m)^@(?:mcpc\.)?mcp_\w+\b", slice_functions(PYTHON_FUNCTION))),
    (re.compile(r"[^/]+\.(?:sh|bash)"), slice_only(r"\bmcpserver_core\b", slice_functions(BASH_FUNCTION))),
    (re.compile(r"assets/[^/]+\.json"), slice_only(r'"inputSchema"\s*:', slice_json)),
    (re.compile(r"(?!tests/|tools\.d/|prompts\.d/).+(?<!\.meta)\.json"), slice_only(r'"id"\s*:\s*"', slice_json)),
)
"""The files of other systems that are sliced: bx-mcp, the Bash SDK twice, features of Blueprints."""


@lru_cache(maxsize=50_000)
def slicer_of(path: str) -> Callable[[str], Slices | None] | None:
    """Return what slices a file; None for one that is checked as a whole."""
    others = (slicer for pattern, slicer in OTHER_SLICERS if pattern.fullmatch(path))
    return SLICERS.get(path) or next(others, None)
