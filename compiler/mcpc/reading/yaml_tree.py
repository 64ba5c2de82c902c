"""YAML as the tree of `json_tree.py`: every value and every key with its position.

A parser stops behind a mistake: at the next `:` after a quote that is not closed, for example. A row names what the
parser says, and looks for the mistake in the lines above.

Scalars are parsed by the core schema of YAML 1.2 (`yes` is a string, a date is a string).  YAML that JSON cannot
represent is a problem, and is not guessed.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import yaml

from mcpc.reading.json_tree import Json, Member, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class YamlMistake(NamedTuple):
    """What is wrong, from which offset to which, and what to do."""

    start: int
    end: int
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a parser stopped.  `at`: the offset; `begun`: where what it read begins, -1 if it does not say."""

    text: str
    at: int
    begun: int

    @property
    def line(self) -> int:
        """The number of the line, from 1."""
        return self.text.count("\n", 0, self.at) + 1

    @property
    def column(self) -> int:
        """How many characters are before it on its line."""
        return self.at - (self.text.rfind("\n", 0, self.at) + 1)

    def mistake(self, message: str, hint: str = "") -> YamlMistake:
        """Return a mistake at the place itself."""
        return YamlMistake(self.at, self.at + 1, message, hint)

    def opened(self, message: str, hint: str = "") -> YamlMistake:
        """Return a mistake where that begins in which the parser stopped."""
        return YamlMistake(self.begun, self.begun + 1, message, hint)

    def lines_above(self) -> Iterator[tuple[int, int, str]]:
        """Yield the lines above that are not empty, the nearest first: number, offset and text."""
        ends = self.text.rfind("\n", 0, self.at)
        for number in range(self.line - 1, 0, -1):
            begins = self.text.rfind("\n", 0, ends) + 1
            line = self.text[begins:ends]
            if line.strip() and not line.lstrip().startswith("#"):
                yield number, begins, line
            ends = begins - 1


CLOSERS = {"]": "[", "}": "{"}
ITEMS = re.compile(r"(?:- +)*")
KEY_AND_VALUE = re.compile(r"[^\"'\[{][^:]*:\s+\S")
WORDS = re.compile(r"(\S+)\s+(\S.*)")
LONGEST = 60
"""Characters of a line that a message repeats."""
INDENT_WITH_SPACES = "indent with spaces"


def _tab(stop: Stop, _: re.Match[str]) -> YamlMistake:
    is_indent = not stop.text[stop.at - stop.column : stop.at].strip(" ")
    return stop.mistake("a tab indents this line" if is_indent else "a tab stands before a value", INDENT_WITH_SPACES)


def _first_character(stop: Stop, match: re.Match[str]) -> YamlMistake:
    return stop.mistake(f"a text cannot begin with `{match[1]}`", "put the text in quotes")


def _tokens(stop: Stop) -> Iterator[yaml.Token]:
    """Yield the tokens before the place where the parser stopped."""
    with suppress(yaml.YAMLError):
        for token in yaml.scan(stop.text, Loader=yaml.SafeLoader):
            if token.start_mark.index >= stop.at:
                return
            yield token


def _open_quote(stop: Stop, _: re.Match[str] | None = None) -> YamlMistake:
    quote = stop.text[stop.begun]
    return stop.opened("this quote is not closed", f"add `{quote}` at the end of the text")


def _after_quote(stop: Stop, _: re.Match[str]) -> YamlMistake | None:
    """Return a quote that was closed by the next one, on the same line or on a later one."""
    last = next((each for each in reversed([*_tokens(stop)]) if isinstance(each, yaml.ScalarToken)), None)
    if last is None or last.style not in ("'", '"'):
        return None
    if last.start_mark.line != last.end_mark.line:
        return _open_quote(Stop(stop.text, stop.at, last.start_mark.index))
    doubled = "`''`" if last.style == "'" else '`\\"`'
    return stop.mistake("text follows the quote that closes a text", f"write a quote in the text as {doubled}")


def _flow(stop: Stop, match: re.Match[str]) -> YamlMistake:
    opener, got = CLOSERS[match[1]], match[2].strip("'")
    if got in CLOSERS:
        return stop.mistake(f"`{got}` does not close `{opener}`", f"expected `{match[1]}`")
    if "\n" in stop.text[stop.begun : stop.at]:
        hint = f"add `{match[1]}`, or a comma after each part"
        return stop.opened(f"`{opener}` is not closed before line {stop.line}", hint)
    return stop.mistake("a comma is missing here, or before the last word", "separate the parts by `,`")


