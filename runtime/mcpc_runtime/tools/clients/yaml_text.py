"""Edit YAML: entries in blocks below a key at the left margin.

There is no reader of YAML in the standard library, so this is one of lines: it knows where a statement begins and ends,
and does not know what most of them say.  What it does not follow (tabs, several documents, anchors, flow style around
the entries) it refuses.  An edit inserts, replaces or removes whole lines, and the result is read again.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from mcpc_runtime.tools.clients.text_edits import (
    CannotEditError,
    Editor,
    Entry,
    EntryPlace,
    inline,
    key_text,
    line_end,
    quoted,
)

# A key in quotes or a plain one, a colon that ends a word, and the rest of the line.
KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[A-Za-z0-9_./][^:#"'{}\[\],&*!|>%@`]*?)[ ]*:(?=\s|$)[ ]*(.*)""")
STRING = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')(?=[ ]*(?:$|[ ]#))""")
DASHES = re.compile(r"(?:-[ ]+)+|-$")
# A tag or an anchor may be before the `|` or `>` that announces a block of text.
BLOCK_SCALAR = re.compile(r"(?:[!&][^\s]+ +)*[|>][-+0-9]*[ ]*(?:#.*)?$")
FLOW_TOKEN = re.compile(r"""(?s)"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:(?<=\s)|^)#[^\n]*|[\[{]|[\]}]|[^"'\[\]{}#]+|.""")
COMMENT = re.compile(r"(?:^|[ ]+)#.*$")
ENDING_IN_BLOCK = re.compile(r"[|>][-+0-9]*[ ]*(?:#.*)?\r?\n?$")
MEMBER = re.compile(r'([A-Za-z_][\w-]*): ("(?:[^"\\]|\\.)*")')
MEMBERS = re.compile(rf"\{{(?:{MEMBER.pattern}(?:, )?)*\}}")
EMPTY = frozenset(("", "{}", "[]", "null", "~", "Null", "NULL"))
MARKERS = re.compile(r"---(?=\s|$)|\.\.\.(?=\s|$)|%|\ufeff?---(?=\s|$)")
SEPARATOR = ": "


class Statement(NamedTuple):
    """A key or an item with what belongs to it: lines from `first` to before `last`."""

    indent: int
    key: str
    rest: str
    """What follows the key in its line, without a comment."""
    first: int
    last: int


def read_lines(text: str) -> list[str]:
    """Return the lines of a text with their ends; refuse what is not followed."""
    # `splitlines` breaks at more characters than YAML 1.2 does; a text that has such ones is refused.
    lines = text.splitlines(keepends=True) if "\x85" not in text else []
    if lines and any(not line.endswith(("\n", "\r\n")) for line in lines[:-1]):
        lines = []
    if text and not lines:
        raise CannotEditError("it has unusual line ends")
    return lines


def statements(lines: list[str], first: int, last: int) -> list[Statement]:
    """Return the statements of a block of lines that have the least indentation: keys, or the items of a list."""
    statements_read: list[Statement] = []
    at = first
    while at < last:
        body = lines[at].rstrip("\r\n")
        if not body.strip() or body.lstrip(" ").startswith("#"):
            at += 1
            continue
        indent = len(body) - len(body.lstrip(" "))
        margin = statements_read[0].indent if statements_read else indent
        if indent < margin or "\t" in body[: indent + 1]:
            raise CannotEditError(f"line {at + 1}: unexpected indentation")
        if indent == margin:
            statements_read.append(read_statement(body, indent, at))
        at = end_of_statement(lines, at)
        statements_read[-1] = statements_read[-1]._replace(last=at)
    return statements_read


def read_statement(body: str, indent: int, at: int) -> Statement:
    """Return the statement that a line begins."""
    text = body.lstrip(" ")
    if text.startswith(("- ", "-\r")) or text == "-":
        return Statement(indent, "", text[1:].strip(), at, at)
    key = KEY.fullmatch(text)
    if key is None:
        raise CannotEditError(f"line {at + 1}: unexpected {text[:20]!r}")
    return Statement(indent, scalar(key[1]), without_comment(key[2]), at, at)


