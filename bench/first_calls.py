"""Measure the first call of a FastMCP program: with the adapter, with the framework itself, and the framework alone.

    python bench/first_calls.py [--rounds 5] [VERSION]

VERSION of FastMCP (4.2.3) is installed into `.cache/frameworks`. Each round starts all of them in turn. Printed are
medians: the milliseconds from the start to the reply to `tools/list`, and to that of a call at once, and the ratio of
the framework alone to that; the first call after 2 seconds without one, the fastest of the next 20, and their ratio;
and the resident megabytes of all processes before that call, and without the early start (`late`).
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import framework_suite
import places
import wire

LATE = {"MCPC_WITHOUT": "early-start"}
IDLE_SECONDS = 2.0


def subjects(folder: Path, version: str) -> dict[str, list[str]]:
    """Return how each is started."""
    project = folder / "project"
    project.mkdir()
    shutil.copy(places.ROOT / "bench/peers/fastmcp_server.py", project / "server.py")
    (project / "requirements.txt").write_text(f"fastmcp=={version}\n")
    found = {}
    for way in ("adapter", "original"):
        places.build(project, folder / f"{way}.pyz", folder / "cache", f"--framework={way}")
        found[way] = [str(places.clean_python()), str(folder / f"{way}.pyz")]
    python = framework_suite.installed(version)
    return {**found, "alone": [python, str(project / "server.py")]}


def measured(argv: list[str], variables: dict[str, str], idle: float) -> dict[str, float]:
    """Return the figures of one start."""
    server = wire.Server(argv, {**places.environment(), **variables})
    try:
        server.start()
        server.ask("tools/list", {})
        listed = time.perf_counter() - server.began
        time.sleep(idle)
        memory = server.memory()
        first = server.call("echo")
        called = time.perf_counter() - server.began
        return {"list": listed, "called": called, "first": first, "memory": memory,
                "warm": min(server.call("echo") for _ in range(20))}  # fmt: skip
    finally:
        server.close()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", nargs="?", default="4.2.3")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    taken: dict[tuple[str, str], list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        ways = subjects(Path(name), given.version)
        for _ in range(given.rounds):
            for way, argv in ways.items():
                taken.setdefault((way, "at once"), []).append(measured(argv, {}, 0))
                taken.setdefault((way, "idle"), []).append(measured(argv, {}, IDLE_SECONDS))
                taken.setdefault((way, "late"), []).append(measured(argv, LATE, IDLE_SECONDS))

    def median(way: str, case: str, figure: str) -> float:
        return statistics.median(row[figure] for row in taken[way, case])

    heads = ("list", "call", "ratio", "idle", "warm", "ratio", "MB", "late")
    print(f"{'FastMCP ' + given.version:<16}" + "".join(f"{head:>8}" for head in heads))
    for way in ways:
        listed, called = (1000 * median(way, "at once", figure) for figure in ("list", "called"))
        first, warm = (1000 * median(way, "idle", figure) for figure in ("first", "warm"))
        faster = 1000 * median("alone", "at once", "called") / called
        memory, late = (median(way, case, "memory") for case in ("idle", "late"))
        figures = (listed, called, faster, first, warm, first / warm, memory, late)
        print(f"{way:<16}" + "".join(f"{figure:8.1f}" for figure in figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
