"""What whole projects mean: every field of the lowered server, and all that is said of faulty ones."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpc.diagnostics import Diagnostics
from mcpc.emit import responses
from mcpc.frontends import parse_project
from mcpc.frontends.project_metadata import read_project_metadata
from mcpc.lower import lower, metadata
from mcpc.model.definitions import Definition, HandlerLibrary, ServerDefinition, ToolDefinition
from mcpc.model.ir import Server
from mcpc.model.ir.printer import print_definition, print_server
from mcpc.model.revisions import REVISIONS
from mcpc.options import Options
from mcpc.reading import Source, parse_json, read_tree
from support.golden_projects import PROJECTS, files_of, reported, shown
from support.needs import ROOT, needs
from support.projects import PLAIN, SERVER_JSON, SMOKETEST, checked, lowered, parsed
from support.whole_projects import print_parsed, read_cases

OTHER = Options(
    dialect="mcbox", tools_page_size=2, prompts_page_size=3, resources_page_size=4, validate=True, assert_formats=True,
    defaults=False, live=True, tools_prefix="t_", prompts_prefix="p_",
)  # fmt: skip
CASES = {"rich": Options(), "other": OTHER, "faulty": Options(), "functions": Options()}


def lowered_project(name: str) -> tuple[Server | None, Diagnostics]:
    definition, problems = parsed(files_of(name), CASES[name])
    assert definition is not None
    server, found = lower(definition, CASES[name])
    return server, (*problems, *found)


@pytest.mark.parametrize("name", CASES)
def test_a_project_is_lowered(name: str, golden: Callable[[Path, str], None]) -> None:
    server, problems = lowered_project(name)
    assert server is not None
    golden(PROJECTS / f"{name}.lowered.txt", "".join([*reported(problems, files_of(name)), *shown(server)]))


def test_each_definition_gets_its_function(golden: Callable[[Path, str], None]) -> None:
    folder, printed = ROOT / "tests/golden/lower", []
    for name, project, options in read_cases(folder / "binding.cases"):
        sizes = {name: int(getattr(options, name)) for name in ("tools_page_size", "prompts_page_size")}
        definition, problems = parse_project(project, options := replace(options, **sizes))
        assert definition is not None
        server, found = lower(definition, options)
        text = print_parsed(None, (*problems, *found), project).partition("\n")[2]
        printed.append(f"##### {name}\n{text}{'no server' if server is None else print_server(server)}\n")
    golden(folder / "binding.txt", "\n".join(printed))


def test_the_example_that_has_everything(golden: Callable[[Path, str], None]) -> None:
    needs("bash")
    definition, problems = parse_project(read_tree(ROOT / "examples/everything")[0], PLAIN)
    server, found = lower(definition, PLAIN)
    assert problems + found == ()
    golden(ROOT / "tests/golden/show/everything.txt", print_server(server))
    for item in (*server.tools, *server.prompts, *server.readable, *server.completions):
        assert print_definition(item) in print_server(server)


def test_what_is_said_of_running_of_settings_and_of_the_project(golden: Callable[[Path, str], None]) -> None:
    folder, printed = ROOT / "tests/golden/lower", []
    for name, project, options in read_cases(folder / "options.cases"):
        definition, problems = parse_project(project, options)
        assert definition is not None
        server, found = lower(definition, options)
        described, more = read_project_metadata(project)
        parts = server and {
            "server": (server.name, server.version, server.unpack),
            "files": tuple((file.source.path, file.language) for file in server.files),
            "project": described,
            **{name: getattr(server, name) for name in ("settings", "toolsets") if getattr(server, name)},
            **{each.name: (each.running, each.handler) for each in server.definitions},
        }
        printed.append(f"##### {name}\n{print_parsed(parts, (*problems, *found, *more), project)}")
    golden(folder / "options.txt", "\n".join(printed))


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


def server_of(files: Mapping[str, str | bytes], options: Options = PLAIN) -> Server:
    server, problems = lowered(files, options)
    assert problems == ()
    assert server is not None
    return server


def test_what_was_written_is_kept_in_order_and_untouched() -> None:
    server = server_of(SMOKETEST)
    written = json.loads(SMOKETEST["tools.json"])["tools"]
    assert [json.dumps(one.node.value) for one in server.tools] == [json.dumps(one) for one in written]


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


def test_where_everything_is_missing_no_function_is_offered() -> None:
    count = 200
    lines = [tool(f"read_file_{number}") for number in range(count)]
    files = tools(*lines, bash=exported(*(f"read_file_{number}" for number in range(count))))
    assert hints(files, "MCP201") == [""] * count


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
    assert server.environment == ()


NEWEST = REVISIONS[-1]
ICON = {"x/size": 3, "theme": "dark", "src": "https://example.org/i.png", "sizes": ["48x48"], "mimeType": "image/png"}
TOOL = {
    "icons": [ICON, {"src": "data:,"}],
    "x/first": [1.0, 1],
    "name": "t",
    "_meta": {"mcpc/handler": {"timeout": 5}, "own": {"a": None}},
    "annotations": {"idempotentHint": True, "x/y": {"z": 1}, "title": "T", "readOnlyHint": False},
    "outputSchema": {"type": "object"},
    "inputSchema": {"properties": {"a": {}}, "type": "object"},
    "description": "",
    "title": "Tool",
    "execution": {"taskSupport": "optional"},
}
PROMPT = {"arguments": [{"required": False, "_meta": {"mcpc/x": 1}, "name": "a", "title": "A"}], "name": "p"}
RESOURCE = {
    "_meta": {"mcpc/handler": {"timeout": 5}},
    "annotations": {"priority": 1, "audience": ["user"], "lastModified": "2025-01-12T15:00:58Z", "x/y": 0.50},
    "text": "abc",
    "uri": "a:b",
    "name": "r",
}


def server_of_tool(tool: Mapping[str, Any] = TOOL, **server: object) -> Server:
    files = {
        "server.json": json.dumps({**json.loads(SERVER_JSON), **server}),
        "tools.json": json.dumps({"tools": [tool]}),
        "prompts.json": json.dumps({"prompts": [PROMPT]}),
        "resources.json": json.dumps({"resources": [RESOURCE]}),
        "tools.py": "def t(a=None): ...\n",
        "prompts.py": "def p(a=None): ...\n",
    }
    found, problems = checked(files)
    assert found is not None, problems
    return found.server


def test_fields_are_given_back_in_the_order_they_were_written_in() -> None:
    shown = responses.project_tool(server_of_tool().tools[0], NEWEST)
    wanted = {**TOOL, "_meta": {"own": {"a": None}}}
    del wanted["execution"]
    assert json.dumps(shown) == json.dumps(wanted)


def test_fields_of_prompt_arguments_are_given_back() -> None:
    assert json.dumps(responses.project_prompt(server_of_tool().prompts[0], NEWEST)) == json.dumps(PROMPT)


def test_size_of_a_known_resource_is_shown_last_and_its_content_not_at_all() -> None:
    shown = responses.project_resource(server_of_tool().resources[0], NEWEST)
    assert list(shown) == ["annotations", "uri", "name", "size"]
    assert json.dumps(shown["annotations"]) == json.dumps(RESOURCE["annotations"])
    assert shown["size"] == 3


def test_every_field_of_every_revision_has_a_place() -> None:
    for revision in REVISIONS:
        assert set(revision.tool) <= {*metadata.TOOL_FIELDS}
        assert set(revision.prompt) <= {*metadata.PROMPT_FIELDS}
        assert set(revision.prompt_argument) <= {*metadata.PROMPT_ARGUMENT_FIELDS}
        assert set(revision.resource) <= {*metadata.RESOURCE_FIELDS}
        assert set(revision.resource_template) <= {*metadata.TEMPLATE_FIELDS}
        assert set(revision.implementation) <= {*metadata.IMPLEMENTATION_FIELDS}
