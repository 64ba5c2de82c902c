"""The one way through a schema; what is written on the way is a matter of the two outputs, `Predicate` and `Collector`.

A subschema becomes code in one of three forms: an expression where it is small, lines inside the function of the
schema around it, or a function of its own where a `$ref` leads to it or lines would be nested too deeply.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.schema.code import Code, fill, joined, literal, numbered
from mcpc.schema.conditions import ALWAYS, NEVER, Condition, atom, every, holds, negated, some
from mcpc.schema.keywords import KEYWORDS
from mcpc.schema.types import TYPE_TESTS, types_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpc.schema.program import Program, Unit
    from mcpc.schema.survey import Subschema
    from mcpc.sources import Json, Node

INLINE_LEVELS = 4
"""How many subschemas are written one inside the other before one becomes a function."""
SMALL = 4
"""How many questions make an expression that may be written more than once."""

Path = tuple[Code | str, ...]
"""A JSON Pointer in parts: text as it is, and code that makes text."""


@dataclass(frozen=True, slots=True)
class Emitter:
    """How a keyword becomes code.

    `condition`: the expression that says whether it is satisfied; None if it takes lines.  `write`: how it is written
    as lines; None if that is only to ask the condition.  `weight`: how many questions its condition asks.
    """

    condition: Callable[[Place, Node], Condition] | None
    write: Callable[[Place, Node], None] | None = None
    weight: Callable[[Node], int] = lambda _value: 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where a schema meets a value.

    `value`: the expression of the value, a variable or an item of one.  `path`: where it lies in the whole value.
    """

    walk: Walker
    schema: Subschema
    value: Code
    path: Path
    level: int = 0

    def child(self, node: Node, value: Code, path: Path) -> Place:
        """Return where the subschema at `node` meets `value`, a part of this value."""
        return Place(self.walk, self.walk.survey.at(node), value, path, self.level + 1)

    def here(self, node: Node) -> Place:
        """Return where the subschema at `node` meets this same value."""
        return self.child(node, self.value, self.path)


