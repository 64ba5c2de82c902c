"""Collection of every subschema of a schema, each checked by itself, with its keywords converted to 2020-12.

Pending subschemas are on a list, so that nesting cannot exhaust Python's stack.  A reference is followed after
everything found so far has been visited, because only then all names are known; a target in another document is visited
in the same way.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import nearest, quoted
from mcpc.schema.dialects import DIALECTS, DRAFT_2020_12, FORMAT_ASSERTION, VOCABULARIES, canonical
from mcpc.schema.keywords import KEYWORDS, describe_value
from mcpc.schema.resources import SchemaResource, item_at, metaschema, resolve_uri, unescape_token, uri_of_file
from mcpc.schema.slow_patterns import slow_patterns
from mcpc_runtime.protocol.validation.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import Member, Node
    from mcpc.schema.dialects import Dialect
    from mcpc.schema.keywords import Keyword
    from mcpc.schema.resources import Remotes

REFERENCES = ("$ref", "$dynamicRef")
KNOWN = frozenset(name for dialect in DIALECTS.values() for name in dialect.keywords)
MAX_SUBSCHEMAS = 20_000
"""Maximum number of subschemas of a schema, including those of other files that it refers to."""
MAX_COMPARED_KEYWORDS = 50
"""Maximum number of unknown keywords that are compared with the known ones."""
CONTAINERS = ("$defs", "definitions")
"""Keywords whose subschemas validate nothing themselves, and are found even beside a `$ref` that excludes others."""


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """Options of compiling a schema.

    `closed`: the root refuses unnamed properties, unless it defines itself which it accepts.  `completes`: add a
    function that fills in defaults.  `dialect`: the dialect of schemas without `$schema`.  `remotes`: the targets of
    references out of the schema.
    """

    closed: bool = False
    completes: bool = False
    assert_formats: bool = False
    dialect: Dialect = DRAFT_2020_12
    remotes: Remotes | None = field(default=None, compare=False)


PLAIN = CompileRequest()


class SubschemaCollector:
    """The subschemas found so far, and those to visit.

    `schemas`: the keywords of each.  `homes`: the resource each is part of.  `targets`: the target of each reference,
    by its value; `dynamic`: the name by which some of them find another target in the outermost resource.  `foreign`:
    other project documents that are included.
    """

    def __init__(self, root: Node, question: CompileRequest) -> None:
        self.root = root
        self.question = question
        self.schemas: dict[Node, dict[str, Node]] = {}
        self.homes: dict[Node, SchemaResource] = {}
        self.targets: dict[Node, Node] = {}
        self.dynamic: dict[Node, str] = {}
        self.problems: list[Diagnostic] = []
        self.height = 0
        self.foreign: dict[Node, SchemaResource] = {}
        self.strangers = 0
        self._resources: dict[str, SchemaResource] = {}
        self._waiting: list[tuple[Node, int, SchemaResource]] = []
        self._references: deque[tuple[Node, str, SchemaResource]] = deque()
        self._remote: set[Node] = set()
        self._members: dict[Node, dict[str, Node]] = {}

    def run(self) -> None:
        """Visit every subschema, then the targets of references."""
        self.enter(self.root, uri_of_file(self.root.path), self.question.dialect)
        while self._waiting or self._references:
            while self._waiting:
                self.visit(*self._waiting.pop())
                if len(self.schemas) > MAX_SUBSCHEMAS:
                    self.problems.append(
                        diagnose("MCP008", self.root.span, f"more than {MAX_SUBSCHEMAS} subschemas in one schema")
                    )
                    return
            if self._references:  # one at a time: it may lead to a document, whose names the next ones need
                self.follow(*self._references.popleft())

    def enter(self, root: Node, uri: str, dialect: Dialect) -> SchemaResource | None:
        """Add a whole document to the list; None if its dialect is unknown."""
        resource = self.resource(root, uri, dialect, self.question.assert_formats)
        if resource is not None:
            if root in self._remote:
                self.foreign[root] = resource
            self._waiting.append((root, 1, resource))
        return resource

    def resource(self, root: Node, uri: str, dialect: Dialect, asserts: bool) -> SchemaResource | None:
        """Return a new resource, in the dialect that it names, else in that of the schema around it."""
        named = root.get("$schema") if root.kind == "object" else None
        resource = SchemaResource(uri, root, dialect, asserts)
        if named is not None and named.kind == "string" and not self.take_dialect(resource, named):
            return None
        if self._resources.setdefault(uri, resource) is not resource:
            message = f"two schemas have the identifier `{uri}`, and a reference could mean either"
            self.problems.append(diagnose("MCP110", root.span, message))
        return resource

    def take_dialect(self, resource: SchemaResource, named: Node) -> bool:
        """Set the dialect that a resource names: a draft, or a metaschema's vocabularies; False if it is unknown."""
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

    def visit(self, node: Node, height: int, home: SchemaResource) -> None:
        """Check one schema, and add its subschemas to the list."""
        if node in self.schemas:
            return
        self.height = max(self.height, height)
        if node.kind not in ("object", "boolean"):
            expected = "an object, `true` or `false`"
            message = f"a schema must be {expected}, found {describe_value(node)}"
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
        # As an annotation, or unknown, it judges nothing.
        if not home.asserts or getattr(keywords.get("format"), "value", "") not in FORMATS:
            keywords.pop("format", None)
        self.schemas[node] = keywords
        self.problems += slow_patterns(written)
        self._references += (
            (keywords[name], name, home) for name in REFERENCES if name in keywords and keywords[name].kind == "string"
        )

    def counts(self, keyword: str, node: Node, home: SchemaResource) -> bool:
        """Tell whether a keyword's subschemas are used: not beside a `$ref` that excludes others."""
        return keyword in CONTAINERS or not home.dialect.lone_reference or node.get("$ref") is None

    def identify(self, node: Node, home: SchemaResource) -> SchemaResource | None:
        """Return the resource of a schema, a new one if it has an `$id`; record its names."""
        rows = home.dialect.keywords
        named = node.get("$id") if node.kind == "object" and self.counts("$id", node, home) else None
        name = str(named.value) if named and named.kind == "string" else ""
        if name.startswith("#") and home.dialect.fragment_names:
            home.names.setdefault(name[1:], node)
        elif name and "$id" in rows:
            uri, fragment = resolve_uri(home.uri, name)
            new = self.renamed(home, uri) if node is home.root else self.resource(node, uri, home.dialect, home.asserts)
            if new is None:
                return None
            home = new
            if fragment and home.dialect.fragment_names:
                home.names.setdefault(fragment, node)
        self.name(node, home)
        return home

    def renamed(self, home: SchemaResource, uri: str) -> SchemaResource:
        """Return a document's resource whose URI differs from the one it was found by."""
        home.uri = uri
        self._resources.setdefault(uri, home)
        return home

    def name(self, node: Node, home: SchemaResource) -> None:
        """Record the names of a schema in a resource."""
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
        """Report problems of one keyword; tell whether its subschemas can be visited."""
        earlier, instead = row.earlier
        if member.node.kind == earlier:
            message = f"`{member.key}` with {describe_value(member.node)} is a form of earlier drafts"
            hint = f"{instead}; or say which draft it is: `$schema`"
            self.problems.append(diagnose("MCP111", member.node.span, message, hint=hint))
            return False
        self.problems += row.shape.problems(member.key, member.node)
        return True

    def follow(self, reference: Node, keyword: str, home: SchemaResource) -> None:
        """Record the target of a reference; a target outside the standard's keywords is a schema only because of it."""
        uri, fragment = resolve_uri(home.uri, str(reference.value))
        resource = self._resources.get(uri)
        if resource is None:
            self.load(uri, reference, keyword, home)
            return
        target, around = self.resolve_fragment(resource, fragment)
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

    def load(self, uri: str, reference: Node, keyword: str, home: SchemaResource) -> None:
        """Visit another document first, and then follow the reference into it."""
        node = self.remote(uri)
        if node is None:
            hint = "put the schema under `$defs` and refer to it as `#/$defs/...`, or put its file into the project"
            message = f"`{reference.value}` leads out of the project; nothing is fetched from elsewhere"
            self.problems.append(diagnose("MCP113", reference.span, message, "`#...`, or a file of the project", hint))
        elif self.enter(node, uri, home.dialect) is not None:
            self._references.append((reference, keyword, home))

    def resolve_fragment(self, resource: SchemaResource, fragment: str) -> tuple[Node | None, SchemaResource]:
        """Return the target of a fragment in a resource, and the resource that contains it."""
        if fragment and not fragment.startswith("/"):
            return resource.names.get(fragment), resource
        node: Node | None = resource.root
        around = resource
        for token in fragment.split("/")[1:]:
            node = node and self.step(node, token)
            around = self.homes.get(node, around) if node else around
        return node, around

    def step(self, node: Node, token: str) -> Node | None:
        """Return the child of `node` for a JSON Pointer token.  O(1) if it is repeated."""
        if node.kind != "object":  # only arrays have parts besides; of anything else `items` is empty
            return item_at(node, token)
        if node not in self._members:
            self._members[node] = {member.key: member.node for member in node.members}
        return self._members[node].get(unescape_token(token))

    def unknown(self, member: Member, dialect: Dialect) -> Iterator[Diagnostic]:
        """Yield the problem of a keyword that the dialect does not have, unless it may be a custom one."""
        if member.key in KNOWN:
            message = f"`{member.key}` is not a keyword of {dialect.name} and is ignored"
            yield diagnose("MCP103", member.key_span, message, hint=_elsewhere(member.key))
        elif not member.key.startswith("x-") and self.strangers < MAX_COMPARED_KEYWORDS:
            self.strangers += 1
            meant = _similar_keyword(member.key)
            if meant:
                message = f"the schema keyword `{member.key}` does not exist and is ignored"
                yield diagnose("MCP103", member.key_span, message, hint=f"did you mean `{meant}`?")

    def close(self) -> None:
        """Make the root refuse unnamed properties."""
        # The schema `false`, in the place of the root.
        refusal = replace(self.root, value=False, members=(), items=())
        self.homes[refusal] = self.homes[self.root]
        self.schemas[refusal] = {}
        self.schemas[self.root]["additionalProperties"] = refusal


