"""Tests of lowering: what definitions mean, which function each gets, and every way in which that can fail."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mcpc.definitions import Definition, HandlerLibrary, ServerDefinition, ToolDefinition
from mcpc.lower import lower
from mcpc.options import Options
from mcpc.sources import Source, parse_json
from support.projects import PLAIN, SERVER_JSON, SMOKETEST, Place, lowered, places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.ir import Server

SCHEMA = '"inputSchema": {"type": "object"}'


def tools(*lines: str, bash: str = "", **files: str) -> dict[str, str]:
    """Return a project with one tool on each line of `tools.json`, the first on line 2."""
    text = '{"tools": [\n' + ",\n".join(lines) + "\n]}\n"
    return {"server.json": SERVER_JSON, "tools.json": text, "tools.bash": bash, **files}


def prompts(*lines: str, bash: str = "", **files: str) -> dict[str, str]:
    """Return a project with one prompt on each line of `prompts.json`, the first on line 2."""
    text = '{"prompts": [\n' + ",\n".join(lines) + "\n]}\n"
    return {"server.json": SERVER_JSON, "prompts.json": text, "prompts.bash": bash, **files}


def exported(*names: str) -> str:
    return "".join(f"{name}() {{ :; }}\nexport -f {name}\n" for name in names)


def tool(name: str, *fields: str) -> str:
    return "{" + ", ".join((f'"name": {json.dumps(name)}', SCHEMA, *fields)) + "}"


def python(source: str, *names: str) -> dict[str, str]:
    files = tools(*map(tool, names))
    del files["tools.bash"]
    return files | {"tools.py": source}


def server_of(files: Mapping[str, str | bytes], options: Options = PLAIN) -> Server:
    server, problems = lowered(files, options)
    assert problems == ()
    assert server is not None
    return server


def test_what_was_written_is_kept_in_order_and_untouched() -> None:
    server = server_of(SMOKETEST)
    written = json.loads(SMOKETEST["tools.json"])["tools"]
    assert [json.dumps(one.node.value) for one in server.tools] == [json.dumps(one) for one in written]


@pytest.mark.parametrize(
    ("name", "function"),
    [("echo-token", "tool_echo_token"), ("fs.list", "tool_fs_list"), ("a-b.c_d", "tool_a_b_c_d"), ("2fa", "tool_2fa")],
)
def test_dashes_and_dots_of_a_name_become_underscores(name: str, function: str) -> None:
    server = server_of(tools(tool(name), bash=exported(function)))
    assert server.tools[0].handler.function == function
    assert server.tools[0].name == name


def test_an_empty_prefix_makes_helpers_no_strays() -> None:
    server = server_of(tools(tool("x"), bash=exported("x", "helper")), Options(tools_prefix="", prompts_prefix=""))
    assert server.tools[0].handler.function == "x"


BESIDE = {"README": "", "a.py": "", "data/x.json": "{}", "lib/b.py": ""}


def test_files_beside_go_along_only_with_python() -> None:
    bash = tools(tool("x"), bash=exported("tool_x"), **BESIDE)
    assert [file.source.path for file in server_of(bash).files] == ["tools.bash"]
    files = python("def x(): ...\n", "x") | BESIDE | {"prompts.py": "", "prompts.bash": "", "tools.d/y.txt": ""}
    assert [(file.source.path, file.language) for file in server_of(files).files] == [
        ("README", ""),
        ("a.py", "python"),
        ("data/x.json", ""),
        ("lib/b.py", "python"),
        ("prompts.py", "python"),
        ("tools.d/y.txt", ""),
        ("tools.py", "python"),
    ]


def test_a_language_without_a_handler_stays_behind_and_one_shell_reads_all_bash() -> None:
    files = tools(tool("x"), bash=exported("tool_x"), **{"tools.py": "", "prompts.bash": ""})
    assert [file.source.path for file in server_of(files).files] == ["prompts.bash", "tools.bash"]
    assert server_of(files).shell == ("tools.bash", "prompts.bash")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# MCBOX_TOOLS_CONFIG_FILE", []),
        ("# XMCBOX_TOOLS_CONFIG", []),
        ("# MCBOX_PROMPTS_CONFIG", [("MCBOX_PROMPTS_CONFIG", '{"prompts":[]}')]),
    ],
)
def test_only_the_exact_name_of_a_variable_asks_for_it(text: str, expected: list[tuple[str, str]]) -> None:
    server = server_of(tools(tool("x"), bash=exported("tool_x") + text + "\n"))
    assert list(server.environment) == expected


def bad_server(text: str) -> dict[str, str]:
    return tools(tool("x"), bash=exported("tool_x")) | {"server.json": text}


INFO = '"serverInfo": {"name": "n", "version": "1"}'


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
def test_every_revision_is_known(revision: str) -> None:
    server_of(bad_server(f'{{{INFO}, "protocolVersion": "{revision}"}}'))


EVERY_FIELD = (
    '{"name": "x", "title": "X", "description": "d", "inputSchema": {"type": "object"}, "outputSchema": {},'
    '"annotations": {"title": "X", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,'
    ' "openWorldHint": false}, "icons": [{"src": "data:image/png;base64,AA==", "mimeType": "image/png",'
    ' "sizes": ["48x48"], "theme": "dark"}], "execution": {"taskSupport": "forbidden"}, "_meta": {"a/b": 1}}'
)


def test_every_field_of_every_revision_is_known() -> None:
    server_of(tools(EVERY_FIELD, bash=exported("tool_x")))
    prompt = '{"name": "p", "title": "P", "description": "d", "icons": [{"src": "https://x/i"}], "_meta": {}}'
    server_of(prompts(prompt, bash=exported("prompt_p")))
    info = '{"name": "n", "title": "N", "version": "1", "description": "d", "websiteUrl": "https://x", "icons": []}'
    server_of(bad_server(f'{{"serverInfo": {info}, "instructions": "", "capabilities": {{"x": 1}}, "_meta": {{}}}}'))


def hints(files: Mapping[str, str | bytes], code: str) -> list[str]:
    return [problem.hint for problem in lowered(files)[1] if problem.code == code]


@pytest.mark.parametrize(
    ("line", "code", "hint"),
    [
        (tool("x", '"ouputSchema": {}'), "MCP103", "did you mean `outputSchema`?"),
        (tool("x", '"returns": {}'), "MCP103", "did you mean `outputSchema`?"),
        (tool("x", '"parameters": {}'), "MCP103", ""),
        (tool("x", '"zzz": {}'), "MCP103", ""),
        ('{"name": "x", "parameters": {}}', "MCP103", "did you mean `inputSchema`?"),
        ('{"name": "x", "parameters": {}}', "MCP102", "did you mean `inputSchema` where `parameters` is written?"),
        (
            '{"name": "x"}',
            "MCP102",
            'a tool without arguments has `{"type": "object", "additionalProperties": false}`',
        ),
    ],
)
def test_hints_name_what_was_meant(line: str, code: str, hint: str) -> None:
    assert hints(tools(line, bash=exported("tool_x")), code) == [hint]


BINDING: dict[str, tuple[dict[str, str], list[Place]]] = {
    "no function": (tools(tool("x")), [("MCP201", "tools.json", 2, 10)]),
    "no function for a prompt": (prompts('{"name": "x"}'), [("MCP201", "prompts.json", 2, 10)]),
    "no python function": (python("X = 1\n", "x"), [("MCP201", "tools.json", 2, 10)]),
    "a stray": (
        tools(tool("x"), bash=exported("tool_x", "tool_y", "helper")),
        [("MCP202", "tools.bash", 3, 1)],
    ),
    "a stray prompt": (
        tools(tool("x"), bash=exported("tool_x", "prompt_y")),
        [("MCP202", "tools.bash", 3, 1)],
    ),
    "a stray in Python": (
        python("def x(): ...\ndef tool_y(): ...\ndef helper(): ...\ndef _tool_z(): ...\n", "x"),
        [("MCP202", "tools.py", 2, 5)],
    ),
    "not exported": (
        tools(tool("x"), bash="helper() { :; }\ntool_x() { :; }\nexport -f helper\n"),
        [("MCP203", "tools.bash", 2, 1)],
    ),
    "none exported": (tools(tool("x"), bash="helper() { :; }\ntool_x() { :; }\n"), []),
    "a resource is not mcbox's": (
        tools(tool("x"), bash=exported("tool_x"))
        | {
            "resources.json": '{"resources": [{"uri": "x:y", "name": "y"}]}',
            "resources.bash": "resource_y() { :; }\n",
        },
        [],
    ),
    "two languages": (
        tools(tool("x"), bash=exported("tool_x"), **{"tools.py": "\ndef x(): ...\n"}),
        [("MCP207", "tools.py", 2, 5)],
    ),
    "two spellings": (
        python("def x(): ...\ndef tool_x(): ...\n", "x"),
        [("MCP207", "tools.py", 2, 5)],
    ),
    "two Bash files": (
        tools(tool("x"), bash=exported("tool_x"), **{"prompts.bash": exported("tool_x")}),
        [("MCP207", "prompts.bash", 1, 1)],
    ),
    "one function for two tools": (
        tools(tool("a-b"), tool("a.b"), bash=exported("tool_a_b")),
        [("MCP208", "tools.json", 3, 10)],
    ),
    "one function for three": (
        tools(tool("a-b"), tool("a.b"), tool("a_b"), bash=exported("tool_a_b")),
        [("MCP208", "tools.json", 3, 10), ("MCP208", "tools.json", 4, 10)],
    ),
    "two of one name are the names' business": (tools(tool("a"), tool("a"), bash=exported("tool_a")), []),
    "a name no function can have is the names' business": (tools(tool("a b"), tool(""), tool("\u00e9")), []),
    "a broken Bash file may hold the function": (
        tools(tool("x"), bash="tool_y() {\n"),
        [("MCP204", "tools.bash", 1, 1)],
    ),
    "a broken Python file may hold the function": (
        python("def x(:\n", "x"),
        [("MCP205", "tools.py", 1, 7)],
    ),
    "a broken Python file of the other kind holds nothing": (
        python("def y(): ...\n", "x") | {"prompts.py": "(\n"},
        [("MCP205", "prompts.py", 1, 1), ("MCP201", "tools.json", 2, 10)],
    ),
    "a tool without a name may be what a function is for": (
        tools("{" + SCHEMA + "}", bash=exported("tool_x")),
        [("MCP102", "tools.json", 2, 1)],
    ),
    "an unreadable file may define what a function is for": (
        tools(tool("x"), bash=exported("tool_x", "tool_y"), **{"tools.d/y.json": "["}),
        [("MCP002", "tools.d/y.json", 1, 1)],
    ),
}


@pytest.mark.parametrize("case", BINDING.values(), ids=BINDING)
def test_functions_and_definitions_meet_one_to_one(case: tuple[dict[str, str], list[Place]]) -> None:
    files, expected = case
    _, problems = lowered(files)
    found = places(problems, files)
    assert found == expected, [problem.message for problem in problems]


def test_one_prefix_for_both_kinds_makes_one_function_serve_two() -> None:
    files = tools(tool("x"), bash=exported("do_x")) | {"prompts.json": '{"prompts": [{"name": "x"}]}'}
    _, problems = lowered(files, Options(tools_prefix="do_", prompts_prefix="do_"))
    assert places(problems, files) == [("MCP208", "prompts.json", 1, 23)]


def test_a_missing_function_is_named_with_the_places_it_was_looked_for() -> None:
    files = tools(tool("read-file"), bash=exported("tool_raed_file"), **{"tools.py": ""})
    problems = [problem for problem in lowered(files)[1] if problem.code == "MCP201"]
    assert [problem.message for problem in problems] == ["no function implements the tool `read-file`"]
    assert problems[0].expected == "`tool_read_file` in `tools.bash`, or `read_file` or `tool_read_file` in `tools.py`"
    assert problems[0].hint == "did you mean the function `tool_raed_file`?"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("resources.bash", "`resource_y` in `tools.bash`, or `resource_y` in `resources.bash`"),
        ("notes.txt", "`resource_y` in a new file `resources.bash` or `resources.py`"),
    ],
)
def test_a_missing_function_of_a_kind_without_a_file_is_wanted_in_a_new_one(name: str, kept: str) -> None:
    defined = {"resources.json": '{"resources": [{"uri": "x:y", "name": "y"}]}', name: ""}
    files = tools(tool("x"), bash=exported("tool_x")) | defined
    assert [problem.expected for problem in lowered(files)[1] if problem.code == "MCP201"] == [kept]


@pytest.mark.parametrize(
    ("name", "bash", "hint"),
    [
        ("echo", exported("echo_"), "did you mean the function `echo_`?"),
        ("echo", exported("tool_other"), ""),
        ("echo", exported("echo"), "did you mean the function `echo`?"),
        ("echo", exported("tool-echo"), "did you mean the function `tool-echo`?"),
        ("echo", "", ""),
    ],
)
def test_a_function_with_nearly_the_name_is_offered(name: str, bash: str, hint: str) -> None:
    assert hints(tools(tool(name), bash=bash), "MCP201") == [hint]


def test_a_function_that_implements_something_is_not_offered() -> None:
    assert hints(tools(tool("file_a"), tool("file_b"), bash=exported("tool_file_a")), "MCP201") == [""]


def test_where_everything_is_missing_no_function_is_offered() -> None:
    count = 200
    lines = [tool(f"read_file_{number}") for number in range(count)]
    files = tools(*lines, bash=exported(*(f"read_file_{number}" for number in range(count))))
    assert hints(files, "MCP201") == [""] * count


def test_a_keyword_can_only_be_a_prefixed_function() -> None:
    problems = [problem for problem in lowered(python("", "import"))[1] if problem.code == "MCP201"]
    assert problems[0].expected == "`tool_import` in `tools.py`"
    assert server_of(python("def tool_import(): ...\n", "import")).tools[0].handler.function == "tool_import"


def test_without_a_server_description_there_is_no_server_but_everything_else_is_reported() -> None:
    files = tools(tool("x"))
    del files["server.json"]
    server, problems = lowered(files)
    assert server is None
    assert places(problems, files) == [("MCP004", "", 0, 0), ("MCP201", "tools.json", 2, 10)]


def test_a_definition_without_any_library_is_reported() -> None:
    source = Source("tools.json", tool("x").encode())
    node, _ = parse_json(source)
    described, _ = parse_json(Source("server.json", SERVER_JSON.encode()))
    assert node is not None
    assert described is not None
    definition = Definition("native", ServerDefinition(described), (ToolDefinition(node),))
    assert [problem.code for problem in lower(definition, PLAIN)[1]] == ["MCP201"]


def test_a_contract_without_variables_gets_none() -> None:
    described, _ = parse_json(Source("server.json", SERVER_JSON.encode()))
    assert described is not None
    library = HandlerLibrary(Source("l.bash", b": $MCBOX_SERVER_CONFIG\n"), "bash", (), "other")
    definition = Definition("other", ServerDefinition(described), libraries=(library,))
    server, _ = lower(definition, PLAIN)
    assert server is not None
    assert server.environment == ()


def test_what_comes_from_the_standard_library_is_no_handler() -> None:
    files = python("from time import sleep\nfrom asyncio.tasks import gather\ndef tool_sleep(): ...\n", "sleep")
    assert places(lowered(files)[1], files) == []
    assert [tool.handler.function for tool in server_of(files).tools] == ["tool_sleep"]
