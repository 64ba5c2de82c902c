"""Every subschema of a schema, found and judged by itself, with its keywords in the words of 2020-12.

What waits to be looked at is kept on a list, so that no nesting exhausts Python's stack.  A reference is followed when
everything that was found so far has been looked at, because only then all names are known; where it leads out of the
schema, the other document is looked at in the same way.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.schema.dialects import DIALECTS, DRAFT_2020_12, FORMAT_ASSERTION, VOCABULARIES, canonical
from mcpc.schema.keywords import KEYWORDS
from mcpc.schema.resources import Resource, absolute, item_at, metaschema, unescaped, uri_of_file
from mcpc.schema.shapes import found
from mcpc.schema.slow_patterns import slow_patterns
from mcpc_runtime.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.schema.dialects import Dialect
    from mcpc.schema.keywords import Keyword
    from mcpc.schema.resources import Remotes
    from mcpc.sources import Member, Node

REFERENCES = ("$ref", "$dynamicRef")
KNOWN = frozenset(name for dialect in DIALECTS.values() for name in dialect.keywords)
LIMIT = 20_000
"""How many subschemas one schema may have, those of other files that it refers to among them."""
STRANGERS = 50
"""So many unknown keywords are compared with the known ones: one who has more knows another language."""
CONTAINERS = ("$defs", "definitions")
"""Keywords whose subschemas judge nothing by themselves, and are there even beside a `$ref` that stands alone."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the compiler beside the schema itself.

    `closed`: the root refuses properties that it does not name, unless it says itself which it takes.  `completes`:
    there is to be a function that puts defaults in place of what is missing.  `dialect`: what a schema is written in
    that has no `$schema`.  `remotes`: where references out of the schema lead.
    """

    closed: bool = False
    completes: bool = False
    assert_formats: bool = False
    dialect: Dialect = DRAFT_2020_12
    remotes: Remotes | None = field(default=None, compare=False)


PLAIN = Question()


class Search:
    """What was found of one schema, and what waits to be looked at.

    `schemas`: the keywords of each.  `homes`: the resource each is part of.  `targets`: where each reference leads, by
    its value; `dynamic`: the name by which some of them look for another target at the outermost resource.  `foreign`:
    the other documents of the project that are part of it.
    """

    def __init__(self, root: Node, question: Question) -> None:
        self.root = root
        self.question = question
        self.schemas: dict[Node, dict[str, Node]] = {}
        self.homes: dict[Node, Resource] = {}
        self.targets: dict[Node, Node] = {}
        self.dynamic: dict[Node, str] = {}
        self.problems: list[Diagnostic] = []
        self.height = 0
        self.foreign: dict[Node, Resource] = {}
        self.strangers = 0
        self._resources: dict[str, Resource] = {}
        self._waiting: list[tuple[Node, int, Resource]] = []
        self._references: list[tuple[Node, str, Resource]] = []
        self._remote: set[Node] = set()
        self._members: dict[Node, dict[str, Node]] = {}

    def run(self) -> None:
        """Visit every subschema, then what only references lead to."""
        self.enter(self.root, uri_of_file(self.root.path), self.question.dialect)
        while self._waiting or self._references:
            while self._waiting:
                self.visit(*self._waiting.pop())
                if len(self.schemas) > LIMIT:
                    self.problems.append(
                        diagnose("MCP008", self.root.span, f"more than {LIMIT} subschemas in one schema")
                    )
                    return
            references, self._references = self._references, []
            for reference in references:
                self.follow(*reference)

    def enter(self, root: Node, uri: str, dialect: Dialect) -> Resource | None:
        """Put a whole document on the list; None if its dialect is unknown."""
        resource = self.resource(root, uri, dialect, self.question.assert_formats)
        if resource is not None:
            if root in self._remote:
                self.foreign[root] = resource
            self._waiting.append((root, 1, resource))
        return resource

    def resource(self, root: Node, uri: str, dialect: Dialect, asserts: bool) -> Resource | None:
        """Return a new resource, in the dialect that it names, else in that of the schema around it."""
        named = root.get("$schema") if root.kind == "object" else None
        resource = Resource(uri, root, dialect, asserts)
        if named is not None and named.kind == "string" and not self.take_dialect(resource, named):
            return None
        if self._resources.setdefault(uri, resource) is not resource:
            message = f"two schemas have the identifier `{uri}`, and a reference could mean either"
            self.problems.append(diagnose("MCP110", root.span, message))
        return resource

    def take_dialect(self, resource: Resource, named: Node) -> bool:
        """Give a resource the dialect it names: a draft, or a metaschema's vocabularies; False if it is unknown."""
        uri = str(named.value).removesuffix("#")
        known = DIALECTS.get(uri)
        if known is not None:
            resource.dialect = known
            return True
        custom = self.remote(uri)
        vocabulary = custom.get("$vocabulary") if custom and custom.kind == "object" else None
        if custom is None or custom.get("$schema") is None:
            self.problems.append(_unknown_dialect(named))
            return False
        base = DIALECTS.get(str(getattr(custom.get("$schema"), "value", "")).removesuffix("#"), DRAFT_2020_12)
        resource.dialect = base if vocabulary is None else self.chosen(base, vocabulary, named)
        resource.asserts = resource.asserts or bool(vocabulary and vocabulary.get(FORMAT_ASSERTION))
        return True

    def chosen(self, base: Dialect, vocabulary: Node, named: Node) -> Dialect:
        """Return a dialect with the keywords of some vocabularies only."""
        names = {"$schema", "$id"}
        for member in vocabulary.members:
            if member.key in VOCABULARIES:
                names.update(VOCABULARIES[member.key])
            elif member.node.value:
                message = f"the dialect `{named.value}` needs the vocabulary `{member.key}`, which is not known"
                self.problems.append(diagnose("MCP112", named.span, message))
        rows = {name: row for name, row in base.keywords.items() if name in names}
        return replace(base, name=str(named.value), keywords=rows)

    def remote(self, uri: str) -> Node | None:
        """Return the document of this URI, if it is one of the project's or a metaschema."""
        node = self.question.remotes.get(uri) if self.question.remotes else None
        if node is not None:
            self._remote.add(node)
        return node or metaschema(uri)

    def visit(self, node: Node, height: int, home: Resource) -> None:
        """Judge one schema, and put its subschemas on the list."""
        if node in self.schemas:
            return
        self.height = max(self.height, height)
        if node.kind not in ("object", "boolean"):
            expected = "an object, `true` or `false`"
            message = f"a schema must be {expected}, found {found(node)}"
            self.problems.append(diagnose("MCP110", node.span, message, expected))
        settled = self.identify(node, home)
        if settled is None:
            return
        home = self.homes[node] = settled
        self.problems += _misplaced(node, home)
        written: dict[str, Node] = {}
        for member in node.members:
            row = home.dialect.keywords.get(member.key)
            if row is None:
                self.problems += self.unknown(member, home.dialect)
                continue
            written[member.key] = member.node
            if self.suits(member, row) and self.counts(member.key, node, home):
                self._waiting += ((child, height + 1, home) for child in row.shape.children(member.node))
        keywords = canonical(written, home.dialect)
        if not home.asserts or getattr(keywords.get("format"), "value", "") not in FORMATS:
            keywords.pop("format", None)
        self.schemas[node] = keywords
        self.problems += slow_patterns(written)
        self._references += (
            (keywords[name], name, home) for name in REFERENCES if name in keywords and keywords[name].kind == "string"
        )

    def counts(self, keyword: str, node: Node, home: Resource) -> bool:
        """Say whether a keyword's subschemas are looked at: not those beside a `$ref` that stands alone."""
        return keyword in CONTAINERS or not home.dialect.lone_reference or node.get("$ref") is None

    def identify(self, node: Node, home: Resource) -> Resource | None:
        """Return the resource of a schema, a new one if it says `$id`; note the names it gives to its place."""
        rows = home.dialect.keywords
        named = node.get("$id") if node.kind == "object" and self.counts("$id", node, home) else None
        name = str(named.value) if named and named.kind == "string" else ""
        if name.startswith("#") and home.dialect.fragment_names:
            home.names.setdefault(name[1:], node)
        elif name and "$id" in rows:
            uri, fragment = absolute(home.uri, name)
            new = self.renamed(home, uri) if node is home.root else self.resource(node, uri, home.dialect, home.asserts)
            if new is None:
                return None
            home = new
            if fragment and home.dialect.fragment_names:
                home.names.setdefault(fragment, node)
        self.name(node, home)
        return home

    def renamed(self, home: Resource, uri: str) -> Resource:
        """Return a document's resource, which has another URI than the one it was found by."""
        home.uri = uri
        self._resources.setdefault(uri, home)
        return home

    def name(self, node: Node, home: Resource) -> None:
        """Note the names that a schema gives to its place in a resource."""
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = node.get(keyword) if keyword in home.dialect.keywords else None
            if anchor is not None and anchor.kind == "string":
                if home.names.setdefault(str(anchor.value), node) is not node:
                    message = f"two schemas have the name `{anchor.value}`, and a reference could mean either"
                    self.problems.append(diagnose("MCP110", anchor.span, message))
                if keyword == "$dynamicAnchor":
                    home.dynamic.setdefault(str(anchor.value), node)
        recursive = node.get("$recursiveAnchor") if "$recursiveAnchor" in home.dialect.keywords else None
        if recursive is not None and recursive.value is True and node is home.root:
            home.dynamic.setdefault("", node)

    def suits(self, member: Member, row: Keyword) -> bool:
        """Report what is wrong with one keyword; say whether its subschemas are worth looking at."""
        earlier, instead = row.earlier
        if member.node.kind == earlier:
            message = f"`{member.key}` with {found(member.node)} is a form of earlier drafts"
            hint = f"{instead}; or say which draft it is: `$schema`"
            self.problems.append(diagnose("MCP111", member.node.span, message, hint=hint))
            return False
        self.problems += row.shape.problems(member.key, member.node)
        return True

    def follow(self, reference: Node, keyword: str, home: Resource) -> None:
        """Note where a reference leads; what lies in no keyword of the standard is a schema only because of it."""
        uri, fragment = absolute(home.uri, str(reference.value))
        resource = self._resources.get(uri)
        if resource is None:
            self.load(uri, reference, keyword, home)
            return
        target, around = self.place(resource, fragment)
        if target is None:
            message = f"`{reference.value}` leads to nothing in {'the schema' if resource is home else f'`{uri}`'}"
            self.problems.append(diagnose("MCP113", reference.span, message, hint=_names(resource, fragment)))
            return
        self.targets[reference] = target
        if keyword == "$dynamicRef":
            name = fragment if fragment in around.dynamic else ""
            if around.dynamic.get(name) is target:
                self.dynamic[reference] = name
        self._waiting.append((target, 1, around))

    def load(self, uri: str, reference: Node, keyword: str, home: Resource) -> None:
        """Look at another document first, and then follow the reference into it."""
        node = self.remote(uri)
        if node is None:
            hint = "put the schema under `$defs` and refer to it as `#/$defs/...`, or put its file into the project"
            message = f"`{reference.value}` leads out of the project; nothing is fetched from elsewhere"
            self.problems.append(diagnose("MCP113", reference.span, message, "`#...`, or a file of the project", hint))
        elif self.enter(node, uri, home.dialect) is not None:
            self._references.append((reference, keyword, home))

    def place(self, resource: Resource, fragment: str) -> tuple[Node | None, Resource]:
        """Return what a fragment means in a resource, and the resource that it is part of."""
        if fragment and not fragment.startswith("/"):
            return resource.names.get(fragment), resource
        node: Node | None = resource.root
        around = resource
        for token in fragment.split("/")[1:]:
            node = node and self.step(node, token)
            around = self.homes.get(node, around) if node else around
        return node, around

    def step(self, node: Node, token: str) -> Node | None:
        """Return the part of `node` that one token of a JSON Pointer names.  O(1) where it is asked often."""
        if node.kind != "object":  # only arrays have parts besides; of anything else `items` is empty
            return item_at(node, token)
        if node not in self._members:
            self._members[node] = {member.key: member.node for member in node.members}
        return self._members[node].get(unescaped(token))

    def unknown(self, member: Member, dialect: Dialect) -> Iterator[Diagnostic]:
        """Yield what is to be said of a keyword that the dialect does not have: nothing, if it may be one's own."""
        if member.key in KNOWN:
            message = f"`{member.key}` is no keyword of {dialect.name} and is ignored"
            yield diagnose("MCP103", member.key_span, message, hint=_elsewhere(member.key))
        elif not member.key.startswith("x-") and self.strangers < STRANGERS:
            self.strangers += 1
            meant = _near(member.key)
            if meant:
                message = f"the schema keyword `{member.key}` does not exist and is ignored"
                yield diagnose("MCP103", member.key_span, message, hint=f"did you mean `{meant}`?")

    def close(self) -> None:
        """Let the root refuse every property it does not name."""
        refusal = replace(self.root, value=False, members=(), items=())
        self.homes[refusal] = self.homes[self.root]
        self.schemas[refusal] = {}
        self.schemas[self.root]["additionalProperties"] = refusal


