"""How much of what is many, or large, tests try: all of it with TESTS_FULL=1, else as much as shows what they are for.

Which cases stand for the others changes with the number of commits, and random seeds are new in each nightly run; a run
prints both (tests/conftest.py), and the variables that it prints repeat it.
"""

import os
from collections.abc import Iterable

from support.interpreters import HERE, VERSIONS

TIER, ROTATION, SEED = "TESTS_TIER", "TESTS_ROTATION", "TESTS_SEED"
"""Variables: test, check or nightly; what is added to the number of a case that is chosen; where random seeds begin."""
REACHED = "TESTS_REACHED"
"""The variable that names a file with the test files whose slow tests run."""
FULL = os.environ.get("TESTS_FULL") == "1"


def scaled(full: int, otherwise: int) -> int:
    """Return the first number with TESTS_FULL=1, else the second."""
    return full if FULL else otherwise


def seeds(count: int) -> range:
    """Return that many random seeds: the same ones every day, and new ones in a nightly run."""
    first = int(os.environ.get(SEED, "0"))
    return range(first, first + count)


def under_pythons(cases: Iterable[str]) -> list[tuple[str, str]]:
    """Return each case with this Python and with another one, the others in turn; with TESTS_FULL=1 with every Python."""
    if FULL:
        return [(case, version) for case in cases for version in VERSIONS]
    others = [version for version in VERSIONS if version != HERE]
    pairs = [((case, HERE), (case, others[number % len(others)])) for number, case in enumerate(cases)]
    return [row for both in pairs for row in both]