class Walker(ABC):
    """Writes one function.  A subclass is one of the two outputs."""

    ends_early: ClassVar[bool]
    """Whether a question that is answered by no ends the function, so that what follows may rely on a yes."""

    def __init__(self, program: Program, emitters: Mapping[str, Emitter], unit: Unit) -> None:
        self.program = program
        self.emitters = emitters
        self.survey = program.survey
        self.is_deep = unit.schema.node in self.survey.recursive
        self.lines: list[Code] = []
        self.indent = 1
        self.counters: dict[str, int] = {}

    @abstractmethod
    def check(self, place: Place, condition: Condition, keyword: str, expected: Json) -> None:
        """Write that `condition` must hold, and what to complain of if it does not."""

    @abstractmethod
    def typed(self, place: Place) -> AbstractContextManager[None]:
        """Write the question for the type; what is written inside may rely on the answer."""

    @abstractmethod
    def apply(self, place: Place, guard: Condition = ALWAYS) -> None:
        """Write that the schema at `place` must accept the value there if `guard` holds."""

    @abstractmethod
    def alternatives(self, place: Place, keyword: str, value: Node) -> None:
        """Write the question of `anyOf` or `oneOf`."""

    def settle(self) -> None:
        """Write what has been put off."""

    def line(self, text: Code) -> None:
        """Write one line."""
        self.settle()
        self.lines.append(Code("    " * self.indent + text))

    @contextmanager
    def section(self, header: Code | None, *prelude: Code) -> Iterator[None]:
        """Write what follows under `header` and after `prelude`; write neither if nothing follows."""
        self.settle()
        before = len(self.lines)
        if header is not None:
            self.line(header)
            self.indent += 1
        for text in prelude:
            self.line(text)
        empty = len(self.lines)
        yield
        self.settle()
        if header is not None:
            self.indent -= 1
        if len(self.lines) == empty:
            del self.lines[before:]

    @contextmanager
    def when(self, guard: Condition, *prelude: Code) -> Iterator[None]:
        """Write what follows under `if guard`, which is left out if it always holds."""
        header = None if guard == ALWAYS else fill("if {}:", guard.yes)
        with self.section(header, *prelude):
            yield

    def fresh(self, prefix: LiteralString) -> Code:
        """Return a variable that the function does not use yet."""
        self.counters[prefix] = self.counters.get(prefix, 0) + 1
        return numbered(prefix, self.counters[prefix])

    def body(self, place: Place) -> None:
        """Write every question of the schema at `place` as lines."""
        if place.schema.always is not None:
            self.check(place, ALWAYS if place.schema.always else NEVER, "false", None)
            return
        with self.typed(place):
            for group, keywords in active(place.schema):
                with self.when(_guard(group, place)):
                    for keyword, value in keywords:
                        self.keyword(place, keyword, value)

    def keyword(self, place: Place, keyword: str, value: Node) -> None:
        """Write the question of one keyword."""
        emitter = self.emitters[keyword]
        if emitter.write:
            emitter.write(place, value)
        elif emitter.condition:
            self.check(place, emitter.condition(place, value), keyword, value.value)

    def expression(self, place: Place) -> Condition:
        """Return every question of the schema at `place`, which must be small, as one condition."""
        if place.schema.always is not None:
            return ALWAYS if place.schema.always else NEVER
        conditions = [needed_type(place)]
        for group, keywords in active(place.schema):
            asked = [self.emitters[keyword].condition for keyword, _ in keywords]
            answers = every(ask(place, value) for ask, (_, value) in zip(asked, keywords, strict=True) if ask)
            conditions.append(some((negated(_guard(group, place)), answers)))
        return every(conditions)

    def decision(self, place: Place) -> Condition:
        """Return the condition that the schema at `place` accepts the value there."""
        if self.is_small(place.schema) and place.level < INLINE_LEVELS:
            return self.expression(place)
        return holds(self.call("accepts", place.schema, place.value))

    def is_small(self, schema: Subschema) -> bool:
        """Say whether `schema` may be written as an expression wherever it is asked."""
        weight = 1
        for _, keywords in active(schema):
            for keyword, value in keywords:
                emitter = self.emitters[keyword]
                if emitter.condition is None or (schema.node in self.survey.shared and keyword in COMPOUND):
                    return False
                weight += emitter.weight(value)
        return weight <= SMALL

    def call(self, kind: str, schema: Subschema, *arguments: Code) -> Code:
        """Return the call of the function of `kind` for `schema`."""
        name = self.program.function(kind, schema)
        if schema.node in self.survey.recursive:
            further = fill("depth + 1") if schema.node in self.survey.shared else fill("depth")
            arguments = (*arguments, further if self.is_deep else literal(0))
        return fill("{}({})", name, joined(", ", arguments))

    def pointer(self, path: Path) -> Code:
        """Return the expression of `path`."""
        parts: list[Code] = []
        for is_code, run in groupby(path, key=lambda part: type(part) is Code):
            parts += (part for part in run if isinstance(part, Code)) if is_code else [self.program.text("".join(run))]
        return joined(" + ", parts) if parts else literal("")


COMPOUND = frozenset(("$ref", "allOf", "anyOf", "oneOf", "not"))
"""Keywords that ask other schemas: not written in place of a `$ref`, lest the code grow beyond the schema."""


def active(schema: Subschema) -> list[tuple[str, list[tuple[str, Node]]]]:
    """Return the keywords of `schema` that judge, in runs of those that judge the same type."""
    judging = [(name, value) for name, value in schema.keywords.items() if KEYWORDS[name].judges]
    return [(group, list(run)) for group, run in groupby(judging, key=lambda item: KEYWORDS[item[0]].judges)]


def needed_type(place: Place) -> Condition:
    """Return the question for the type, which is none if only constants of that type are accepted."""
    types = types_of(place.schema)
    if "type" not in place.schema.keywords or _only_constants(place.schema, types):
        return ALWAYS
    return is_one_of(types, place.value)


def _only_constants(schema: Subschema, types: tuple[str, ...]) -> bool:
    constant, constants = schema.keywords.get("const"), schema.keywords.get("enum")
    if constant:
        return has_type(constant.value, types)
    return constants is not None and all(has_type(item.value, types) for item in constants.items)


def _guard(group: str, place: Place) -> Condition:
    """Return the condition under which the keywords that judge the type `group` have anything to say."""
    types = types_of(place.schema)
    if group == "any" or set(types) <= {group, "integer"} & ({group} if group != "number" else {"number", "integer"}):
        return ALWAYS
    present = [name for name in types if name == group or (group == "number" and name == "integer")]
    return is_one_of((group,), place.value) if present else NEVER
