"""One project that is open in an editor: open texts over its files, and what the last check found in both.

Diagnostics and definitions always point into the current texts: a change moves those after it. `moves` leads from the
texts of the last check, into which the definitions of `server` point, to the current ones.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from mcpc.diagnostics import Diagnostic, Span
from mcpc.model.ir import Completion, Executable, Prompt, Resource, ResourceTemplate, Tool
from mcpc.reading.source import LINE_END, source_of_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from mcpc.model.ir import Handler, Server
    from mcpc.model.ir.printer import AnyDefinition
    from mcpc.options import Options
    from mcpc.pipeline import CheckResult
    from mcpc.reading import SourceTree


UNIT_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
# Little-endian by name, because the plain codecs write a byte order mark, which would be counted.
CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
Position = tuple[int, int]
MAX_MOVES = 200
"""After this many changes without a check, places of earlier definitions are forgotten."""
OUTSIDE = ("__pycache__", "node_modules")
KINDS: dict[type, str] = {
    Tool: "tool",
    Prompt: "prompt",
    Resource: "resource",
    ResourceTemplate: "resource template",
    Completion: "completion",
}


@dataclass(frozen=True, slots=True)
class BufferEdit:
    """One change: the text from `start` to `end` became the text from `start` to `new_end`."""

    start: int
    end: int
    new_end: int

    @property
    def shift(self) -> int:
        """How far everything after the change moved."""
        return self.new_end - self.end

    def moved(self, offset: int, *, is_start: bool = False) -> int:
        """Return where an offset is after the change; `is_start`: what is inserted there comes before it."""
        if offset < self.start or (offset == self.start and not (is_start and self.start == self.end)):
            return offset
        return offset + self.shift if offset >= self.end else min(offset, self.new_end)


@dataclass(slots=True)
class TextBuffer:
    """A text that changes; `encoding`: the unit of the client's positions."""

    text: str
    encoding: str = "utf-16"
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Find the lines."""
        self.starts = line_starts(self.text)

    def position(self, offset: int) -> Position:
        """Return the line and the character of an offset, both from 0."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.starts, offset) - 1
        return line, units(self.text[self.starts[line] : offset], self.encoding)

    def offset(self, line: int, character: int) -> int:
        """Return the offset of a position; one outside the text counts as the nearest inside."""
        if line < 0 or line >= len(self.starts):
            return 0 if line < 0 else len(self.text)
        start, end = self.starts[line], self.line_end(line)
        return start + code_points(self.text[start:end], character, self.encoding)

    def line_end(self, line: int) -> int:
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        start = self.starts[line]
        return start + len(self.text[start:end].rstrip("\r\n"))

    def replace(self, start: int, end: int, new: str) -> BufferEdit:
        """Change a part of the text."""
        self.text = self.text[:start] + new + self.text[end:]
        self.starts = line_starts(self.text)
        return BufferEdit(start, end, start + len(new))

    def replace_all(self, new: str) -> BufferEdit:
        """Change the whole text; the edit is only what differs, so that places around it stay known."""
        old, same = self.text, _common_length(self.text, new)
        # Without what is the same in front, so that the two parts do not overlap.
        behind = _common_length(old[same:][::-1], new[same:][::-1])
        return self.replace(same, len(old) - behind, new[same : len(new) - behind])


def line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in LINE_END.finditer(text))]


def units(text: str, encoding: str) -> int:
    """Return the length of a text in units."""
    if text.isascii() or encoding == "utf-32":
        return len(text)
    return len(text.encode(CODECS[encoding], "surrogatepass")) // UNIT_BYTES[encoding]


def code_points(line: str, length: int, encoding: str) -> int:
    """Return how many code points of a line have a length in units; a position inside of one counts as before it."""
    if line.isascii() or encoding == "utf-32":
        return min(max(length, 0), len(line))
    data = line.encode(CODECS[encoding], "surrogatepass")[: max(length, 0) * UNIT_BYTES[encoding]]
    return len(data.decode(CODECS[encoding], "ignore"))


def _common_length(one: str, other: str) -> int:
    differing = (place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right)
    return next(differing, min(len(one), len(other)))


