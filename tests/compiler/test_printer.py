"""Tests of the printed form of a server: what is shown, in which order, and that nothing written can forge a line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpc.frontends import parse_project
from mcpc.lower import lower
from mcpc.model.ir.printer import print_definition, print_server
from mcpc.options import Options
from mcpc.reading import read_tree
from support.needs import ROOT, needs
from support.projects import PLAIN, SERVER_JSON, SMOKETEST, Files, lowered


def shown(files: Files, options: Options = PLAIN) -> str:
    server, _ = lowered(files, options)
    assert server is not None
    return print_server(server)


MIXED: Files = {
    "server.json": SERVER_JSON,
    "tools.json": '{"tools": [{"name": "a.b", "title": "A", "inputSchema": {"type": "object", "properties":'
    ' {"x": {"type": "integer"}, "y": {}}, "required": ["x"]}, "annotations": {"readOnlyHint": true}}]}',
    "tools.py": "async def a_b(x, /, y=None, **rest): ...\n",
    "prompts.json": '{"prompts": [{"name": "p", "arguments": [{"name": "q", "required": true}, {"name": "r"}]}]}',
    "prompts.bash": "prompt_p() { echo $MCBOX_PROMPTS_CONFIG; }\n",
    "data.csv": "1\n",
}

BOTH = """\
server demo 1.0.0
  format native, dialect mcbox
  capabilities {"tools": {}}
  errexit does not hold in functions of a shell
  handlers are given arguments as the client wrote them
  tools in pages of 5
  prompts in pages of 2
  environment MCBOX_PROMPTS_CONFIG: 82 bytes
tool a.b
  handler async python a_b(x by position, y?, **) in tools.py, contract python
  input {x: integer, y?: anything} closed without defaults
  title "A"
  annotations {"readOnlyHint": true}
prompt p
  handler bash prompt_p in prompts.bash, contract mcbox
  argument q
  argument r?
file data.csv: 2 bytes
file prompts.bash bash: 43 bytes
file tools.py python: 41 bytes
"""


def test_python_prompts_pages_and_variables() -> None:
    assert shown(MIXED, Options(dialect="mcbox", tools_page_size=5, prompts_page_size=2)) == BOTH


def test_the_example_that_has_everything(golden: Callable[[Path, str], None]) -> None:
    needs("bash")
    definition, problems = parse_project(read_tree(ROOT / "examples/everything")[0], PLAIN)
    assert definition is not None
    server, found = lower(definition, PLAIN)
    assert problems + found == ()
    golden(ROOT / "tests/golden/show/everything.txt", print_server(server))
    for item in (*server.tools, *server.prompts, *server.readable, *server.completions):
        assert print_definition(item) in print_server(server)


def test_a_tool_without_a_handler_says_so() -> None:
    assert "  handler none\n" in shown(SMOKETEST | {"tools.bash": ""})


def with_input(schema: object) -> str:
    tool = {"name": "x", "inputSchema": schema}
    text = shown({"server.json": SERVER_JSON, "tools.json": json.dumps({"tools": [tool]}), "tools.bash": ""})
    return next(line for line in text.splitlines() if line.startswith("  input ")).removeprefix("  input ")


def of(schema: object) -> object:
    return {"type": "object", "properties": {"a": schema}}


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({}, "anything"),
        ({"type": "object"}, "{}"),
        ({"type": ["object", "null"], "properties": {}}, "{} | null"),
        (of({"type": "array", "items": {"type": "string"}}), "{a?: [string]}"),
        (of({"type": "array"}), "{a?: [anything]}"),
        (of({"enum": ["x", 1, None]}), '{a?: "x" | 1 | null}'),
        (of({"enum": list(range(20))}), "{a?: 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | …}"),
        (of({"const": {"b": 1}}), '{a?: {"b": 1}}'),
        (of({"anyOf": [{"type": "string"}, {"type": "null"}]}), "{a?: string | null}"),
        (of({"oneOf": "wrong"}), "{a?: }"),
        (of({"enum": "wrong"}), "{a?: }"),
        (of({"$ref": "#/$defs/b"}), "{a?: #/$defs/b}"),
        (of({"type": ["string", "null"]}), "{a?: string | null}"),
        (of(True), "{a?: anything}"),
        (of(False), "{a?: nothing}"),
        (of(7), "{a?: ?}"),
        (of({"type": 7}), "{a?: 7}"),
        (of(of(of(of(of({}))))), "{a?: {a?: {a?: {a?: …}}}}"),
        ({"type": "object", "properties": [], "required": 1}, "{}"),
        ({"type": "object", "properties": {"a b\n": {}}, "required": ["a b\n"]}, '{"a b\\n": anything}'),
    ],
)
def test_schemas_in_short(schema: object, text: str) -> None:
    assert with_input(schema) == f"{text} closed"


def test_deep_choices_end() -> None:
    schema: object = {"type": "null"}
    for _ in range(100):
        schema = {"anyOf": [schema]}
    assert with_input(of(schema)) == "{a?: …} closed"


def test_nothing_that_was_written_forges_a_line() -> None:
    forged = "x\ntool forged"
    files: Files = {
        "server.json": json.dumps({"serverInfo": {"name": forged, "version": forged}, "instructions": forged}),
        "tools.json": json.dumps(
            {"tools": [{"name": forged, forged: forged, "inputSchema": {"type": forged, "properties": {forged: {}}}}]}
        ),
        "tools.bash": "",
    }
    assert "tool forged" not in shown(files).splitlines()
    assert "x\\ntool forged" in shown(files)


RUNNING: Files = {
    "server.json": '{"serverInfo": {"name": "r", "version": "1"}, "_meta": {"mcpc/handlers": {"requires": ["cat"]}}}',
    "tools.json": json.dumps(
        {
            "tools": [
                {"name": name, "inputSchema": {"type": "object"}, "_meta": {"mcpc/handler": handler}}
                for name, handler in {
                    "fast": {"inline": True, "timeout": 2.5},
                    "apart": {"isolated": True, "environment": ["KEY", "AWS_*"]},
                    "all": {"environment": "inherit", "requires": ["jq >= 1.6"]},
                    "run": {"command": ["bin/run", "--flag", "a b\n"]},
                }.items()
            ]
        }
    ),
    "tools.bash": "tool_apart() { :; }\nexport -f tool_apart\n",
    "tools.py": "def fast(): ...\ndef all(): ...\n",
    "bin/run": "#!/bin/sh\n",
}

RUN = """\
server r 1
  format native, dialect mcp
  files unpacked
tool fast
  handler python fast() in tools.py, contract python
  timeout 2.5 s
  inline
  requires cat
  input {} closed
tool apart
  handler bash tool_apart in tools.bash, contract mcbox
  isolated
  finds a minimal environment, KEY, AWS_*
  requires cat
  input {} closed
tool all
  handler python all() in tools.py, contract python
  finds the whole environment
  requires cat, jq >= 1.6
  input {} closed
tool run
  handler executable bin/run --flag "a b\\n", contract executable
  requires cat
  input {} closed
"""


def test_how_handlers_are_run() -> None:
    lines = [line for line in shown(RUNNING).splitlines(keepends=True) if not line.startswith(("  _meta", "file "))]
    assert "".join(lines) == RUN
