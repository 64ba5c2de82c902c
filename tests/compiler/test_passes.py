"""Tests of the passes: each question, asked of whole projects; a mark » stands where a problem is expected."""

import json

from mcpc.diagnostics import diagnose
from mcpc.model.ir import CheckedServer
from mcpc.passes import check_server
from support.projects import SMOKETEST, checked, lowered, marked

INFO = '"serverInfo": {"name": "demo", "version": "1.0.0"}'
DESCRIPTION = '"description": "What it does."'
OBJECT = '{"type": "object"}'


def tool(name: str = "x", schema: str = OBJECT, *fields: str) -> str:
    return "{" + ", ".join((f'"name": "{name}"', DESCRIPTION, f'"inputSchema": {schema}', *fields)) + "}"


def bash(*tools: str, server: str = f"{{{INFO}}}") -> dict[str, str]:
    """Return a project of tools, one a line; every function that their names may want is there."""
    names = [json.loads(line.replace("»", ""))["name"].translate({45: "_", 46: "_"}) for line in tools]
    functions = [f"tool_{name}" for name in dict.fromkeys(names) if name.isidentifier()]
    library = "".join(f"{function}() {{ :; }}\nexport -f {function}\n" for function in functions)
    return {"server.json": server, "tools.json": '{"tools": [\n' + ",\n".join(tools) + "\n]}", "tools.bash": library}


def messages(files: dict[str, str], code: str) -> list[str]:
    return [problem.message for problem in checked(marked(files)[0])[1] if problem.code == code]


def test_what_was_found_before_is_reported_along_and_forbids_the_server() -> None:
    server, _ = lowered(SMOKETEST)
    assert server is not None
    earlier = diagnose("MCP201", None, "earlier")
    assert check_server(server, found=(earlier,)) == (None, (earlier,))
    note = diagnose("MCP203", None, "only a note")
    assert check_server(server, found=(note,)) == (CheckedServer(server), (note,))


def test_at_most_50_arguments_of_a_tool_are_reported() -> None:
    names = [f"r{number}" for number in range(51)]
    wanted = bash(tool("x", json.dumps({"type": "object", "required": names})), tool("y", with_properties("", "z")))
    assert [message.split("`")[1] for message in messages(wanted, "MCP156")] == [*names[:50], "z"]


def with_properties(text: str, *required: str) -> str:
    return f'{{"type": "object", "properties": {{{text}}}, "required": {json.dumps(required)}}}'


def test_schemas_as_deep_as_json_may_be_break_no_pass() -> None:
    deep = '{"type": "object", "default": {"a": ' + "[" * 500 + "]" * 500 + "}}"
    server, problems = checked(bash(tool("x", deep)))
    assert server is not None
    assert problems == ()