@dataclass(slots=True)
class OpenProject:
    """`disk`: the files as they were read; `buffers`: open texts; `found`: diagnostics, by path.

    `version` counts changes. `published`: paths with diagnostics in the client.
    """

    root: Path
    disk: SourceTree
    options: Options
    buffers: dict[str, TextBuffer] = field(default_factory=dict)
    found: dict[str, list[Diagnostic]] = field(default_factory=dict)
    moves: dict[str, list[BufferEdit]] = field(default_factory=dict)
    server: Server | None = None
    version: int = 0
    is_checked: bool = False
    published: set[str] = field(default_factory=set)

    def open(self, path: str, text: str, encoding: str) -> None:
        """Put the text of an editor over a file, which need not exist on disk."""
        self.buffers[path] = TextBuffer(text, encoding)
        self._compare_with_disk(path, text)

    def close(self, path: str) -> None:
        """Forget the text of an editor: the file on disk counts again."""
        self._compare_with_disk(path, self.buffers.pop(path).text)

    def _compare_with_disk(self, path: str, text: str) -> None:
        source = self.disk.get(path)
        if source is None or source.text.removeprefix("\ufeff") != text:
            self.version += 1
            self.moves.pop(path, None)

    def edited(self, path: str, edit: BufferEdit) -> None:
        """Take over a change of an open text, which is done."""
        self.version += 1
        moved = (_moved(problem, edit) for problem in self.found.get(path, ()))
        self.found[path] = [problem for problem in moved if problem is not None]
        self.moves.setdefault(path, []).append(edit)
        if len(self.moves[path]) > MAX_MOVES:
            self.server, self.moves = None, {}

    def text(self, path: str) -> str | None:
        if path in self.buffers:
            return self.buffers[path].text
        source = self.disk.get(path)
        return None if source is None else source.text

    def accept(self, disk: SourceTree, result: CheckResult) -> None:
        """Take over a check of the current texts, and the files that were read for it."""
        self.disk, self.is_checked, self.moves = disk, True, {}
        self.found = by_path(result.diagnostics)
        # While a file is unfinished there is no server: the definitions of the last one are still proposed.
        self.server = result.server or self.server

    def now(self, span: Span) -> Span:
        """Return where a span of the last check is in the current text."""
        for edit in self.moves.get(span.path, ()):
            span = moved_span(span, edit)
        return span

    def belongs(self, path: str) -> bool:
        """Tell whether a path is of the project: hidden folders and environments are not."""
        return not any(part.startswith(".") or part in OUTSIDE for part in PurePosixPath(path).parts[:-1])


def with_texts(disk: SourceTree, texts: Mapping[str, str]) -> SourceTree:
    """Return files with the texts of an editor over them."""
    modes = {path: source.mode for path, source in disk.files.items()}
    written = {path: source_of_text(path, text, modes.get(path, 0o644)) for path, text in texts.items()}
    return replace(disk, files=MappingProxyType(dict(sorted({**disk.files, **written}.items()))))


def by_path(diagnostics: Iterable[Diagnostic]) -> dict[str, list[Diagnostic]]:
    """Return diagnostics by the path of their file; an empty path for those of the whole project."""
    problems: dict[str, list[Diagnostic]] = {}
    for problem in diagnostics:
        problems.setdefault(problem.span.path if problem.span else "", []).append(problem)
    return problems


def _moved(problem: Diagnostic, edit: BufferEdit) -> Diagnostic | None:
    """Return a diagnostic after a change; None if the change replaced its place."""
    span = problem.span
    # An empty span at 0 is that of the whole file, which no change moves.
    if span is None or span.end < edit.start or (span.start == span.end == 0):
        return problem
    if edit.start <= span.start and span.end <= edit.end and edit.end > edit.start:
        return None
    return replace(problem, span=moved_span(span, edit))


def moved_span(span: Span, edit: BufferEdit) -> Span:
    """Return where a span is after a change."""
    start = edit.moved(span.start, is_start=True)
    return Span(span.path, start, max(start, edit.moved(span.end)))


@dataclass(frozen=True, slots=True)
class PlacedDefinition:
    """One definition: where it is, where its name is, and that of its handler; places are in the current texts."""

    kind: str
    name: str
    whole: Span
    named: Span
    handled: Span | None
    item: AnyDefinition

    @property
    def is_function(self) -> bool:
        """Whether the definition is its own handler: a decorated function."""
        return self.handled is not None and self.handled.path == self.whole.path and self.whole.path.endswith(".py")


def definitions_in(project: OpenProject) -> Iterator[PlacedDefinition]:
    server = project.server
    if server is None:
        return
    for item in (*server.tools, *server.prompts, *server.readable, *server.completions):
        yield PlacedDefinition(
            kind=KINDS[type(item)],
            name=item.name,
            whole=project.now(item.node.span),
            named=project.now(item.span),
            handled=None if item.handler is None else _handled(project, item.handler),
            item=item,
        )


def _handled(project: OpenProject, handler: Handler) -> Span | None:
    file = handler.file or handler.span.path
    if isinstance(handler, Executable) or handler.span.path != file:
        return Span(file) if project.text(file) is not None else None
    return project.now(handler.span)


def definition_at(project: OpenProject, path: str, offset: int) -> PlacedDefinition | None:
    """Return the definition at a place, of its text or of its name."""
    definitions = (each for each in definitions_in(project) if holds(each.whole, path, offset))
    return next(definitions, None)


def handled_at(project: OpenProject, path: str, offset: int) -> PlacedDefinition | None:
    """Return the definition whose handler is at a place: its function, or the whole script."""
    nearest, last = None, -1
    text = project.text(path) or ""
    for each in definitions_in(project):
        span = each.handled
        if span is None or span.path != path:
            continue
        if span.start == span.end == 0:
            return each
        # The line in which a function begins is its own from the first character.
        if text.rfind("\n", 0, span.start) < offset and last < span.start:
            nearest, last = each, span.start
    return nearest


def holds(span: Span, path: str, offset: int) -> bool:
    return span.path == path and span.start <= offset <= span.end
