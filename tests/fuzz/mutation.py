"""Fuzzing that is led by coverage, with nothing but the interpreter: for where atheris cannot be installed.

Inputs that reach a line of the runtime which none reached before are kept, and changed further.
"""

from __future__ import annotations

import random
import sys
import time
from typing import TYPE_CHECKING

from fuzz.target import SEEDS, TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

LONGEST = 1 << 13


class Coverage:
    """Which lines of the runtime have been reached."""

    def __init__(self) -> None:
        self.reached: set[tuple[str, int]] = set()
        self.new = False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Trace a call: only the runtime's own."""
        name = frame.f_code.co_filename
        if "mcpc_runtime" not in name and "<validator>" not in name:
            return None
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        place = (frame.f_code.co_filename, frame.f_lineno)
        if place not in self.reached:
            self.reached.add(place)
            self.new = True
        return self._line


def changed(chance: random.Random, corpus: list[bytes]) -> bytes:
    """Return one of the inputs, changed in a few places."""
    data = bytearray(chance.choice(corpus))
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(data))
        end = min(len(data), at + chance.randint(0, 12))
        kind = chance.randrange(5)
        if kind == 0:
            data[at:end] = b""
        elif kind == 1:
            data[at:at] = chance.choice(TOKENS)
        elif kind == 2:
            data[at:end] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 4)))
        elif kind == 3:
            other = chance.choice(corpus)
            cut = chance.randint(0, len(other))
            data[at:at] = other[cut : cut + chance.randint(1, 200)]
        else:
            data[at:end] = chance.choice(TOKENS)
    return bytes(data[:LONGEST])


def fuzz(target: Callable[[bytes], object], seconds: float, seed: int) -> tuple[int, int, int]:
    """Fuzz for so long; return how many inputs were tried and kept, and how many lines they reached.

    Each input that fails is raised with what it was.
    """
    chance = random.Random(seed)
    corpus = [bytes([number]) + line for line in SEEDS for number in (0, 5, 70, 130)]
    coverage = Coverage()
    tried = 0
    deadline = time.monotonic() + seconds
    before = sys.gettrace()
    while time.monotonic() < deadline:
        data = corpus[tried] if tried < len(corpus) else changed(chance, corpus)
        # Tracing costs ten times the work: every eighth input is traced, and all seeds.
        traced = tried < 200 or tried % 8 == 0
        tried += 1
        coverage.new = False
        try:
            if traced:
                sys.settrace(coverage)
            target(data)
        except Exception as problem:
            sys.settrace(before)
            raise AssertionError(f"{type(problem).__name__}: {problem}, for the input {data!r}") from problem
        finally:
            sys.settrace(before)
        if coverage.new and tried > len(SEEDS) * 4:
            corpus.append(data)
    return tried, len(corpus), len(coverage.reached)
