"""Tests of `mcpc test --fuzz`: a fault in each of twenty handlers is found, and none in their twins without it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpc.workbench.testing.fuzzing import FuzzPlan, fuzz_tool
from mcpc.workbench.testing.servers import Connection, Served
from support.artifact import built_fixture, mcpc
from support.faulty_handlers import ROWS, project

EXAMPLES = 50


built = built_fixture(project(), programs=("bash", "jq"))


@pytest.fixture(scope="module")
def connection(built: Path) -> Iterator[Connection]:
    with Connection(Served(built, built.parent, {})) as connected:
        yield connected


@pytest.fixture(scope="module")
def tools(built: Path) -> dict[str, dict[str, object]]:
    done = mcpc("inspect", built, "--format", "json")
    return {tool["name"]: tool for tool in json.loads(done.stdout)["tools"]}


@pytest.mark.parametrize("name", [row.name for row in ROWS])
def test_a_fault_is_found(name: str, connection: Connection, tools: dict[str, dict[str, object]]) -> None:
    plan = FuzzPlan(seed=1, examples=EXAMPLES)
    (fault,) = fuzz_tool(tools[name], connection, plan)
    assert fault.is_accepted
    assert len(json.dumps(fault.arguments)) < 60  # it was made small
    if name == "leap_day":
        assert list(fuzz_tool(tools[name], connection, plan)) == [fault]  # the same seed finds the same
    assert list(fuzz_tool(tools[f"right_{name}"], connection, plan)) == []


def test_the_report_has_what_repeats_it(built: Path, tmp_path: Path) -> None:
    words = ("--fuzz-tool", "leap_day", "--seed", "3", "--examples", "40")
    done = mcpc("test", built, "--cases", tmp_path, "--fuzz", *words, "--junit", tmp_path / "junit.xml", status=1)
    assert f"repeat    mcpc test {built} --seed 3 --examples 40 --fuzz-tool leap_day" in done.stdout
    assert "day: '2" in done.stdout and "tool: leap_day" in done.stdout
    assert 'failures="1"' in (tmp_path / "junit.xml").read_text()


@pytest.mark.parametrize("words", [("test", "--fuzz", "--fuzz-tool"), ("inspect", "--tool")], ids=["test", "inspect"])
def test_a_tool_that_is_not_there_is_told_with_those_that_are(built: Path, words: tuple[str, ...]) -> None:
    done = mcpc(words[0], built, *words[1:], "leap", status=2)
    assert "the server has no tool `leap`; it has `" in done.stderr and "`empty_text`" in done.stderr
