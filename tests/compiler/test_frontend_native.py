"""Tests of the native front end: which directories it knows, what it finds in them, what it says of the rest."""

from __future__ import annotations

import pytest

from mcpc.diagnostics.formats import FORMATS
from mcpc.frontends import FRONTENDS, select_frontends
from mcpc.options import Options
from support.projects import SERVER_JSON, SMOKETEST, Files, Place, parsed, places, tree

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


def test_projects_below_a_folder_that_is_none_are_named() -> None:
    projects = {
        "a/server.d/server.meta.json": "{}",
        "b/src/tools/x.ts": "export const schema = 1\nexport default 1",
        "c/README": "",
    }
    _, problems = select_frontends(tree(projects), Options())
    assert problems[0].hint == "projects in subfolders: `a`, `b`; name one of them"


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


def test_split_definitions_come_after_the_one_file_in_the_order_of_names() -> None:
    files: Files = {
        "server.json": SERVER_JSON,
        "tools.json": '{"tools": [{"name": "z"}]}',
        "tools.d/20-b.json": '{"tools": [{"name": "b"}, {"name": "c"}]}',
        "tools.d/10-a.json": '{"name": "a", "inputSchema": {"type": "object"}}',
        "prompts.d/2.json": '{"name": "q"}',
        "prompts.d/1.json": '{"prompts": [{"name": "p"}]}',
        "tools.bash": "",
        "tools.d/notes.txt": "",
    }
    definition, problems = parsed(files)
    assert problems == ()
    assert definition is not None
    assert names(files, "tools") == ["z", "a", "b", "c"]
    assert names(files, "prompts") == ["p", "q"]
    assert [source.path for source in definition.beside] == ["tools.d/notes.txt"]


def test_libraries_say_what_they_may_hold() -> None:
    files: Files = {"server.json": SERVER_JSON, "tools.json": f'{{"tools": [{TOOL}]}}'}
    files |= dict.fromkeys(("tools.bash", "tools.py", "prompts.bash", "prompts.py"), "")
    definition, problems = parsed(files, Options(tools_prefix="t_", prompts_prefix="p_"))
    assert problems == ()
    assert definition is not None
    assert [(library.source.path, library.language, library.prefixes) for library in definition.libraries] == [
        ("tools.bash", "bash", (("tool", "t_"), ("prompt", "p_"))),
        ("tools.py", "python", (("tool", ""), ("tool", "t_"))),
        ("prompts.bash", "bash", (("tool", "t_"), ("prompt", "p_"))),
        ("prompts.py", "python", (("prompt", ""), ("prompt", "p_"))),
    ]


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


def with_tools(text: str, **others: str) -> Files:
    return {"server.json": SERVER_JSON, "tools.json": text, "tools.bash": BASH, **others}


FAULTS: dict[str, tuple[Files, list[Place]]] = {
    "server.json missing": (
        {"tools.json": f'{{"tools": [{TOOL}]}}', "tools.bash": BASH},
        [("MCP004", "", 0, 0)],
    ),
    "server.json is no JSON": (
        {"server.json": "{", "tools.json": f'{{"tools": [{TOOL}]}}', "tools.bash": BASH},
        [("MCP002", "server.json", 1, 1)],
    ),
    "nothing defined": ({"server.json": SERVER_JSON}, [("MCP004", "", 0, 0)]),
    "nothing defined but a library": ({"server.json": SERVER_JSON, "tools.bash": BASH}, [("MCP004", "", 0, 0)]),
    "no tools in the file": (with_tools('{"tools": []}'), [("MCP107", "tools.json", 1, 1)]),
    "no prompts in the file": (
        {"server.json": SERVER_JSON, "prompts.json": '{"prompts": []}'},
        [("MCP107", "prompts.json", 1, 1)],
    ),
    "a list is no object": (with_tools(f"[{TOOL}]"), [("MCP101", "tools.json", 1, 1)]),
    "a list is no object in the folder": (
        with_tools(f'{{"tools": [{TOOL}]}}', **{"tools.d/a.json": "[]"}),
        [("MCP101", "tools.d/a.json", 1, 1)],
    ),
    "no key": (with_tools("{}"), [("MCP102", "tools.json", 1, 1)]),
    "another key": (with_tools(f'{{"tools": [{TOOL}],\n "version": 1}}'), [("MCP107", "tools.json", 2, 2)]),
    "a key like it": (
        with_tools(f'{{"tool": [{TOOL}]}}'),
        [("MCP102", "tools.json", 1, 1), ("MCP107", "tools.json", 1, 2)],
    ),
    "tools are no list": (with_tools('{"tools": {"a": 1}}'), [("MCP101", "tools.json", 1, 11)]),
    "tools are null": (with_tools('{"tools": null}'), [("MCP101", "tools.json", 1, 11)]),
    "prompts are no list": (
        with_tools(f'{{"tools": [{TOOL}]}}', **{"prompts.json": '{"prompts": "x"}'}),
        [("MCP101", "prompts.json", 1, 13)],
    ),
    "no file implements the tools": (
        {"server.json": SERVER_JSON, "tools.json": f'{{"tools": [{TOOL}, {TOOL}]}}'},
        [("MCP004", "tools.json", 1, 12)],
    ),
    "python of the other kind implements nothing": (
        {"server.json": SERVER_JSON, "prompts.json": f'{{"prompts": [{PROMPT}]}}', "tools.py": "def p(): ...\n"},
        [("MCP004", "prompts.json", 1, 14)],
    ),
    "several files, all reported": (
        {"server.json": "[", "tools.json": "]", "prompts.json": '{"prompts": 1}', "tools.bash": BASH},
        [("MCP101", "prompts.json", 1, 13), ("MCP002", "server.json", 1, 1), ("MCP002", "tools.json", 1, 1)],
    ),
}


@pytest.mark.parametrize("case", FAULTS.values(), ids=FAULTS)
def test_faults_are_reported_where_they_are(case: tuple[Files, list[Place]]) -> None:
    files, expected = case
    definition, problems = parsed(files)
    assert places(problems, files) == expected
    assert definition is not None
    assert not definition.complete


def test_an_unreadable_file_does_not_hide_the_others() -> None:
    definition, _ = parsed(
        {"server.json": SERVER_JSON, "tools.json": "{", "prompts.json": '{"prompts": [{"name": "p"}]}'}
    )
    assert definition is not None
    assert definition.server is not None
    assert len(definition.prompts) == 1


def test_hints_say_what_to_do() -> None:
    _, problems = parsed({"server.json": SERVER_JSON})
    assert "tools.json" in problems[0].hint
    _, problems = parsed(with_tools(f'{{"tool": [{TOOL}]}}'))
    assert [problem.hint for problem in problems if problem.code == "MCP107"] == ["did you mean `tools`?"]
    _, problems = parsed({"server.json": SERVER_JSON, "tools.json": f'{{"tools": [{TOOL}]}}'})
    assert problems[0].expected == "`tools.bash` or `tools.py`"


def test_prompts_may_be_implemented_in_the_bash_file_of_the_tools() -> None:
    files: Files = {"server.json": SERVER_JSON, "prompts.json": f'{{"prompts": [{PROMPT}]}}', "tools.bash": ""}
    assert parsed(files)[1] == ()
