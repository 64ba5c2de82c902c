"""TOML: the table that a file or a part of it is, where its words stand, and the mistakes of a text that is not TOML.

Python's parser says only where it stopped; the table of mistakes finds what is wrong.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mcpc.diagnostics import Diagnostic, Span, diagnose
from mcpc_runtime.tools.clients.toml_text import has_long_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpc.reading.source import Source

# In the block of a script a line begins with `# `.
NEXT_TABLE = re.compile(r"^[# ]*\[[^\[\]\n,]+\]\]?[ \t]*(?:#.*)?\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TomlText:
    """A range of a file that is TOML after `indent` is removed from each line; `table`: what it holds."""

    source: Source
    start: int
    end: int
    indent: int = 0
    table: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def toml(self) -> str:
        lines = self.source.text[self.start : self.end].removeprefix("\ufeff").splitlines(keepends=True)
        # In a block an empty line is `#` without a space.
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
        match = re.compile(rf"(?<=[\"']){re.escape(word)}(?=[\"'])|\b{re.escape(word)}\b(?=\s*=)").search(
            self.source.text, start, end
        )
        if match is None and (start, end) != (self.start, self.end):
            return self.span_of(word)
        return Span(self.source.path, *(match.span() if match else (self.start, self.start)))

    def _section(self, names: tuple[str, ...]) -> tuple[int, int]:
        """Return the range below the header of a table; all, if the table has no header."""
        dotted = r"\s*\.\s*".join(rf"[\"']?{re.escape(name)}[\"']?" for name in names)
        header = re.compile(rf"^[# ]*\[\s*{dotted}\s*\]", re.MULTILINE)
        match = header.search(self.source.text, self.start, self.end) if names else None
        if match is None:
            return self.start, self.end
        after = NEXT_TABLE.search(self.source.text, match.end(), self.end)
        return match.end(), after.start() if after else self.end


def read_toml(source: Source, start: int = 0, end: int | None = None, indent: int = 0) -> TomlText | Diagnostic:
    """Return a file or a range of it as TOML, or what is wrong with it."""
    text = TomlText(source, start, len(source.text) if end is None else end, indent)
    try:
        return replace(text, table=parse_toml(text.toml()))
    except tomllib.TOMLDecodeError as problem:
        mistake = toml_mistake(problem, text.toml())
        span = Span(source.path, text.locate(mistake.start), text.locate(mistake.end))
        return diagnose("MCP401", span, f"this is not TOML: {mistake.message}", "", mistake.hint)


def toml_table(source: Source | None) -> dict[str, Any]:
    """Return the table that a file is; empty if there is none, or if it is not TOML, which a check reports."""
    try:
        return {} if source is None else parse_toml(source.text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, UnicodeEncodeError):
        return {}


def nested_table(table: object, *names: str) -> dict[str, Any]:
    """Return a nested table, an empty one if it is missing or something else."""
    for name in names:
        table = table.get(name) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}


def is_string_list(value: object) -> bool:
    """Tell whether a value is a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


class TooDeepError(tomllib.TOMLDecodeError):
    """The text is nested too deeply."""

    def __init__(self) -> None:
        # Not that of the class, which from Python 3.14 on takes the text and the place.
        ValueError.__init__(self, "it is nested too deeply")


def parse_toml(text: str) -> dict[str, Any]:
    """Return the table that a text is; raise tomllib.TOMLDecodeError."""
    # `tomllib` takes time by the square of the parts of a key.
    if has_long_key(text):
        raise TooDeepError
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TooDeepError from None


PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
BARE = re.compile(r"[^\s,\]}#\"']+")
TRUE, FALSE, NULL = "write `true`", "write `false`", "leave the key out: TOML has no null"
LITERALS = {
    "True": TRUE,
    "yes": TRUE,
    "on": TRUE,
    "False": FALSE,
    "no": FALSE,
    "off": FALSE,
    "None": NULL,
    "null": NULL,
}
"""What words of other languages are in TOML."""
NAMED = re.compile(r"[ \t]*(?P<opener>\[\[?)?[ \t]*(?P<name>[^=\[\]\n]*[^=\[\]\s])")
STATEMENT = re.compile(r"[ \t]*(?:\[[^\]\n]*\]?\]?[ \t]*(?:#.*)?$|[\w.\"'-]+[ \t]*=[^=\[{]*)", re.MULTILINE)
"""Matches a line that begins a table or a key: what stands above it should have ended."""
NEWLINE = "\n"
LONGEST = 60
"""Characters of the file that a message repeats."""


class TomlMistake(NamedTuple):
    """What is wrong, from which offset of the text to which, and what to do."""

    start: int
    end: int
    message: str
    hint: str = ""


def toml_mistake(problem: ValueError, text: str) -> TomlMistake:
    """Return what is wrong with a text that is not TOML."""
    said = str(problem)
    place = PLACE.search(said)
    at = offset_of(text, int(place[1]), int(place[2])) if place is not None and place[1] else len(text)
    said = PLACE.sub("", said)
    for pattern, find in ROWS:
        match = re.match(pattern, said)
        mistake = find(text, at, match) if match is not None else None
        if mistake is not None:
            return mistake
    return TomlMistake(at, min(at + 1, len(text)), said)


def offset_of(text: str, line: int, column: int) -> int:
    """Return the offset of a place that is numbered from 1."""
    begins = 0
    for _ in range(line - 1):
        begins = text.index("\n", begins) + 1
    return min(begins + column - 1, len(text))


