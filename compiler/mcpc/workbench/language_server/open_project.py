"""One project that is open in an editor: its files on disk, open texts over them, and what is known of both.

Diagnostics always point into the current texts: a change moves those after it. `moves` leads from the texts of the last
complete check, into which the definitions of `server` point, to the current ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from mcpc.diagnostics import Diagnostic, Span
from mcpc.reading.source import source_of_text
from mcpc.workbench.language_server.reduction import slicer_of
from mcpc.workbench.language_server.text_buffer import TextBuffer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from mcpc.model.ir import Server
    from mcpc.options import Options
    from mcpc.pipeline import CheckResult
    from mcpc.reading import Source, SourceTree
    from mcpc.workbench.language_server.reduction import Slices
    from mcpc.workbench.language_server.text_buffer import BufferEdit

NO_SLICES: Mapping[str, Slices | None] = MappingProxyType({})
MAX_MOVES = 200
"""After this many changes without a complete check, places of earlier definitions are forgotten."""


@dataclass(slots=True)
class OpenProject:
    """`disk`: the files as they were read; `buffers`: open texts; `found`: diagnostics, by path.

    `dirty`: what changed since the last quick check: numbers of slices by path, None for the whole file; `outside`: the
    last change that was not in a slice; `touched`: names that changed definitions had. `version` counts changes.
    `seconds`: how long the last complete check took. `published`: paths with diagnostics in the client.
    """

    root: Path
    disk: SourceTree
    options: Options
    buffers: dict[str, TextBuffer] = field(default_factory=dict)
    slices: dict[str, Slices | None] = field(default_factory=dict)
    found: dict[str, list[Diagnostic]] = field(default_factory=dict)
    dirty: dict[str, set[int] | None] = field(default_factory=dict)
    outside: dict[str, BufferEdit] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    moves: dict[str, list[BufferEdit]] = field(default_factory=dict)
    server: Server | None = None
    version: int = 0
    checked_version: int = -1
    seconds: float = 1.0
    published: set[str] = field(default_factory=set)

    def open(self, path: str, text: str, encoding: str) -> None:
        """Put the text of an editor over a file, which need not exist on disk."""
        self.buffers[path] = TextBuffer(text, encoding)
        self.slices_of(path)
        before = self.disk.get(path)
        if before is None or before.text.removeprefix("\ufeff") != text:
            self._changed_whole(path)

    def close(self, path: str) -> None:
        """Forget the text of an editor: the file on disk counts again."""
        text = self.buffers.pop(path).text
        source = self.disk.get(path)
        if source is None or source.text.removeprefix("\ufeff") != text:
            self._changed_whole(path)

    def edited(self, path: str, edit: BufferEdit) -> None:
        """Take over a change of an open text, which is done."""
        self.version += 1
        moved = (_moved(problem, edit) for problem in self.found.get(path, ()))
        self.found[path] = [problem for problem in moved if problem is not None]
        self.moves.setdefault(path, []).append(edit)
        if len(self.moves[path]) > MAX_MOVES:
            self.server, self.moves = None, {}
        self._slice_again(path, edit)

    def _slice_again(self, path: str, edit: BufferEdit) -> None:
        slicer = slicer_of(path)
        if slicer is None:
            self.dirty[path] = None
            return
        text, before = self.buffers[path].text, self.slices.get(path)
        marked = self.dirty.setdefault(path, set())
        number = -1 if before is None else before.at(edit.start, edit.end)
        if before is not None and number >= 0:
            self.touched |= before.keys[number]
            before.edited(number, edit, text)
            if marked is not None:
                marked.add(number)
            return
        around = [] if before is None else before.edited_between(edit, text)
        self.outside[path] = edit
        if around and marked is not None:
            marked.update(around)
            return
        known = set() if before is None else _texts(before, marked or set())
        self.touched |= set() if before is None else before.keys_around(edit)
        sliced = self.slices[path] = slicer(text)
        if sliced is None or before is None or marked is None:
            self.dirty[path] = None
        else:
            self.dirty[path] = different_slices(sliced, known)

    def slices_of(self, path: str) -> Slices | None:
        """Return the slices of a file, if it is of a kind that has some."""
        slicer = slicer_of(path)
        if slicer is None:
            return None
        if path not in self.slices:
            text = self.text(path)
            self.slices[path] = None if text is None else slicer(text)
        return self.slices[path]

    def _changed_whole(self, path: str) -> None:
        self.version += 1
        self.slices.pop(path, None)
        self.dirty[path] = None
        self.moves.pop(path, None)

    def text(self, path: str) -> str | None:
        """Return the current text of a file."""
        if path in self.buffers:
            return self.buffers[path].text
        source = self.disk.get(path)
        return None if source is None else source.text

    def source(self, path: str) -> Source | None:
        """Return the current content of a file."""
        below = self.disk.get(path)
        if path not in self.buffers:
            return below
        return source_of_text(path, self.buffers[path].text, 0o644 if below is None else below.mode)

    def tree(self) -> SourceTree:
        """Return the project with the open texts over its files."""
        return self.tree_over(self.disk)

    def tree_over(self, disk: SourceTree) -> SourceTree:
        """Return files of the project with the open texts over them."""
        open_files = {path: self.source(path) for path in self.buffers}
        files = {**disk.files, **{path: source for path, source in open_files.items() if source is not None}}
        if len(files) > len(disk.files):
            files = dict(sorted(files.items()))
        return replace(disk, files=MappingProxyType(files))

    def replace_disk(self, tree: SourceTree) -> None:
        """Take over the files as they are on disk now, which were checked."""
        before, self.disk = self.disk, tree
        for path in {*before.files, *tree.files} - self.buffers.keys():
            if before.files.get(path) != tree.files.get(path):
                self.slices.pop(path, None)

    def sliced_again(self) -> dict[str, Slices | None]:
        """Return new slices of the files in which something between slices has changed."""
        loose = (path for path, slices in self.slices.items() if slices is not None and slices.is_loose)
        slicers = ((path, slicer_of(path)) for path in loose)
        return {path: slicer(self.text(path) or "") for path, slicer in slicers if slicer is not None}

    def accept(
        self, result: CheckResult, version: int, seconds: float, slices: Mapping[str, Slices | None] = NO_SLICES
    ) -> bool:
        """Take over a complete check of a version, and its slices; False if the project has changed since."""
        if version != self.version:
            return False
        self.checked_version, self.seconds = version, seconds
        self.dirty, self.moves = {}, {}
        self.slices.update(slices)
        self.found = by_path(result.diagnostics)
        self.server = result.server or self.server
        return True

    def now(self, span: Span) -> Span:
        """Return where a span of the last complete check is in the current text."""
        for edit in self.moves.get(span.path, ()):
            span = moved_span(span, edit)
        return span

    def belongs(self, path: str) -> bool:
        """Tell whether a path is of the project: hidden folders and environments are not."""
        return not any(part.startswith(".") or part in OUTSIDE for part in PurePosixPath(path).parts[:-1])


OUTSIDE = ("__pycache__", "node_modules")


def by_path(diagnostics: Iterable[Diagnostic]) -> dict[str, list[Diagnostic]]:
    """Return diagnostics by the path of their file; an empty path for those of the whole project."""
    found: dict[str, list[Diagnostic]] = {}
    for problem in diagnostics:
        found.setdefault(problem.span.path if problem.span else "", []).append(problem)
    return found


def _moved(problem: Diagnostic, edit: BufferEdit) -> Diagnostic | None:
    """Return a diagnostic after a change; None if the change replaced its place."""
    span = problem.span
    if span is None or span.end < edit.start or (span.start == span.end == 0):
        return problem
    if edit.start <= span.start and span.end <= edit.end and edit.end > edit.start:
        return None
    return replace(problem, span=moved_span(span, edit))


def moved_span(span: Span, edit: BufferEdit) -> Span:
    """Return where a span is after a change."""
    start = edit.moved(span.start, is_start=True)
    return Span(span.path, start, max(start, edit.moved(span.end)))


def _texts(slices: Slices, changed: set[int]) -> set[str]:
    """Return the texts of the slices that have not changed since the last check."""
    pairs = enumerate(zip(slices.starts, slices.ends, strict=True))
    return {slices.text[start:end] for number, (start, end) in pairs if number not in changed}


def different_slices(slices: Slices, known: set[str]) -> set[int]:
    """Return the numbers of the slices whose texts are not known."""
    pairs = enumerate(zip(slices.starts, slices.ends, strict=True))
    return {number for number, (start, end) in pairs if slices.text[start:end] not in known}
