"""API documents as plain JSON, and where a value of theirs stands, which is looked up only for what is reported.

A document may be tens of megabytes of JSON: it is read by Python's own parser, and a place is found by reading along
the path of its keys, past the values before it. One that this parser refuses is read again by ours, which says where
each mistake is. YAML is composed with all places.

References name files relative to the file that they are in. Nothing outside of the project is read, and nothing is
fetched.
"""

from __future__ import annotations

import json
import math
import posixpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from mcpc.diagnostics import Span, diagnose, has_errors
from mcpc.reading import Node, parse_json
from mcpc.reading.source import judge_encoding, resolve_relative

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import Source, SourceTree

Path = tuple[str | int, ...]
"""The keys and indexes that lead from the root of a document to a value."""

YAML_ENDINGS = (".yaml", ".yml")
ENDINGS = (*YAML_ENDINGS, ".json")
SPACE = re.compile(r"[ \t\n\r]*")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
MAX_CHAIN, MAX_NESTED = 100, 10
"""How many references may lead from one to the next, and how many may be on the way of one."""


class UnresolvedError(Exception):
    """A reference that cannot be followed: why, and what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class DoubledKeyError(ValueError):
    """An object of JSON with two members of one name."""


@dataclass(slots=True, eq=False)
class ApiDocument:
    """One file: its value, and the places in it; `node`: the tree with places, if it is there already."""

    source: Source
    value: Any
    node: Node | None = None
    _starts: dict[Path, dict[str | int, tuple[int, int]]] = field(default_factory=dict)

    def span(self, path: Path) -> Span:
        """Return where the value at a path begins and ends; for a missing one, the nearest that is there."""
        if self.node is not None:
            return self._span_in_tree(path)
        text = self.source.text
        # The parser got the text without its byte order mark, which counts in the places.
        start = _skip(text, 1 if text.startswith("\ufeff") else 0)
        for depth, step in enumerate(path):
            starts = self._members(path[:depth], start)
            if step not in starts:
                break
            start = starts[step][1]
        return Span(self.source.path, start, _end_of(text, start))

    def key_span(self, path: Path) -> Span:
        """Return where the key of the value at a path stands."""
        if self.node is not None or not path or not isinstance(path[-1], str):
            return self._key_in_tree(path)
        outer = self.span(path[:-1])
        starts = self._members(path[:-1], outer.start)
        key, value = starts.get(path[-1], (outer.start, outer.start))
        return Span(self.source.path, key, max(key, self.source.text.rfind('"', key, value) + 1))

    def _span_in_tree(self, path: Path) -> Span:
        node = self.node or Node(None, self.source.path, 0, 0)
        for step in path:
            part = node.get(step) if isinstance(step, str) else next(iter(node.items[step : step + 1]), None)
            if part is None:
                break
            node = part
        return node.span

    def _key_in_tree(self, path: Path) -> Span:
        node = self.node
        for step in path[:-1]:
            node = None if node is None else node.get(step) if isinstance(step, str) else node.items[step]
        keys = {member.key: member for member in node.members} if node is not None else {}
        return keys[path[-1]].key_span if path and path[-1] in keys else self.span(path)

    def _members(self, path: Path, start: int) -> dict[str | int, tuple[int, int]]:
        """Return where each member of the value at `start` has its key and its value."""
        # Each object is read once, however many of its places are asked for.
        if path not in self._starts:
            self._starts[path] = _member_starts(self.source.text, start)
        return self._starts[path]


def _skip(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    return at if match is None else match.end()


def _end_of(text: str, start: int) -> int:
    try:
        return READER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return start


READER = json.JSONDecoder()


def _member_starts(text: str, start: int) -> dict[str | int, tuple[int, int]]:
    """Return where the members of an array or an object begin; each is read by the parser to find the next."""
    starts: dict[str | int, tuple[int, int]] = {}
    if text[start : start + 1] not in ("{", "["):
        return starts
    is_object, at = text[start] == "{", _skip(text, start + 1)
    while at < len(text) and text[at] not in "}]":
        key: str | int = len(starts)
        begun = at
        if is_object:
            key, at = READER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        starts.setdefault(key, (begun, at))
        at = _skip(text, READER.raw_decode(text, at)[1])
        at = _skip(text, at + 1) if text[at : at + 1] == "," else at
    return starts


def _members_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    # Our own parser, which reads the file again, says where.
    if len(value) != len(pairs):
        raise DoubledKeyError
    return value


def _finite_number(text: str) -> float:
    """Return a number; raise ValueError for one that JSON does not have, or that is too large."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def read_document(source: Source) -> tuple[ApiDocument | None, tuple[Diagnostic, ...]]:
    """Return a document, or None and why it cannot be read."""
    if source.path.endswith(YAML_ENDINGS):
        return _read_yaml(source)
    try:
        text = source.data.decode("utf-8").removeprefix("\ufeff")
        value = json.loads(
            text, object_pairs_hook=_members_once, parse_constant=_finite_number, parse_float=_finite_number
        )
        return ApiDocument(source, value), ()
    except (ValueError, RecursionError):
        node, problems = parse_json(source)
    if node is None or has_errors(problems):
        return None, problems
    return ApiDocument(source, node.value, node), problems


