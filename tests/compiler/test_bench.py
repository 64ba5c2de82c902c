"""`mcpc bench`: what is measured, budgets and their mistakes, and the gate.  No test compares times."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mcpc.diagnostics.formats import render_text
from mcpc.reading import Source
from mcpc.workbench.bench.budget import breaches, budget_text, read_budget, rounded_up, unmeasured
from mcpc.workbench.bench.model import MEASURES, Measure, percentile, spread_of
from mcpc.workbench.bench.report import amount, table, times
from support.artifact import build, mcpc
from support.files import write_files

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = '''
from mcpc import tool

@tool
def echo(text: str) -> str:
    """Return the text."""
    return text

@tool
def broken() -> str:
    """Fail."""
    raise ValueError("no such thing")
'''
FEW = ("--calls", "10", "--starts", "2", "--concurrency", "2")
ECHO = ("--tool", "echo", "--arguments", '{"text": "x"}')


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("bench")
    info = '{"serverInfo": {"name": "measured", "version": "1.0.0"}}'
    write_files(place / "project", {"server.json": info, "tools.py": TOOLS})
    return build(place / "project", place / "server.pyz", "--http")


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_everything_is_measured_against_a_floor(artifact: Path, transport: str) -> None:
    done = mcpc("bench", artifact, *ECHO, *FEW, "--transport", transport, "--format", "json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["server"] == "measured 1.0.0" and result["transport"] == transport and result["breaches"] == []
    rows = result["measures"]
    assert list(rows) == list(MEASURES)
    assert rows["size"]["value"] == artifact.stat().st_size and rows["size"]["floor"] is None
    assert all(
        row["value"] > 0 and row["floor"] > 0 and row["ratio"] > 0 for name, row in rows.items() if name != "size"
    )


def test_without_a_tool_nothing_is_called(artifact: Path) -> None:
    done = mcpc("bench", artifact, *FEW)
    assert done.returncode == 0, done.stderr
    words = [line.split()[0] for line in done.stdout.splitlines()[2:]]
    assert words == ["size", "start", "tools/list", "rss"]
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_budget_is_a_gate_and_is_written_from_a_result(artifact: Path, tmp_path: Path) -> None:
    saved = tmp_path / "budget.toml"
    done = mcpc("bench", artifact, *ECHO, *FEW, "--save", saved, "--headroom", "1000")
    assert done.returncode == 0, done.stderr
    assert mcpc("bench", artifact, *ECHO, *FEW, "--budget", saved).returncode == 0
    (tmp_path / "small.json").write_text('{"size": "1 kB", "start": "1000s", "throughput": "1e9/s"}')
    wrong = mcpc("bench", artifact, *FEW, "--budget", tmp_path / "small.json")
    assert wrong.returncode == 1 and "MCP442" in wrong.stderr
    (tmp_path / "small.json").write_text('{"size": "1 kB", "start": "1000 s"}')
    over = mcpc("bench", artifact, *FEW, "--budget", tmp_path / "small.json")
    assert over.returncode == 7
    (line,) = over.stderr.splitlines()
    assert line.startswith("over budget: size: found ") and line.endswith(", allowed 1 kB")
    assert " over" in over.stdout
    (tmp_path / "calls.toml").write_text('[call]\np95 = "9x"\n')
    unknown = mcpc("bench", artifact, *FEW, "--budget", tmp_path / "calls.toml")
    assert unknown.returncode == 7 and "--tool" in unknown.stderr


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--tool", "ehco"), 2, "did you mean `echo`?"),
        (("--tool", "echo", "--arguments", "[]"), 2, "--arguments"),
        (("--tool", "echo", "--arguments", "@/nowhere"), 2, "--arguments"),
        (("--arguments", '{"a": 1}'), 2, "--tool"),
        (("--tool", "broken"), 5, "no such thing"),
        (("--tool", "echo"), 5, "text"),
    ],
)
def test_what_cannot_be_measured_is_told(artifact: Path, words: tuple[str, ...], status: int, said: str) -> None:
    done = mcpc("bench", artifact, *FEW, *words)
    assert done.returncode == status and said in done.stderr and "Traceback" not in done.stderr


def test_test_cases_can_be_measured(artifact: Path, tmp_path: Path) -> None:
    cases = [
        {"name": "one", "tool": "echo", "arguments": {"text": "x"}},
        {"name": "fails", "tool": "broken", "expect": {"error": True}},
        {"name": "no tool", "prompt": "nothing"},
    ]
    write_files(tmp_path, {"tests/a.json": json.dumps({"tests": cases}), "other/b.json": '{"tests": []}'})
    done = mcpc("bench", artifact, *FEW, "--cases", tmp_path / "tests")
    assert done.returncode == 0, done.stderr
    assert "10 calls of echo, 2 at once" in done.stdout and "call p50" in done.stdout
    assert mcpc("bench", artifact, *FEW, "--cases", tmp_path / "other").returncode == 2
    assert mcpc("bench", artifact, *FEW, "--cases", tmp_path / "tests", "--tool", "echo").returncode == 2
    (tmp_path / "tests/a.json").write_text('{"tests": [{"tool": 1}]}')
    wrong = mcpc("bench", artifact, *FEW, "--cases", tmp_path / "tests")
    assert wrong.returncode == 1 and "error[MCP" in wrong.stderr


def test_a_file_without_http_is_told(tmp_path: Path) -> None:
    write_files(
        tmp_path / "project", {"server.json": '{"serverInfo": {"name": "a", "version": "1"}}', "tools.py": TOOLS}
    )
    artifact = build(tmp_path / "project", tmp_path / "server.pyz")
    done = mcpc("bench", artifact, *FEW, "--transport", "http")
    assert done.returncode == 4 and "built without HTTP" in done.stderr


MISTAKES = {
    'start = "fast"': ("1:1", "`start`"),
    'siez = "1 MB"': ("1:1", "did you mean `size`?"),
    'size = "1.5x"': ("1:1", '"2 MB"'),
    'start = "1 MB"': ("1:1", "`start`"),
    'start = "0x"': ("1:1", "`start`"),
    "start = 3": ("1:1", "`start`"),
    'rss = "2x"\n[call]\np95 = []': ("3:1", "`call.p95`"),
    '[call]\np50 = "2x"\np94 = "3x"': ("3:1", "`call.p94`"),
    "start = 1.5x": ("1:12", 'start = "1.5x"'),
    "": ("", "no limit"),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_of_a_budget_have_places(text: str) -> None:
    place, said = MISTAKES[text]
    _, (problem, *more) = read_budget("budget.toml", text.encode())
    assert not more and problem.code == "MCP442"
    shown = render_text((problem,), {"budget.toml": Source("budget.toml", text.encode())}, colour=False)
    assert said in shown and (not place or f"budget.toml:{place}" in shown)


def test_a_budget_in_json_is_the_same() -> None:
    toml, _ = read_budget("b.toml", b'start = "1.5x"\n[call]\np95 = "25 ms"\n')
    found, problems = read_budget("b.json", b'{"start": "1.5x", "call": {"p95": "25 ms"}}')
    assert found == toml and not problems and found[1].value == pytest.approx(0.025)
    for wrong in (b"[]", b"{", b'{"start" 1}', b"[" * 100_000):
        assert read_budget("b.json", wrong)[1]


def test_limits_are_ratios_or_values_and_of_a_rate_the_least() -> None:
    limits, _ = read_budget("b.toml", b'start = "2x"\nsize = "1 kB"\nthroughput = "10/s"\nrss = "3x"\n')
    good = [Measure("start", 1.9, 1.0), Measure("size", 1000), Measure("throughput", 10, 99), Measure("rss", 1, None)]
    bad = [Measure("start", 2.1, 1.0), Measure("size", 1001), Measure("throughput", 9, 99)]
    assert breaches(limits, good) == () and [limit.name for limit in unmeasured(limits, good)] == ["rss"]
    assert [breach.limit.name for breach in breaches(limits, bad)] == ["start", "size", "throughput"]


def test_what_is_saved_allows_what_was_found() -> None:
    measures = [Measure("size", 1_234_567), Measure("start", 0.02, 0.01), Measure("call.p95", 9.0, 3.0)]
    measures += [Measure("throughput", 10.0, 100.0)]
    limits, problems = read_budget("b.toml", budget_text(measures, 1.0).encode())
    assert not problems and len(limits) == len(measures) and not breaches(limits, measures)


@pytest.mark.parametrize("value", [0.001, 1.0, 1.234567, 99.99, 12345.6])
def test_rounding_is_upwards_and_small(value: float) -> None:
    assert value * 0.999999 <= rounded_up(value) <= value * 1.011


def test_statistics() -> None:
    assert percentile([3, 1, 2], 0.5) == 2 and percentile([1], 0.99) == 1
    assert spread_of([1.0]) == 0 and spread_of([1, 2, 3, 4, 5]) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("size", 1e6, "1.00 MB"), ("rss", 999_000, "999 kB"), ("start", 0.0123, "12.30 ms"), ("start", 1.0, "1.00 s"),
        ("throughput", 1234.4, "1,234/s"),
    ],
)  # fmt: skip
def test_a_value_is_shown_in_its_unit(name: str, value: float, text: str) -> None:
    assert amount(Measure(name, value), value) == text


@pytest.mark.parametrize(("ratio", "text"), [(9.99, "9.99x"), (10.0, "10.0x")])
def test_a_ratio_has_three_digits(ratio: float, text: str) -> None:
    assert times(ratio) == text


def test_a_table_fits_80_columns() -> None:
    measures = [Measure(name, 98_765.0, 0.5, 0.99) for name in MEASURES]
    limits, _ = read_budget("b.toml", budget_text(measures[1:], 1.0).encode())
    assert max(map(len, table(measures, limits, breaches(limits, measures)).splitlines())) <= 80