def _unknown_dialect(named: Node) -> Diagnostic:
    hint = "leave `$schema` out for draft 2020-12, or put the metaschema's own file into the project"
    name = describe_value(named)[4:]
    return diagnose("MCP112", named.span, f"the dialect {name} is not known", f"one of {quoted(DIALECTS)}", hint)


def _misplaced(node: Node, home: SchemaResource) -> Iterator[Diagnostic]:
    """Yield a `$schema` that would change the dialect inside a schema."""
    named = node.get("$schema") if node.kind == "object" and node is not home.root else None
    if named is not None and named.kind == "string" and str(named.value).removesuffix("#") != home.dialect.uri:
        message = f"`$schema` names another dialect inside a schema of {home.dialect.name}"
        hint = "it counts only at the root of a schema, or beside an `$id` of its own"
        yield diagnose("MCP112", named.span, message, "", hint)


def _names(resource: SchemaResource, fragment: str) -> str:
    near = nearest(fragment, resource.names)
    return f"did you mean `#{near}`?" if near else ""


def _elsewhere(key: str) -> str:
    drafts = [dialect.name for dialect in DIALECTS.values() if key in dialect.keywords]
    return f"it is one of {' and '.join(drafts)}: say so with `$schema`"


@lru_cache(maxsize=4096)
def _similar_keyword(key: str) -> str:
    """Return the keyword of which `key` may be a misspelling, or an empty string."""
    # Short names are near to too many words.
    by_folded = {name.lower().strip("$"): name for name in KEYWORDS if len(name) > 3}
    folded = key.lower().replace("_", "").replace("-", "").strip("$")
    return by_folded.get(nearest(folded, by_folded, 0.8), "")