def _read_yaml(source: Source) -> tuple[ApiDocument | None, tuple[Diagnostic, ...]]:
    from mcpc.reading.yaml_tree import YamlError, read_large_yaml  # noqa: PLC0415 - most projects have no YAML

    problems, is_text = judge_encoding(source)
    if not is_text or has_errors(problems):
        return None, problems
    try:
        node = read_large_yaml(source.text, source.path)
    except YamlError as wrong:
        span = Span(source.path, wrong.start, wrong.end)
        return None, (*problems, diagnose("MCP170", span, f"the document cannot be read: {wrong}", "", wrong.hint))
    return ApiDocument(source, node.value, node), problems


@dataclass(frozen=True, slots=True, eq=False)
class DocumentValue:
    """A value of a document, and how it is reached."""

    document: ApiDocument
    path: Path
    value: Any

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.document.span(self.path)

    @property
    def identity(self) -> tuple[str, Path]:
        """What tells it from the values at other places."""
        return self.document.source.path, self.path

    def at(self, *steps: str | int) -> DocumentValue:
        """Return a value in it, None where there is nothing."""
        value = self.value
        for step in steps:
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                value = None
        return DocumentValue(self.document, (*self.path, *steps), value)

    def members(self) -> list[tuple[str, DocumentValue]]:
        """Return its members, if it is an object."""
        return [(key, self.at(key)) for key in self.value] if isinstance(self.value, dict) else []

    def items(self) -> list[DocumentValue]:
        """Return its items, if it is an array."""
        return [self.at(index) for index in range(len(self.value))] if isinstance(self.value, list) else []


class DocumentFiles:
    """The documents of a project by path, each read when it is first referred to."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._documents: dict[str, ApiDocument | None] = {}
        self.problems: list[Diagnostic] = []

    def read(self, path: str) -> ApiDocument | None:
        """Return the document at a path; None if there is none, or if it cannot be read, which is then reported."""
        if path not in self._documents:
            source = self._tree.get(path)
            document, problems = (None, ()) if source is None else read_document(source)
            self._documents[path] = document
            self.problems += problems
        return self._documents[path]

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files that were read, sorted."""
        return tuple(document.source for _, document in sorted(self._documents.items()) if document is not None)

    def follow(self, place: DocumentValue, nested: int = 0) -> DocumentValue:
        """Return what a value refers to, through all references on the way; else the value itself."""
        for _ in range(MAX_CHAIN + 1):
            written = place.value.get("$ref") if isinstance(place.value, dict) else None
            if not isinstance(written, str):
                return place
            place = self.target(place.document, written, nested)
        raise UnresolvedError(f"more than {MAX_CHAIN} references lead from one to the next")

    def target(self, document: ApiDocument, written: str, nested: int = 0) -> DocumentValue:
        """Return the value that a reference in a document names; `nested`: it is on the way of so many others."""
        file, _, pointer = written.partition("#")
        if SCHEME.match(file):
            hint = "save what it refers to in the project, and refer to that file"
            raise UnresolvedError(f"`{_shown(written)}` is outside of the project, and nothing is fetched", hint)
        if nested > MAX_NESTED:
            raise UnresolvedError(f"`{_shown(written)}` leads through itself")
        if file:
            document = self._file(document, unquote(file), written)
        if pointer and not pointer.startswith("/"):
            return _anchored(document, unquote(pointer), written)
        place = DocumentValue(document, (), document.value)
        for part in pointer.split("/")[1:]:
            # What is on the way may be a reference itself.
            place = self.follow(place, nested + 1)
            # In this order (RFC 6901, section 4), so that `~01` is `~1` and no slash.
            place = _step(place, unquote(part).replace("~1", "/").replace("~0", "~"), written)
        return place

    def _file(self, document: ApiDocument, file: str, written: str) -> ApiDocument:
        path = resolve_relative(posixpath.dirname(document.source.path), file)
        if path is None or file.startswith("/"):
            raise UnresolvedError(f"`{_shown(written)}` leads out of the project")
        named = self.read(path)
        if named is None:
            why = "cannot be read" if self._tree.get(path) is not None else "does not exist"
            raise UnresolvedError(f"`{_shown(written)}` refers to `{path}`, which {why}")
        return named


def _step(place: DocumentValue, key: str, written: str) -> DocumentValue:
    if isinstance(place.value, dict) and key in place.value:
        return place.at(key)
    # `isdigit` alone also takes `²`, which `int` refuses.
    if isinstance(place.value, list) and key.isascii() and key.isdigit() and int(key) < len(place.value):
        return place.at(int(key))
    raise UnresolvedError(f"`{_shown(written)}` refers to nothing")


def _anchored(document: ApiDocument, name: str, written: str) -> DocumentValue:
    """Return the value with an anchor; documents have few, so all of it is looked through."""
    waiting = [DocumentValue(document, (), document.value)]
    while waiting:
        place = waiting.pop()
        if isinstance(place.value, dict) and name in (place.value.get("$anchor"), place.value.get("$dynamicAnchor")):
            return place
        waiting += [part for _, part in place.members()] + place.items()
    raise UnresolvedError(f"`{_shown(written)}` refers to nothing")


def _shown(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:120]}…"
