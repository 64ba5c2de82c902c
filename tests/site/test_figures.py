"""Figures: one file of data, from which tables and charts follow."""

import runpy
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from generation import figures
from support.needs import ROOT

CHARTS: dict[str, Any] = runpy.run_path(str(ROOT / "bench/charts.py"))
IMAGES = ROOT / "docs/images"


def test_charts_are_those_of_the_data() -> None:
    drawn = dict(CHARTS["charts"](figures.read_results()))
    assert {file.name for file in IMAGES.glob("bench-*.svg")} == set(drawn)
    for name, text in drawn.items():
        assert (IMAGES / name).read_text(encoding="utf-8") == text, f"{name}: `python bench/charts.py` draws it again"


@pytest.mark.parametrize("page", ["README.md", "docs/README.md"])
def test_figures_of_first_pages_are_those_of_the_data(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    heads = " | ".join(figures.peer_names(figures.read_results()))
    assert f"| mcpc | {heads} |" in text
    for row in figures.chosen_figures("start", "memory", "rate"):
        assert f" | {' | '.join(row)} |" in text


@pytest.mark.parametrize("name", [file.name for file in sorted(IMAGES.glob("*.svg"))])
def test_every_picture_has_a_description_and_refers_to_nothing(name: str) -> None:
    text = (IMAGES / name).read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).attrib["aria-label"]
    rest = text.replace("http://www.w3.org/2000/svg", "")
    assert not [word for word in ("http", "url(", "@import", "@font", "<script", "<image") if word in rest]


def test_names_and_values_cannot_become_markup() -> None:
    chart = CHARTS["Chart"]("<a> & b", "c")
    drawn = CHARTS["bars"](chart, {"mcpc": 1.0, "<script>": 2.0}, "x")
    ElementTree.fromstring(drawn)
    assert "<script>" not in drawn


def test_measured_values_replace_those_of_the_same_servers_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs/images").mkdir(parents=True)
    results = tmp_path / "results.json"
    shutil.copy(figures.RESULTS, results)
    monkeypatch.setitem(CHARTS["save"].__globals__, "RESULTS", results)
    monkeypatch.setitem(CHARTS["save"].__globals__, "IMAGES", tmp_path / "docs/images")
    CHARTS["save"]([("start", "mcpc", 0.8765), ("rate", "TypeScript SDK 2", 9123.4), ("rate", "Bash tool", 1.0)])
    rows = {row["key"]: row["values"] for row in figures.read_results(results)["figures"]}
    assert rows["start"] == {"mcpc": 0.88, "FastMCP": 95, "Python SDK": 70, "TypeScript SDK": 17}
    assert rows["rate"] == {"mcpc": 34900, "FastMCP": 530, "Python SDK": 750, "TypeScript SDK": 9120}
    assert "0.88x" in (tmp_path / "docs/images/bench-start.svg").read_text()
