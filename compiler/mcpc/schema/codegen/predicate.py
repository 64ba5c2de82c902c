"""Writer of the fast function, which returns at the first error.

Consecutive checks become one `if`; a small subschema is checked without assigning its value to a variable.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.schema.code import fill
from mcpc.schema.codegen.assertions import is_among
from mcpc.schema.codegen.discriminators import tag_of
from mcpc.schema.codegen.walker import INLINE_LEVELS, Walker, needed_type
from mcpc.schema.conditions import ALWAYS, NEVER, holds, negated, some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.reading import Json, Node
    from mcpc.schema.codegen.walker import ValuePlace
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