def _no_value(stop: Stop, match: re.Match[str]) -> YamlMistake | None:
    if match[1] in (",", "]", "}", ":"):
        return stop.mistake(f"no value stands before `{match[1]}`", "write it, or delete the word")
    opened: list[yaml.Token] = []
    for token in _tokens(stop):
        if isinstance(token, yaml.FlowSequenceStartToken | yaml.FlowMappingStartToken):
            opened.append(token)
        elif isinstance(token, yaml.FlowSequenceEndToken | yaml.FlowMappingEndToken):
            opened.pop()
    if not opened:
        return None
    begun = Stop(stop.text, stop.at, opened[-1].start_mark.index)
    opener = stop.text[begun.begun]
    return begun.opened(f"`{opener}` is not closed", f"add `{'}' if opener == '{' else ']'}`")


def _without_colon(stop: Stop, _: re.Match[str]) -> YamlMistake:
    end = stop.text.find("\n", stop.begun)
    line = stop.text[stop.begun : end if end >= 0 else len(stop.text)].rstrip()
    begun = Stop(stop.text, stop.begun, stop.begun)
    above = next(begun.lines_above(), (0, 0, ""))
    if re.search(r"[|>][-+0-9]*$", above[2].rstrip()):
        return stop.opened(f"the text of line {above[0]} is not indented", "indent each of its lines")
    return _line_without_colon(stop.begun, line)


def _line_without_colon(start: int, line: str) -> YamlMistake:
    """Return that a line has no colon that ends its key, and how it was meant."""
    key, colon, value = line.partition(":")
    if colon and value:
        hint = f"write `{key}: {value}`" if len(line) <= LONGEST else "write a space after it"
        return YamlMistake(start, start + len(line), "no space follows the `:`", hint)
    end, line = start + len(line), line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
    match = WORDS.fullmatch(line)
    hint = f"write `{match[1]}: {match[2]}`" if match else f"write `{line}:`"
    return YamlMistake(start, end, f"`{line}` has no `:`", hint)


def _colon(stop: Stop, _: re.Match[str]) -> YamlMistake | None:
    before = stop.text[stop.at - stop.column : stop.at]
    content = before.strip()
    if KEY_AND_VALUE.match(ITEMS.sub("", content, count=1)):
        return stop.mistake("this line has a second `: `", "put the value in quotes")
    number, begins, above = next(stop.lines_above(), (0, 0, ""))
    indent, own = _columns(above)[-1], _columns(before)[-1]
    line = above[indent:].rstrip()
    if line and not re.search(r":(?:\s|$)", line):
        return _line_without_colon(begins + indent, line)
    if not line or own <= indent:
        return None
    start, message = stop.at - stop.column, f"this line is indented by {own}, and line {number} above it by {indent}"
    return YamlMistake(start, start + own, message, f"indent it by {indent}")


def _columns(line: str) -> tuple[int, int]:
    """Return where a line begins, and where its content does, behind the dashes of items."""
    indent = len(line) - len(line.lstrip(" "))
    items = ITEMS.match(line, indent)
    return indent, items.end() if items is not None else indent


def _block(stop: Stop, match: re.Match[str]) -> YamlMistake | None:
    if match[1] in CLOSERS:
        return stop.mistake(f"`{match[1]}` closes nothing", "delete it")
    open_columns: dict[int, int] = {}
    for number, _, line in stop.lines_above():
        least = min(open_columns, default=len(stop.text))
        open_columns |= {column: number for column in _columns(line) if column < least}
    if stop.text[stop.at - stop.column : stop.at].strip():
        return None
    if stop.column not in open_columns:
        others = " or ".join(f"{column} as line {number}" for column, number in sorted(open_columns.items()))
        message = f"this line is indented by {stop.column}, where no line above begins"
        return YamlMistake(stop.at - stop.column, stop.at + 1, message, f"indent it by {others}" if others else "")
    if stop.text.startswith("-", stop.at):
        return stop.mistake("an item of a list stands among keys", "indent it below its key, or write `key: value`")
    return stop.mistake("a key stands among the items of a list", "begin it with `- `, or indent it as its item")


def _unknown_alias(stop: Stop, match: re.Match[str]) -> YamlMistake:
    return stop.mistake(f"`*{match[1]}` has no `&{match[1]}` above it", "put a text that begins with `*` in quotes")


def _no_name(stop: Stop, match: re.Match[str]) -> YamlMistake:
    mark = "*" if match[1] == "alias" else "&"
    return stop.opened(f"a text cannot begin with `{mark}`", "put the text in quotes")


def _escape(stop: Stop, match: re.Match[str]) -> YamlMistake:
    hint = f"write `\\\\{match[1]}`, or put the text in single quotes"
    return stop.mistake(f"`\\{match[1]}` is not an escape of YAML", hint)


