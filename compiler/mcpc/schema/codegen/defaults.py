"""Code that fills in defaults: the function `complete(x)` of a predicate's module.

It is called with accepted values, and returns a value with every default that applies unconditionally: those of
`properties`, in the value and in the objects and arrays inside it, also behind `$ref` and in `allOf`.  Defaults in
`anyOf`, `oneOf`, `if`, `not`, `dependentSchemas`, `contains`, `unevaluated...` or `$dynamicRef` are ignored, because
they may not apply.  Changed parts are copied, the others are shared, and a default is a new value each time.

    {"properties": {"mode": {"default": "r"}, "to": {"properties": {"port": {"default": 80}}}}}
    makes {"to": {}} {"to": {"port": 80}, "mode": "r"}, and {} {"mode": "r"}: a missing object is not created

If a property has two defaults, the nearest is used: the one beside it, then that of its `$ref`, then that of the first
schema of `allOf`; and `properties` precede `$ref`, which precedes `allOf`.  A default is completed, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import Diagnostic, diagnose
from mcpc.schema.code import fill, indented, join_code, literal, numbered
from mcpc.schema.ecma.translation import translate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.reading import Json, Member, Node
    from mcpc.schema.analysis import SchemaAnalysis, Subschema
    from mcpc.schema.code import PythonCode
    from mcpc.schema.codegen.program import GeneratedModule

MAX_DEFAULT_VALUES = 10_000
"""Maximum number of values in a default, with all the defaults in it."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What can be filled in.

    `values`: the default of each schema that has one, complete.  `filling`: the schemas that fill in anything.
    """

    values: Mapping[Node, Json]
    filling: frozenset[Node]


NONE = Defaults({}, frozenset())


def defaults_of(survey: SchemaAnalysis) -> tuple[Defaults, Diagnostics]:
    """Return the defaults of a schema, and their problems."""
    if not any("default" in schema.keywords for schema in survey.schemas.values()):
        return NONE, ()
    search = _Search(survey)
    search.run()
    return Defaults(search.values, search.filling), tuple(search.problems)


def completion(program: GeneratedModule, defaults: Defaults) -> tuple[PythonCode, ...]:
    """Return the functions that fill in defaults, `complete` first; none if there is nothing to fill in."""
    root = program.survey.at(program.survey.root)
    if root.node not in defaults.filling:
        return ()
    return tuple(_Writer(program, defaults).functions(root))


def parts_of(survey: SchemaAnalysis, schema: Subschema) -> Iterator[Subschema]:
    """Yield the schemas that surely describe a part of the value."""
    for keyword in ("properties", "patternProperties", "additionalProperties", "prefixItems", "items"):
        yield from map(survey.at, schema.children(keyword))


def beside(survey: SchemaAnalysis, schema: Subschema) -> Iterator[Subschema]:
    """Yield the schemas that surely describe the same value."""
    if "$ref" in schema.keywords:
        yield survey.at(schema.keywords["$ref"])
    yield from map(survey.at, schema.children("allOf"))


def members(schema: Subschema, keyword: str) -> tuple[Member, ...]:
    """Return the members of a keyword whose value is an object."""
    node = schema.keywords.get(keyword)
    return node.members if node else ()


class _UnfitError(ValueError):
    """The default at `node` would have to be filled in for ever, or is too large."""

    def __init__(self, node: Node, reason: str) -> None:
        super().__init__(reason)
        self.node = node


class _Search:
    """The search for the defaults of one schema.  `open`: the schemas whose defaults are being filled in."""

    def __init__(self, survey: SchemaAnalysis) -> None:
        self.survey = survey
        self.written: dict[Node, Node | None] = {}
        self.values: dict[Node, Json] = {}
        self.filling: frozenset[Node] = frozenset()
        self.problems: list[Diagnostic] = []
        self.open: dict[Node, None] = {}

    def run(self) -> None:
        """Find which schemas fill in anything, and fill in the defaults themselves."""
        schemas = self.survey.schemas.values()
        named = [self.survey.at(member.node) for schema in schemas for member in members(schema, "properties")]
        self.filling = self.find_filling()
        for schema in named:
            try:
                if self.find(schema) is not None:
                    # Only to find out whether it can be written, while problems can be reported.
                    literal(self.complete(schema))
            except (RecursionError, ValueError) as problem:
                # What was being filled in when the error came is not open any more.
                self.open.clear()
                self.report(problem, schema)

    def report(self, problem: Exception, schema: Subschema) -> None:
        """Report a default that cannot be filled in, once."""
        node = problem.node if isinstance(problem, _UnfitError) else self.find(schema)
        reason = "it is nested too deeply" if isinstance(problem, RecursionError) else str(problem)
        if node is not None and all(node.span != known.span for known in self.problems):
            message = f"this default cannot be filled in: {reason}"
            self.problems.append(diagnose("MCP123", node.span, message))

    def find(self, schema: Subschema) -> Node | None:
        """Return where the default of a schema is written: in it, or in what surely describes the same value."""
        if schema.node in self.written:
            return self.written[schema.node]
        waiting, default = [schema], None
        seen: set[Node] = set()
        while waiting and default is None:
            subschema = waiting.pop()
            default = subschema.keywords.get("default")
            if subschema.node not in seen:
                seen.add(subschema.node)
                # The last one is looked at first, so reversed: the first default in the order of the text counts.
                waiting += reversed([*beside(self.survey, subschema)])
        self.written[schema.node] = default
        return default

    def find_filling(self) -> frozenset[Node]:
        """Return the schemas with a property that has a default, or that certainly lead to one."""
        leading: dict[Node, list[Node]] = {}
        waiting = []
        for schema in self.survey.schemas.values():
            for other in (*parts_of(self.survey, schema), *beside(self.survey, schema)):
                leading.setdefault(other.node, []).append(schema.node)
            if any(self.find(self.survey.at(member.node)) for member in members(schema, "properties")):
                waiting.append(schema.node)
        nodes: set[Node] = set()
        while waiting:
            node = waiting.pop()
            if node not in nodes:
                nodes.add(node)
                waiting += leading.get(node, ())
        return frozenset(nodes)

    def complete(self, schema: Subschema) -> Json:
        """Return the default of a schema, with all defaults in it."""
        written = self.find(schema)
        assert written is not None
        if schema.node in self.open:
            raise _UnfitError(written, "it would contain itself endlessly")
        if schema.node not in self.values:
            self.open[schema.node] = None
            value = self.filled(schema, written.value)
            del self.open[schema.node]
            if _is_large(value):
                raise _UnfitError(written, f"with the defaults in it, it has more than {MAX_DEFAULT_VALUES:,} values")
            self.values[schema.node] = value
        return self.values[schema.node]

    def filled(self, schema: Subschema, value: Json) -> Json:
        """Return a value with everything filled in that `schema` has a default for."""
        if schema.node not in self.filling:
            return value
        if isinstance(value, dict):
            value = self.filled_object(schema, value)
        elif isinstance(value, list):
            value = [*value]
            # `items` is for all that `prefixItems` leaves: `zip` takes of it what is needed.
            schemas = (*schema.children("prefixItems"), *schema.children("items") * len(value))
            for place, (node, item) in enumerate(zip(schemas, value, strict=False)):
                value[place] = self.filled(self.survey.at(node), item)
        for other in beside(self.survey, schema):
            value = self.filled(other, value)
        return value

    def filled_object(self, schema: Subschema, value: dict[str, Json]) -> dict[str, Json]:
        """Return an object with every property filled in that `schema` has a default for."""
        completed = dict(value)
        for member in members(schema, "properties"):
            child = self.survey.at(member.node)
            if member.key in completed:
                completed[member.key] = self.filled(child, completed[member.key])
            elif self.find(child) is not None:
                completed[member.key] = self.complete(child)
        named = {member.key for member in members(schema, "properties")}
        for name in value:
            matching = [
                member.node
                for member in members(schema, "patternProperties")
                if re.search(translate(member.key), name, re.ASCII)
            ]
            others = () if matching or name in named else schema.children("additionalProperties")
            for node in (*matching, *others):
                completed[name] = self.filled(self.survey.at(node), completed[name])
        return completed


def _is_large(value: Json) -> bool:
    """Tell whether there are more values in `value` than a default may have."""
    waiting, count = [value], 0
    while waiting and count <= MAX_DEFAULT_VALUES:
        item = waiting.pop()
        count += 1
        waiting += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
    return count > MAX_DEFAULT_VALUES


class _Writer:
    """Writes the functions, one a schema that fills in anything."""

    def __init__(self, program: GeneratedModule, defaults: Defaults) -> None:
        self.program = program
        self.survey = program.survey
        self.defaults = defaults
        self.names: dict[Node, PythonCode] = {}
        self.waiting: list[Subschema] = []

    def functions(self, root: Subschema) -> Iterator[PythonCode]:
        """Yield the function of the root, and those that are called meanwhile."""
        self.names[root.node] = fill("complete")
        self.waiting.append(root)
        # `call` adds schemas during the loop.
        for schema in self.waiting:
            head = fill("def %s(x):", self.names[schema.node])
            yield join_code("\n", (head, *self.body(schema), indented(1, fill("return x"))))

    def call(self, schema: Subschema, value: PythonCode) -> PythonCode:
        """Return the call that fills in `value`."""
        # A schema that only leads to another one needs no function.
        while not self.fills_parts(schema) and len(others := self.others_filling(schema)) == 1:
            schema = others[0]
        if schema.node not in self.names:
            self.names[schema.node] = numbered("complete_", len(self.names))
            self.waiting.append(schema)
        return fill("%s(%s)", self.names[schema.node], value)

    def fills(self, node: Node) -> bool:
        """Tell whether the schema at `node` fills in anything."""
        return self.survey.at(node).node in self.defaults.filling

    def fills_parts(self, schema: Subschema) -> bool:
        """Tell whether a schema fills in a default itself, besides those of the schemas that it refers to."""
        named = [self.survey.at(member.node).node for member in members(schema, "properties")]
        parts = any(part.node in self.defaults.filling for part in parts_of(self.survey, schema))
        return parts or not self.defaults.values.keys().isdisjoint(named)

    def others_filling(self, schema: Subschema) -> list[Subschema]:
        """Return the schemas of the same value that fill in anything."""
        return [other for other in beside(self.survey, schema) if other.node in self.defaults.filling]

    def body(self, schema: Subschema) -> Iterator[PythonCode]:
        """Yield the lines that complete an object, an array, and the value by other schemas."""
        named = [line for member in members(schema, "properties") for line in self.property(member)]
        named += self.others(schema)
        if named:
            yield from _guarded(fill("dict"), named, fill("{**x, **new}"))
        listed = list(self.items(schema))
        if listed:
            yield from _guarded(fill("list"), listed, fill("[new.get(i, v) for i, v in enumerate(x)]"))
        for other in self.others_filling(schema):
            yield indented(1, fill("x = %s", self.call(other, fill("x"))))

    def property(self, member: Member) -> Iterator[PythonCode]:
        """Yield the lines that put in a property, or fill it in if it is there."""
        child, name = self.survey.at(member.node), self.program.text(member.key)
        # `self` stands for no default, because a default may be null.
        value = self.defaults.values.get(child.node, self)
        if self.fills(member.node):
            yield indented(2, fill("if %s in x:", name))
            yield from self.replaced(name, child)
            if value is not self:
                yield indented(2, fill("else:"))
        elif value is not self:
            yield indented(2, fill("if %s not in x:", name))
        if value is not self:
            yield indented(3, fill("new[%s] = %s", name, literal(value)))

    def replaced(self, key: PythonCode, child: Subschema) -> Iterator[PythonCode]:
        """Yield the lines that fill in the part of the value at `key`."""
        yield indented(3, fill("v = x[%s]", key))
        yield indented(3, fill("w = %s", self.call(child, fill("v"))))
        yield indented(3, fill("if w is not v:"))
        yield indented(4, fill("new[%s] = w", key))

    def others(self, schema: Subschema) -> list[PythonCode]:
        """Return the lines that fill in properties by patterns, and those nothing names."""
        patterns = members(schema, "patternProperties")
        lines = []
        for member in patterns:
            if self.fills(member.node):
                call = self.call(self.survey.at(member.node), fill("w"))
                lines += [indented(3, fill("if %s:", self.matches(member.key))), indented(4, fill("w = %s", call))]
        for node in schema.children("additionalProperties"):
            if self.fills(node):
                lines += self.unnamed(schema, self.survey.at(node))
        if not lines:
            return []
        # What `properties` has put into `new` is filled in further.
        first = [indented(2, fill("for k, v in x.items():")), indented(3, fill("v = w = new.get(k, v)"))]
        return [*first, *lines, indented(3, fill("if w is not v:")), indented(4, fill("new[k] = w"))]

    def unnamed(self, schema: Subschema, child: Subschema) -> list[PythonCode]:
        """Return the lines that fill in a property that `schema` neither names nor has a pattern for."""
        names = tuple(member.key for member in members(schema, "properties"))
        known = [fill("k in %s", self.program.constant(fill("frozenset(%s)", literal(names))))] if names else []
        known += [self.matches(member.key) for member in members(schema, "patternProperties")]
        line = fill("w = %s", self.call(child, fill("w")))
        if not known:
            return [indented(3, line)]
        return [indented(3, fill("if not (%s):", join_code(" or ", known))), indented(4, line)]

    def matches(self, pattern: str) -> PythonCode:
        """Return the condition that the name `k` matches a pattern."""
        return self.program.search(pattern, fill("k")).yes

    def items(self, schema: Subschema) -> Iterator[PythonCode]:
        """Yield the lines that fill in the items of an array."""
        prefix = schema.children("prefixItems")
        for index, node in enumerate(prefix):
            if self.fills(node):
                yield indented(2, fill("if len(x) > %s:", literal(index)))
                yield from self.replaced(literal(index), self.survey.at(node))
        for node in schema.children("items"):
            if self.fills(node):
                yield indented(2, fill("for i in range(%s, len(x)):", literal(len(prefix))))
                yield from self.replaced(fill("i"), self.survey.at(node))


def _guarded(kind: PythonCode, lines: list[PythonCode], result: PythonCode) -> Iterator[PythonCode]:
    """Yield lines that note in `new` what changes in a value of one type, and the line that makes the copy."""
    yield indented(1, fill("if type(x) is %s:", kind))
    yield indented(2, fill("new = {}"))
    yield from lines
    yield indented(2, fill("if new:"))
    yield indented(3, fill("x = %s", result))
