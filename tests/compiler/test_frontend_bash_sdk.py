"""Tests of the front end for the MCP Server Bash SDK: which projects are its own, and what it finds in them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpc.diagnostics import Diagnostics, Severity
from mcpc.frontends import parse_project, select_frontends
from mcpc.frontends.bash_sdk.scripts import HOOK, path_tail, reading_programs
from mcpc.model.definitions import Definition
from mcpc.options import Options
from support.bash_sdk_projects import BEGIN, CONFIG, END, RESULT, project, tools_json
from support.needs import needs
from support.projects import Files, tree
from support.whole_projects import print_cases

GOLDEN = Path(__file__).parents[1] / "golden/frontends"
ONE = "tool_one() { echo 1; }\n"


def read(files: Files, **chosen: Any) -> tuple[Definition | None, Diagnostics]:
    return parse_project(tree(files), Options(**chosen))


def sound(files: Files, **chosen: Any) -> Definition:
    definition, problems = read(files, **chosen)
    assert [problem for problem in problems if problem.severity is not Severity.NOTE] == []
    assert definition is not None
    return definition


def facts(definition: Definition) -> dict[str, tuple[Any, ...]]:
    return {value["name"]: tool.handler.facts for tool, value in zip(definition.tools, values(definition), strict=True)}


def values(definition: Definition) -> list[Any]:
    return [tool.node.value for tool in definition.tools]


def test_whole_projects(golden: Callable[[Path, str], None]) -> None:
    needs("bash")
    golden(GOLDEN / "bash_sdk.txt", print_cases(GOLDEN / "bash_sdk.cases"))


def test_its_files_are_not_taken_for_those_of_another_format() -> None:
    script = BEGIN.replace("assets/demo_", "") + ONE + END
    files = {"server.sh": script, "mcpserver_core.sh": RESULT, "tools.json": tools_json("one"), "config.json": CONFIG}
    found, _ = select_frontends(tree(files), Options())
    assert [frontend.name for frontend in found] == ["bash-sdk"]
    assert list(facts(sound(files))) == ["one"]
    definition, _ = read(files, format="native")
    assert [value["name"] for value in values(definition)] == ["one"]
    assert definition.tools[0].handler is None


def test_it_may_be_one_of_several_formats() -> None:
    more = {"server.json": CONFIG, "tools.json": tools_json("two"), "tools.bash": "tool_two() { :; }\n"}
    definition, _ = read({**project(ONE, "one"), **more})
    assert definition.format == "native+bash-sdk"
    assert [value["name"] for value in values(definition)] == ["two", "one"]


def test_a_packed_core_keeps_its_lines_and_ends_with_a_hook() -> None:
    beside = {file.path: file.data for file in sound(project(ONE, "one")).beside}
    assert beside["mcpserver_core.sh"] == RESULT.encode() + HOOK
    assert {file.path for file in reading_programs()} <= beside.keys()
    assert "assets/demo_config.json" in beside


@pytest.mark.parametrize(
    ("written", "tail"),
    [
        ('"$HERE/a/b.sh"', "a/b.sh"),
        ("$HERE/b.sh", "b.sh"),
        ('"$(dirname "${BASH_SOURCE[0]}")/../b.sh"', "../b.sh"),
        ("${X}/b.sh", "b.sh"),
        ("./b.sh", "./b.sh"),
        ('"$file"', ""),
        ('"${files[0]}"', ""),
    ],
)
def test_the_end_of_a_path(written: str, tail: str) -> None:
    assert path_tail(written) == tail


NAMED = {
    'MCP_TOOLS_LIST_FILE="${MCP_TOOLS_LIST_FILE:-$HERE/assets/demo_tools.json}"': "assets/demo_tools.json",
    ': "${MCP_TOOLS_LIST_FILE:=$HERE/assets/demo_tools.json}"': "assets/demo_tools.json",
    "export MCP_TOOLS_LIST_FILE=assets/demo_tools.json": "assets/demo_tools.json",
    'MCP_TOOLS_LIST_FILE="$SDK/lists/tools.json" # not x.json': "lists/tools.json",
    "": "assets/tools_list.json",
}


@pytest.mark.parametrize("written", NAMED)
def test_the_list_of_tools_is_the_file_that_is_named(written: str) -> None:
    begin = "\n".join(line for line in BEGIN.splitlines() if "TOOLS_LIST" not in line)
    files = project("")
    listed = files.pop("assets/demo_tools.json")
    assert isinstance(listed, str)
    files[NAMED[written]] = tools_json("one")
    if written:  # of files whose paths end so, the nearest is meant
        files[f"aside/{NAMED[written]}"] = tools_json("two")
    files["server.sh"] = f"#!/bin/bash\n{written}\n{begin}\n{ONE}{END}"
    assert list(facts(sound(files))) == ["one"]
