"""A generated module that is being written: its functions, its constants, and the functions it includes.

Everything is numbered in the order of its first use, so that the same schema gives the same text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, LiteralString

from mcpc.schema.code import fill, literal, numbered
from mcpc.schema.codegen.runtime_functions import NAMES, NEEDS, SUPPORT
from mcpc.schema.conditions import atom
from mcpc.schema.ecma.pattern_search import FUND, OF_MATCHERS, searching

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.schema.analysis import SchemaAnalysis, Subschema
    from mcpc.schema.code import PythonCode
    from mcpc.schema.conditions import Condition
    from mcpc.schema.ecma.pattern_search import PatternGuard, PatternSearch
    from mcpc.sources import Node

FUNCTIONS: dict[str, LiteralString] = {
    "accepts": "accepts_%s",
    "errors": "errors_%s",
    "evaluated": "evaluated_%s",
    "beside": "beside_%s",
}
"""Names of functions, by their purpose."""
FRAMES = 600
"""Maximum number of frames of Python's stack (1,000 by default) for validating one value."""
SEARCH: LiteralString = '''def %s(text):
    """Search `text` for a pattern; the first time, compile it, and put its own method in the place of this."""
    global %s
    import re

    %s = re.compile(%s, re.ASCII).%s
    return %s(text)'''
GUARDED: LiteralString = '''def %s(text):
    """Search `text` for a pattern that can take long: by `re` only if that is sure to be quick."""
    if len(text) > %s:
        return %s(text)
    left = STEPS[0] - %s[len(text).bit_length()]
    if left < %s:
        return %s(text)
    STEPS[0] = left
    return %s(text)'''
AT_END: LiteralString = '''def %s(text):
    """Search the end of `text` for a pattern that is found nowhere else; the first time, compile it."""
    global %s
    import re

    search = re.compile(%s, re.ASCII).search

    def %s(text):
        """Search the end of `text`; a place before its beginning is its beginning."""
        return search(text, len(text) - %s)

    return %s(text)'''
LINEAR: LiteralString = '''def %s(text):
    """Search `text` in linear time; the first time, load what does it, and put it in the place of this."""
    global %s
    from mcpc_runtime.validation.patterns import PatternMatcher

    %s = PatternMatcher(%s, STEPS, %s).search
    return %s(text)'''
CALLS = 20_000
"""How often recursive functions may be called for one value, to judge it or to say what is wrong with it.

To judge it, four times more for each of its parts, up to 400,000: a megabyte of JSON has no more.  What alternatives
that refer to each other make of a small value is so limited to some hundredths of a second.
"""
CHOICE = 20
"""As many of these calls count for one comparison of alternatives that were not accepted."""
LONG = 60
"""A text longer than this gets a name, so that saying it often stays short."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A function for one subschema.  `kind`: a row of `FUNCTIONS`."""

    kind: str
    schema: Subschema
    name: PythonCode


class GeneratedModule:
    """The module that is being written for one schema."""

    def __init__(self, survey: SchemaAnalysis) -> None:
        self.survey = survey
        self.depth_limit = literal(max(16, FRAMES // survey.height))
        self._units: list[Unit] = []
        self._names: dict[tuple[str, Node], PythonCode] = {}
        self._constants: dict[PythonCode, PythonCode] = {}
        self._patterns: dict[PatternSearch, PythonCode] = {}
        self._support: dict[str, None] = {}

    def function(self, kind: str, schema: Subschema) -> PythonCode:
        """Return the name of the function of `kind` for `schema`."""
        name = self._names.get((kind, schema.node))
        if name is None:
            number = literal(len(self._units) + 1)
            name = fill(FUNCTIONS[kind], number)
            self._names[kind, schema.node] = name
            self._units.append(Unit(kind, schema, name))
        return name

    def units(self) -> Iterator[Unit]:
        """Yield every requested function, including those requested meanwhile."""
        yield from self._units

    def constant(self, value: PythonCode) -> PythonCode:
        """Return the name of a constant of the module."""
        return self._constants.setdefault(value, numbered("C", len(self._constants)))

    def text(self, value: str) -> PythonCode:
        """Return the literal of `value`, or the name it has if it is long."""
        written = literal(value)
        return written if len(written) <= LONG else self.constant(written)

    def search(self, pattern: str, text: PythonCode) -> Condition:
        """Return the condition that the ECMA-262 `pattern` is found in `text`."""
        name = self._patterns.setdefault(searching(pattern), numbered("search_", len(self._patterns)))
        return atom("%s(%s) is not None", "%s(%s) is None", name, text)

    def support(self, name: str) -> PythonCode:
        """Return the name of a function that the module includes."""
        self._support.update(dict.fromkeys((name, *NEEDS.get(name, ()))))
        return NAMES[name]

    def allowance(self, kind: str) -> PythonCode:
        """Return how often recursive functions may be called for one value; the module counts it in `LEFT`."""
        self._constants[fill("[0]")] = fill("LEFT")
        return fill("%s(x)", self.support("allowance")) if kind == "accepts" else literal(CALLS)

    def fund(self) -> PythonCode:
        """Return how many steps guarded patterns may take for one value; the module counts them in `STEPS`."""
        self._constants[fill("[%s]", literal(FUND))] = fill("STEPS")
        return literal(FUND)

    def constants(self) -> Iterator[PythonCode]:
        """Yield the lines that define the constants."""
        for value, name in self._constants.items():
            yield fill("%s = %s", name, value)

    def carried(self) -> Iterator[PythonCode]:
        """Yield the texts of the functions that the module includes."""
        for number, (asked, name) in enumerate(self._patterns.items()):
            yield from _searches(asked, name, literal(number))
        yield from (text for name, text in SUPPORT.items() if name in self._support)


def _searches(asked: PatternSearch, name: PythonCode, number: PythonCode) -> Iterator[PythonCode]:
    """Yield the functions that search for one pattern."""
    plain = name if asked.guard is None else fill("quick_%s", number)
    if asked.end:
        yield fill(AT_END, plain, plain, literal(asked.text), plain, literal(asked.end), plain)
    else:
        method = fill("match") if asked.is_at_beginning else fill("search")
        yield fill(SEARCH, plain, plain, plain, literal(asked.text), method, plain)
    if asked.guard is not None:
        yield from _guarded(asked.guard, name, number)


def _guarded(guard: PatternGuard, name: PythonCode, number: PythonCode) -> Iterator[PythonCode]:
    linear, quick = fill("linear_%s", number), fill("quick_%s", number)
    length, costs = literal(guard.length), literal(guard.costs)
    yield fill(GUARDED, name, length, linear, costs, literal(OF_MATCHERS), linear, quick)
    yield fill(LINEAR, linear, linear, linear, literal(guard.table), literal(guard.most), linear)
