"""Tests of the native front end: which directories it knows, what it finds in them, what it says of the rest."""

from __future__ import annotations

import pytest

from mcpc.diagnostics.formats import FORMATS
from mcpc.frontends import FRONTENDS, select_frontends
from mcpc.options import Options
from support.projects import SERVER_JSON, SMOKETEST, Files, parsed, tree

TOOL = '{"name": "a", "inputSchema": {"type": "object"}}'
BASH = "tool_a() { :; }\n"
PROMPT = '{"name": "p"}'


def names(files: Files, kind: str) -> list[object]:
    definition, _ = parsed(files)
    assert definition is not None
    values = [item.node.value for item in getattr(definition, kind)]
    return [value["name"] if isinstance(value, dict) else value for value in values]


@pytest.mark.parametrize(
    "path",
    ["server.json", "tools.json", "tools.d/a.json", "prompts.json", "prompts.d/a.json", "tools.bash", "prompts.bash"],
)
def test_one_file_of_the_format_is_enough_to_be_recognised(path: str) -> None:
    found, problems = select_frontends(tree({path: "{}"}), Options())
    assert [frontend.name for frontend in found] == ["native"]
    assert problems == ()


@pytest.mark.parametrize(
    "path", ["servers.json", "a/sub/server.json", "tools.d/sub/a.json", "tools.d/a.txt", "tools", "tools.py", "README"]
)
def test_other_files_are_no_project(path: str) -> None:
    found, problems = select_frontends(tree({path: "{}"}), Options())
    assert found == ()
    assert [problem.code for problem in problems] == ["MCP009"]
    assert "server.json" in problems[0].expected
    assert "mcpc new" in problems[0].hint


def test_every_format_is_told_of_in_a_line_of_its_own() -> None:
    _, problems = select_frontends(tree({"README": ""}), Options())
    lines = FORMATS["text"](problems, {}).splitlines()
    assert lines[1] == "  = expected: one of"
    formats = [line.removeprefix("    - ").partition(":")[0] for line in lines[2:-3]]
    assert formats == [frontend.name for frontend in FRONTENDS]
    assert not any(line.endswith("…") for line in lines)


def test_an_empty_directory_is_no_project() -> None:
    assert [problem.code for problem in select_frontends(tree({}), Options())[1]] == ["MCP009"]


@pytest.mark.parametrize("name", ["native", "mcbox"])
def test_a_format_can_be_forced_by_name_or_alias(name: str) -> None:
    found, problems = select_frontends(tree({"README": ""}), Options(format=name))
    assert found == FRONTENDS[:1]
    assert problems == ()


def test_a_format_nobody_knows_is_refused_with_the_nearest() -> None:
    found, problems = select_frontends(tree(SMOKETEST), Options(format="nativ"))
    assert found == ()
    assert [(problem.code, problem.hint) for problem in problems] == [("MCP009", "did you mean `native`?")]
    assert "`mcbox`" in problems[0].expected


def test_names_of_formats_are_unique() -> None:
    known = [name for frontend in FRONTENDS for name in (frontend.name, *frontend.aliases)]
    assert len(known) == len(set(known))


def test_a_whole_project_is_read_without_a_word() -> None:
    definition, problems = parsed(SMOKETEST)
    assert problems == ()
    assert definition is not None
    assert definition.server is not None
    assert definition.complete
    assert definition.format == "native"
    assert {library.contract for library in definition.libraries} == {"mcbox"}
    assert names(SMOKETEST, "tools") == ["smoketest", "smoketest_fail", "echo_token", "echo_token_fail"]
    assert [library.source.path for library in definition.libraries] == ["tools.bash"]
    assert [source.path for source in definition.sources] == ["server.json", "tools.bash", "tools.json"]
    assert definition.beside == ()


def test_everything_else_lies_beside() -> None:
    files = SMOKETEST | {"lib/helper.py": "", "data.json": "{}", "sub/tools.json": "{", "server.json.bak": "{"}
    definition, problems = parsed(files)
    assert problems == ()
    assert definition is not None
    assert [source.path for source in definition.beside] == [
        "data.json",
        "lib/helper.py",
        "server.json.bak",
        "sub/tools.json",
    ]


def test_an_unreadable_file_does_not_hide_the_others() -> None:
    definition, _ = parsed(
        {"server.json": SERVER_JSON, "tools.json": "{", "prompts.json": '{"prompts": [{"name": "p"}]}'}
    )
    assert definition is not None
    assert definition.server is not None
    assert len(definition.prompts) == 1


def test_prompts_may_be_implemented_in_the_bash_file_of_the_tools() -> None:
    files: Files = {"server.json": SERVER_JSON, "prompts.json": f'{{"prompts": [{PROMPT}]}}', "tools.bash": ""}
    assert parsed(files)[1] == ()