def _second_document(stop: Stop, _: re.Match[str]) -> YamlMistake:
    return stop.mistake("a second document begins here", "delete `---`: a file is one document")


def _item_behind_key(stop: Stop, _: re.Match[str]) -> YamlMistake:
    return stop.mistake("a list begins on the line of its key", "begin it on the next line, or put a text in quotes")


def _after_bar(stop: Stop, _: re.Match[str]) -> YamlMistake:
    bar = stop.text[stop.begun : stop.begun + 1]
    return stop.mistake(f"text follows `{bar}` on its line", "begin it on the next line, indented")


def _question(stop: Stop, _: re.Match[str]) -> YamlMistake:
    return stop.mistake("a text cannot begin with `? `", "put the text in quotes")


ROWS: tuple[tuple[str, Callable[[Stop, re.Match[str]], YamlMistake | None]], ...] = (
    (r"found character '\\t' that cannot start", _tab),
    (r"found character ['\"](.+)['\"] that cannot start", _first_character),
    (r"scanning a quoted scalar: found unexpected (?:end of stream|document)", _open_quote),
    (r"expected <block end>, but found '<scalar>'", _after_quote),
    (r"parsing a flow \w+: expected ',' or '(.)', but got (.+)", _flow),
    (r"expected the node content, but found '(.+)'", _no_value),
    (r"could not find expected ':'", _without_colon),
    (r"mapping values are not allowed here", _colon),
    (r"expected <block end>, but found '(.+)'", _block),
    (r"found undefined alias '(.+)'", _unknown_alias),
    (r"scanning an (alias|anchor): expected alphabetic", _no_name),
    (r"found unknown escape character '(.)'", _escape),
    (r"but found another document", _second_document),
    (r"sequence entries are not allowed here", _item_behind_key),
    (r"expected chomping or indentation indicators", _after_bar),
    (r"mapping keys are not allowed here", _question),
)
"""What the parser says, and what looks for the mistake; the first that finds one is right."""


def yaml_mistake(problem: yaml.YAMLError, text: str) -> YamlMistake:
    """Return what is wrong with a text that is not YAML."""
    if isinstance(problem, yaml.reader.ReaderError):
        at = int(problem.position)
        return YamlMistake(at, at + 1, f"the character U+{ord(text[at]):04X} is not allowed", "delete it")
    mark, context = getattr(problem, "problem_mark", None), getattr(problem, "context_mark", None)
    stop = Stop(text, mark.index if mark is not None else 0, context.index if context is not None else -1)
    said = str(getattr(problem, "problem", None) or "it cannot be read")
    words = f"{getattr(problem, 'context', None) or ''}: {said}"
    for pattern, find in ROWS:
        match = re.search(pattern, words)
        mistake = find(stop, match) if match is not None else None
        if mistake is not None:
            return mistake
    return stop.mistake(said)


MAX_NODES = 10_000
MAX_DEPTH = 64
MAX_LARGE_NODES, MAX_LARGE_DEPTH = 2_000_000, 150
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
CORE: tuple[tuple[str, re.Pattern[str], str | None], ...] = (
    ("null", re.compile(r"(?:~|null|Null|NULL|)\Z"), None),
    ("bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), "tTfF"),
    ("int", re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z"), "-+0123456789"),
    ("float", FLOAT, "-+.0123456789"),
)
"""YAML 1.2, section 10.3.2: the type of an unquoted scalar by its form; anything else is a string."""
KINDS: dict[type[yaml.Node], tuple[str, ...]] = {
    yaml.MappingNode: ("map",),
    yaml.ScalarNode: ("null", "bool", "int", "float", "str"),
    yaml.SequenceNode: ("seq",),
}
"""The allowed tags of a node."""


class _CoreLoader(yaml.SafeLoader):
    """Composes nodes by the core schema; YAML's own constructors are never used."""

    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as the base has it


class _FastLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc] # not every build has libyaml
    """The same by libyaml, ten times as fast; it does not say well what is wrong."""

    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as the base has it


for _tag, _pattern, _first in CORE:
    for _loader in (_CoreLoader, _FastLoader):
        # Without first characters a pattern is tried for every scalar: that of null matches an empty one.
        _loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _pattern, list(_first) if _first else None)


class YamlError(Exception):
    """A text that is not YAML, or that JSON cannot represent: from which offset to which, why, and what to do."""

    def __init__(self, start: int, end: int, message: str, hint: str = "", *, is_syntax: bool = False) -> None:
        super().__init__(message)
        self.start, self.end, self.hint = start, end, hint
        self.is_syntax = is_syntax


