"""MCP Dev Blueprints' format: which projects are knowledge bases, what is in them, and every way to get one wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcpc.diagnostics import Severity, has_errors
from mcpc.frontends import select_frontends
from mcpc.options import Options
from mcpc.sources import read_tree
from support.projects import SERVER_JSON, Files, checked, lowered, marked, parsed, places, tree
from support.whole_projects import print_cases

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.ir import Server

GOLDEN = Path(__file__).parents[1] / "golden/frontends"
SERVERS = '[{"name": "s", "path": "s", "features": ["f.json"]}]'
LISTS = ("tools", "resources", "prompts", "custom_tools", "custom_resources", "custom_prompts")
TOOL = {"id": "t", "title": "T", "description": "d", "content": [{"type": "text", "text": "x"}]}
CUSTOM = '''from mcpc import prompt, resource, tool


@tool(name="status")
def how(service: str = "all") -> str:
    """Say how a service is."""
    return service


@prompt(name="ask")
def asking(about: str) -> str:
    """Ask about something."""
    return about


@resource("state://now", name="now")
def now() -> str:
    """Say what is."""
    return "now"
'''


def feature(**lists: object) -> str:
    """A feature file with all six lists."""
    return json.dumps({**{key: [] for key in LISTS}, **lists})


def base(**lists: object) -> Files:
    """A knowledge base of one feature file."""
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


# ---- which projects are knowledge bases

RECOGNISED: dict[str, Files] = {
    "the project itself": {"servers.json": SERVERS},
    "with a byte order mark": {"servers.json": b"\xef\xbb\xbf" + SERVERS.encode()},
    "broken": {"servers.json": '[{"name": "s", "features": ['},
    "no array": {"servers.json": '{"features": []}'},
    "a folder of it": {"dev/kb/servers.json": SERVERS, "docs/a.md": ""},
}
OTHERS: dict[str, Files] = {
    "other servers": {"servers.json": '[{"host": "db"}]'},
    "an object": {"servers.json": "{}"},
    "two folders": {"a/servers.json": SERVERS, "b/servers.json": SERVERS},
    "an object in a folder": {"a/servers.json": '{"features": []}'},
    "another name": {"server_list.json": SERVERS},
    "hidden by a list without features": {"servers.json": "[]", "a/servers.json": SERVERS},
}


@pytest.mark.parametrize("case", RECOGNISED)
def test_a_knowledge_base_is_recognised(case: str) -> None:
    found, problems = select_frontends(tree(RECOGNISED[case]), Options())
    assert [frontend.name for frontend in found] == ["blueprints"]
    assert problems == ()


@pytest.mark.parametrize("case", OTHERS)
def test_other_lists_of_servers_are_none(case: str) -> None:
    found, problems = select_frontends(tree(OTHERS[case]), Options())
    assert [frontend.name for frontend in found] == []
    assert [problem.code for problem in problems] == ["MCP009"]
    assert "--kb" in problems[0].expected


def test_below_a_project_of_our_own_it_may_be_anything() -> None:
    files = {"server.json": SERVER_JSON, "tools.json": '{"tools": []}', "tests/kb/servers.json": SERVERS}
    assert [frontend.name for frontend in select_frontends(tree(files), Options())[0]] == ["native"]
    beside = {"server.json": SERVER_JSON, "servers.json": SERVERS}
    assert [frontend.name for frontend in select_frontends(tree(beside), Options())[0]] == ["native", "blueprints"]


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


# ---- what is in them


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


def test_the_documented_feature_file_builds_where_its_folder_is_not_there() -> None:
    files = base(resources=[{**RESOURCE, "uri": "file://templates/"}])
    assert codes(files) == ["MCP278"]
    assert server_of(files).resources[0].handler.facts[0] == (
        b'[{"uri":"file://templates/","text":"Resource available at: file://templates/"}]'
    )


# ---- custom features

HOMES = {"in it": "kb/custom/a.py", "beside it": "custom/a.py"}


@pytest.mark.parametrize("home", HOMES)
def test_custom_features_are_marked_functions_by_their_ids(home: str) -> None:
    lists = {"custom_tools": ["status"], "custom_prompts": ["ask"], "custom_resources": ["now"]}
    files = {**{f"kb/{path}": text for path, text in base(tools=[TOOL], **lists).items()}, HOMES[home]: CUSTOM}
    server = server_of(files)
    assert [tool.name for tool in server.tools] == ["t", "status"]
    assert server.tools[1].handler.file == HOMES[home]
    assert server.tools[1].input.decides
    assert server.virtual_servers[0].tools == ("t", "status")
    assert (server.virtual_servers[0].prompts, server.virtual_servers[0].resources) == (("ask",), ("now",))


def test_a_function_that_no_file_lists_is_not_served() -> None:
    files = {**base(custom_tools=["status", "statuz"]), "custom/a.py": CUSTOM}
    server, problems = lowered(files)
    assert server is not None
    assert [tool.name for tool in server.tools] == ["status"]
    assert (server.prompts, server.resources) == ((), ())
    found = sorted((problem.code, problem.hint) for problem in problems)
    assert found == [
        ("MCP202", "list its id in `custom_prompts`"),
        ("MCP202", "list its id in `custom_resources`"),
        ("MCP272", "did you mean `status`?"),
    ]
    assert not has_errors(problems)


def test_an_id_nobody_implements_is_a_warning_and_the_server_works() -> None:
    files = {**base(tools=[TOOL], custom_tools=["gone"]), "custom/tools.ts": "export {}"}
    server, problems = checked(files)
    assert server is not None
    assert [(problem.code, problem.severity) for problem in problems] == [("MCP272", Severity.WARNING)]


def test_two_functions_of_one_id_are_refused() -> None:
    files = {**base(custom_tools=["status"]), "custom/a.py": CUSTOM, "custom/b.py": CUSTOM}
    assert "MCP104" in codes(files)


def test_a_custom_file_that_cannot_be_imported_is_told_once() -> None:
    files = {**base(custom_tools=["status"]), "custom/a.py": CUSTOM + "\nraise ValueError('no')\n"}
    assert codes(files) == ["MCP216"]


def test_whole_projects(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "blueprints.txt", print_cases(GOLDEN / "blueprints.cases"))


# ---- what later stages refuse: `»` stands before the place that is told

WRONG = {
    "an id of odd characters": ("MCP105", "tools", '{"id": »"my tool", "description": "d", "content": []}'),
    "an id that is empty": ("MCP105", "tools", '{"id": »"", "description": "d", "content": []}'),
    "no description": ("MCP108", "tools", '{"id": »"t", "content": []}'),
    "a description that is none": ("MCP101", "tools", '{"id": "t", "description": »[], "content": []}'),
    "text nobody can see": ("MCP701", "tools", '{"id": "t", "description": »"a\\u202eb", "content": []}'),
    "a uri that is none": ("MCP120", "resources", '{"id": "r", "uri": »"guide", "content": []}'),
    "a type that is none": ("MCP107", "resources", '{"id": "r", "uri": "a:b", "mimeType": »"markdown", "content": []}'),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_at_its_place(case: str) -> None:
    code, kind, text = WRONG[case]
    files, marks = marked({"servers.json": SERVERS, "f.json": feature(**{kind: ["@"]}).replace('"@"', text)})
    _, problems = checked(files)
    told = [place for place in places(problems, files) if place[0] == code]
    assert [place[1:] for place in told][:1] == marks, problems


def test_two_of_one_id_are_told_with_both_places() -> None:
    files = {
        **base(tools=[TOOL]),
        "servers.json": '[{"name": "s", "path": "s", "features": ["f.json", "g.json"]}]',
        "g.json": feature(tools=[TOOL]),
    }
    (problem,) = checked(files)[1]
    assert (problem.code, problem.severity) == ("MCP104", Severity.ERROR)
    assert problem.span is not None
    assert problem.span.path == "g.json"
    assert "`t`" in problem.message
    assert "f.json:1" in problem.hint


def test_a_missing_list_is_empty_and_strict_refuses_it() -> None:
    files: Files = {"servers.json": SERVERS, "f.json": json.dumps({"tools": [TOOL]})}
    server, problems = checked(files)
    assert server is not None
    (problem,) = problems
    assert problem.severity is Severity.WARNING
    assert all(f"`{name}`" in problem.message for name in ("f.json", "resources", "prompts", "custom_tools"))
    assert has_errors(problems, strict=True)


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
    assert definition is not None
    assert [problem.code for problem in found] == ["MCP271", "MCP271"]
    assert b"inside" in definition.tools[0].handler.facts[0]
    assert not any(b"secret" in tool.handler.facts[0] for tool in definition.tools)


def many(count: int) -> Files:
    """A knowledge base of so many tools, in ten files."""
    each = count // 10
    files = {
        f"{n}.json": feature(
            tools=[{**TOOL, "id": f"t{n}_{m}", "content": [{"type": "file", "path": "a.md"}]} for m in range(each)]
        )
        for n in range(10)
    }
    servers = [{"name": f"s{n}", "path": f"s{n}", "features": [f"{n}.json"]} for n in range(10)]
    return {"servers.json": json.dumps(servers), "a.md": "text\n" * 20, **files}


@pytest.mark.slow
def test_ten_thousand_tools_are_read() -> None:
    server, problems = checked(many(10_000))
    assert server is not None
    assert problems == ()
    assert len(server.server.tools) == 10_000
    assert [len(each.tools) for each in server.server.virtual_servers] == [1000] * 10


def test_very_many_features_are_each_told() -> None:
    files: Files = {
        "servers.json": json.dumps([{"name": "s", "path": "s", "features": ["f.json"] * 5000 + ["g.json"] * 200}]),
        "f.json": feature(tools=[TOOL]),
    }
    _, problems = checked(files)
    assert [problem.code for problem in problems].count("MCP279") == 4999
    assert [problem.code for problem in problems].count("MCP271") == 200
