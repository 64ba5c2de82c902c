"""Where a cursor is in YAML that may be unfinished, and in the frontmatter of a Markdown file.

The text before the cursor is read by PyYAML's scanner, which knows indents, quotes and comments; a line that it
refuses is passed over. What follows the cursor is looked at for the keys of the same object only.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import yaml

from mcpc.workbench.language_server.cursors import Cursor, OpenValue, cursor_in, keys_behind, string_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Scanner: Any = getattr(yaml, "CLoader", yaml.Loader)
"""The scanner of libyaml is eight times as fast."""
MAX_CHARACTERS = 1_000_000 if hasattr(yaml, "CLoader") else 100_000
"""Behind so many characters nothing is proposed; they are read within half a second."""
MAX_PASSED_OVER = 8
MAX_LINES = 200
"""At most so many lines behind the cursor are looked at."""
# Up to where the last key or value of a line can begin: behind a colon, a comma, a bracket, a dash, or its indent.
BEFORE = re.compile(r"(?:.*(?::(?:\s+|$)|,\s+|[\[{]\s*|\s-(?:\s+|$))|\s*-(?:\s+|$)|\s*)")
QUOTED = re.compile(r"""(?:(?<=[\s\[{,])|^)(?:"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)""")
COMMENT = re.compile(r"(?:^|\s)#")
# Up to a comma, a closing bracket, the end of the line, a colon before white space, or a comment.
PLAIN = re.compile(r"[^,\[\]{}#\n]*?(?=\s*(?:[,\]}\r\n]|\Z|:(?:\s|\Z)|\s#))")
KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#\-'"\[{][^\r\n]*?)\s*:(?:\s|\Z)""")
OPENING = re.compile(r"\A\ufeff?---[ \t]*\r?\n")
CLOSING = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)


def cursor_in_yaml(text: str, offset: int) -> Cursor | None:
    """Return where a cursor is; None where neither a key nor a value can be written."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    if offset > MAX_CHARACTERS or COMMENT.search(QUOTED.sub('""', line)) is not None:
        return None
    start, end = token_at(text, offset)
    cursor = _found(text, start, end)
    if cursor is None:
        return None
    lead = " " if start == end and text[start - 1 : start] in (":", "-") else ""
    return replace(cursor, start=start, end=end, has_colon=text[end:].lstrip(" \t")[:1] == ":", lead=lead)


def _found(text: str, start: int, end: int) -> Cursor | None:
    open_values, last = _read(text[:start])
    line = text.rfind("\n", 0, start) + 1
    cursor = cursor_in(open_values, start, end)
    if open_values and open_values[-1].column < 0:
        return replace(cursor, keys=(*cursor.keys, *keys_behind(text, end))) if cursor.is_key else cursor
    if not text[line:start].strip():
        return _at_line(text, end, open_values, start - line)
    is_item = isinstance(last, yaml.BlockEntryToken)
    return replace(cursor, may_be_key=is_item) if is_item or isinstance(last, yaml.ValueToken) else None


def cursor_in_frontmatter(text: str, offset: int) -> Cursor | None:
    """Return where a cursor is between the first two `---` of a Markdown file; None elsewhere."""
    opening = OPENING.match(text)
    if opening is None or offset < opening.end():
        return None
    closing = CLOSING.search(text, opening.end())
    end = closing.start() if closing else len(text)
    cursor = cursor_in_yaml(text[opening.end() : end], offset - opening.end()) if offset <= end else None
    shift = opening.end()
    return cursor and replace(cursor, start=cursor.start + shift, end=cursor.end + shift)


def token_at(text: str, offset: int) -> tuple[int, int]:
    """Return where the scalar at a place begins and ends; both are the place if there is none."""
    low = text.rfind("\n", 0, offset) + 1
    high = text.find("\n", offset)
    line = text[low : high if high >= 0 else len(text)].rstrip("\r")
    for quoted in QUOTED.finditer(line):
        if quoted.start() < offset - low <= quoted.end():
            return low + quoted.start(), low + quoted.end()
    before = BEFORE.match(line[: offset - low])
    start = low + (before.end() if before else 0)
    quoted_here = QUOTED.match(line, start - low)
    if quoted_here:
        return start, low + quoted_here.end()
    plain = PLAIN.match(text, start)
    return start, max(plain.end() if plain else offset, offset)


def _read(text: str) -> tuple[list[OpenValue], object]:
    """Return the values that are open at the end of a text, and its last token."""
    open_values: list[OpenValue] = []
    last: object = None
    for token in _tokens(text):
        # The scanner ends all blocks at the end of its text, but at the cursor they are open.
        if isinstance(token, yaml.BlockEndToken) and not text[token.start_mark.index :].strip():
            continue
        pass_over = PASSES.get(type(token))
        if pass_over is not None:
            pass_over(open_values, token)
            last = token
    return open_values, last


def _tokens(text: str) -> list[Any]:
    """Return the tokens of a text, without the lines that are not YAML."""
    for _ in range(MAX_PASSED_OVER):
        try:
            return [*yaml.scan(text, Loader=Scanner)]
        except yaml.MarkedYAMLError as problem:
            mark = problem.context_mark or problem.problem_mark
            lines = text.split("\n")
            if mark is None or mark.line >= len(lines):
                break
            # Blank, not removed: the places of all other tokens stay what they are.
            lines[mark.line] = " " * len(lines[mark.line])
            text = "\n".join(lines)
        except (yaml.YAMLError, ValueError):
            break
    return []


def _begin(is_array: bool, in_brackets: bool) -> Callable[[list[OpenValue], Any], None]:
    def begin(open_values: list[OpenValue], token: Any) -> None:
        if open_values:
            open_values[-1].has_value = True
        open_values.append(OpenValue(is_array, column=-1 if in_brackets else token.start_mark.column))

    return begin


def _in_last(take: Callable[[OpenValue, Any], None]) -> Callable[[list[OpenValue], Any], None]:
    """Return what takes a token over in the last of the open values, if there is one."""
    return lambda open_values, token: take(open_values[-1], token) if open_values else None


def _end_block(open_values: list[OpenValue], _token: Any) -> None:
    _end_implied(open_values)
    if open_values:
        open_values.pop()


def _end_implied(open_values: list[OpenValue]) -> None:
    if open_values and open_values[-1].is_implied:
        open_values.pop()


def _end_brackets(open_values: list[OpenValue], _token: Any) -> None:
    while open_values and open_values.pop().column >= 0:
        pass


def _key(open_values: list[OpenValue], _token: Any) -> None:
    _end_implied(open_values)
    if open_values:
        open_values[-1].begin_member()


def _comma(open_values: list[OpenValue], token: Any) -> None:
    _end_implied(open_values)
    if open_values:
        open_values[-1].pass_comma()


def _dash(open_values: list[OpenValue], _token: Any) -> None:
    holder = open_values[-1] if open_values else None
    if holder is not None and not holder.is_array:
        holder.has_value = True
        # The scanner has no token for the start of a sequence whose dashes are at the indent of its key.
        open_values.append(OpenValue(True, column=holder.column, is_implied=True))
    elif holder is not None:
        holder.index += holder.has_value
        holder.has_value = False


PASSES: dict[type, Callable[[list[OpenValue], Any], None]] = {
    yaml.BlockMappingStartToken: _begin(False, False),
    yaml.BlockSequenceStartToken: _begin(True, False),
    yaml.FlowMappingStartToken: _begin(False, True),
    yaml.FlowSequenceStartToken: _begin(True, True),
    yaml.BlockEndToken: _end_block,
    yaml.FlowMappingEndToken: _end_brackets,
    yaml.FlowSequenceEndToken: _end_brackets,
    yaml.KeyToken: _key,
    yaml.ValueToken: _in_last(lambda holder, _token: setattr(holder, "has_colon", True)),
    yaml.BlockEntryToken: _dash,
    yaml.FlowEntryToken: _comma,
    yaml.ScalarToken: _in_last(lambda holder, token: holder.pass_text(token.value)),
}
"""What a token does to the values that are open."""


def _at_line(text: str, end: int, open_values: list[OpenValue], column: int) -> Cursor | None:
    """Return the cursor at the beginning of a line: a key of the object with this indent, or a value below its key."""
    while open_values and _is_behind(open_values[-1], column):
        open_values.pop()
    holder = open_values[-1] if open_values else None
    is_key = holder is not None and holder.column == column and not holder.is_array
    if holder is not None and is_key:
        holder.begin_member()
    elif holder is not None and (
        holder.has_value or holder.column == column or not (holder.is_array or holder.has_colon)
    ):
        return None
    cursor = cursor_in(open_values, end, end)
    return replace(cursor, keys=(*cursor.keys, *_keys_below(text, end, column)), may_be_key=not is_key)


def _is_behind(value: OpenValue, column: int) -> bool:
    return value.column > column or (value.is_implied and value.column == column)


def _keys_below(text: str, place: int, column: int) -> Iterator[str]:
    """Yield the keys of the same object in the lines after a place."""
    for line in text[place:].split("\n", MAX_LINES)[1:MAX_LINES]:
        content = line.lstrip(" ")
        indent = len(line) - len(content)
        if not content.strip() or content.startswith("#") or indent > column:
            continue
        match = KEY.match(content)
        if indent < column or match is None:
            return
        yield string_of(match[1]) if match[1][0] == '"' else match[1].strip("'")
