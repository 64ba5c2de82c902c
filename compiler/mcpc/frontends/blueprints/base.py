"""The folder of a knowledge base, and the files of the project that its paths refer to.

    servers.json                     the project is the knowledge base
    dev/knowledge_base/servers.json  it is a folder of the project, and may name files beside that folder

A path is relative to the knowledge base, whichever file contains it.  It is resolved as text: the source tree was read
before, with its symlinks, and the disk is not accessed.  All errors of an object are reported, not only the first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.suggestions import did_you_mean, nearest, quoted
from mcpc.model.definitions import kind_mismatch
from mcpc.reading import Member
from mcpc.reading.source import resolve_relative

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.options import Options
    from mcpc.reading import Node, Source, SourceTree

SERVERS = "servers.json"
LISTED = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[")
FEATURES_KEY = b'"features"'
HINT = "build the folder that contains both: a knowledge base below it is found"
MAX_COMPARED_PATHS = 5000
"""Maximum number of paths that are compared for a suggestion."""


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """A knowledge base: its folder; empty if it is the project itself."""

    folder: str
    tree: SourceTree

    @property
    def servers(self) -> Source:
        """The file that lists its servers."""
        return self.tree.files[self.path(SERVERS)]

    def path(self, name: str) -> str:
        """Return the path in the project of a file of the knowledge base."""
        return f"{self.folder}/{name}" if self.folder else name

    def resolve(self, written: str) -> str | None:
        """Return the path in the project to which a written path leads, None if it is outside."""
        return resolve_relative(self.folder, written)

    def find_file(self, written: Node, what: str) -> tuple[Source | None, Diagnostics]:
        """Return the file that a path names, or its problems; `what` names the user of the file in messages."""
        place = self.resolve(str(written.value))
        source = None if place is None else self.tree.get(place)
        return source, () if source is not None else tuple(self._missing_file(written, place, what))

    def files_below(self, place: str) -> tuple[Source, ...]:
        """Return the files of a folder."""
        return tuple(source for path, source in self.tree.files.items() if path.startswith(f"{place}/"))

    def _missing_file(self, written: Node, place: str | None, what: str) -> Iterator[Diagnostic]:
        shown = f"`{written.value}`, {what},"
        if place is None:
            yield diagnose("MCP710", written.span, f"{shown} is outside the project", "a path inside it", HINT)
            return
        state = "is a folder" if self.files_below(place) else "does not exist"
        kb = f"the knowledge base `{self.folder}`" if self.folder else "the knowledge base"
        expected = f"a file, by its path from {kb}"
        yield diagnose("MCP271", written.span, f"{shown} {state}", expected, self._nearest(place))

    def _nearest(self, place: str) -> str:
        paths = list(self.tree.files)
        start = f"{self.folder}/" if self.folder else ""
        near = nearest(place, paths, 0.75) if len(paths) <= MAX_COMPARED_PATHS else ""
        return f"did you mean `{near.removeprefix(start)}`?" if near else ""


def knowledge_base_folders(tree: SourceTree) -> tuple[str, ...]:
    """Return the folders of a project that are knowledge bases: the project itself, or else those in it."""
    if SERVERS in tree.files:
        return ("",) if FEATURES_KEY in tree.files[SERVERS].data else ()
    found = (path for path in tree.files if path.endswith(f"/{SERVERS}"))
    return tuple(path.rpartition("/")[0] for path in found if _lists_servers(tree.files[path]))


def _lists_servers(source: Source) -> bool:
    """Tell whether a file is a list of servers: other files may have the same name."""
    return LISTED.match(source.data) is not None and FEATURES_KEY in source.data


def knowledge_base(tree: SourceTree, options: Options) -> tuple[KnowledgeBase | None, Diagnostics]:
    """Return the selected knowledge base, or why it cannot be determined."""
    if options.kb:
        return _chosen(tree, options.kb)
    found = knowledge_base_folders(tree) or (("",) if SERVERS in tree.files else ())
    if len(found) == 1:
        return KnowledgeBase(found[0], tree), ()
    hint = "choose one with `--kb FOLDER`"
    if found:
        shown = quoted(found[:5])
        return None, (diagnose("MCP270", None, f"found {len(found)} knowledge bases: {shown}", "one", hint),)
    message = f"there is no `{SERVERS}` here"
    return None, (diagnose("MCP270", None, message, "an array of servers, each with its `features`", hint),)


def _chosen(tree: SourceTree, written: str) -> tuple[KnowledgeBase | None, Diagnostics]:
    folder = KnowledgeBase("", tree).resolve(written)
    if folder is not None and KnowledgeBase(folder, tree).path(SERVERS) in tree.files:
        return KnowledgeBase(folder, tree), ()
    message = f"the folder `{written}` has no `{SERVERS}`"
    expected = "the path of a folder in the project, such as `dev/knowledge_base`"
    return None, (diagnose("MCP270", None, message, expected),)


def start_span(node: Node) -> Span:
    """Return a span at the first character of an object: the whole object would be too long to show."""
    return Span(node.path, node.start, min(node.start + 1, node.end))


@dataclass(frozen=True, slots=True)
class KnowledgeBaseReader:
    """A knowledge base that is being read, and the problems found so far."""

    base: KnowledgeBase
    problems: list[Diagnostic] = field(default_factory=list)

    def report(self, code: str, span: Span, message: str, expected: str = "", hint: str = "") -> None:
        """Record a problem."""
        self.problems.append(diagnose(code, span, message, expected, hint))

    def check_kind(self, node: Node, kind: str, label: str) -> bool:
        """Tell whether a value is of a kind; report it otherwise."""
        if node.kind != kind:
            self.report("MCP101", node.span, kind_mismatch(label, kind, node))
        return node.kind == kind

    def required_member(self, node: Node, key: str, kind: str, label: str) -> Node | None:
        """Return a required member of a kind, or report it."""
        found = node.get(key)
        if found is None:
            self.report("MCP102", start_span(node), f"{label} has no `{key}`")
            return None
        return found if self.check_kind(found, kind, f"`{key}` of {label}") else None

    def required_text(self, node: Node, key: str, label: str) -> str | None:
        """Return a required string, or report it."""
        found = self.required_member(node, key, "string", label)
        return None if found is None else str(found.value)

    def report_unknown_members(self, node: Node, known: tuple[str, ...], label: str) -> None:
        """Report unknown members."""
        for member in node.members:
            if member.key not in known:
                hint = did_you_mean(member.key, known, "it has no effect: remove it")
                self.report("MCP103", member.key_span, f"unknown member `{member.key}` in {label}", "", hint)

    def optional_objects(self, node: Node, key: str, label: str) -> tuple[Node, ...]:
        """Return the objects of an optional array."""
        found = node.get(key)
        if found is None or not self.check_kind(found, "array", f"`{key}` of {label}"):
            return ()
        return tuple(item for item in found.items if self.check_kind(item, "object", f"an item of `{key}` of {label}"))


def renamed_members(node: Node, names: dict[str, str]) -> Iterable[Member]:
    """Yield the members of an object with these names, each under its new name."""
    for key, name in names.items():
        found = next((member for member in reversed(node.members) if member.key == key), None)
        if found is not None:
            yield Member(name, found.key_start, found.key_end, found.node)