def without_comment(text: str) -> str:
    """Return what follows a key without a comment."""
    quoted = STRING.match(text)
    return quoted[0] if quoted else COMMENT.sub("", text).strip()


def end_of_statement(lines: list[str], at: int) -> int:
    """Return the line after a line and what it begins: a text in quotes, brackets, or a block of text."""
    body = lines[at].rstrip("\r\n")
    column = len(body) - len(body.lstrip(" "))
    value = body[column:]
    while True:
        dashes = DASHES.match(value)
        nested_key = KEY.fullmatch(value)
        if dashes:
            column += dashes.end()
            value = value[dashes.end() :]
        elif nested_key:
            value = nested_key[2]
            break
        else:
            break
    if BLOCK_SCALAR.match(value):
        return end_of_block(lines, at + 1, column, keeps="+" in value.partition("#")[0])
    return end_of_flow(lines, at, value) if value[:1] in ('"', "'", "[", "{") else at + 1


def end_of_block(lines: list[str], at: int, column: int, *, keeps: bool) -> int:
    """Return the line after a block of text, whose lines are empty or indented by more than `column`.

    `keeps`: the empty lines at its end are part of it.
    """
    end = at
    while at < len(lines) and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip(" ")) > column):
        at += 1
        end = at if keeps or lines[at - 1].strip() else end
    return end


def end_of_flow(lines: list[str], at: int, value: str) -> int:
    """Return the line after a value in quotes or brackets."""
    text = value
    while at < len(lines):
        at += 1
        if is_closed(FLOW_TOKEN.findall(text)):
            return at
        text += "\n" + (lines[at].rstrip("\r\n") if at < len(lines) else "")
    raise CannotEditError("a quote or bracket is not closed")


def is_closed(tokens: list[str]) -> bool:
    """Tell whether all quotes and brackets are closed; refuse quotes inside words, which are not quotes."""
    depth = 0
    for number, token in enumerate(tokens):
        depth += (token in "[{") - (token in "]}") if len(token) == 1 else 0
        if token[0] in "\"'" and number and tokens[number - 1][-1].isalnum():
            raise CannotEditError("a quote inside a word is not supported")
    # A quote that is a token of its own is one that is not closed.
    return depth <= 0 and not any(token in ('"', "'") for token in tokens)


def scalar(text: str) -> str:
    """Return a plain or quoted string."""
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            return text
    return text


def section_of(lines: list[str], place: EntryPlace) -> Statement | None:
    """Return the statement whose children are the entries."""
    start = start_of(lines)
    for number, line in enumerate(lines, 1):
        if MARKERS.match(line) and (number != start or line.strip("\ufeff").rstrip() != "---"):
            raise CannotEditError(f"line {number}: directives and several documents are not supported")
    (key,) = place.keys[0]
    if any(line.strip("\ufeff").strip() and not line.lstrip("\ufeff ").startswith("#") for line in lines[:start][:-1]):
        raise CannotEditError("several documents are not supported")
    top = [each for each in at_margin(lines, start) if each.key == key]
    if len(top) > 1:
        raise CannotEditError(f"`{key}` is there twice")
    return top[0] if top else None


def start_of(lines: list[str]) -> int:
    """Return the line after the one that begins a document, 0 without one."""
    return next((number for number, line in enumerate(lines, 1) if line.strip("\ufeff").startswith("---")), 0)


def at_margin(lines: list[str], start: int) -> list[Statement]:
    """Return the statements at the left margin; the items of a list may be there, too, below their key."""
    # A byte order mark would count as indentation.
    whole = [line.lstrip("\ufeff") if number == 0 else line for number, line in enumerate(lines)]
    at_left: list[Statement] = []
    for each in statements(whole, start, len(whole)):
        if each.indent:
            raise CannotEditError(f"line {each.first + 1}: unexpected indentation")
        if each.key or not at_left:
            at_left.append(each)
        else:
            at_left[-1] = at_left[-1]._replace(last=each.last)
    if at_left and not at_left[0].key:
        raise CannotEditError("it is a list")
    return at_left


