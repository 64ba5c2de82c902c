"""Bundling of a schema and the project files that it refers to into one self-contained schema.

Clients have no files of the project: the target of a reference is included under `$defs`, and the reference points
there.  Every part keeps its original span, so that diagnostics refer to its file.

    {"$ref": "schemas/point.json#/x"}    →    {"$ref": "#/$defs/point/x", "$defs": {"point": {…}}}
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose, has_errors
from mcpc.reading import Member, Node
from mcpc.schema.subschemas import CompileRequest, SubschemaCollector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.schema.resources import Remotes

# As `json.dumps` writes a reference that does not begin with `#`; inside a string its quotes would be escaped.
OUTWARD = re.compile(r'"\$(?:ref|dynamicRef)": "(?!#)')
OWN_NAME = re.compile(r"[^A-Za-z0-9_]+")
NAMING = frozenset(("$id", "$schema", "$anchor"))
"""Keywords that a part must not have inside another document: each reference is a pointer from its root."""


def self_contained(root: Node, remotes: Remotes) -> tuple[Node, Diagnostics]:
    """Return `root` with the targets of its references included, or unchanged with the problem if that fails.

    An unresolved reference is kept: compiling the schema reports it.
    """
    if not OUTWARD.search(json.dumps(root.value)):
        return root, ()
    search = SubschemaCollector(root, CompileRequest(remotes=remotes))
    search.run()
    if not search.foreign or has_errors(search.problems):
        # Those of the schema itself are reported when it is compiled.
        return root, tuple(problem for problem in search.problems if problem.span and problem.span.path != root.path)
    problems = tuple(_unbundled(search))
    return (root, problems) if problems else (_Bundle(search).whole(), ())


def _unbundled(search: SubschemaCollector) -> Iterator[Diagnostic]:
    home = search.homes[search.root]
    for document, resource in search.foreign.items():
        if resource.dialect is not home.dialect:
            message = f"`{document.path}` is {resource.dialect.name}, the schema that refers to it {home.dialect.name}"
            yield diagnose("MCP112", document.span, message, hint="write both for one draft")
    for reference in search.dynamic:
        message = f"`{reference.value}` depends on the way that leads to it, which is lost when files are put together"
        yield diagnose("MCP113", reference.span, message, hint="use `$ref`, or put all of it into one file")


class _Bundle:
    """Creation of one document from several."""

    def __init__(self, search: SubschemaCollector) -> None:
        self.root = search.root
        self.search = search
        lone = search.homes[search.root].dialect.lone_reference
        self.keyword = "definitions" if lone else "$defs"
        self.names = self.named()
        self.pointers = dict(self.pointed())
        self.made: dict[Node, Node] = {}

    def named(self) -> dict[Node, str]:
        """Return a name for each document: that of its file, unless the schema has it already."""
        present = self.root.get(self.keyword)
        taken = {member.key for member in present.members} if present else set()
        names: dict[Node, str] = {}
        for document in self.search.foreign:
            stem = document.path.rpartition("/")[2].partition(".")[0]
            plain = OWN_NAME.sub("_", stem) or "schema"
            name = next(name for name in _numbered(plain) if name not in taken)
            taken.add(name)
            names[document] = name
        return names

    def pointed(self) -> Iterator[tuple[Node, str]]:
        """Yield the pointer from the new root to every value of every document, as a fragment of a URI."""
        documents = {self.root: "#", **{node: f"#/{self.keyword}/{name}" for node, name in self.names.items()}}
        for document, start in documents.items():
            # In a fragment `%` begins an escape.
            yield from ((node, pointer.replace("%", "%25")) for node, pointer in document.pointers(start))

    def whole(self) -> Node:
        """Return the root with the other documents in it."""
        root = self.rebuilt(self.root)
        present = root.get(self.keyword)
        place = present or replace(root, value={}, members=(), items=())
        parts = tuple(Member(name, node.start, node.start, self.rebuilt(node)) for node, name in self.names.items())
        definitions = _object(place, (*place.members, *parts))
        others = tuple(member for member in root.members if member.key != self.keyword)
        return _object(root, (*others, Member(self.keyword, place.start, place.start, definitions)))

    def rebuilt(self, start: Node) -> Node:
        """Return a copy of a document in which references lead from the new root; parts first, wholes afterwards."""
        waiting = [start]
        while waiting:
            node = waiting[-1]
            parts = [part for part in (*node.items, *(member.node for member in node.members)) if part not in self.made]
            if parts:
                waiting += parts
            else:
                self.made[waiting.pop()] = self.copy(node)
        return self.made[start]

    def copy(self, node: Node) -> Node:
        """Return a value whose parts have been made."""
        target = self.search.targets.get(node)
        if target is not None:
            return replace(node, value=self.pointers[target]) if target in self.pointers else node
        if node.items:
            items = tuple(self.made[item] for item in node.items)
            return replace(node, items=items, value=[item.value for item in items])
        left_out = NAMING if node in self.search.schemas and node is not self.root else frozenset()
        members = (member for member in node.members if member.key not in left_out)
        return _object(node, tuple(replace(member, node=self.made[member.node]) for member in members))


def _object(node: Node, members: tuple[Member, ...]) -> Node:
    if node.kind != "object":
        return node
    return replace(node, members=members, value={member.key: member.node.value for member in members})


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1
