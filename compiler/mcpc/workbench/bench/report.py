"""A result as a table of 80 columns, as JSON, and as the lines of a gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.workbench.bench.model import BYTES, SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.workbench.bench.budget import Breach, Limit
    from mcpc.workbench.bench.model import Measure

NAMES = {"list": "tools/list", "call.p50": "call p50", "call.p95": "call p95", "call.p99": "call p99"}
HEAD = f"{'':<12}{'found':>12}{'floor':>12}{'ratio':>9}{'spread':>9}{'budget':>12}"
OVER = "over"


def table(measures: Sequence[Measure], limits: Sequence[Limit], found: Sequence[Breach]) -> str:
    """Return the table; a measure that is over its limit ends in `over`."""
    allowed = {limit.name: limit.text for limit in limits}
    over = {breach.limit.name for breach in found}
    lines = [HEAD.rstrip() if allowed else HEAD.removesuffix("budget").rstrip()]
    for measure in measures:
        texts = (
            amount(measure, measure.value).rjust(12),
            ("" if measure.floor is None else amount(measure, measure.floor)).rjust(12),
            ("" if measure.ratio is None else times(measure.ratio)).rjust(9),
            ("" if measure.spread is None else f"±{measure.spread:.0%}").rjust(9),
            allowed.get(measure.name, "").rjust(12),
            f"  {OVER}" if measure.name in over else "",
        )
        lines.append(f"{NAMES.get(measure.name, measure.name):<12}{''.join(texts)}".rstrip())
    return "".join(f"{line}\n" for line in lines)


def breach_line(breach: Breach) -> str:
    """Return what was found and what is allowed, as a line."""
    measure, limit = breach.measure, breach.limit
    found = times(measure.ratio or 0.0) if limit.is_ratio else amount(measure, measure.value)
    return f"{measure.name}: found {found}, allowed {limit.text}"


def as_json(measures: Sequence[Measure], limits: Sequence[Limit], found: Sequence[Breach]) -> dict[str, Any]:
    """Return the result as JSON: times in seconds, sizes in bytes."""
    allowed = {limit.name: limit.text for limit in limits}
    over = {breach.limit.name for breach in found}
    rows = {
        measure.name: {
            "value": measure.value,
            "unit": measure.unit,
            "floor": measure.floor,
            "ratio": None if measure.ratio is None else round(measure.ratio, 4),
            "spread": None if measure.spread is None else round(measure.spread, 4),
            **({"allowed": allowed[measure.name], "over": measure.name in over} if measure.name in allowed else {}),
        }
        for measure in measures
    }
    return {"measures": rows, "breaches": [breach_line(breach) for breach in found]}


def amount(measure: Measure, value: float) -> str:
    """Return a value in its unit."""
    if measure.unit == BYTES:
        return f"{value / 1e6:.2f} MB" if value >= 1e6 else f"{value / 1e3:.0f} kB"
    if measure.unit == SECONDS:
        return f"{value * 1e3:.2f} ms" if value < 1 else f"{value:.2f} s"
    return f"{value:,.0f}/s"


def times(ratio: float) -> str:
    """Return a ratio."""
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.1f}x"
