"""What a definition says of asking the client, of tasks, and of arguments that are headers: what it becomes, and faults."""

import json

import pytest

from mcpc.model.ir.printer import print_server
from support.images import archive, image_of
from support.projects import SERVER_JSON, Files, checked, lowered

TEXT = '{"type": "string"}'
FORM = f'{{"type": "object", "properties": {{"name": {TEXT}}}, "required": ["name"]}}'
ELICIT = f'{{"method": "elicitation/create", "params": {{"message": "Who, {{file}}?", "requestedSchema": {FORM}}}}}'
SAMPLE = '{"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 100}}'
ROOTS = '{"method": "roots/list"}'
FILE = f'{{"type": "object", "properties": {{"file": {TEXT}}}}}'


def tool(handler: str = "", schema: str = FILE, more: str = "", name: str = "x") -> str:
    meta = f', "_meta": {{"mcpc/handler": {{{handler}}}}}' if handler else ""
    return f'{{"name": "{name}", "description": "d", "inputSchema": {schema}{more}{meta}}}'


def tools(*found: str, server: str = SERVER_JSON) -> Files:
    return {
        "server.json": server,
        "tools.json": f'{{"tools": [{", ".join(found)}]}}',
        "tools.py": "def x(**given): ...\ndef y(**given): ...\n",
    }


def asking(ask: str, key: str = "who") -> Files:
    return tools(tool(f'"asks": {{"{key}": {ask}}}'))


def test_questions_are_kept_as_they_are_sent() -> None:
    files = tools(tool(f'"asks": {{"who": {ELICIT}, "what": {SAMPLE}, "where": {ROOTS}}}'))
    server, problems = checked(files)
    assert server is not None, problems
    asks = server.server.tools[0].running.asks
    assert [(key, method) for key, method, _ in asks] == [
        ("who", "elicitation/create"),
        ("what", "sampling/createMessage"),
        ("where", "roots/list"),
    ]
    assert json.loads(asks[0][2])["message"] == "Who, {file}?"
    assert asks[2][2] == b"{}"
    assert (
        "  asks who: elicitation/create\n  asks what: sampling/createMessage\n  asks where: roots/list\n"
        in print_server(server.server)
    )
    assert image_of(archive(files).data).tool("x").asks == asks


def test_a_prompts_question_may_hold_its_arguments() -> None:
    prompt = f'{{"name": "p", "description": "d", "arguments": [{{"name": "file"}}], "_meta": {{"mcpc/handler": {{"asks": {{"who": {ELICIT}}}}}}}}}'
    files = {
        "server.json": '{"serverInfo": {"name": "n", "version": "1"}}',
        "prompts.json": f'{{"prompts": [{prompt}]}}',
        "prompts.py": "def p(file=''): ...\n",
    }
    server, problems = checked(files)
    assert server is not None, problems
    assert server.server.prompts[0].running.asks[0][0] == "who"


GENERAL = '{"serverInfo": {"name": "n", "version": "1"}, "_meta": {"mcpc/handlers": {"task": "optional"}}}'
OLD = ', "execution": {"taskSupport": "required"}'
TASKS = {
    "nothing": (tools(tool()), ""),
    "optional": (tools(tool('"task": "optional"')), "optional"),
    "required": (tools(tool('"task": "required"')), "required"),
    "forbidden": (tools(tool('"task": "forbidden"')), ""),
    "for all": (tools(tool(), server=GENERAL), "optional"),
    "not for this one": (tools(tool('"task": "forbidden"'), server=GENERAL), ""),
    "as it was once said": (tools(tool(more=OLD)), "required"),
    "what the handler says counts": (tools(tool('"task": "optional"', more=OLD)), "optional"),
    "and what it forbids": (tools(tool('"task": "forbidden"', more=OLD)), ""),
}


@pytest.mark.parametrize("case", TASKS.values(), ids=TASKS)
@pytest.mark.sampled(3)
def test_tasks(case: tuple[Files, str]) -> None:
    server, _ = lowered(case[0])
    assert server is not None
    assert server.tools[0].running.task == case[1]
    image = image_of(archive(case[0]).data)
    assert image.tool("x").task == case[1]
    for version in (*image.handshake_versions, *image.stateless_versions):
        assert b"execution" not in image.revision(version).page("tools/list", None)


def header(schema: str) -> str:
    return f'{{"type": "object", "properties": {schema}}}'


REGION = '{"type": "string", "x-mcp-header": "Region"}'


def test_a_header_knows_the_way_to_its_argument() -> None:
    inner = header(f'{{"b": {REGION}}}')
    files = tools(tool(schema=header(f'{{"a": {inner}, "c": {{"type": "integer", "x-mcp-header": "C"}}}}')))
    server, problems = checked(files)
    assert server is not None, problems
    assert server.server.tools[0].headers == (("Region", ("a", "b")), ("C", ("c",)))
    assert "  header Region is a.b\n  header C is c\n" in print_server(server.server)
    assert image_of(archive(files).data).tool("x").headers == (("Region", ("a", "b")), ("C", ("c",)))
