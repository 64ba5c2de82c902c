"""Measure the latency of pings while a server receives worst-case arguments for its patterns.

    python bench/patterns.py [--seconds 5] [NAME ...]

Each row of `tests/system/hostile_patterns.py` is a tool and an argument of a megabyte for it. It is sent again after
each answer; meanwhile a `ping` is sent every 5 ms over the same pipes, and over HTTP a request for `/healthz` over
another connection. Printed are milliseconds, median and 99th percentile, the latter as a multiple of an idle server's
median, and the CPU milliseconds per call, including pings, which do not depend on the machine's load. Exit status 1 if
a 99th percentile is above 50 ms.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import places
import wire

sys.path.append(str(places.ROOT / "tests"))

from support.serving import Served, served
from support.talking import META, VERSION
from system.hostile_patterns import ROWS, call, write_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EVERY = 0.005
GOAL = 50.0
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": VERSION,
    "Mcp-Method": "tools/call",
}


def sampled(ask: Callable[[], None], seconds: float) -> list[float]:
    """Return the milliseconds of each request, repeated for `seconds`."""
    taken = []
    end = time.perf_counter() + seconds
    while (began := time.perf_counter()) < end or len(taken) < 2:
        ask()
        taken.append(1e3 * (time.perf_counter() - began))
        time.sleep(max(0.0, EVERY - taken[-1] / 1e3))
    return taken


class Piped:
    """A server on pipes; calls are sent between pings, the next one after each answer."""

    def __init__(self, artifact: Path) -> None:
        self.server = wire.Server([str(places.clean_python()), str(artifact)], places.environment())
        self.server.start()
        self.pid = self.server.pid
        self.lock = threading.Lock()
        self.replies: dict[int, threading.Event] = {}
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        """Distribute replies."""
        while True:
            identifier = json.loads(self.server.line()).get("id")
            if identifier in self.replies:
                self.replies.pop(identifier).set()

    def ask(self, line: bytes, identifier: int) -> None:
        """Write a request and wait for its reply."""
        self.replies[identifier] = answered = threading.Event()
        with self.lock:
            self.server.write(line)
        answered.wait()

    def ping(self) -> None:
        """Send a ping and wait for its reply."""
        self.server.number += 1
        self.ask(wire.request(self.server.number, "ping", {}), self.server.number)

    def feed(self, name: str, number: int) -> None:
        """Call a tool with its worst argument."""
        self.ask(call(name, number) + b"\n", number)


class Listening:
    """A server over HTTP: one connection for calls, another one for probes."""

    def __init__(self, server: Served) -> None:
        place = urlsplit(server.url)
        self.pid = server.process.pid
        self.path = place.path
        self.probes, self.calls = (http.client.HTTPConnection(place.hostname or "", place.port) for _ in range(2))

    def ping(self) -> None:
        """Send a probe and wait for its reply."""
        self.probes.request("GET", "/healthz")
        self.probes.getresponse().read()

    def feed(self, name: str, number: int) -> None:
        """Call a tool with its worst argument."""
        self.calls.request("POST", self.path, call(name, number, META), {**HEADERS, "Mcp-Name": name})
        self.calls.getresponse().read()


def fed(server: Piped | Listening, name: str, seconds: float) -> tuple[list[float], int]:
    """Return the latencies of pings while a tool is called repeatedly, and the number of calls."""
    ended = threading.Event()
    count = 0

    def feed() -> None:
        nonlocal count
        while not ended.is_set():
            count += 1
            server.feed(name, count)

    server.feed(name, 1_000_000)  # what is loaded by the first call is no part of this
    feeding = threading.Thread(target=feed)
    feeding.start()
    taken = sampled(server.ping, seconds)
    ended.set()
    feeding.join()
    return taken, count


def processor(pid: int) -> float:
    """Return the CPU milliseconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1e3 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def figures(taken: list[float]) -> tuple[float, float]:
    """Return the median and the 99th percentile."""
    return statistics.median(taken), statistics.quantiles(taken, n=100)[98]


def rows(title: str, server: Piped | Listening, names: list[str], seconds: float) -> Iterator[bool]:
    """Measure one server and print its rows; yield whether each is within the goal."""
    quiet, worst = figures(sampled(server.ping, seconds))
    print(f"{title:10} {'quiet':22} {quiet:8.2f} {worst:8.2f}")
    for name in names:
        before = processor(server.pid)
        taken, count = fed(server, name, seconds)
        each = (processor(server.pid) - before) / (count + 1)
        median, most = figures(taken)
        print(f"{title:10} {name:22} {median:8.2f} {most:8.2f} {most / quiet:8.0f} x {each:8.1f}", flush=True)
        yield most <= GOAL


def main() -> int:
    """Measure the named rows, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ROWS))
    options = parser.parse_args()
    names = options.names or list(ROWS)
    with tempfile.TemporaryDirectory() as folder:
        artifact = Path(folder) / "server.pyz"
        project = write_project(Path(folder) / "project")
        words = [sys.executable, "-m", "mcpc", "build", str(project), "-o", str(artifact), "--http"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print(f"{'':33} {'p50':>8} {'p99':>8} {'of quiet':>10} {'CPU':>8}")
        met = list(rows("ping", Piped(artifact), names, options.seconds))
        with served(artifact) as server:
            met += rows("/healthz", Listening(server), names, options.seconds)
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
