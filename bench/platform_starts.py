"""Time the start of a built file on Windows under Wine, over that of a Python that does nothing there, in one run.

    python bench/platform_starts.py [--rounds N]

From the spawn to the reply to `initialize`, or to the end of `python -I -c pass`. Rows: the file given to Python, and
given to it as the first lines of the file do; under each Python for Windows. A file has bytecode for the Python that
runs this benchmark, and any other Python what it cached. Needs Wine (`make wine`). Exits with status 1 if the
median of a start with bytecode exceeds the goal.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import places
import wire

sys.path.insert(0, str(places.ROOT / "tests"))

from mcpc.pack.prologue import START
from support import machines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from support.machines import Machine

GOAL = 1.2


def ended(argv: Sequence[str], environment: Mapping[str, str]) -> float:
    """Return the seconds from the spawn to the end of a program; its streams are pipes, since Wine takes no other."""
    pipe = subprocess.PIPE
    began = time.perf_counter()
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as process:
        process.wait()
        return time.perf_counter() - began


def answered(argv: Sequence[str], environment: Mapping[str, str]) -> float:
    """Return the seconds from the spawn to the reply to `initialize`."""
    pipe = subprocess.PIPE
    line = wire.request(wire.FIRST_ID, "initialize", wire.CLIENT)
    began = time.perf_counter()
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, bufsize=0) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(line)
        reply = process.stdout.readline()
        took = time.perf_counter() - began
        if b'"result"' not in reply:
            raise ValueError(f"{argv} answered {reply!r}")
        process.stdin.close()
        process.wait()
    return took


def measures(machine: Machine) -> dict[str, Callable[[], float]]:
    """Return what is measured on a machine, the unit first."""
    target = places.CACHE / "platform-starts.pyz"
    environment = machine.environment()
    bare = [*machine.python, "-I", "-c", "pass"]
    rows = {
        "python server.pyz": machine.command(target),
        "as the first lines": [*machine.python, "-I", "-S", "-c", START, machine.path(target)],
    }
    found: dict[str, Callable[[], float]] = {"python -I -c pass": lambda: ended(bare, environment)}
    return found | {name: (lambda argv=argv: answered(argv, environment)) for name, argv in rows.items()}  # type: ignore[misc]


def ratios(rows: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, tuple[float, float]]:
    """Return the median and the minimum of each row over those of the first one; rounds alternate in order."""
    times: dict[str, list[float]] = {name: [] for name in rows}
    for number in range(rounds):
        for name in list(rows)[:: -1 if number % 2 else 1]:
            times[name].append(rows[name]())
    unit, *others = rows
    middle, least = statistics.median(times[unit]), min(times[unit])
    return {name: (statistics.median(times[name]) / middle, min(times[name]) / least) for name in others}


def main() -> int:
    """Measure, and print ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    project = places.write_project(places.CACHE / "projects/10", 10)
    places.build(project, places.CACHE / "platform-starts.pyz", places.CACHE / "builds")
    kept = True
    for version in machines.VERSIONS:
        has_bytecode = version == f"{sys.version_info[0]}.{sys.version_info[1]}"
        for name, (median, least) in ratios(measures(machines.machine(f"wine-{version}")), options.rounds).items():
            kept = kept and (not has_bytecode or median <= GOAL)
            source = "bytecode" if has_bytecode else "sources"
            print(f"{version} from {source:<9} {name:<20} {median:5.2f}x of python -I -c pass (least {least:.2f}x)")
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())
