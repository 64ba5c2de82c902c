"""What is measured, and the result, as values.  Times are in seconds, sizes in bytes."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECONDS, BYTES, PER_SECOND = "seconds", "bytes", "per second"
STDIO, HTTP = "stdio", "http"
TRANSPORTS = (STDIO, HTTP)
MEASURES = {
    "size": BYTES,
    "start": SECONDS,
    "list": SECONDS,
    "call.p50": SECONDS,
    "call.p95": SECONDS,
    "call.p99": SECONDS,
    "throughput": PER_SECOND,
    "rss": BYTES,
}
"""The measures in the order of a report, each with its unit."""


class BenchError(Exception):
    """A server cannot be measured; the message says what it did."""


class ToolFailedError(BenchError):
    """The tool that is to be measured failed; the message has its text."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is repeated."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, and how often.  `command`: what starts the server over standard input and output.

    `calls`: what is called, in turn; none: no call is measured.  `count`: how many calls in all.  `folder`: the
    server's working folder, the caller's if it is None.
    """

    command: Sequence[str]
    transport: str = STDIO
    calls: tuple[Call, ...] = ()
    starts: int = 11
    count: int = 200
    concurrency: int = 8
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """One result.  `floor`: the same of the floor; `spread`: half of the middle half of the values, as a part of 1."""

    name: str
    value: float
    floor: float | None = None
    spread: float | None = None

    @property
    def unit(self) -> str:
        """The unit of the value."""
        return MEASURES[self.name]

    @property
    def ratio(self) -> float | None:
        """How many times what the floor costs; None without a floor."""
        if not self.floor or not self.value:
            return None
        return self.floor / self.value if self.unit == PER_SECOND else self.value / self.floor


def median_measure(name: str, values: Sequence[float], floor: Sequence[float]) -> Measure:
    """Return the median of some values, with that of the floor."""
    return Measure(name, statistics.median(values), statistics.median(floor), spread_of(values))


def spread_of(values: Sequence[float]) -> float:
    """Return half the distance between the quartiles, as a part of the median."""
    if len(values) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / 2 / middle if middle else 0.0


def percentile(values: Sequence[float], part: float) -> float:
    """Return the value that a part of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
