"""Search for patterns on which Python's backtracking matcher takes very long; each verdict has a text that shows it.

A candidate is found in the pattern's automaton, and its steps are counted, so that only real cases are reported.  A
pattern that is too large for the analysis is not reported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.schema.ecma.ambiguity import ReDoSWitness, endings, exponential, polynomial
from mcpc.schema.ecma.automaton import TooLargeError, automaton
from mcpc.schema.ecma.machine import Machine
from mcpc.schema.ecma.translation import parse, trimmed
from mcpc.schema.ecma.tree import Repeat, nodes
from mcpc_runtime.protocol.validation.formats.ecma_regex import PatternError

if TYPE_CHECKING:
    from mcpc.schema.ecma.automaton import Automaton
    from mcpc.schema.ecma.tree import Node

COPIES = (12, 4, 1)
"""Limits of quantifiers that are expanded; the next one is tried if the automaton becomes too large."""
MAX_STEPS = 100_000
HARMLESS_STEPS = 600_000
"""One or two milliseconds of `re`, which takes some hundred million of these steps a second."""
MAX_EFFORT = 1_000_000
"""Maximum number of steps for all texts that are tried on one pattern."""
FEW_CHARACTERS = 24
"""MAX_STEPS on so few characters count as exponential."""
MAX_PUMPS = 18
NEARLY_DOUBLE = 1.9
ROUNDING = 0.4
"""How much of a degree lower powers hide, which dominate for short texts."""
MIN_DEGREE = 3
SHOWN = 32


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the time grows with the length of a text: exponentially (`degree` None), or with a power of it.

    `example` is a short text that shows it; `attack` makes longer ones.
    """

    degree: int | None
    attack: ReDoSWitness
    times: int

    @property
    def cost(self) -> str:
        """The time in O notation."""
        return "O(2^n)" if self.degree is None else f"O(n^{self.degree})"

    @property
    def example(self) -> str:
        """The attack with the number of repetitions whose steps were counted."""
        return self.attack.text(self.times)


def backtracking(pattern: str, longest: int | None = None) -> Verdict | None:
    """Return how the time of a search for `pattern` grows, None if it is less than cubic.

    `longest`: the maximum length of a text; the result is None if no text of that length takes long.  A pattern that is
    invalid, or too large for the analysis, has no verdict.
    """
    verdict = _verdict(pattern)
    if verdict is None or longest is None:
        return verdict
    machine = Machine(trimmed(parse(pattern)), HARMLESS_STEPS)
    fitting = (longest - len(verdict.attack.text(0))) // sum(map(len, verdict.attack.pumped))
    tried = [verdict.attack.text(times) for times in (fitting, verdict.times) if 0 < times <= fitting]
    return verdict if any(machine.count(text) >= HARMLESS_STEPS for text in tried) else None


@lru_cache(maxsize=1024)
def _verdict(pattern: str) -> Verdict | None:
    try:
        root = trimmed(parse(pattern))
    except PatternError:
        return None
    given = (
        _automaton(root)
        if any(isinstance(node, Repeat) and (node.most is None or node.most > 1) for node in nodes(root))
        else None
    )
    if given is None:
        return None
    machine = Machine(root, MAX_STEPS)
    return _exponential(given, machine) or _polynomial(given, machine)


def _automaton(root: Node) -> Automaton | None:
    for copies in COPIES:
        try:
            return automaton(root, copies)
        except TooLargeError:
            continue
    return None


def _exponential(given: Automaton, machine: Machine) -> Verdict | None:
    for attack in exponential(given):
        for ending in endings(given):
            times = _explosion(attack.ending(ending), machine)
            if times:
                return Verdict(None, attack.ending(ending), times)
            if machine.total > MAX_EFFORT:
                return None
    return None


def _explosion(attack: ReDoSWitness, machine: Machine) -> int:
    """Return the number of repetitions that takes too many steps if the steps grow exponentially, otherwise 0.

    Each repetition at least doubles them in the end, so that MAX_PUMPS are enough.
    """
    counts = [machine.count(attack.text(0))]
    while len(counts) <= MAX_PUMPS and counts[-1] < MAX_STEPS:
        counts.append(machine.count(attack.text(len(counts))))
    times = len(counts) - 1
    if counts[-1] < MAX_STEPS or times == 0:
        return 0
    if len(attack.text(times)) - len(attack.text(0)) <= FEW_CHARACTERS:
        return times
    # The last text may not have been counted to its end.
    last = times - 1
    if last < 2:
        return 0
    # About so much the steps for one more repetition grow if the sum grows with the fifth power.
    fifth_power = ((last + 0.5) / (last - 0.5)) ** 4
    growth = (counts[last] - counts[last - 1]) / max(1, counts[last - 1] - counts[last - 2])
    return times if growth > max(NEARLY_DOUBLE, fifth_power) else 0


def _polynomial(given: Automaton, machine: Machine) -> Verdict | None:
    degree = polynomial(given)
    if degree is None or degree[0] < MIN_DEGREE:
        return None
    for ending in endings(given):
        times = _power(degree[1].ending(ending), machine)
        if times:
            return Verdict(degree[0], degree[1].ending(ending), times)
        if machine.total > MAX_EFFORT:
            return None
    return None


def _power(attack: ReDoSWitness, machine: Machine) -> int:
    """Return the number of repetitions that shows at least cubic growth, otherwise 0."""
    counts = [machine.count(attack.text(0))]
    times = 1
    while times <= MAX_PUMPS and counts[-1] < MAX_STEPS:
        counts.append(machine.count(attack.text(times)))
        times *= 2
    if counts[-1] >= MAX_STEPS:
        # This one was not counted to its end.
        counts.pop()
    if len(counts) < 4:
        return times // 2
    # The repetitions have doubled each time: the growth of the differences is two to the power of the degree.
    growth = math.log2(max(1, counts[-1] - counts[-2]) / max(1, counts[-2] - counts[-3]))
    return times // 2 if growth + ROUNDING >= MIN_DEGREE else 0
