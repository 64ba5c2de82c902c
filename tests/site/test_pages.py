"""Figures: one file of data, from which tables and charts follow."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.text import Text

from generation import figures
from generation.terminal import SESSION, TARGET, picture, record, transcript
from support.artifact import CACHE, SOURCES, store
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


def test_the_picture_shows_what_is_printed_now(tmp_path: Path) -> None:
    now = transcript(picture(record(tmp_path)))
    assert [line for line in now if line.startswith("$ ")] == [f"$ {command}" for command in SESSION]
    assert transcript(TARGET.read_text(encoding="utf-8")) == now, "`make picture` records it again"


def test_the_picture_is_in_the_readme_and_refers_to_nothing() -> None:
    assert TARGET.relative_to(ROOT).as_posix() in (ROOT / "README.md").read_text(encoding="utf-8")
    svg = TARGET.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert "http" not in svg
    assert "url(" not in svg
    assert "@" not in svg


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a <b> & c", "a &lt;b&gt; &amp; c"),
        ("\x1b[1;31merror\x1b[0m: x", '<text x="18" y="58" textLength="42" class="b" style="fill:#ff7b72"'),
    ],
)
def test_text_is_escaped_and_keeps_its_colours(text: str, part: str) -> None:
    assert part in picture([Text.from_ansi(text)])


PAGE = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
ELSEWHERE = ("pipx", "mcpc dev")
"""Commands that are run elsewhere: README's installation, and a server that ends with its client."""


REFUSED = "unit=kelvin"
"""What the tutorial has refused."""


def run(command: str, folder: Path) -> str:
    """Run a command of the page; return what it prints, and fail if it is not understood."""
    environment = {
        "HOME": str(folder / "home"),
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": SOURCES,
        CACHE: str(store() / "cache"),
        "COLUMNS": "80",
    }
    done = subprocess.run(
        shlex.split(command, comments=True), cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False,
        executable=shutil.which(command.split()[0], path=environment["PATH"]),
    )  # fmt: skip
    assert done.returncode == (5 if REFUSED in command else 0), f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@pytest.mark.slow
def test_the_tutorial_is_true(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/mcpc"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mcpc "$@"\n')
    program.chmod(0o755)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for line in readme.split("```\n")[1].splitlines():  # whoever has followed README goes on here
        if not line.startswith(ELSEWHERE):
            run(line, tmp_path)
    printed, commands_run, lines = "", 0, 0
    for language, text in BLOCKS:
        if language == "python":
            (tmp_path / "weather/server.py").write_text(text, encoding="utf-8")
        elif language == "yaml":
            (tmp_path / "weather/tests/tools.yaml").write_text(text, encoding="utf-8")
        elif language == "text":
            assert text in printed
        else:
            commands = [line.removeprefix("$ ") for line in text.splitlines()]
            commands = [each for each in commands if not each.startswith((*ELSEWHERE, "mcpc new"))]
            printed = "".join(run(each, tmp_path) for each in commands)
            commands_run, lines = commands_run + len(commands), lines + len(printed.splitlines())
            if "unit=fahrenheit" in text:
                assert printed.startswith("87.8 °F\n")
    assert "weather.pyz" in (tmp_path / "home/.cursor/mcp.json").read_text()
    sys.stdout.write(f"\ntutorial: {commands_run} commands, {lines} lines of output\n")
