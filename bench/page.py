"""Measure the page of a server with 10,000 tools in Chromium: its bytes, the first paint, and the filter.

    python bench/page.py [--tools 10000] [--rounds 7]

Prints the median of each, beside the limit of issue 17.  Chromium is Debian's; the server runs on this machine.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import places
from playwright.sync_api import sync_playwright

from mcpc.pack.runtime import page_sources

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
LIMITS = {"bytes": 200_000, "first paint, ms": 300.0, "filter, ms": 50.0}
FILTERS = ("9", "99", "tool 777", "nothing that is there", "")
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
FILTER = """text => {
  const input = document.getElementById("filter");
  const began = performance.now();
  input.value = text;
  input.dispatchEvent(new Event("input"));
  document.getElementById("list").getBoundingClientRect();
  return performance.now() - began;
}"""


@contextmanager
def serving(artifact: Path) -> Iterator[str]:
    """Serve a built file with its page; yield the address of the page."""
    command = [sys.executable, str(artifact), "serve", "--http", "127.0.0.1:0", "--ui"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield next(found[1] for line in process.stderr or () if (found := re.search(r"people is (\S+)", line)))
        finally:
            process.terminate()


def first_paint(browser: Browser, address: str) -> float:
    """Return the milliseconds until a new visitor's page is painted, from the start of its navigation."""
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(address)
    tab.wait_for_function(f"{PAINTED} !== undefined")
    found = float(tab.evaluate(PAINTED))
    context.close()
    return found


def filter_times(tab: Page) -> list[float]:
    """Return the milliseconds of each filter until its rows are laid out."""
    return [float(tab.evaluate(FILTER, text)) for text in FILTERS]


def measure(tools: int, rounds: int) -> dict[str, float]:
    """Return the figures."""
    project = places.write_project(places.CACHE / f"projects/page-{tools}", tools)
    artifact = places.CACHE / f"server-page-{tools}.pyz"
    places.build(project, artifact, places.CACHE / "builds", "--ui")
    with serving(artifact) as address, sync_playwright() as player:
        browser = player.chromium.launch(executable_path=shutil.which("chromium"), args=OPTIONS)
        paints = [first_paint(browser, address) for _ in range(rounds)]
        tab = browser.new_page()
        tab.goto(address)
        tab.wait_for_selector(".row")
        filters = [value for _ in range(rounds) for value in filter_times(tab)]
        browser.close()
    size = sum(len(data) for _, data in page_sources())
    found = statistics.median(paints), statistics.median(filters)
    return {"bytes": size, "first paint, ms": found[0], "filter, ms": found[1], "slowest filter, ms": max(filters)}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tools", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    for name, value in measure(given.tools, given.rounds).items():
        limit = f"   limit {LIMITS[name]:,.0f}" if name in LIMITS else ""
        print(f"{name:<20}{value:>12,.1f}{limit}")


if __name__ == "__main__":
    main()
