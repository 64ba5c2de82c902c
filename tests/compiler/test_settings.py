"""Settings of a project: what is declared, in each place where it can be, and what is wrong with declarations."""

from __future__ import annotations

import json

from support.projects import Files, checked

TOOLS = '{"tools": [{"name": "x", "description": "d", "inputSchema": {"type": "object"}}]}'
UNITS = {"name": "UNITS", "type": "string", "choices": ["metric", "imperial"], "default": "metric"}


def project(settings: str, more: Files | None = None) -> Files:
    server = f'{{"serverInfo": {{"name": "s", "version": "1"}}, "settings": {settings}}}'
    return {"server.json": server, "tools.json": TOOLS, "tools.py": "def x(): ...\n", **(more or {})}


def test_toolsets_of_any_format_are_declared_in_pyproject_and_not_shown_to_clients() -> None:
    pyproject = '[tool.mcpc.toolsets]\nmore = ["x", "*"]\nown = ["x*"]\n'
    files = project("[]", {"pyproject.toml": pyproject})
    files["server.json"] = str(files["server.json"]).replace('"settings": []', '"toolsets": {"own": ["x"], "a": ["x"]}')
    server, problems = checked(files)
    assert server is not None, problems
    toolsets = {each.name: [pattern for pattern, _ in each.patterns] for each in server.server.toolsets}
    assert toolsets == {"a": ["x"], "more": ["x", "*"], "own": ["x*"]}
    assert [key for key, _ in server.server.metadata.order.others] == []
    wrong, *_ = checked({**files, "pyproject.toml": "[tool.mcpc]\ntoolsets = 3\n"})[1]
    assert (wrong.code, wrong.span.path if wrong.span else "") == ("MCP101", "pyproject.toml")


def test_a_handler_that_reads_a_setting_gets_it() -> None:
    code = {"tools.py": "import os\ndef x(): return os.environ['UNITS']\n"}
    assert checked(project(json.dumps([UNITS]), code))[1] == ()
    assert [problem.code for problem in checked(project("[]", code))[1]] == ["MCP231"]
