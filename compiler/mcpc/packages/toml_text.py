"""A range of a file that is TOML, read as a table, with the places of its words for messages."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.diagnostics import Diagnostic, Span, diagnose
from mcpc.reading.toml import parse_toml, toml_mistake

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mcpc.reading import Source

NEXT_TABLE = re.compile(r"^[# ]*\[[^\[\]\n,]+\]\]?[ \t]*(?:#.*)?\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TomlText:
    """A range of a file that is TOML after `indent` is removed from each line; `table`: what it holds, once read."""

    source: Source
    start: int
    end: int
    indent: int = 0
    table: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def toml(self) -> str:
        """Return the TOML."""
        lines = self.source.text[self.start : self.end].removeprefix("\ufeff").splitlines(keepends=True)
        return "".join(line[self.indent :] if line.strip() != "#" else "\n" for line in lines)

    def offset(self, line: int, column: int) -> int:
        """Return the offset in the file of a place in the TOML."""
        first, _ = self.source.position(self.start)
        return self.source.offset(first + line - 1, column + self.indent)

    def locate(self, offset: int) -> int:
        """Return the offset in the file of an offset in the TOML."""
        before = self.toml()[:offset]
        column = offset - (before.rfind("\n") + 1) + 1
        return min(self.offset(before.count("\n") + 1, column), len(self.source.text))

    def span_of(self, word: str, *section: str) -> Span:
        """Return the span of `word` as a string or a key, in the table that `section` names; else where that begins."""
        start, end = self._section(section)
        found = re.compile(rf"(?<=[\"']){re.escape(word)}(?=[\"'])|\b{re.escape(word)}\b(?=\s*=)").search(
            self.source.text, start, end
        )
        if found is None and (start, end) != (self.start, self.end):
            return self.span_of(word)
        return Span(self.source.path, *(found.span() if found else (self.start, self.start)))

    def _section(self, names: tuple[str, ...]) -> tuple[int, int]:
        """Return the range below the header of a table; all, if the table has no header."""
        dotted = r"\s*\.\s*".join(rf"[\"']?{re.escape(name)}[\"']?" for name in names)
        header = re.compile(rf"^[# ]*\[\s*{dotted}\s*\]", re.MULTILINE)
        found = header.search(self.source.text, self.start, self.end) if names else None
        if found is None:
            return self.start, self.end
        after = NEXT_TABLE.search(self.source.text, found.end(), self.end)
        return found.end(), after.start() if after else self.end


def read_toml(text: TomlText) -> TomlText | Diagnostic:
    """Return the text with its table, or what is wrong with it."""
    try:
        table = parse_toml(text.toml())
    except tomllib.TOMLDecodeError as problem:
        mistake = toml_mistake(problem, text.toml())
        span = Span(text.source.path, text.locate(mistake.start), text.locate(mistake.end))
        return diagnose("MCP401", span, f"this is not TOML: {mistake.message}", "", mistake.hint)
    return TomlText(text.source, text.start, text.end, text.indent, table)


def nested_table(table: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return a nested table, an empty one if it is missing."""
    for name in names:
        inner = table.get(name)
        table = inner if isinstance(inner, dict) else {}
    return dict(table)


def is_string_list(value: object) -> bool:
    """Tell whether a value is a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
