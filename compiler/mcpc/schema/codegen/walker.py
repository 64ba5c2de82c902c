"""Walk over a schema that writes code; its subclasses `Predicate` and `Collector` decide the code.

A subschema becomes an expression if it is small, lines in the function of the schema around it, or a separate function
if it is the target of a `$ref` or its lines would be nested too deeply.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, LiteralString

from mcpc.schema.code import PythonCode, fill, indented, join_code, literal, numbered
from mcpc.schema.codegen.discriminators import tag_of
from mcpc.schema.conditions import ALWAYS, NEVER, Condition, every, has_type, holds, is_one_of, negated, some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from mcpc.reading import Json, Node
    from mcpc.schema.analysis import Subschema
    from mcpc.schema.codegen.program import GeneratedModule

INLINE_LEVELS = 6
"""How many subschemas are written one inside the other before one becomes a function."""
SMALL = 4
"""Maximum number of checks of an expression that may be written more than once."""

Path = tuple[PythonCode | str, ...]
"""A JSON Pointer in parts: text as it is, and code that makes text."""


def _one(_value: Node) -> int:
    return 1


@dataclass(frozen=True, slots=True)
class Emitter:
    """How a keyword becomes code.

    `condition`: the expression that says whether it is satisfied; None if it takes lines.  `write`: how it is written
    as lines; None if that is only to ask the condition.  `weight`: how many questions its condition asks.
    """

    condition: Callable[[ValuePlace, Node], Condition] | None
    write: Callable[[ValuePlace, Node], None] | None = None
    weight: Callable[[Node], int] = _one


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """Where a schema meets a value.

    `value`: the expression of the value, a variable or an item of one.  `path`: where it lies in the whole value.
    """

    walk: Walker
    schema: Subschema
    value: PythonCode
    path: Path
    level: int = 0

    def child(self, node: Node, value: PythonCode, path: Path) -> ValuePlace:
        """Return where the subschema at `node` meets `value`, a part of this value."""
        return ValuePlace(self.walk, self.walk.survey.at(node), value, path, self.level + 1)

    def here(self, node: Node) -> ValuePlace:
        """Return where the subschema at `node` meets this same value."""
        return self.child(node, self.value, self.path)


class Walker(ABC):
    """Writes one function.  A subclass is one of the two outputs."""

    ends_early: ClassVar[bool]
    """Whether a failed check ends the function, so that later checks may rely on its success."""

    def __init__(self, program: GeneratedModule, emitters: Mapping[str, Emitter], kind: str, is_deep: bool) -> None:
        self.program = program
        self.kind = kind
        self.emitters = emitters
        self.survey = program.survey
        self.is_deep = is_deep
        self.lines: list[PythonCode] = []
        self.indent = 1
        self.counters: dict[str, int] = {}

    @abstractmethod
    def check(self, place: ValuePlace, condition: Condition, keyword: str, expected: Json) -> None:
        """Write the check of `condition`, and the error if it fails."""

    @abstractmethod
    def typed(self, place: ValuePlace) -> AbstractContextManager[None]:
        """Write the check of the type; the lines inside may rely on it."""

    @abstractmethod
    def apply(self, place: ValuePlace, guard: Condition = ALWAYS) -> None:
        """Write that the schema at `place` must accept the value there if `guard` holds."""

    @abstractmethod
    def alternatives(self, place: ValuePlace, keyword: str, value: Node) -> None:
        """Write the check of `anyOf` or `oneOf`."""

    @abstractmethod
    def name(self, place: ValuePlace) -> None:
        """Write that the schema at `place` must accept the name of a property."""

    @abstractmethod
    def settle(self) -> None:
        """Write the deferred checks."""

    @abstractmethod
    def begin(self, place: ValuePlace) -> None:
        """Write what the checks of the schema at `place` need."""

    def once_accepted(self, place: ValuePlace) -> AbstractContextManager[None]:
        """Write the condition that every other keyword of the schema at `place` has accepted."""
        return nullcontext()

    def line(self, text: PythonCode) -> None:
        """Write one line."""
        self.settle()
        self.lines.append(indented(self.indent, text))

    def section(self, header: PythonCode | None, *prelude: PythonCode) -> Section:
        """Return a block of lines under `header`, after `prelude`; neither is written if it stays empty."""
        return Section(self, header, prelude)

    def loop(self, header: PythonCode) -> AbstractContextManager[None]:
        """Return a block of lines that is repeated for every part of a value."""
        return self.section(header)

    def when(self, guard: Condition, *prelude: PythonCode) -> Section:
        """Return a block of lines under `if guard`, which is omitted if it always holds."""
        return Section(self, None if guard is ALWAYS else fill("if %s:", guard.yes), prelude)

    def forget(self, assignments: range) -> None:
        """Take back those of the lines `assignments` whose variable no later line names."""
        later = "\n".join(self.lines[assignments.stop :])
        # From the last one to the first, so that the numbers of the others stay right.
        for number in reversed(assignments):
            variable = self.lines[number].strip().partition(" ")[0]
            if not re.search(rf"\b{variable}\b", later):
                del self.lines[number]

    def fresh(self, prefix: LiteralString) -> PythonCode:
        """Return a variable that the function does not use yet."""
        self.counters[prefix] = self.counters.get(prefix, 0) + 1
        return numbered(prefix, self.counters[prefix])

    def body(self, place: ValuePlace) -> None:
        """Write every check of the schema at `place` as lines."""
        if place.schema.always is not None:
            self.check(place, ALWAYS if place.schema.always else NEVER, "false", None)
            return
        self.begin(place)
        with self.typed(place):
            for group, keywords in place.schema.runs:
                guard = _guard(group, place)
                with self.when(guard):
                    for keyword, value in () if guard is NEVER else keywords:
                        self.keyword(place, keyword, value)

    def keyword(self, place: ValuePlace, keyword: str, value: Node) -> None:
        """Write the check of one keyword."""
        emitter = self.emitters[keyword]
        if emitter.write:
            emitter.write(place, value)
        elif emitter.condition:
            self.check(place, emitter.condition(place, value), keyword, value.value)

    def expression(self, place: ValuePlace) -> Condition:
        """Return every check of the schema at `place`, which must be small, as one condition."""
        if place.schema.always is not None:
            return ALWAYS if place.schema.always else NEVER
        conditions = [needed_type(place)]
        for group, keywords in place.schema.runs:
            writers = [self.emitters[keyword].condition for keyword, _ in keywords]
            answers = every(write(place, value) for write, (_, value) in zip(writers, keywords, strict=True) if write)
            conditions.append(some((negated(_guard(group, place)), answers)))
        return every(conditions)

    def decision(self, place: ValuePlace) -> Condition:
        """Return the condition that the schema at `place` accepts the value there."""
        if self.is_small(place.schema) and place.level < INLINE_LEVELS:
            return self.expression(place)
        return holds(self.call("accepts", place.schema, place.value))

    def is_small(self, schema: Subschema) -> bool:
        """Tell whether `schema` may be written as an expression wherever it is checked."""
        weight = 1
        for _, keywords in schema.runs:
            for keyword, value in keywords:
                emitter = self.emitters[keyword]
                if emitter.condition is None or (schema.node in self.survey.shared and keyword in COMPOUND):
                    return False
                if value in self.survey.targets and not self.is_called(value):
                    return False
                # A tag selects one alternative in lines, where an expression would try all of them.
                if keyword in ("anyOf", "oneOf") and tag_of(self.survey, value.items):
                    return False
                weight += emitter.weight(value)
        return weight <= SMALL

    def is_called(self, reference: Node) -> bool:
        """Tell whether the target of a reference is checked by a call or in an expression, and not in lines."""
        target = self.survey.at(reference)
        return target.node in self.survey.shared or self.is_small(target)

    def call(self, kind: str, schema: Subschema, *arguments: PythonCode) -> PythonCode:
        """Return the call of the function of `kind` for `schema`."""
        name = self.program.function(kind, schema)
        if schema.node in self.survey.recursive:
            # Depth is counted where it is compared: in functions of shared schemas.
            further = fill("depth + 1") if schema.node in self.survey.shared else fill("depth")
            arguments = (*arguments, further if self.is_deep else literal(0))
        return fill("%s(%s)", name, join_code(", ", arguments))

    def pointer(self, path: Path) -> PythonCode:
        """Return the expression of `path`."""
        runs = groupby(path, key=lambda part: isinstance(part, PythonCode))
        parts = [part for is_code, run in runs for part in self.path_expressions(run, is_code)]
        return join_code(" + ", parts) if parts else literal("")

    def path_expressions(self, run: Iterator[PythonCode | str], is_code: bool) -> Iterator[PythonCode]:
        """Yield the expressions of a part of a path that is all code or all text."""
        if is_code:
            yield from (part for part in run if isinstance(part, PythonCode))
        else:
            yield self.program.text("".join(run))


class Section:
    """Lines under a header, as a context manager."""

    __slots__ = ("before", "empty", "header", "prelude", "walk")

    def __init__(self, walk: Walker, header: PythonCode | None, prelude: tuple[PythonCode, ...]) -> None:
        self.walk = walk
        self.header = header
        self.prelude = prelude
        self.before = self.empty = -1

    def __enter__(self) -> None:
        walk = self.walk
        if self.header is None and not self.prelude:
            return
        walk.settle()
        self.before = len(walk.lines)
        if self.header is not None:
            walk.line(self.header)
            walk.indent += 1
        for text in self.prelude:
            walk.line(text)
        self.empty = len(walk.lines)

    def __exit__(self, *_: object) -> None:
        walk = self.walk
        if self.before < 0:
            return
        walk.settle()
        walk.indent -= self.header is not None
        if len(walk.lines) == self.empty:
            del walk.lines[self.before :]
        elif self.prelude:
            walk.forget(range(self.empty - len(self.prelude), self.empty))


COMPOUND = frozenset(("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not"))
"""Keywords that apply other schemas: they are not inlined for a `$ref`, so that the code stays proportional."""


def needed_type(place: ValuePlace) -> Condition:
    """Return the check of the type, which is empty if only constants of that type are accepted."""
    types = place.schema.types
    if "type" not in place.schema.keywords or _only_constants(place.schema, types):
        return ALWAYS
    return is_one_of(types, place.value)


def _only_constants(schema: Subschema, types: tuple[str, ...]) -> bool:
    constant, constants = schema.keywords.get("const"), schema.keywords.get("enum")
    if constant:
        return has_type(constant.value, types)
    return constants is not None and all(has_type(item.value, types) for item in constants.items)


def _guard(group: str, place: ValuePlace) -> Condition:
    """Return the condition under which the keywords for the type `group` have an effect."""
    judged = {"number", "integer"} if group == "number" else {group}
    types = judged if group == "any" else set(place.schema.types)
    if types <= judged:
        return ALWAYS
    return is_one_of((group,), place.value) if types & judged else NEVER
