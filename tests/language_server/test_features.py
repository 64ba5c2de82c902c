"""What an editor gets from `mcpc editor lsp`: pygls' client talks to a real process over its standard input and output."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsprotocol import types

from support.files import write_files
from support.language_client import EditorClient, applied
from support.needs import ROOT

SERVER = '{"serverInfo": {"name": "demo", "version": "1.0.0"}}\n'
TOOLS = """{
  "tools": [
    {
      "name": "greet",
      "description": "Greets.",
      "inputSchema": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}
    },
    {
      "name": "disk.free",
      "description": "Tells the free space.",
      "inputSchema": {"type": "object", "properties": {}}
    }
  ]
}
"""
PYTHON = 'def greet(who):\n    return f"Hello, {who}!"\n'
BASH = "tool_disk_free() {\n  df -h\n}\n"
FILES = {"server.json": SERVER, "tools.json": TOOLS, "tools.py": PYTHON, "tools.bash": BASH}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EditorClient]:
    with EditorClient(tmp_path_factory.mktemp("workspace")) as client:
        yield client


@pytest.fixture
def editor(served: EditorClient, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[EditorClient]:
    folder = served.folder
    name = request.node.name.replace("[", "_").replace("]", "")
    served.folder = folder / name
    write_files(served.folder, FILES)
    yield served
    for uri in [*served.versions]:
        document = types.TextDocumentIdentifier(uri)
        served._send("text_document_did_close", types.DidCloseTextDocumentParams(document))
    served.versions.clear()
    served.folder = folder
    log, served.log = served.log, []
    assert log == []


def test_diagnostics_come_while_typing_and_go(editor: EditorClient) -> None:
    editor.open("tools.json")
    editor.codes("tools.json")
    editor.type("tools.json", (4, 7), (4, 18), "descriptionn")
    unknown, missing = sorted(editor.codes("tools.json", "MCP103", "MCP108"), key=lambda each: str(each.code))
    assert unknown.message.endswith("help: did you mean `description`?")
    assert unknown.severity == types.DiagnosticSeverity.Warning
    assert (unknown.range.start, unknown.range.end) == (types.Position(4, 6), types.Position(4, 20))
    assert missing.source == "mcpc"
    editor.type("tools.json", (4, 7), (4, 19), "description")
    editor.codes("tools.json")


def test_a_file_that_is_broken_while_it_is_written(editor: EditorClient) -> None:
    editor.open("tools.json")
    editor.type("tools.json", (5, 22), (5, 22), "{")
    editor.wait("tools.json", lambda found: any(each.code == "MCP002" for each in found))
    editor.type("tools.json", (5, 22), (5, 23), "")
    editor.codes("tools.json")
    editor.type("tools.json", (3, 0), (3, 0), '      "\n')
    proposed = editor.complete("tools.json", 3, 7)
    assert {"title", "outputSchema", "annotations"} <= proposed.keys()
    assert "inputSchema" not in proposed  # it is written below


def test_hover_says_what_a_field_and_a_definition_are(editor: EditorClient) -> None:
    editor.open("tools.json")
    editor.codes("tools.json")
    assert "models choose tools by it" in editor.hover("tools.json", 4, 10)
    name = editor.hover("tools.json", 3, 17)
    assert "python greet(who) in tools.py" in name
    assert "input {who: string}" in name
    assert "The type of the value" in editor.hover("tools.json", 5, 25)
    editor.open("tools.py")
    assert "tool greet" in editor.hover("tools.py", 0, 6)
    editor.type("tools.json", (4, 7), (4, 18), "descriptionn")
    editor.codes("tools.json", "MCP103", "MCP108")
    assert "unknown field" in editor.hover("tools.json", 4, 10)


def test_from_a_definition_to_its_handler_and_back(editor: EditorClient) -> None:
    editor.open("tools.json")
    editor.codes("tools.json")
    assert editor.definition("tools.json", 3, 16) == ("tools.py", 0)
    assert editor.definition("tools.json", 9, 3) == ("tools.bash", 0)
    editor.open("tools.bash")
    assert editor.definition("tools.bash", 1, 3) == ("tools.json", 8)
    editor.type("tools.bash", (0, 0), (0, 0), "# one\n# two\n")
    assert editor.definition("tools.json", 9, 3) == ("tools.bash", 2)


def test_a_stub_for_a_missing_handler(editor: EditorClient) -> None:
    more = json.loads(TOOLS)
    schema = {"type": "object", "properties": {"a": {}, "b-c": {}}, "required": ["b-c"]}
    more["tools"].append({"name": "new.one", "description": "d", "inputSchema": schema})
    text = json.dumps(more, indent=2)
    editor.open("tools.json", text)
    place = editor.codes("tools.json", "MCP201")[0].range
    fixes = editor.fixes("tools.json", place)
    edit = fixes["Write a function for `new.one` in `tools.bash`"].edit
    written = applied(BASH, list(edit.changes[editor.uri("tools.bash")]))
    assert "tool_new_one() {" in written
    assert "$mcpc_arg_b_c" in written
    editor.open("tools.bash", written)
    editor.codes("tools.json")


def test_a_stub_in_a_new_file(editor: EditorClient) -> None:
    (editor.folder / "tools.py").unlink()
    (editor.folder / "tools.bash").unlink()
    editor.open("tools.json")
    place = editor.codes("tools.json", "MCP004")[0].range
    edit = editor.fixes("tools.json", place)["Write a function for `greet` in `tools.py`"].edit
    create, change = edit.document_changes or ()
    assert isinstance(create, types.CreateFile)
    assert isinstance(change, types.TextDocumentEdit)
    assert "def greet(" in change.edits[0].new_text
    editor.open("tools.py", change.edits[0].new_text)  # unsaved and new
    editor.wait("tools.json", lambda found: all(each.code != "MCP004" for each in found))


def test_files_on_disk_count_when_they_change(editor: EditorClient) -> None:
    editor.open("tools.json")
    editor.codes("tools.json")
    (editor.folder / "tools.py").unlink()
    editor.save("tools.json")
    editor.codes("tools.json", "MCP201")
    (editor.folder / "tools.py").write_text(PYTHON)
    editor.save("tools.json")
    editor.codes("tools.json")


def test_diagnostics_are_withdrawn_when_the_project_is_closed(editor: EditorClient) -> None:
    editor.open("tools.json", TOOLS.replace('"description"', '"descriptionn"', 1))
    editor.wait("tools.json", lambda found: len(found) > 1)
    editor.close("tools.json")
    editor.versions.clear()
    editor.codes("tools.json")


def test_two_projects_and_a_file_outside_of_any(editor: EditorClient) -> None:
    write_files(editor.folder / "other", FILES)
    (editor.folder / "tools.py").unlink()
    editor.open("other/tools.json", TOOLS.replace('"description"', '"descriptionn"', 1))
    editor.open("tools.json")
    editor.codes("tools.json", "MCP201")
    editor.codes("other/tools.json", "MCP103", "MCP108")


def test_a_file_of_a_part_belongs_to_the_project_around_it(editor: EditorClient) -> None:
    """Those of bx-mcp's `tools` would be a project alone; a script of the Bash SDK has any name."""
    examples = ROOT / "examples"
    shutil.copytree(examples / "bx-mcp", editor.folder / "bx")
    program = (examples / "bx-mcp/tools/maintenance.py").read_text("utf-8")
    editor.open("bx/tools/maintenance.py", program.replace("def stock_take(", "def stock_get("))
    editor.codes("bx/tools/maintenance.py", "MCP104", "MCP264")  # the other one is in the folder above
    shutil.copytree(examples / "bash-sdk", editor.folder / "sdk")
    script = (examples / "bash-sdk/wordserver.sh").read_text("utf-8")
    editor.open("sdk/wordserver.sh", script.replace("  jq -cn", "  if true\n  jq -cn"))
    editor.wait("sdk/wordserver.sh", lambda found: any(each.code == "MCP204" for each in found))


