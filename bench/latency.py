"""Measure the latency of pings while handlers keep a server busy: `python bench/latency.py [--seconds 5] [FORM ...]`.

Pings are sent every 5 ms, each after the answer to the last. Printed are milliseconds: median, 99th percentile,
maximum.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time

import handlers
import places
import wire

EVERY = 0.005
GOALS = {"idle": 0.0, "a handler sleeps": 10.0, "a handler burns CPU": 40.0, "200 slow calls run": 50.0}


class Busy:
    """A server and the calls that keep it busy."""

    def __init__(self, form: str) -> None:
        self.server = wire.Server([str(places.clean_python()), str(handlers.server(form))], places.environment())
        self.server.start()
        for _ in range(5):
            self.server.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}})

    def keep(self, tool: str, seconds: int, count: int) -> None:
        """Start `count` calls of a tool."""
        for _ in range(count):
            self.server.number += 1
            params = {"name": tool, "arguments": {"seconds": seconds}}
            self.server.write(wire.request(self.server.number, "tools/call", params))

    def pings(self, seconds: float) -> list[float]:
        """Return the latencies of pings during `seconds`."""
        taken = []
        end = time.perf_counter() + seconds
        while (began := time.perf_counter()) < end:
            self.server.ask("ping", {})
            taken.append(time.perf_counter() - began)
            time.sleep(max(0.0, EVERY - taken[-1]))
        return taken


def rows(form: str, seconds: int) -> None:
    """Measure one form and print its rows."""
    works = {
        "idle": ("sleep", 0),
        "a handler sleeps": ("sleep", 1),
        "a handler burns CPU": ("burn", 1),
        "200 slow calls run": ("sleep", 200),
    }
    for name, (tool, count) in works.items():
        busy = Busy(form)
        busy.keep(tool, seconds + 1, count)
        taken = busy.pings(seconds)
        most = statistics.quantiles(taken, n=100)[98] * 1e3
        limit = GOALS[name]
        verdict = "" if not limit else f"<= {limit:g} {'met' if most <= limit else 'MISSED'}"
        print(
            f"  {form:8}{name:24}{statistics.median(taken) * 1e3:8.2f}{most:8.2f}{max(taken) * 1e3:8.2f}   {verdict}",
            flush=True,
        )
        busy.server.close()


def main() -> int:
    """Run the selected measurements."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("forms", nargs="*", choices=[*handlers.FORMS, []], help="all of them if none is named")
    parser.add_argument("--seconds", type=int, default=5)
    options = parser.parse_args()
    print("  form    while                     median    99 %    most   goal")
    for form in options.forms or handlers.FORMS:
        rows(form, options.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
