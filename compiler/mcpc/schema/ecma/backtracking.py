"""Search for patterns on which Python's backtracking matcher takes very long; each verdict has a text that shows it.

A text that might is found in the pattern's automaton, then counted out step by step, so that nothing is reported that
does not happen.  What is too large to be looked at is not reported either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.schema.ecma.ambiguity import ReDoSWitness, endings, exponential, polynomial
from mcpc.schema.ecma.automaton import TooLargeError, automaton
from mcpc.schema.ecma.machine import Machine
from mcpc.schema.ecma.translation import parse
from mcpc.schema.ecma.tree import Repeat, nodes
from mcpc.schema.ecma.trim import trimmed
from mcpc_runtime.validation.formats.ecma_regex import PatternError

if TYPE_CHECKING:
    from mcpc.schema.ecma.automaton import Automaton
    from mcpc.schema.ecma.tree import Node

COPIES = (12, 4, 1)
"""How often something may repeat to be looked at copy by copy; fewer, if the pattern is too large so."""
MAX_STEPS = 100_000
HARMLESS_STEPS = 600_000
"""A millisecond or two in `re`, which takes some hundred million of these steps a second."""
MAX_EFFORT = 1_000_000
"""Steps for all texts that are tried on one pattern."""
FEW_CHARACTERS = 24
"""What takes MOST_STEPS on as few is exponential for all that matters."""
MAX_PUMPS = 18
NEARLY_DOUBLE = 1.9
ROUNDING = 0.4
"""What lower powers, which weigh more while texts are short, hide of a degree."""
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
        """The time, as one writes it."""
        return "O(2^n)" if self.degree is None else f"O(n^{self.degree})"

    @property
    def example(self) -> str:
        """The attack with as many repetitions as were counted out."""
        return self.attack.text(self.times)


def backtracking(pattern: str, longest: int | None = None) -> Verdict | None:
    """Say how long looking for `pattern` can take, None if that is less than the cube of the length of the text.

    `longest`: the most characters a text can have; None if no text with as many takes long.  A pattern that is not
    valid, or too large to be looked at, has no verdict.
    """
    verdict = _judged(pattern)
    if verdict is None or longest is None:
        return verdict
    machine = Machine(trimmed(parse(pattern)), HARMLESS_STEPS)
    fitting = (longest - len(verdict.attack.text(0))) // sum(map(len, verdict.attack.pumped))
    tried = [verdict.attack.text(times) for times in (fitting, verdict.times) if 0 < times <= fitting]
    return verdict if any(machine.count(text) >= HARMLESS_STEPS for text in tried) else None


@lru_cache(maxsize=1024)
def _judged(pattern: str) -> Verdict | None:
    try:
        root = trimmed(parse(pattern))
    except PatternError:
        return None
    given = _automaton(root) if any(map(_repeats, nodes(root))) else None
    if given is None:
        return None
    machine = Machine(root, MAX_STEPS)
    return _exponential(given, machine) or _polynomial(given, machine)


def _repeats(node: Node) -> bool:
    return isinstance(node, Repeat) and (node.most is None or node.most > 1)


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
    """Return how many repetitions take too many steps if the steps grow exponentially, otherwise 0.

    Each repetition at least doubles them in the end, so that MOST_PUMPS are enough.
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
    fifth_power = ((last + 0.5) / (last - 0.5)) ** 4
    growth = (counts[last] - counts[last - 1]) / max(1, counts[last - 1] - counts[last - 2])
    return times if growth > max(NEARLY_DOUBLE, fifth_power) else 0


def _doublings(one: int, other: int) -> float:
    return math.log2(max(1, other) / max(1, one))


def _polynomial(given: Automaton, machine: Machine) -> Verdict | None:
    found = polynomial(given)
    if found is None or found[0] < MIN_DEGREE:
        return None
    for ending in endings(given):
        times = _power(found[1].ending(ending), machine)
        if times:
            return Verdict(found[0], found[1].ending(ending), times)
        if machine.total > MAX_EFFORT:
            return None
    return None


def _power(attack: ReDoSWitness, machine: Machine) -> int:
    """Return how many repetitions show that doubling the length takes some eight times the steps or more; or 0."""
    counts = [machine.count(attack.text(0))]
    times = 1
    while times <= MAX_PUMPS and counts[-1] < MAX_STEPS:
        counts.append(machine.count(attack.text(times)))
        times *= 2
    if counts[-1] >= MAX_STEPS:
        counts.pop()
    if len(counts) < 4:
        return times // 2
    growth = _doublings(counts[-2] - counts[-3], counts[-1] - counts[-2])
    return times // 2 if growth + ROUNDING >= MIN_DEGREE else 0
