"""Measure a tenant's latency while another one overloads the server: `bench/fairness.py [--seconds N] [--file FILE]`.

A server over HTTP with two tokens. B calls `echo` in a worker, in Bash and inline, sequentially over one connection,
first alone and then while A uses all of its limits; the two are measured in alternation, and the ratio counts. The goal
is 3. `--file`: an earlier build of the same project (`tests/support/tenants.py`), to compare two versions.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.serving import served  # noqa: E402
from support.tenants import QUICK, TOKENS, A, B, Tenant, calls_without_pause, slow_calls, write_project  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GOAL = 3.0
ROUNDS = 3
SETTLE_SECONDS = 3.0


@contextmanager
def sessions(a: Tenant) -> Iterator[None]:
    """Let A create more stored sessions than allowed."""
    for _ in range(4200):
        a.initialize()
        a.say("logging/setLevel", level="error")
    yield


@contextmanager
def tasks(a: Tenant) -> Iterator[None]:
    """Let A start as many tasks as allowed."""
    while "error" not in a.task(number=600):
        pass
    yield


@contextmanager
def streams(a: Tenant) -> Iterator[None]:
    """Let A open streams until it is refused."""
    opened = []
    while True:
        opened.append(a.listen())
        if opened[-1][1].status != 200:
            break
    yield
    for connection, _ in opened:
        connection.close()


@contextmanager
def calls(a: Tenant, kind: str) -> Iterator[None]:
    """Let A call 300 slow handlers."""
    with slow_calls(a, kind, 300):
        time.sleep(SETTLE_SECONDS)
        yield


@contextmanager
def everything(a: Tenant) -> Iterator[None]:
    """Let A call 100 slow handlers of each kind."""
    with ExitStack() as stack:
        for kind in QUICK:
            stack.enter_context(slow_calls(a, kind, 100))
        time.sleep(SETTLE_SECONDS)
        yield


@contextmanager
def flood(a: Tenant) -> Iterator[None]:
    """Let A call a worker's fast handler continuously over 32 connections."""
    with calls_without_pause(a, 32):
        time.sleep(SETTLE_SECONDS)
        yield


LOADS: dict[str, Callable[[Tenant], object]] = {
    "300 slow calls, worker": lambda a: calls(a, "worker"),
    "300 slow calls, Bash": lambda a: calls(a, "Bash"),
    "300 slow calls, inline": lambda a: calls(a, "inline"),
    "100 slow calls of each": everything,
    "4,200 sessions": sessions,
    "1,000 open tasks": tasks,
    "all its streams": streams,
    "32 loops of quick calls": flood,
}


def latencies(b: Tenant, tool: str, seconds: float) -> list[float]:
    """Return the durations of B's calls, in milliseconds."""
    found, until = [], time.perf_counter() + seconds
    while time.perf_counter() < until or len(found) < 20:
        began = time.perf_counter()
        b.call(tool, text="x")
        found.append((time.perf_counter() - began) * 1000)
    return found


def quantiles(times: list[float]) -> tuple[float, float]:
    """Return the median and the 99th percentile."""
    return statistics.median(times), sorted(times)[int(len(times) * 0.99) - 1]


def measure(file: Path, load: str, seconds: float) -> None:
    """Print how one load of A affects B's calls of each kind."""
    quiet: dict[str, list[float]] = {kind: [] for kind in QUICK}
    busy: dict[str, list[float]] = {kind: [] for kind in QUICK}
    for _ in range(ROUNDS):
        with served(file, environment={"MCPC_TOKENS": TOKENS}) as server:
            a, b = Tenant(server.url, A), Tenant(server.url, B)
            for kind, tool in QUICK.items():
                latencies(b, tool, 0.2)
                quiet[kind] += latencies(b, tool, seconds)
            with LOADS[load](a):  # type: ignore[attr-defined]
                for kind, tool in QUICK.items():
                    busy[kind] += latencies(b, tool, seconds)
            a.close()
            b.close()
    for kind in QUICK:
        (low, high), (low_busy, high_busy) = quantiles(quiet[kind]), quantiles(busy[kind])
        figures = f"{low:9.2f}{high:9.2f}{low_busy:9.2f}{high_busy:9.2f}{low_busy / low:8.2f}{high_busy / high:8.2f}"
        verdict = "met" if low_busy <= GOAL * low and high_busy <= GOAL * high else "MISSED"
        print(f"{load:26}{kind:8}{figures}  {verdict}", flush=True)


def build(folder: Path) -> Path:
    """Build the project."""
    file = folder / "server.pyz"
    words = [sys.executable, "-m", "mcpc", "build", str(write_project(folder / "project")), "-o", str(file), "--http"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return file


def main() -> None:
    """Measure every load, or the named ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    parser.add_argument("--file", type=Path, help="a server that was built before")
    parser.add_argument("--load", action="append", choices=tuple(LOADS), help="one of them; may come again")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mcpc-fairness-") as folder:
        file = chosen.file or build(Path(folder))
        print(f"{'A has':26}{'B calls':8}{'p50 ms':>9}{'p99':>9}{'p50 busy':>9}{'p99 busy':>9}{'p50 x':>8}{'p99 x':>8}")
        for load in chosen.load or LOADS:
            measure(file, load, chosen.seconds)


if __name__ == "__main__":
    main()
