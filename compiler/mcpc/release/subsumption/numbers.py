"""Numbers within bounds that are multiples of some numbers and not of others, exactly: numbers are fractions here."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PERIOD = 5_000
"""Multiples that are tried; beyond them, the answer is unknown."""


class MoreNumbersError(Exception):
    """There may be more numbers than those that were tried."""


@dataclass(frozen=True, slots=True)
class NumberSet:
    """Numbers from `low` to `high` (None: no bound), which are excluded themselves if `low_open`, `high_open`."""

    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = False
    high_open: bool = False
    multiples: tuple[Fraction, ...] = ()
    others: tuple[Fraction, ...] = ()

    def above(self, bound: Fraction, *, is_open: bool) -> NumberSet:
        """Return the numbers above a bound."""
        if self.low is not None and (self.low, self.low_open) >= (bound, is_open):
            return self
        return NumberSet(bound, self.high, is_open, self.high_open, self.multiples, self.others)

    def below(self, bound: Fraction, *, is_open: bool) -> NumberSet:
        """Return the numbers below a bound."""
        if self.high is not None and (self.high, not self.high_open) <= (bound, not is_open):
            return self
        return NumberSet(self.low, bound, self.low_open, is_open, self.multiples, self.others)

    def has(self, number: Fraction) -> bool:
        """Tell whether a number is in the set."""
        is_above = self.low is None or number > self.low or (number == self.low and not self.low_open)
        is_below = self.high is None or number < self.high or (number == self.high and not self.high_open)
        is_multiple = all((number / each).denominator == 1 for each in self.multiples)
        return is_above and is_below and is_multiple and all((number / each).denominator != 1 for each in self.others)


def numbers_of(numbers: NumberSet) -> Iterator[Fraction]:
    """Yield numbers of a set; the iterator ends only when there are no more.  Raise MoreNumbersError."""
    if numbers.low is not None and numbers.high is not None and numbers.low > numbers.high:
        return
    if numbers.multiples:
        yield from _multiples(numbers, _common_multiple(numbers.multiples))
    elif numbers.low is not None and numbers.low == numbers.high:
        yield from filter(numbers.has, (numbers.low,))
    else:
        yield from _dense(numbers)


def _multiples(numbers: NumberSet, step: Fraction) -> Iterator[Fraction]:
    """Yield the multiples of a step, those near zero first; whether one is a multiple of others repeats in a period."""
    first = None if numbers.low is None else ceil(numbers.low / step)
    last = None if numbers.high is None else floor(numbers.high / step)
    period = 1
    for other in numbers.others:
        period = lcm(period, (step / other).denominator)
    count = period + 2  # bounds may exclude the first and the last
    if first is not None and last is not None and last - first < MAX_PERIOD:
        count = last - first + 1
    elif count > MAX_PERIOD:
        raise MoreNumbersError
    found = False
    for factor in _factors(first, last, count):
        if numbers.has(factor * step):
            found = True
            yield factor * step
    if found and not (first is not None and last is not None and last - first < MAX_PERIOD):
        yield from (number for number in _further(first, last, count, step) if numbers.has(number))
        raise MoreNumbersError


def _factors(first: int | None, last: int | None, count: int) -> Iterator[int]:
    if first is not None and (last is None or first >= 0 or last - first < count):
        yield from range(first, first + count if last is None else min(last + 1, first + count))
    elif last is not None and (first is None or last <= 0):
        yield from range(last, last - count, -1)
    else:
        yield from range(count)  # zero is between the bounds, and the period does not depend on the place
        yield from range(-1, -count, -1)


def _further(first: int | None, last: int | None, count: int, step: Fraction) -> Iterator[Fraction]:
    """Yield some multiples that follow those of the first period."""
    start = first + count if first is not None else -count - 1 if last is None else last - count
    sign = 1 if first is not None else -1
    for number in range(MAX_PERIOD):
        yield (start + sign * number) * step


def _dense(numbers: NumberSet) -> Iterator[Fraction]:
    """Yield numbers of an interval, which are infinitely many: those that are easy to read first."""
    low, high = numbers.low, numbers.high
    for step in (Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000)):
        start = low if low is not None else (high - 4 if high is not None else Fraction(0))
        base = Fraction(floor(start / step)) * step
        yield from filter(numbers.has, (base + number * step for number in range(12)))
    if low is None or high is None:
        raise MoreNumbersError
    for divisor in range(2, MAX_PERIOD):
        yield from filter(numbers.has, (low + (high - low) / divisor, low + (high - low) * 3 / (4 * divisor)))
    raise MoreNumbersError


def _common_multiple(numbers: tuple[Fraction, ...]) -> Fraction:
    """Return the least common multiple of fractions."""
    found = numbers[0]
    for other in numbers[1:]:
        found = Fraction(lcm(found.numerator, other.numerator), gcd(found.denominator, other.denominator))
    return found
