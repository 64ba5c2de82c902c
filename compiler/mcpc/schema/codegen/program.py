"""A generated module that is being written: its functions, its constants, and the functions it includes.

Everything is numbered in the order of its first use, so that the same schema gives the same text.  A function of the
runtime part is included only if something in the module calls it.  These functions know JSON values as a parser makes
them (exact types), and import only, when first needed, `re` and the runtime's formats and alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, LiteralString

from mcpc.schema.code import PythonCode, fill, literal, numbered
from mcpc.schema.conditions import atom
from mcpc.schema.ecma.matcher import FUND, OF_MATCHERS, searching

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.reading import Node
    from mcpc.schema.analysis import SchemaAnalysis, Subschema
    from mcpc.schema.conditions import Condition
    from mcpc.schema.ecma.matcher import PatternGuard, PatternSearch

SUPPORT: dict[str, PythonCode] = {
    "has_format": fill('''def has_format(name, text):
    """Say whether `text` has the format `name`."""
    from mcpc_runtime.protocol.validation.formats import is_of_format

    return is_of_format(name, text)'''),
    "same": fill('''def same(one, other):
    """Say whether two JSON values are equal; a boolean is no number."""
    kind = type(one)
    if kind is list:
        return type(other) is list and len(one) == len(other) and all(map(same, one, other))
    if kind is dict:
        return type(other) is dict and one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return one is other if kind is bool or type(other) is bool else one == other'''),
    "distinct": fill('''def distinct(items):
    """Say whether no two of `items` are equal; no hash of a number is used, since those can be chosen to be equal."""
    kinds = set(map(type, items))
    if kinds == {int}:
        return len(set(map(hex, items))) == len(items)
    if not kinds <= {str, type(None)}:
        items = [identity(item, 100) for item in items]
    return len(set(items)) == len(items)'''),
    "identity": fill('''def identity(value, room):
    """Return a text that is the same for equal JSON values only."""
    kind = type(value)
    if kind is float and value.is_integer():
        return hex(int(value))
    if kind is not list and kind is not dict:
        return hex(value) if kind is int else repr(value)
    if not room:
        raise RecursionError
    if kind is list:
        return "[" + ",".join([identity(item, room - 1) for item in value]) + "]"
    pairs = sorted(value.items(), key=first)
    return "{" + ",".join([repr(name) + ":" + identity(item, room - 1) for name, item in pairs]) + "}"'''),
    "allowance": fill('''def allowance(value):
    """Return how often recursive functions may be called for `value`, by the number of its parts."""
    parts = [value]
    for part in parts:
        if type(part) is list:
            parts += part
        elif type(part) is dict:
            parts += part.values()
        if len(parts) > 95_000:
            break
    return 20_000 + 4 * min(len(parts), 95_000)'''),
    "first": fill('''def first(pair):
    """Return the first of two."""
    return pair[0]'''),
    "multiple": fill('''def multiple(value, step, scale):
    """Say whether `value` is a multiple of `step / scale`, exactly, as decimal numbers."""
    if type(value) is float:
        if value - value != 0:
            return False
        digits, _, exponent = repr(value).partition("e")
        whole, _, fraction = digits.partition(".")
        value = int(whole + fraction)
        shift = int(exponent or 0) - len(fraction)
        value *= 10 ** max(shift, 0)
        step *= 10 ** max(-shift, 0)
    return value * scale %% step == 0'''),
    "step": fill('''def step(name):
    """Return the step of a JSON Pointer to the property `name`, whose end is left out if it is very long."""
    return "/" + name[:200].replace("~", "~0").replace("/", "~1")'''),
    "nearest": fill('''def nearest(path, value, branches, about):
    """Return what the alternative that was meant complains of."""
    from mcpc_runtime.protocol.union_errors import closest_branch_errors

    return closest_branch_errors(path, value, branches, about)'''),
}

NEEDS = {"distinct": ("identity", "first")}
"""The functions other functions call."""

NAMES: dict[str, PythonCode] = {name: fill(name) for name in SUPPORT}


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
    from mcpc_runtime.protocol.validation.patterns import PatternMatcher

    %s = PatternMatcher(%s, STEPS, %s).search
    return %s(text)'''
CALLS = 20_000
"""Maximum number of calls of recursive functions for one value, in the predicate and in the collector."""
CHOICE = 20
"""As many of these calls count for one comparison of alternatives that were not accepted."""
LONG = 60
"""A longer text gets a name, so that repeated uses stay short."""


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
        # Between two calls that count depth there are at most as many frames as the schema has levels.
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
        # A list, so that functions change the number in it without `global`.
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
        for number, (search, name) in enumerate(self._patterns.items()):
            yield from _searches(search, name, literal(number))
        yield from (text for name, text in SUPPORT.items() if name in self._support)


def _searches(search: PatternSearch, name: PythonCode, number: PythonCode) -> Iterator[PythonCode]:
    """Yield the functions that search for one pattern."""
    plain = name if search.guard is None else fill("quick_%s", number)
    if search.end:
        yield fill(AT_END, plain, plain, literal(search.text), plain, literal(search.end), plain)
    else:
        method = fill("match") if search.is_at_beginning else fill("search")
        yield fill(SEARCH, plain, plain, plain, literal(search.text), method, plain)
    if search.guard is not None:
        yield from _guarded(search.guard, name, number)


def _guarded(guard: PatternGuard, name: PythonCode, number: PythonCode) -> Iterator[PythonCode]:
    linear, quick = fill("linear_%s", number), fill("quick_%s", number)
    length, costs = literal(guard.length), literal(guard.costs)
    yield fill(GUARDED, name, length, linear, costs, literal(OF_MATCHERS), linear, quick)
    yield fill(LINEAR, linear, linear, linear, literal(guard.table), literal(guard.most), linear)
