"""Fuzzing that is led by coverage, with nothing but the interpreter: for where atheris cannot be installed.

Inputs that reach a line of the runtime which none reached before are kept, and changed further: their bytes, their
lines, and what stands in the JSON of a line.
"""

import json
import random
import sys
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from fuzz.subject import Subject

LONGEST = 1 << 13
STARTS = (0, 5, 70, 130, 165, 200, 230)
"""First bytes of seeds, which say how the rest is taken."""
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 1.5, 1e300, 10**30, "", "0", "1", "x", "\ud800", "\0", "a" * 300, [], {}, [[]],
    {"": {}}, {"a": None}, ["a", "a"], "@STATE@", "@ASKED@", "@TASK@", "2025-03-26", "2026-07-28",
)  # fmt: skip


class Coverage:
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


def changed(chance: random.Random, corpus: list[bytes], words: tuple[bytes, ...]) -> bytes:
    """Return one of the inputs, changed in a few places."""
    data = chance.choice(corpus)
    kind = chance.randrange(4)
    if kind == 0:
        return smeared(chance, data, corpus, words)
    if kind == 1:
        return shuffled(chance, data, chance.choice(corpus))
    for _ in range(chance.randint(1, 3)):
        data = grafted(chance, data, chance.choice(corpus))
    return data if kind == 2 else shuffled(chance, data, chance.choice(corpus))


def shuffled(chance: random.Random, data: bytes, other: bytes) -> bytes:
    """Return lines of two inputs: those of one are left out, said twice, or said by the other one."""
    lines, more = data[1:].splitlines(keepends=True), other[1:].splitlines(keepends=True)
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(lines))
        kind = chance.randrange(3)
        if kind == 0:
            del lines[at : at + 1]
        else:
            source = more if kind == 1 else lines
            lines[at:at] = [chance.choice(source)] * chance.choice((1, 1, 1, 2, 5)) if source else []
    return bytes([chance.randrange(256)]) + b"".join(lines)[:LONGEST]


def grafted(chance: random.Random, data: bytes, other: bytes) -> bytes:
    """Return an input in which a value of a line is another one, or is not there."""
    lines = data[1:].splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if line[:1] in (b"{", b"[")]
    donors = [line for line in other[1:].splitlines() if line[:1] in (b"{", b"[")]
    if not places:
        return data
    number = chance.choice(places)
    try:
        value = json.loads(lines[number])
        found = list(within(json.loads(chance.choice(donors)))) if donors else []
    except (ValueError, RecursionError):
        return data
    spots = list(within(value))
    if spots:
        holder, name = chance.choice(spots)
        kind = chance.randrange(6)
        if kind == 0:
            del holder[name]
        elif kind == 1 and type(holder) is dict:
            holder[chance.choice([str(one) for _, one in found] or ["x"])] = holder.pop(name)
        elif kind < 4 and found:
            source, key = chance.choice(found)
            holder[name] = source[key]
        else:
            holder[name] = chance.choice(ODD)
    lines[number] = json.dumps(value).encode() + b"\n"
    return data[:1] + b"".join(lines)[:LONGEST]


def within(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield where values stand: what holds each, and its name or number there."""
    names = value if type(value) is dict else range(len(value)) if type(value) is list else ()
    for name in names:
        yield value, name
        yield from within(value[name])


def smeared(chance: random.Random, whole: bytes, corpus: list[bytes], words: tuple[bytes, ...]) -> bytes:
    """Return an input with a few bytes changed."""
    data = bytearray(whole)
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(data))
        end = min(len(data), at + chance.randint(0, 12))
        kind = chance.randrange(5)
        if kind == 0:
            data[at:end] = b""
        elif kind == 1:
            data[at:at] = chance.choice(words)
        elif kind == 2:
            data[at:end] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 4)))
        elif kind == 3:
            other = chance.choice(corpus)
            cut = chance.randint(0, len(other))
            data[at:at] = other[cut : cut + chance.randint(1, 200)]
        else:
            data[at:end] = chance.choice(words)
    return bytes(data[:LONGEST])


def fuzz(subject: Subject, seconds: float, seed: int) -> tuple[int, int, int]:
    """Fuzz for so long, and until every seed was tried; return how many inputs were tried and kept, and how many lines they reached.

    Each input that fails is raised with what it was.
    """
    chance = random.Random(seed)
    corpus = [bytes([number]) + line for line in subject.seeds for number in STARTS]
    coverage = Coverage()
    tried, seeds = 0, len(corpus)
    deadline = time.monotonic() + seconds
    before = sys.gettrace()
    while tried <= seeds or time.monotonic() < deadline:
        data = corpus[tried] if tried < seeds else changed(chance, corpus, subject.words)
        # Tracing costs ten times the work: every eighth input is traced, and all seeds.
        traced = tried < seeds or tried % 8 == 0
        tried += 1
        coverage.new = False
        try:
            if traced:
                sys.settrace(coverage)
            subject.run(data)
        except Exception as problem:
            sys.settrace(before)
            raise AssertionError(f"{type(problem).__name__}: {problem}, for the input {data!r}") from problem
        finally:
            sys.settrace(before)
        if coverage.new and tried > seeds:
            corpus.append(data)
    return tried, len(corpus), len(coverage.reached)
