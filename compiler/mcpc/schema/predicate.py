"""The fast output: a function that answers no at the first thing that is wrong.

Questions that follow each other directly become one `if`; a small subschema is asked without taking its value out of
the object around it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.schema.code import fill
from mcpc.schema.conditions import ALWAYS, NEVER, holds, negated, some
from mcpc.schema.dispatch import tag_of
from mcpc.schema.equality import is_among
from mcpc.schema.walker import INLINE_LEVELS, Walker, needed_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.schema.conditions import Condition
    from mcpc.schema.walker import Place
    from mcpc.sources import Json, Node

WIDTH = 100
"""Questions are put together until their `if` would become longer."""
USES = 3
"""An item of an object that is named more often is put into a variable first."""


class Predicate(Walker):
    """Writes a function of the value that returns a boolean."""

    ends_early = True
    pending: Condition = NEVER

    def begin(self, place: Place) -> None:
        """Do nothing: a wrong value has ended the function."""

    def check(self, place: Place, condition: Condition, keyword: str, expected: Json) -> None:
        """Put the question off until it is known what follows."""
        both = some((self.pending, negated(condition)))
        if self.pending is not NEVER and len(both.yes) > WIDTH:
            self.settle()
            both = negated(condition)
        self.pending = both

    def settle(self) -> None:
        """Write the questions that were put off."""
        failed, self.pending = self.pending, NEVER
        if failed is NEVER:
            return
        with self.when(failed):
            self.line(fill("return False"))

    @contextmanager
    def typed(self, place: Place) -> Iterator[None]:
        """Ask for the type; a wrong one ends the function."""
        self.check(place, needed_type(place), "type", None)
        yield

    def apply(self, place: Place, guard: Condition = ALWAYS) -> None:
        """Ask a small schema or a function in one expression, any other in lines."""
        is_small = self.is_small(place.schema)
        if is_small or place.schema.node in self.survey.shared or place.level >= INLINE_LEVELS:
            asked = self.expression(place) if is_small else holds(self.call("accepts", place.schema, place.value))
            if place.value.isidentifier() or asked.no.count(place.value) <= USES:
                self.check(place, some((negated(guard), asked)), "", None)
                return
        value = place.value if place.value.isidentifier() else self.fresh("v")
        prelude = () if place.value.isidentifier() else (fill("%s = %s", value, place.value),)
        with self.when(guard, *prelude):
            self.body(replace(place, value=value))

    def alternatives(self, place: Place, keyword: str, value: Node) -> None:
        """Ask whether one alternative, or exactly one, accepts; where a tag says which it can be, only that one."""
        tag = tag_of(self.survey, value.items)
        if tag is not None and place.value.isidentifier():
            self.tagged(place, value, *tag)
            return
        condition = self.emitters[keyword].condition
        if condition:
            self.check(place, condition(place, value), keyword, None)

    def tagged(self, place: Place, value: Node, name: str, values: tuple[tuple[str, ...], ...]) -> None:
        """Ask the alternative that the tag `name` means."""
        branches = [place.here(node) for node in value.items]
        item = self.fresh("t")
        with self.section(None, fill("%s = %s.get(%s) if type(%s) is dict else None", item, place.value,
                                     self.program.text(name), place.value)):  # fmt: skip
            every = [one for group in values for one in group]
            self.check(place, is_among(self.program, item, every), "", None)
            for branch, group in zip(branches, values, strict=True):
                self.apply(branch, is_among(self.program, item, group))

    def name(self, place: Place) -> None:
        """Ask about a name as about any value."""
        self.apply(place)
