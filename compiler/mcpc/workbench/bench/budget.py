"""A budget: the most that a measure may cost, in a file (TOML or JSON), compared with a result.

start = "1.5x"          times the floor that is measured in the same run
size = "2 MB"           or a size, a time ("25 ms") or a number a second ("500/s", the least)
[call]
p95 = "8x"
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Diagnostic, Span, diagnose
from mcpc.diagnostics.suggestions import did_you_mean, quoted
from mcpc.packages.toml_text import TomlText, read_toml
from mcpc.reading import Source
from mcpc.workbench.bench.model import BYTES, MEASURES, PER_SECOND, SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.workbench.bench.model import Measure

CODE = "MCP442"
RATIO = "x"
LIMIT = re.compile(r"(\d+(?:\.\d+)?) ?(x|us|ms|s|B|kB|MB|GB|KiB|MiB|GiB|/s)")
UNITS = {
    "us": (SECONDS, 1e-6),
    "ms": (SECONDS, 1e-3),
    "s": (SECONDS, 1.0),
    "B": (BYTES, 1.0),
    "kB": (BYTES, 1e3),
    "MB": (BYTES, 1e6),
    "GB": (BYTES, 1e9),
    "KiB": (BYTES, 2.0**10),
    "MiB": (BYTES, 2.0**20),
    "GiB": (BYTES, 2.0**30),
    "/s": (PER_SECOND, 1.0),
}
EXAMPLES = {SECONDS: '"1.5x" or "25 ms"', BYTES: '"1.5x" or "2 MB"', PER_SECOND: '"20x" or "500/s"'}
WITHOUT_FLOOR = ("size",)
"""Measures that have no floor, so that no ratio can be a limit."""
HEADER = """\
# Limits of `mcpc bench --budget`.  1.5x: times what a floor costs that is measured in the same run, so that the limit
# holds on another machine, too.
"""


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that a measure may be (of a number a second the least): a ratio, or a value in the measure's unit."""

    name: str
    value: float
    is_ratio: bool
    text: str


@dataclass(frozen=True, slots=True)
class Breach:
    """A measure that is over its limit."""

    measure: Measure
    limit: Limit


def read_budget(path: str, data: bytes) -> tuple[tuple[Limit, ...], tuple[Diagnostic, ...]]:
    """Return the limits of a file, and what is wrong with it, in the order of the file."""
    source = Source(path, data)
    text = TomlText(source, 0, len(source.text))
    found = _read_json(text) if path.endswith(".json") else read_toml(text)
    if isinstance(found, Diagnostic):
        return (), (diagnose(CODE, found.span, found.message, hint="; ".join(filter(None, (found.hint, HINT_QUOTES)))),)
    rows = [_limit(found, *entry) for entry in _entries(found.table)]
    limits = tuple(row for row in rows if isinstance(row, Limit))
    problems = tuple(row for row in rows if isinstance(row, Diagnostic))
    if not rows:
        expected = f"at least one of {quoted(MEASURES)}"
        problems = (diagnose(CODE, Span(path), "the file has no limit", expected),)
    return limits, problems


HINT_QUOTES = 'a limit is a text: `start = "1.5x"`'


def _read_json(text: TomlText) -> TomlText | Diagnostic:
    source = text.source
    try:
        table = json.loads(source.text)
    except json.JSONDecodeError as problem:
        span = Span(source.path, problem.pos, min(problem.pos + 1, len(source.text)))
        return diagnose(CODE, span, f"this is not JSON: {problem.msg}")
    except RecursionError:
        return diagnose(CODE, Span(source.path), "this is not JSON: it is nested too deeply")
    if not isinstance(table, dict):
        return diagnose(CODE, Span(source.path), "this is not an object", "an object of limits")
    return TomlText(source, text.start, text.end, 0, table)


def _entries(table: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield the name of a measure, the table that it is in, and its value."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", name, each) for inner, each in value.items())
        else:
            yield name, "", value


def _limit(text: TomlText, name: str, section: str, value: object) -> Limit | Diagnostic:
    """Return a limit, or what is wrong with it."""
    span = text.span_of(name.removeprefix(f"{section}."), *filter(None, [section]))
    unit = MEASURES.get(name)
    if unit is None:
        hint = did_you_mean(name, MEASURES, f"it can be {quoted(MEASURES)}")
        return diagnose(CODE, span, f"`{name}` is not a measure", hint=hint)
    found = LIMIT.fullmatch(value) if isinstance(value, str) else None
    number = float(found[1]) if found else 0.0
    is_ratio = found is not None and found[2] == RATIO
    kind, factor = UNITS.get(found[2], (unit, 1.0)) if found else ("", 0.0)
    if found is None or kind != unit or number <= 0 or (is_ratio and name in WITHOUT_FLOOR):
        expected = '"2 MB"' if name in WITHOUT_FLOOR else EXAMPLES[unit]
        return diagnose(CODE, span, f"`{name}` is {json.dumps(value, default=str)}", f"a limit such as {expected}")
    return Limit(name, number * factor, is_ratio, found[0])


def breaches(limits: Sequence[Limit], measures: Sequence[Measure]) -> tuple[Breach, ...]:
    """Return the measures that are over their limits."""
    by_name = {measure.name: measure for measure in measures}
    return tuple(
        Breach(by_name[limit.name], limit)
        for limit in limits
        if limit.name in by_name and is_over(by_name[limit.name], limit)
    )


def unmeasured(limits: Sequence[Limit], measures: Sequence[Measure]) -> tuple[Limit, ...]:
    """Return the limits of what was not measured."""
    by_name = {measure.name: measure for measure in measures}
    return tuple(
        limit for limit in limits if limit.name not in by_name or (limit.is_ratio and by_name[limit.name].ratio is None)
    )


def is_over(measure: Measure, limit: Limit) -> bool:
    """Tell whether a measure is over its limit."""
    if limit.is_ratio:
        return measure.ratio is not None and measure.ratio > limit.value
    return measure.value < limit.value if measure.unit == PER_SECOND else measure.value > limit.value


def budget_text(measures: Sequence[Measure], headroom: float) -> str:
    """Return a budget in which each measure may be `headroom` times what was found."""
    plain: list[str] = []
    tables: dict[str, list[str]] = {}
    for measure in measures:
        section, _, name = measure.name.rpartition(".")
        rows = tables.setdefault(section, []) if section else plain
        rows.append(f'{name} = "{_saved(measure, headroom)}"\n')
    return "".join([HEADER, *plain, *(f"\n[{section}]\n{''.join(rows)}" for section, rows in tables.items())])


def _saved(measure: Measure, headroom: float) -> str:
    if measure.ratio is not None:
        return f"{rounded_up(measure.ratio * headroom):g}{RATIO}"
    return f"{rounded_up(measure.value * headroom / 1e3):.0f} kB"


def rounded_up(value: float) -> float:
    """Return a number of three digits that is not smaller."""
    if value <= 0:
        return value
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return round(math.ceil(value / step - 1e-9) * step, 9)
