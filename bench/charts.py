"""Draw the figures of `bench/results.json` as charts for the documentation: `python bench/charts.py`.

`bench/run.py --save` writes measured figures into that file.  The same data makes the same charts; they are light or
dark as the page is, and refer to no other file.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from generation.figures import RESULTS, read_results, shown  # noqa: E402 - where it is was just said

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

IMAGES = ROOT / "docs/images"
WIDTH, LABELS, VALUES, BAR, GAP, TOP, MARGIN = 640, 150, 90, 22, 12, 58, 16
STYLE = (
    "text{font:14px system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1f2328}"
    ".t{font-weight:bold}.n{fill:#57606a;font-size:12px}.o{fill:#166534}.p{fill:#8c959f}"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.n{fill:#9da7b3}.o{fill:#4ade80}.p{fill:#6e7681}}"
)


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of one figure: its title, and what a bar means, in words."""

    title: str
    note: str


CHARTS = {
    "start": Chart("Start to the first response", "times an empty Python; shorter is better"),
    "memory": Chart("Memory after tools/list", "megabytes; shorter is better"),
    "call": Chart("One call of a trivial Python tool", "times the same bytes through cat; shorter is better"),
    "rate": Chart("Calls per second, 64 at once", "longer is better"),
    "http-calls": Chart("HTTP: calls per second over 32 connections", "times FastMCP; longer is better"),
    "http-start": Chart("HTTP: process start to the first response", "seconds; shorter is better"),
}
VALIDATION = Chart("Validating eight properties of all kinds", "times mcpc; shorter is better")


def charts(results: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each chart."""
    figures = {row["key"]: row for row in results["figures"]}
    for key, chart in CHARTS.items():
        yield f"bench-{key}.svg", bars(chart, figures[key]["values"], figures[key]["unit"])
    yield "bench-validation.svg", bars(VALIDATION, results["validation"][0]["values"], "x")


def bars(chart: Chart, values: Mapping[str, float], unit: str) -> str:
    """Return a chart with one horizontal bar a value, the longest as wide as there is room."""
    height = TOP + len(values) * (BAR + GAP) + MARGIN - GAP
    words = "; ".join(f"{name} {shown(value, unit)}" for name, value in values.items())
    scale = (WIDTH - LABELS - VALUES - MARGIN) / max(values.values())
    rows = "".join(one_bar(at, name, value, unit, scale) for at, (name, value) in enumerate(values.items()))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(f"{chart.title}, {chart.note}: {words}")}">\n<style>{STYLE}</style>\n'
        f'<text class="t" x="{MARGIN}" y="24">{escape(chart.title)}</text>\n'
        f'<text class="n" x="{MARGIN}" y="44">{escape(chart.note)}</text>\n{rows}</svg>\n'
    )


def one_bar(at: int, name: str, value: float, unit: str, scale: float) -> str:
    """Return the name, the bar and the value of one row."""
    y, width = TOP + at * (BAR + GAP), max(2, round(value * scale))
    kind, bold = ("o", ' class="t"') if name == "mcpc" else ("p", "")
    return (
        f'<text x="{LABELS - 10}" y="{y + 16}" text-anchor="end"{bold}>'
        f"{escape(name)}</text>\n"
        f'<rect class="{kind}" x="{LABELS}" y="{y}" width="{width}" height="{BAR}" rx="3"/>\n'
        f'<text x="{LABELS + width + 8}" y="{y + 16}">{shown(value, unit)}</text>\n'
    )


SERVERS = {"TypeScript SDK 2": "TypeScript SDK"}
"""Names of measured servers that are others in the results."""


def save(measured: Iterable[tuple[str, str, float]]) -> None:
    """Write measured values (figure, server, value) into the results, and the charts; other rows stay as they are."""
    results = read_results(RESULTS)
    rows = {row["key"]: row["values"] for row in results["figures"]}
    for key, name, value in measured:
        server = SERVERS.get(name, name)
        if server in rows[key]:
            rows[key][server] = float(f"{value:.3g}" if value >= 1000 else f"{value:.2g}")
    RESULTS.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    main()


def main() -> None:
    """Write every chart."""
    for name, text in charts(read_results(RESULTS)):
        (IMAGES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