def _line_begin(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _header(text: str, at: int, match: re.Match[str]) -> TomlMistake:
    begins = _line_begin(text, at)
    return TomlMistake(begins, at, f"this header of a table is not closed by `{match[1]}`", f"add `{match[1]}`")


def _value(text: str, at: int, match: re.Match[str]) -> TomlMistake:
    word = BARE.match(text, at)
    if word is None:
        opened = (IN_ARRAY(text, at, match) or IN_TABLE(text, at, match)) if at >= len(text) else None
        return opened or TomlMistake(
            at, min(at + 1, len(text)), "a value is missing", 'write it, a text in quotes: `"…"`'
        )
    written = word[0] if len(word[0]) <= LONGEST else f"{word[0][:LONGEST]}…"
    hint = LITERALS.get(word[0], f'write `"{written}"`')
    return TomlMistake(at, word.end(), f"`{written}` is not a value; a text has quotes", hint)


def _line_of_quote(text: str, at: int, _: re.Match[str]) -> TomlMistake | None:
    """Return the quote that no other closes on its line: the last one before the place."""
    begins = _line_begin(text, at)
    if text[at : at + 1] not in ("\n", "\r", ""):
        return TomlMistake(at, at + 1, f"the character U+{ord(text[at]):04X} is not allowed", "write it as `\\uXXXX`")
    quoted_at = max(text.rfind(quote, begins, at) for quote in "\"'")
    if quoted_at < 0:
        return None
    return TomlMistake(quoted_at, quoted_at + 1, "this quote is not closed on its line", f"add `{text[quoted_at]}`")


def _open_text(text: str, at: int, _: re.Match[str]) -> TomlMistake | None:
    """Return the last opening quote of a text that is not closed by the end of the file."""
    # Three quotes first, because they would count as single ones, too.
    for quote in ('"""', "'''", "'", '"'):
        opened_at = text.rfind(quote)
        if opened_at >= 0 and text.count(quote) % 2:
            return TomlMistake(opened_at, opened_at + len(quote), "this quote is not closed", f"add `{quote}`")
    return None


def _open_bracket(kind: str, opener: str, closer: str) -> Callable[[str, int, re.Match[str]], TomlMistake | None]:
    def find(text: str, at: int, _: re.Match[str]) -> TomlMistake | None:
        begun = unclosed(text, at, opener, closer)
        if begun < 0:
            return None
        if at >= len(text) or text[at] == "\n" or STATEMENT.match(text, _line_begin(text, at)):
            return TomlMistake(begun, begun + 1, f"this {kind} is not closed", f"add `{closer}`")
        before = len(text[:at].rstrip())
        message = f"a comma or `{closer}` is missing in this {kind}"
        return TomlMistake(before, before + 1, message, "separate the values by `,`")

    return find


IN_ARRAY, IN_TABLE = _open_bracket("array", "[", "]"), _open_bracket("table in braces", "{", "}")


def unclosed(text: str, at: int, opener: str, closer: str) -> int:
    """Return the offset of the last bracket before a place that nothing closes; -1 if there is none."""
    depth = 0
    for offset in range(at - 1, -1, -1):
        depth += (text[offset] == closer) - (text[offset] == opener)
        if depth < 0:
            return offset
    return -1


def _without_equals(text: str, at: int, _: re.Match[str]) -> TomlMistake:
    if text[at : at + 1] == ":":
        return TomlMistake(at, at + 1, "a key and its value are separated by `=`, not by `:`", "write `=`")
    return TomlMistake(at, min(at + 1, len(text)), "no `=` follows this key", "write `key = value`")


def _second(text: str, at: int, _: re.Match[str]) -> TomlMistake | None:
    """Return the second of two equal keys or tables, and where the first is."""
    begins = _line_begin(text, at)
    match = NAMED.match(text, begins, at)
    if match is None:
        return None
    opener, name = match["opener"] or "", match["name"]
    above = [*re.finditer(rf"^[ \t]*\[*[ \t]*{re.escape(name)}[ \t]*[=\].]", text[:begins], re.MULTILINE)]
    hint = (
        f"line {text.count(NEWLINE, 0, above[-1].end()) + 1} has it already"
        if above
        else "it is defined above in another form"
    )
    shown = f"{opener}{name}{']' * len(opener)}"
    return TomlMistake(match.start("name"), match.end("name"), f"`{shown}` is defined a second time", hint)


def _second_inline(text: str, at: int, match: re.Match[str]) -> TomlMistake | None:
    begins = text.rfind(match[1], 0, at)
    return TomlMistake(begins, begins + len(match[1]), f"`{match[1]}` is defined a second time", "delete one of them")


def _more(text: str, at: int, _: re.Match[str]) -> TomlMistake:
    return TomlMistake(
        at, min(at + 1, len(text)), "nothing may follow a value on its line", "a text has quotes around it"
    )


def _escape(text: str, at: int, _: re.Match[str]) -> TomlMistake | None:
    back = text.rfind("\\", _line_begin(text, at), at)
    if back < 0:
        return None
    word = text[back : back + 2]
    return TomlMistake(back, back + 2, f"`{word}` is not an escape of TOML", "write `\\\\`, or use single quotes")


def _statement(text: str, at: int, _: re.Match[str]) -> TomlMistake:
    return TomlMistake(at, min(at + 1, len(text)), "a line is `key = value` or `[table]`", "put other keys in quotes")


def _key(text: str, at: int, _: re.Match[str]) -> TomlMistake:
    return TomlMistake(at, min(at + 1, len(text)), "a key or the name of a table is missing", "write it")


ROWS: tuple[tuple[str, Callable[[str, int, re.Match[str]], TomlMistake | None]], ...] = (
    (r"Expected '(\]\]?)' at the end of", _header),
    (r"Illegal character|Found invalid character", _line_of_quote),
    (r"Expected \"'+\"|Unterminated string", _open_text),
    (r"Unclosed array", IN_ARRAY),
    (r"Unclosed inline table", IN_TABLE),
    (r"Invalid value", _value),
    (r"Duplicate inline table key '(.+)'", _second_inline),
    (r"Cannot overwrite a value|Cannot declare|Cannot mutate", _second),
    (r"Expected '=' after a key", _without_equals),
    (r"Expected newline or end of document", _more),
    (r"Unescaped '\\'", _escape),
    (r"Invalid statement", _statement),
    (r"Invalid initial character for a key part", _key),
)
"""What the parser says, and what finds the mistake; the first that finds one is right."""