def entries_of(lines: list[str], section: Statement | None, place: EntryPlace) -> dict[str, Statement]:
    """Return the statements of entries by their names."""
    if section is None or (section.rest in EMPTY and section.last == section.first + 1):
        return {}
    if section.rest:
        raise CannotEditError(f"`{section.key}` has its entries in one line")
    entries: dict[str, Statement] = {}
    for each in statements(lines, section.first + 1, section.last):
        if bool(each.key) == place.is_list:
            raise CannotEditError(f"line {each.first + 1}: expected {'an item' if place.is_list else 'a key'}")
        name = item_name(lines, each) if place.is_list else each.key
        if name in entries:
            raise CannotEditError(f"`{name}` is there twice")
        entries[name] = each
    return entries


def item_name(lines: list[str], item: Statement) -> str:
    """Return the name of a list's item."""
    for field in fields_of(lines, item):
        if field.key == "name":
            return scalar(field.rest)
    raise CannotEditError(f"line {item.first + 1}: an item without a name")


def fields_of(lines: list[str], entry: Statement) -> list[Statement]:
    """Return the fields of an entry."""
    if entry.key:
        return statements(lines, entry.first + 1, entry.last) if entry.last > entry.first + 1 else []
    # An item's first field is on the line of its dash, which becomes a blank, so that the columns agree.
    plain = [line.replace("-", " ", 1) if n == entry.first else line for n, line in enumerate(lines)]
    return statements(plain, entry.first, entry.last)


def read_entries(text: str, place: EntryPlace) -> dict[str, Entry]:
    """Return the entries by their names; of their fields those that are strings, or lists of them in one line."""
    lines = read_lines(text)
    entries: dict[str, Entry] = {}
    for name, entry in entries_of(lines, section_of(lines, place), place).items():
        if not entry.rest or not entry.key:
            entries[name] = {field.key: field_value(field.rest) for field in fields_of(lines, entry)}
    return entries


def field_value(text: str) -> object:
    """Return the value of a field."""
    if text.startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return scalar(text)


def put_entry(text: str, place: EntryPlace, name: str, entry: Entry, owned: frozenset[str]) -> str:
    """Return a text with an entry; refuse one whose other entries end in the middle of a line."""
    read_entries(text, place)
    lines = read_lines(text)
    section = section_of(lines, place)
    entries = entries_of(lines, section, place)
    if name in entries:
        return checked(text, updated(lines, entries[name], entry, owned, line_end(text)), place, name)
    end = line_end(text)
    indent = next((each.indent for each in entries.values()), 2)
    new = rendered(name, entry, indent, place.is_list)
    if section is None:
        at = len(lines)
        new = [f"{place.keys[0][0]}:", *new]
    else:
        at = section.last
    before = lines[:at]
    if section is not None and section.rest:
        # An empty value in the key's line, such as `{}`, gives way to the block below.
        before[section.first] = re.sub(r":[ ]*[^ #\r\n]+", ":", before[section.first], count=1)
    if before and not before[-1].endswith("\n"):
        if ends_in_block(before):
            raise CannotEditError("its last line has no line end, which may belong to a block of text")
        before[-1] += end
    return checked(text, "".join([*before, *(f"{line}{end}" for line in new), *lines[at:]]), place, name)


def ends_in_block(lines: list[str]) -> bool:
    """Tell whether the last line is in a block of text: a line above it, indented by less, announces one."""
    # Going up, only a line that is indented by less than all below it can announce a block around them.
    least = -1
    for line in reversed(lines):
        indent = len(line) - len(line.lstrip(" "))
        if not line.strip() or 0 <= least <= indent:
            continue
        if least >= 0 and ENDING_IN_BLOCK.search(line):
            return True
        least = indent
    return False


