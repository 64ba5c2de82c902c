"""Writers of the two functions: the fast one returns at the first error, the thorough one reports every error.

Consecutive checks become one `if`; a small subschema is checked without assigning its value to a variable.

Decisions (which alternative, whether `if` holds) call the functions of the fast module, so that the two cannot
disagree.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.schema.code import fill, join_code, literal
from mcpc.schema.codegen.assertions import at_most, is_among
from mcpc.schema.codegen.discriminators import tag_of, told_apart
from mcpc.schema.codegen.program import CHOICE
from mcpc.schema.codegen.walker import INLINE_LEVELS, Walker, needed_type
from mcpc.schema.conditions import ALWAYS, NEVER, holds, is_one_of, negated, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    from mcpc.reading import Json, Node
    from mcpc.schema.code import PythonCode
    from mcpc.schema.codegen.program import GeneratedModule
    from mcpc.schema.codegen.walker import Emitter, Path, ValuePlace
    from mcpc.schema.conditions import Condition

WIDTH = 100
"""Checks are combined until their `if` would become longer."""
USES = 3
"""An item that is used more often is assigned to a variable first."""


class Predicate(Walker):
    """Writes a function of the value that returns a boolean."""

    ends_early = True
    pending: Condition = NEVER

    def begin(self, place: ValuePlace) -> None:
        """Do nothing: a wrong value has ended the function."""

    def check(self, place: ValuePlace, condition: Condition, keyword: str, expected: Json) -> None:
        """Defer the check until the next one is written."""
        both = some((self.pending, negated(condition)))
        if self.pending is not NEVER and len(both.yes) > WIDTH:
            self.settle()
            both = negated(condition)
        self.pending = both

    def settle(self) -> None:
        """Write the deferred checks."""
        failed, self.pending = self.pending, NEVER
        if failed is NEVER:
            return
        with self.when(failed):
            self.line(fill("return False"))

    @contextmanager
    def typed(self, place: ValuePlace) -> Iterator[None]:
        """Check the type; a wrong one ends the function."""
        self.check(place, needed_type(place), "type", None)
        yield

    def apply(self, place: ValuePlace, guard: Condition = ALWAYS) -> None:
        """Check a small schema or a function in one expression, any other in lines."""
        is_small = self.is_small(place.schema)
        if is_small or place.schema.node in self.survey.shared or place.level >= INLINE_LEVELS:
            condition = self.expression(place) if is_small else holds(self.call("accepts", place.schema, place.value))
            # The value is written out only where that is seldom; otherwise it gets a name below.
            if place.value.isidentifier() or condition.no.count(place.value) <= USES:
                self.check(place, some((negated(guard), condition)), "", None)
                return
        value = place.value if place.value.isidentifier() else self.fresh("v")
        prelude = () if place.value.isidentifier() else (fill("%s = %s", value, place.value),)
        with self.when(guard, *prelude):
            self.body(replace(place, value=value))

    def alternatives(self, place: ValuePlace, keyword: str, value: Node) -> None:
        """Check that one alternative, or exactly one, accepts; where a tag selects one, check only that one."""
        tag = tag_of(self.survey, value.items)
        if tag is not None and place.value.isidentifier():
            self.tagged(place, value, *tag)
            return
        condition = self.emitters[keyword].condition
        if condition:
            self.check(place, condition(place, value), keyword, None)

    def tagged(self, place: ValuePlace, value: Node, name: str, values: tuple[tuple[str, ...], ...]) -> None:
        """Check the alternative that the tag `name` selects."""
        branches = [place.here(node) for node in value.items]
        item = self.fresh("t")
        with self.section(None, fill("%s = %s.get(%s) if type(%s) is dict else None", item, place.value,
                                     self.program.text(name), place.value)):  # fmt: skip
            every = [item for group in values for item in group]
            self.check(place, is_among(self.program, item, every), "", None)
            for branch, group in zip(branches, values, strict=True):
                self.apply(branch, is_among(self.program, item, group))

    def name(self, place: ValuePlace) -> None:
        """Check a name like any value."""
        self.apply(place)


MANY = 100
"""Maximum number of errors before further parts of an array or an object are skipped."""
SEARCHING = ("pattern", "format")
UNEVALUATED = frozenset(("unevaluatedItems", "unevaluatedProperties"))


class Collector(Walker):
    """Writes a function of the value, its path and the list of what was found so far; it returns that list."""

    ends_early = False

    def __init__(self, program: GeneratedModule, emitters: Mapping[str, Emitter], kind: str, is_deep: bool) -> None:
        super().__init__(program, emitters, kind, is_deep)
        self.before: dict[ValuePlace, PythonCode] = {}

    def begin(self, place: ValuePlace) -> None:
        """Record the number of errors so far, if a keyword depends on whether more are added."""
        if not UNEVALUATED.isdisjoint(place.schema.keywords):
            self.before[place] = self.fresh("n")
            self.line(fill("%s = len(found)", self.before[place]))

    def once_accepted(self, place: ValuePlace) -> AbstractContextManager[None]:
        """Continue only if there are no new errors."""
        return self.section(fill("if len(found) == %s:", self.before[place]))

    def check(self, place: ValuePlace, condition: Condition, keyword: str, expected: Json) -> None:
        """Report an error if `condition` does not hold."""
        if condition is ALWAYS:
            return
        with self.section(None if condition is NEVER else fill("if %s:", condition.no)):
            self.complain(place.path, keyword, literal(expected))

    def keyword(self, place: ValuePlace, keyword: str, value: Node) -> None:
        """Write the check of one keyword; a text that is already too long is not searched."""
        longest = place.schema.keywords.get("maxLength") if keyword in SEARCHING else None
        with self.when(at_most(place, longest) if longest else ALWAYS):
            super().keyword(place, keyword, value)

    def settle(self) -> None:
        """Do nothing: here no check is deferred."""

    @contextmanager
    def loop(self, header: PythonCode) -> Iterator[None]:
        """Repeat the lines until the maximum number of errors is reached."""
        with self.section(header):
            before = len(self.lines)
            yield
            if len(self.lines) > before:
                with self.section(fill("if len(found) > %s:", literal(MANY))):
                    self.line(fill("break"))

    def complain(self, path: Path, keyword: str, expected: PythonCode) -> None:
        """Write one error."""
        self.line(fill("found.append((%s, %s, %s))", self.pointer(path), literal(keyword), expected))

    @contextmanager
    def typed(self, place: ValuePlace) -> Iterator[None]:
        """Report a wrong type, and then nothing else."""
        node = place.schema.keywords.get("type")
        if node is None:
            yield
            return
        self.check(place, is_one_of(place.schema.types, place.value), "type", node.value)
        # The check before has just written the `if` of this.
        with self.section(fill("else:")):
            yield

    def apply(self, place: ValuePlace, guard: Condition = ALWAYS) -> None:
        """Write the checks as lines, or as the call of a function."""
        is_shared = place.schema.node in self.survey.shared and not self.is_small(place.schema)
        if is_shared or place.level >= INLINE_LEVELS:
            with self.when(guard):
                self.line(self.collect(place, fill("found")))
            return
        value = place.value if place.value.isidentifier() else self.fresh("v")
        prelude = () if place.value.isidentifier() else (fill("%s = %s", value, place.value),)
        with self.when(guard, *prelude):
            self.body(replace(place, value=value))

    def collect(self, place: ValuePlace, errors: PythonCode) -> PythonCode:
        """Return the call that adds all errors of the schema at `place` to `found`."""
        return self.call("errors", place.schema, place.value, self.pointer(place.path), errors)

    def alternatives(self, place: ValuePlace, keyword: str, value: Node) -> None:
        """Report the errors of the closest alternative, or that too many accept."""
        places = [place.here(node) for node in value.items]
        collected = [self.collect(branch, literal([])) for branch in places]
        decisions = [self.decision(branch) for branch in places]
        about = told_apart(self.program, keyword, value.items)
        parts = self.pointer(place.path), place.value, join_code(", ", collected), about
        nearest = fill("%s(%s, %s, [%s], %s)", self.program.support("nearest"), *parts)
        if keyword == "anyOf":
            with self.section(fill("if %s:", some(decisions).no)):
                self.compare(place, nearest)
            return
        matches = self.fresh("m")
        answers = join_code(", ", [decision.yes for decision in decisions])
        self.line(fill("%s = [%s]", matches, answers))
        with self.section(fill("if True not in %s:", matches)):
            self.compare(place, nearest)
        with self.section(fill("if %s.count(True) > 1:", matches)):
            which = fill("[n for n, match in enumerate(%s) if match]", matches)
            self.complain(place.path, keyword, which)

    def compare(self, place: ValuePlace, nearest: PythonCode) -> None:
        """Write the comparison of alternatives; in a recursive schema nested alternatives count, too."""
        if place.schema.node in self.survey.recursive:
            self.line(fill("LEFT[0] -= %s", literal(CHOICE)))
        self.line(fill("found.extend(%s)", nearest))

    def name(self, place: ValuePlace) -> None:
        """Report the property with the first error of its name."""
        complaints = self.fresh("f")
        call = self.call("errors", place.schema, place.value, literal(""), literal([]))
        self.line(fill("%s = %s", complaints, call))
        with self.section(fill("if %s:", complaints)):
            # Without the place, which would be one in a name.
            self.complain(place.path, "propertyNames", fill("list(%s[0][1:])", complaints))
