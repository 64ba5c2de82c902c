"""A project in the native format: its files, what became of each definition, and the report of it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from mcpc.diagnostics import diagnose
from mcpc.model.ir import Server
from mcpc.pack.manifest import readable_json
from mcpc.workbench.importing import (
    definition_name,
    import_report,
    list_differences,
    listed_items,
    table_cell,
    translate,
)
from support.projects import SERVER_JSON, lowered
from support.whole_projects import read_cases

GOLDEN = Path(__file__).parents[2] / "golden/frontends"


def test_whole_projects(golden: Callable[[Path, str], None]) -> None:
    printed = []
    for name, project, options in read_cases(GOLDEN / "importing.cases"):
        found = translate(replace(project, options=options), options)
        printed.append(f"##### {name}\nformats {found.formats}, left out {found.left_out}\n")
        printed += (f"{row}\n" for row in found.rows)
        for path, file in found.files.items():
            is_new = file is not project.files.get(path)
            printed.append(f"===== {path} {file.mode:o}{' new' if is_new else ''}\n{file.text if is_new else ''}")
        difference = diagnose("MCP281", None, "a | difference", hint="and\nwhy")
        printed.append(f"===== the report\n{import_report(found, (difference,) if found.left_out else ()).decode()}\n")
    golden(GOLDEN / "importing.txt", "".join(printed))


def server(tools: str, info: str = SERVER_JSON) -> Server:
    found, _ = lowered(
        {"server.json": info, "tools.json": tools, "tools.py": "def a(): ...\ndef b(): ...\ndef c(): ...\n"}
    )
    assert found is not None
    return found


def tools(**descriptions: str) -> str:
    rows = (
        f'{{"name": "{name}", "description": "{text}", "inputSchema": {{"type": "object"}}}}'
        for name, text in descriptions.items()
    )
    return f'{{"tools": [{", ".join(rows)}]}}'


def test_differences_that_clients_see() -> None:
    before = server(tools(a="A", b="B"))
    assert list(listed_items(before)) == ["`a` of `tools/list`", "`b` of `tools/list`"]
    assert list(list_differences(before, before)) == []
    info = '{"serverInfo": {"name": "new", "version": "2"}, "instructions": "I"}'
    found = list(list_differences(before, server(tools(c="C", b="other"), info)))
    assert [(problem.code, problem.span, problem.message) for problem in found] == [
        ("MCP281", None, "`a` of `tools/list` no longer exists"),
        ("MCP281", None, "`b` of `tools/list` is shown differently"),
        ("MCP281", None, "`c` of `tools/list` is new"),
        ("MCP281", None, "the server's name has changed"),
        ("MCP281", None, "the server's version has changed"),
        ("MCP281", None, "the server's instructions has changed"),
    ]


def test_names_and_texts() -> None:
    assert [
        definition_name(node)
        for node in (
            {"name": "n", "uri": "u"},
            {"uri": "u", "uriTemplate": "t"},
            {"uriTemplate": "t"},
            {},
            {"ref": {"name": "p", "uri": "u"}, "argument": "a"},
            {"ref": {"uri": "u"}},
        )
    ] == ["n", "u", "t", "", "p a", "u "]
    assert readable_json({"é": ["\ud800"]}) == '{\n  "é": [\n    "\\ud800"\n  ]\n}\n'.encode()
    assert table_cell(" a |\n b ") == "a \\| b"
