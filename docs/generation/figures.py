"""Measured figures as tables, from `bench/results.json`, which `bench/run.py --save` writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from generation.markdown import table
from generation.places import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

RESULTS = ROOT / "bench/results.json"
PEERS = ("FastMCP", "Python SDK", "TypeScript SDK")


def read_results(file: Path = RESULTS) -> dict[str, Any]:
    """Return the results; `figures` and `validation` are lists of rows with `values` by name."""
    results: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return results


def shown(value: float, unit: str) -> str:
    """Return a value as people read it: 34,900, 0.91x or 9.3 MB."""
    return f"{value:,.0f}{unit}" if value >= 10 else f"{value:g}{unit}"


def peer_names(results: Mapping[str, Any]) -> list[str]:
    """Return the other servers, each with its version."""
    return [f"{name} {results['versions'][name]}" for name in PEERS]


def server_figures() -> str:
    """Return the table of all figures of servers."""
    results = read_results()
    heads = ("", "mcpc", *peer_names(results), "mcpc's goal")
    return table(heads, [figure_row(row) for row in results["figures"]])


def figure_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a figure as cells."""
    own = f"**{shown(row['values']['mcpc'], row['unit'])}**" + (f" ({row['more']})" if "more" in row else "")
    return (row["name"], own, *peer_cells(row), row.get("goal", ""))


def peer_cells(row: Mapping[str, Any]) -> list[str]:
    """Return the cells of the other servers; one that was not measured is empty."""
    return [shown(row["values"][name], row["unit"]) if name in row["values"] else "" for name in PEERS]


def chosen_figures(*keys: str) -> list[tuple[str, ...]]:
    """Return some figures as cells without notes and goals, as the first page has them."""
    rows = {row["key"]: row for row in read_results()["figures"]}
    return [(f"**{shown(rows[key]['values']['mcpc'], rows[key]['unit'])}**", *peer_cells(rows[key])) for key in keys]


def validation_figures() -> str:
    """Return the times of validators, relative to mcpc."""
    results = read_results()["validation"]
    names = [name for name in results[0]["values"] if name != "mcpc"]
    rows = [
        (f"{row['name']} ({row['microseconds']} µs)", *(shown(row["values"][name], "x") for name in names))
        for row in results
    ]
    return table(("", *names), rows)


def provenance() -> str:
    """Return on what the figures were measured."""
    results = read_results()
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    return f"Measured in one run on {results['machine']}: {versions}.\n"