def _unknown_dialect(named: Node) -> Diagnostic:
    known = ", ".join(f"`{uri}`" for uri in DIALECTS)
    hint = "leave `$schema` out for draft 2020-12, or put the metaschema's own file into the project"
    return diagnose("MCP112", named.span, f"the dialect {found(named)[4:]} is not known", f"one of {known}", hint)


def _misplaced(node: Node, home: Resource) -> Iterator[Diagnostic]:
    """Yield a `$schema` that would change the dialect in the middle of a schema."""
    named = node.get("$schema") if node.kind == "object" and node is not home.root else None
    if named is not None and named.kind == "string" and str(named.value).removesuffix("#") != home.dialect.uri:
        message = f"`$schema` names another dialect inside a schema of {home.dialect.name}"
        hint = "it counts only at the root of a schema, or beside an `$id` of its own"
        yield diagnose("MCP112", named.span, message, "", hint)


def _names(resource: Resource, fragment: str) -> str:
    near = difflib.get_close_matches(fragment, resource.names, 1)
    return f"did you mean `#{near[0]}`?" if near else ""


def _elsewhere(key: str) -> str:
    drafts = [dialect.name for dialect in DIALECTS.values() if key in dialect.keywords]
    return f"it is one of {' and '.join(drafts)}: say so with `$schema`"


@lru_cache(maxsize=4096)
def _near(key: str) -> str:
    """Return the keyword of which `key` looks like a slip, or nothing."""
    by_folded = {name.lower().strip("$"): name for name in KEYWORDS if len(name) > 3}
    folded = key.lower().replace("_", "").replace("-", "").strip("$")
    return by_folded.get(next(iter(difflib.get_close_matches(folded, by_folded, 1, 0.8)), ""), "")
