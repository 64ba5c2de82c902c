"""Where a knowledge base lies in a project, and where its paths lead: to files of the project, and nowhere else.

    servers.json                     the project is the knowledge base
    dev/knowledge_base/servers.json  it is a folder of the project, and what it names may lie beside that folder

A path is relative to the knowledge base, whichever file it stands in.  It is followed as text: what the project has was
read before, symlinks and all, and the disk is never asked.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.sources.paths import led_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.options import Options
    from mcpc.sources import Node, Source, SourceTree

SERVERS = "servers.json"
LISTED = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[")
MENTION = b'"features"'
HINT = "build the folder that holds both: a knowledge base below it is found"
COMPARED = 5000
"""A path is compared with so many at most."""


@dataclass(frozen=True, slots=True)
class Base:
    """A knowledge base: its folder, nothing for the project itself."""

    folder: str
    tree: SourceTree

    @property
    def servers(self) -> Source:
        """The file that lists its servers."""
        return self.tree.files[self.path(SERVERS)]

    def path(self, name: str) -> str:
        """Return the path of what lies in it."""
        return f"{self.folder}/{name}" if self.folder else name

    def place(self, written: str) -> str | None:
        """Return the path in the project to which one that is written leads, None if that is outside."""
        return led_to(self.folder, written)

    def found(self, written: Node, what: str) -> tuple[Source | None, Diagnostics]:
        """Return the file that a path names, or why there is none; `what` says what wants it."""
        place = self.place(str(written.value))
        source = None if place is None else self.tree.get(place)
        return source, () if source is not None else tuple(self._lost(written, place, what))

    def below(self, place: str) -> tuple[Source, ...]:
        """Return the files of a folder."""
        return tuple(source for path, source in self.tree.files.items() if path.startswith(f"{place}/"))

    def _lost(self, written: Node, place: str | None, what: str) -> Iterator[Diagnostic]:
        shown = f"`{written.value}`, {what},"
        if place is None:
            yield diagnose("MCP710", written.span, f"{shown} lies outside the project", "a path inside it", HINT)
            return
        state = "is a folder" if self.below(place) else "is not there"
        kb = f"the knowledge base `{self.folder}`" if self.folder else "the knowledge base"
        expected = f"a file, by its path from {kb}"
        yield diagnose("MCP271", written.span, f"{shown} {state}", expected, self._nearest(place))

    def _nearest(self, place: str) -> str:
        paths = list(self.tree.files)
        start = f"{self.folder}/" if self.folder else ""
        near = difflib.get_close_matches(place, paths, n=1, cutoff=0.75) if len(paths) <= COMPARED else []
        return f"did you mean `{near[0].removeprefix(start)}`?" if near else ""


def folders(tree: SourceTree) -> tuple[str, ...]:
    """Return the folders of a project that are knowledge bases: itself, or else those in it."""
    if SERVERS in tree.files:
        return ("",) if MENTION in tree.files[SERVERS].data else ()
    found = (path for path in tree.files if path.endswith(f"/{SERVERS}"))
    return tuple(path.rpartition("/")[0] for path in found if _lists_servers(tree.files[path]))


def _lists_servers(source: Source) -> bool:
    """Say whether a file somewhere in a project is a list of servers: many files may have the name."""
    return LISTED.match(source.data) is not None and MENTION in source.data


def knowledge_base(tree: SourceTree, options: Options) -> tuple[Base | None, Diagnostics]:
    """Return the knowledge base that is meant, or why that cannot be told."""
    if options.kb:
        return _chosen(tree, options.kb)
    found = folders(tree) or (("",) if SERVERS in tree.files else ())
    if len(found) == 1:
        return Base(found[0], tree), ()
    hint = "say which one with `--kb FOLDER`"
    if found:
        shown = ", ".join(f"`{folder}`" for folder in found[:5])
        return None, (diagnose("MCP270", None, f"there are {len(found)} knowledge bases here: {shown}", "one", hint),)
    message = f"there is no `{SERVERS}` here"
    return None, (diagnose("MCP270", None, message, "an array of servers, each with its `features`", hint),)


def _chosen(tree: SourceTree, written: str) -> tuple[Base | None, Diagnostics]:
    folder = Base("", tree).place(written)
    if folder is not None and Base(folder, tree).path(SERVERS) in tree.files:
        return Base(folder, tree), ()
    message = f"the folder `{written}` has no `{SERVERS}`"
    expected = "the path of a folder in the project, such as `dev/knowledge_base`"
    return None, (diagnose("MCP270", None, message, expected),)


def start(node: Node) -> Span:
    """Return the place at which an object begins: nobody wants to see all of it."""
    return Span(node.path, node.start, min(node.start + 1, node.end))