def rendered(name: str, entry: Entry, indent: int, is_list: bool) -> list[str]:
    """Return the lines of an entry."""
    fields = [field_line(field, value) for field, value in entry.items()]
    if is_list:
        return [f"{' ' * indent}{'  ' if number else '- '}{field}" for number, field in enumerate(fields)]
    return [f"{' ' * indent}{key_text(name)}:", *(f"{' ' * (indent + 2)}{field}" for field in fields)]


def field_line(field: str, value: object) -> str:
    """Return a field in one line."""
    return f"{field}{SEPARATOR}{inline(value, SEPARATOR)}"


def updated(lines: list[str], statement: Statement, entry: Entry, owned: frozenset[str], end: str) -> str:
    """Return a text in which the fields of an entry that are owned are the new ones."""
    if statement.rest and statement.key:
        raise CannotEditError("the entry is in one line")
    fields = {field.key: field for field in fields_of(lines, statement)}
    indent = next((field.indent for field in fields.values()), statement.indent + 2)
    new = [*lines]
    added: list[str] = []
    for field, value in entry.items():
        before = fields.get(field)
        line = field_line(field, value)
        if field not in owned or (before is not None and before.rest == quoted_rest(value)):
            continue
        if before is None:
            added.append(f"{' ' * indent}{line}{end}")
            continue
        if isinstance(value, dict):
            value = {**members(before), **value}
            line = field_line(field, value)
        if field_value(before.rest) != value and before.rest != quoted_rest(value):
            lead = new[before.first][: before.indent] if not statement.key else " " * before.indent
            # Lines that are emptied keep the numbers of those below.
            new[before.first : before.last] = [f"{lead}{line}{end}", *[""] * (before.last - before.first - 1)]
    before_added = "".join(new[: statement.last])
    separator = end if added and not before_added.endswith("\n") else ""
    return "".join([before_added, separator, *added, *new[statement.last :]])


def members(field: Statement) -> dict[str, str]:
    """Return the members of a field that has them in one line, as they are written here."""
    if field.rest in EMPTY and field.last == field.first + 1:
        return {}
    if not MEMBERS.fullmatch(field.rest):
        raise CannotEditError(f"`{field.key}` of the entry is not in one line")
    return {key: str(json.loads(value)) for key, value in MEMBER.findall(field.rest)}


def quoted_rest(value: object) -> str:
    """Return a value as it is behind its key."""
    return quoted(value) if isinstance(value, str) else inline(value, SEPARATOR)


def drop_entry(text: str, place: EntryPlace, name: str) -> str:
    """Return a text without an entry."""
    lines = read_lines(text)
    section = section_of(lines, place)
    entries = entries_of(lines, section, place)
    if section is None or name not in entries:
        return text
    entry = entries[name]
    other_lines = [*lines[: entry.first], *lines[entry.last :]]
    # Without entries below it, the key would have the value null.
    if len(entries) == 1:
        head = other_lines[section.first]
        other_lines[section.first] = head.replace(":", f": {'[]' if place.is_list else '{}'}", 1)
    return checked(text, "".join(other_lines), place, name)


def checked(old: str, new: str, place: EntryPlace, name: str) -> str:
    """Return the new text if all statements but the entry's have the lines that they had."""
    if other_statements(old, place, name) != other_statements(new, place, name):
        raise CannotEditError("it cannot be edited without a change of something else")
    return new


def other_statements(text: str, place: EntryPlace, name: str) -> list[str]:
    """Return the lines of all entries and keys but one entry's."""
    lines = read_lines(text)
    section = section_of(lines, place)
    entries = entries_of(lines, section, place)
    others = [each for each in at_margin(lines, start_of(lines)) if section is None or each.first != section.first]
    chosen = [*others, *(entry for key, entry in entries.items() if key != name)]
    return ["".join(lines[each.first : each.last]).rstrip("\r\n") for each in chosen]


YAML = Editor(read_entries, put_entry, drop_entry)
