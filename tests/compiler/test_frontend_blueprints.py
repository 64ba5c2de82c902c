"""MCP Dev Blueprints' format: which projects are knowledge bases, what is in them, and every way to get one wrong."""

import json
from collections.abc import Callable
from pathlib import Path

from mcpc.diagnostics import has_errors
from mcpc.model.ir import Server
from mcpc.options import Options
from mcpc.reading import read_tree
from support.projects import Files, checked, lowered, parsed
from support.whole_projects import print_cases

GOLDEN = Path(__file__).parents[1] / "golden/frontends"
SERVERS = '[{"name": "s", "path": "s", "features": ["f.json"]}]'
LISTS = ("tools", "resources", "prompts", "custom_tools", "custom_resources", "custom_prompts")
TOOL = {"id": "t", "title": "T", "description": "d", "content": [{"type": "text", "text": "x"}]}


def feature(**lists: object) -> str:
    return json.dumps({**{key: [] for key in LISTS}, **lists})


def base(**lists: object) -> Files:
    return {"servers.json": SERVERS, "f.json": feature(**lists)}


def server_of(files: Files, **options: object) -> Server:
    server, problems = lowered(files, Options(**options))
    assert server is not None
    assert not has_errors(problems), problems
    return server


def content(server: Server, name: str) -> object:
    (tool,) = (tool for tool in server.tools if tool.name == name)
    return json.loads(tool.handler.facts[0])


def codes(files: Files, **options: object) -> list[str]:
    return [problem.code for problem in checked(files, Options(**options))[1]]


def test_one_of_several_is_chosen_by_its_folder() -> None:
    files = {f"{name}/{path}": text for name in "ab" for path, text in base(tools=[{**TOOL, "id": name}]).items()}
    for name in "ab":
        for written in (name, f"{name}/", f"./{name}"):
            assert [tool.name for tool in server_of(files, kb=written).tools] == [name]
    for written in ("c", "..", "../a", "a/f.json"):
        assert codes(files, kb=written) == ["MCP270"]
    definition, problems = parsed(files, Options(format="blueprints"))
    assert definition is None
    assert [(problem.code, problem.hint) for problem in problems] == [("MCP270", "choose one with `--kb FOLDER`")]
    assert [problem.code for problem in parsed({"a": ""}, Options(format="blueprints"))[1]] == ["MCP270"]


def test_a_tool_shows_what_it_is_and_checks_nothing() -> None:
    (tool,) = server_of(base(tools=[TOOL])).tools
    shown = {key: value for key, value in tool.node.value.items() if key != "_meta"}
    schema = {"type": "object", "properties": {}}
    assert shown == {"name": "t", "title": "T", "description": "d", "inputSchema": schema}
    assert not tool.input.decides
    assert server_of(base(tools=[TOOL]), validate=True).tools[0].input.decides


RESOURCE = {"id": "r", "title": "R", "description": "d", "uri": "docs://r", "mimeType": "text/markdown"}


def test_the_documented_starter_builds() -> None:
    """The shape of a starter: a tool with a file, and a resource that is only its uri."""
    files: Files = {
        "servers.json": '[{"name": "team", "path": "team", "features": ["starter.json"]}]',
        "starter.json": feature(
            tools=[{**TOOL, "content": [{"type": "file", "path": "start/hello.md"}]}],
            resources=[{**RESOURCE, "uri": "file://people/list.json", "mimeType": "application/json"}],
        ),
        "start/hello.md": "Hello.\n",
        "people/list.json": "[]\n",
    }
    assert codes(files) == []


def test_whole_projects(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "blueprints.txt", print_cases(GOLDEN / "blueprints.cases"))


def test_symlinks_lead_nowhere_else(tmp_path: Path) -> None:
    outside, kb = tmp_path / "outside", tmp_path / "kb"
    outside.mkdir()
    kb.mkdir()
    (outside / "secret.md").write_text("secret")
    (kb / "servers.json").write_text(SERVERS)
    (kb / "in.md").write_text("inside")
    (kb / "link.md").symlink_to(kb / "in.md")
    (kb / "out.md").symlink_to(outside / "secret.md")
    (kb / "folder").symlink_to(outside)
    names = ("link.md", "out.md", "folder/secret.md")
    (kb / "f.json").write_text(
        feature(
            tools=[{**TOOL, "id": f"t{n}", "content": [{"type": "file", "path": name}]} for n, name in enumerate(names)]
        )
    )
    read, problems = read_tree(kb)
    assert [problem.code for problem in problems] == ["MCP005", "MCP005"]
    definition, found = parsed({path: source.data for path, source in read.files.items()})
    assert [problem.code for problem in found] == ["MCP271", "MCP271"]
    assert b"inside" in definition.tools[0].handler.facts[0]
    assert not any(b"secret" in tool.handler.facts[0] for tool in definition.tools)
