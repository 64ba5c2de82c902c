"""Tests of lowering: what definitions mean, which function each gets, and every way in which that can fail."""

import json
from collections.abc import Mapping

import pytest

from mcpc.lower import lower
from mcpc.model.definitions import Definition, HandlerLibrary, ServerDefinition, ToolDefinition
from mcpc.model.ir import Server
from mcpc.options import Options
from mcpc.reading import Source, parse_json
from support.projects import PLAIN, SERVER_JSON, SMOKETEST, lowered

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
    assert server is not None
    assert server.environment == ()