def test_a_file_outside_of_any_project_is_left_alone(editor: EditorClient) -> None:
    for path in FILES:
        (editor.folder / path).unlink()
    editor.open("notes.json", '{"a": }')
    assert editor.hover("notes.json", 0, 2) == ""
    assert editor.complete("notes.json", 0, 6) == {}


def new_text(item: types.CompletionItem) -> str:
    assert isinstance(item.text_edit, types.TextEdit)
    return item.text_edit.new_text


@pytest.mark.parametrize(("encoding", "width"), [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)])
def test_positions_are_in_the_units_that_client_and_server_agree_on(tmp_path: Path, encoding: str, width: int) -> None:
    write_files(tmp_path, FILES)
    with EditorClient(tmp_path, (encoding,)) as editor:
        assert editor.capabilities.position_encoding == encoding
        editor.open("tools.json", TOOLS.replace('"description": "Greets."', '"x": "😀", "description": "Greets."'))
        editor.codes("tools.json", "MCP103")
        start = len('      "x": "", "') + width
        editor.type("tools.json", (4, start), (4, start + 11), "descriptionn")
        found = editor.codes("tools.json", "MCP103", "MCP103", "MCP108")
        assert types.Position(4, start - 1) in [each.range.start for each in found]


def test_nothing_of_a_project_is_run(editor: EditorClient) -> None:
    program = (
        "from pathlib import Path\nfrom mcpc import Server\nPath(__file__).with_name('ran').touch()\n"
        'mcp = Server("x", version="1")\n\n\n@mcp.tool\ndef a(b: int) -> str:\n    """Do it."""\n    return ""\n'
    )
    for path in FILES:
        (editor.folder / path).unlink()
    editor.open("server.py", program)
    editor.codes("server.py")
    editor.type("server.py", (7, 4), (7, 4), "(")
    editor.codes("server.py", "MCP205")
    editor.type("server.py", (7, 4), (7, 5), "")
    editor.codes("server.py")
    assert [*editor.folder.iterdir()] == []
