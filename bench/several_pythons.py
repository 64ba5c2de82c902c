"""Time the start of a file with each Python that is here, from spawn to the reply to `initialize`, over its floor.

    python bench/several_pythons.py [--rounds N] [--instructions]

The floor of a Python is `-I -c pass` with the interpreter itself. Rows: a file that was built for this Python alone,
one for all that are here, and one for another Python alone: with an empty cache of bytecode, with what the first start
left there, and without a folder to cache it in. All are started in turn, in the same rounds. With --instructions they
are counted by valgrind, which no load of the machine changes, and one round is enough.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import places
import startup_instructions
import wire

from mcpc.emit.interpreters import MissingPythonError, interpreter
from mcpc.pack.prologue import START

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MINORS = ("3.11", "3.12", "3.13", "3.14", "3.15")
HELLO = wire.request(wire.FIRST_ID, "initialize", wire.CLIENT)
CACHES = places.CACHE / "bytecode"


@dataclass(frozen=True)
class Start:
    """A start that is measured: its command, and the folder of its cache, which is emptied before if it is to be."""

    name: str
    argv: tuple[str, ...]
    cache: str = "/dev/null"
    is_first: bool = False

    def prepare(self) -> dict[str, str]:
        """Return the environment of the start."""
        if self.is_first:
            shutil.rmtree(self.cache, ignore_errors=True)
        return {**places.environment(), "MCPC_RUNTIME_CACHE": self.cache}

    def seconds(self) -> float:
        """Start it; return how long it took to end, after one reply if it is a server."""
        environment = self.prepare()
        began = time.perf_counter()
        done = subprocess.run(self.argv, input=HELLO, capture_output=True, env=environment, check=True)
        took = time.perf_counter() - began
        if self.name != "floor" and b'"serverInfo"' not in done.stdout:
            raise SystemExit(f"{self.name} replied {done.stdout!r}")
        return took

    def instructions(self) -> float:
        """Return the instructions of the same, and of a list of tools."""
        return startup_instructions.instructions(self.argv, self.prepare())[0]


def starts(python: str, minor: str, files: dict[str, Path]) -> Iterator[Start]:
    """Yield the starts of a Python; the floor comes first."""
    yield Start("floor", (python, "-I", "-c", "pass"))
    command = (python, "-ISc", START)
    yield Start("built for it alone", (*command, str(files[minor])))
    yield Start("built for all", (*command, str(files["all"])))
    another = next(other for other in files if other not in (minor, "all"))
    for name, folder, is_first in (("first", minor, True), ("second", minor, False), ("never cached", "", False)):
        cache = str(CACHES / folder) if folder else "/dev/null"
        yield Start(f"built for {another}: {name}", (*command, str(files[another])), cache, is_first)


def built_files(minors: list[str]) -> dict[str, Path]:
    """Build a small project for each Python alone, and for all of them."""
    project = places.write_project(places.CACHE / "projects/several", 1)
    made = {}
    for name, python in (*((minor, minor) for minor in minors), ("all", ",".join(minors))):
        made[name] = places.CACHE / f"for-{name}.pyz"
        places.build(project, made[name], places.CACHE / "builds", "--python", python, "--no-smoke")
    return made


def found_minors() -> dict[str, str]:
    """Return the interpreters that are here by their versions."""
    found = {}
    for minor in MINORS:
        try:
            found[minor] = interpreter(minor)
        except MissingPythonError:
            continue
    return found


def main() -> int:
    """Print a table for each Python."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--instructions", action="store_true")
    options = parser.parse_args()
    pythons = found_minors()
    if len(pythons) < 2:
        sys.exit("two Pythons are needed")
    files = built_files([*pythons])
    for minor, python in pythons.items():
        rows = [*starts(python, minor, files)]
        measured: dict[str, list[float]] = {row.name: [] for row in rows}
        for _ in range(1 if options.instructions else options.rounds):
            for row in rows:
                measured[row.name].append(row.instructions() if options.instructions else row.seconds())
        print(f"Python {minor}")
        floor = measured.pop("floor")
        for name, taken in measured.items():
            ratio = statistics.median(each / base for each, base in zip(taken, floor, strict=True))
            print(f"  {name:30} {ratio:.2f} of the floor, least {min(taken) / min(floor):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
