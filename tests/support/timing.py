"""Whether the time that a comparison takes tells how much of a guess was right: Welch's t, in three rounds."""

import random
import statistics
import time
from collections.abc import Callable

LENGTHS = [0, 1, 4, 16, 32, 42]
"""How much of a guess is right."""
LONG = 48
"""Bytes of randomness in a token that is guessed: so many that no guess is made twice, which could be quicker."""
ROUNDS = 3


def differences(find: Callable[[str], object], right: str, each: int) -> dict[int, float]:
    """Welch's t of the time that a wrong token takes, by how much of it is right, against none of it."""
    tries = [(size, right[:size] + "".join(random.choices("_-", k=len(right) - size))) for size in LENGTHS * each]
    random.shuffle(tries)
    tries = [(size, "".join(list(wrong))) for size, wrong in tries]  # so that they lie in memory as they come
    taken: dict[int, list[int]] = {size: [] for size in LENGTHS}
    for size, wrong in tries:
        begun = time.perf_counter_ns()
        find(wrong)
        ended = time.perf_counter_ns()
        taken[size].append(ended - begun)
    middle = {size: sorted(times)[: len(times) * 9 // 10] for size, times in taken.items()}
    error = {size: statistics.variance(times) / len(times) for size, times in middle.items()}
    mean = {size: statistics.fmean(times) for size, times in middle.items()}
    return {size: (mean[size] - mean[0]) / (error[size] + error[0]) ** 0.5 for size in LENGTHS[1:]}


def tells(find: Callable[[str], object], right: str, each: int = 6000) -> list[int]:
    """The sizes whose time differs, in the same direction, in each of three rounds: one alone may be the machine's."""
    rounds = [differences(find, right, each) for _ in range(ROUNDS)]
    return [size for size in LENGTHS[1:] if all(t[size] > 3.3 for t in rounds) or all(t[size] < -3.3 for t in rounds)]