def read_yaml(text: str, path: str, start: int = 0, most: int = MAX_NODES) -> Node:
    """Return a document as a node, None as a null; raise YamlError.

    `start`: where the text begins in its file.  `most`: how many values are read; each counts as often as it is used.
    """
    try:
        node = yaml.compose(text, Loader=_CoreLoader)
        if node is None:
            return Node(None, path, start, start)
        return _Reading(path, start, most).node(node)
    except yaml.YAMLError as problem:
        mistake = yaml_mistake(problem, text)
        raise YamlError(
            start + mistake.start, start + mistake.end, mistake.message, mistake.hint, is_syntax=True
        ) from None
    except (RecursionError, ValueError) as problem:
        raise YamlError(start, start + 1, str(problem) or "it cannot be read", is_syntax=True) from None


def read_large_yaml(text: str, path: str) -> Node:
    """Return a document of megabytes as a node, as `read_yaml` does of a small one; a key such as `200` is its text."""
    try:
        node = yaml.compose(text, Loader=_FastLoader)
    except (yaml.YAMLError, ValueError):
        # Read again by the parser that says what is wrong.
        return read_yaml(text, path, most=MAX_LARGE_NODES)
    if node is None:
        return Node(None, path, 0, 0)
    try:
        return _Reading(path, 0, MAX_LARGE_NODES, MAX_LARGE_DEPTH, any_key=True).node(node)
    except (ValueError, RecursionError) as problem:
        raise YamlError(0, 1, str(problem) or "it is nested too deeply", is_syntax=True) from None


@dataclass(slots=True)
class _Reading:
    """State of converting a document: each node counts as often as it is referred to."""

    path: str
    start: int
    most: int
    deepest: int = MAX_DEPTH
    any_key: bool = False
    nodes: int = 0
    above: list[yaml.Node] = field(default_factory=list)

    def node(self, node: yaml.Node) -> Node:
        """Return a node of YAML as one of JSON."""
        self.nodes += 1
        # An anchor may contain its own alias; nodes are compared by identity.
        if self.nodes > self.most or len(self.above) > self.deepest or node in self.above:
            raise self.refusal(node, "it is too large, or contains itself")
        kind = node.tag.removeprefix("tag:yaml.org,2002:")
        if kind not in KINDS[type(node)]:
            raise self.refusal(node, f"the tag `{node.tag}` cannot be represented in JSON")
        self.above.append(node)
        made = READERS[type(node)](self, node, kind)
        self.above.pop()
        return made

    def refusal(self, node: yaml.Node, message: str) -> YamlError:
        """Return the error at the position of a node."""
        return YamlError(self.start + node.start_mark.index, self.start + node.end_mark.index, message)

    def build_node(self, node: yaml.Node, value: Json, *parts: Member | Node) -> Node:
        """Return the node of a value, which ends where the last of its parts does if it is a block."""
        start, end = self.start + node.start_mark.index, self.start + node.end_mark.index
        members = tuple(part for part in parts if isinstance(part, Member))
        items = tuple(part for part in parts if isinstance(part, Node))
        if parts and not getattr(node, "flow_style", False):
            last = parts[-1]
            end = last.node.end if isinstance(last, Member) else last.end
        return Node(value, self.path, start, max(start, end), members, items)


def _mapping(reading: _Reading, node: yaml.Node, _kind: str) -> Node:
    members: dict[str, Member] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or not (reading.any_key or key.tag.endswith(":str")):
            raise reading.refusal(key, "a key is not a string")
        if key.value in members:
            raise reading.refusal(key, f"duplicate key `{key.value}`")
        start, end = reading.start + key.start_mark.index, reading.start + key.end_mark.index
        members[key.value] = Member(key.value, start, end, reading.node(value))
    return reading.build_node(node, {key: member.node.value for key, member in members.items()}, *members.values())


def _sequence(reading: _Reading, node: yaml.Node, _kind: str) -> Node:
    items = [reading.node(item) for item in node.value]
    return reading.build_node(node, [item.value for item in items], *items)


def _scalar(reading: _Reading, node: yaml.Node, kind: str) -> Node:
    text = str(node.value)
    if kind == "float" and (not FLOAT.match(text) or float(text) in (float("inf"), float("-inf"))):
        raise reading.refusal(node, f"the number `{text}` cannot be represented in JSON")
    return reading.build_node(node, scalar_value(kind, text))


def scalar_value(kind: str, text: str) -> Json:
    """Return a scalar of the core schema as JSON."""
    if kind == "int":
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        return int(text[2:] if base != 10 else text, base)
    if kind == "float":
        return float(text)
    return {"null": None, "bool": text.lower() == "true"}.get(kind, text)


READERS: dict[type[yaml.Node], Callable[[_Reading, yaml.Node, str], Node]] = {
    yaml.MappingNode: _mapping,
    yaml.ScalarNode: _scalar,
    yaml.SequenceNode: _sequence,
}
