"""bx-mcp's projects as definitions: marks, settings, and what of both is wrong, at exact places."""

from __future__ import annotations

import json
import time
from hashlib import sha256
from typing import Any

import pytest

from mcpc.frontends import select_frontends
from mcpc.frontends.bx.settings import read_settings
from mcpc.options import Options
from support.images import archive, image_of
from support.projects import PLAIN, SERVER_JSON, Files, checked, marked, places, tree

pytestmark = pytest.mark.sampled(2)

TOKEN = "a-token-nobody-guesses-0123"
TOOL = "from mcpc import mcp_tool\n@mcp_tool('Says hello')\ndef hello(name: str): return name\n"


def boxlang(**settings: Any) -> str:
    return json.dumps({"modules": {"bxmcp": {"settings": settings}}})


def server_of(files: Files) -> Any:
    found, problems = checked(files)
    assert found is not None, problems
    return found.server


def settings_of(**said: Any) -> dict[str, Any]:
    return read_settings(tree({"boxlang.json": boxlang(**said)}))[0].at_run_time()


@pytest.mark.parametrize(
    ("files", "formats"),
    [
        ({"t.py": TOOL}, ["bx-mcp"]),
        ({"tools/t.py": TOOL}, ["bx-mcp"]),
        ({"tools.py": TOOL}, ["bx-mcp"]),
        ({"deep/er/t.py": TOOL}, []),
        ({"t.py": "def mcp_tool(f): return f\n@mcp_tool\ndef a(): ...\n"}, []),
        ({"t.py": "# mcp_tool of mcpc\n"}, []),
        ({"t.py": "from mcpc import mcp_tool\n"}, []),
        ({"boxlang.json": boxlang()}, ["bx-mcp"]),
        ({"boxlang.json": '{"modules": {"other": {}}}'}, []),
        ({"A.bx": "class {\n @mcpTool function a() {}\n}"}, ["bx-mcp"]),
        ({"A.bx": "class {\n // @mcpTool\n function a() {}\n}"}, []),
        ({"server.json": SERVER_JSON, "tools.json": '{"tools": []}', "t.py": TOOL}, ["native", "bx-mcp"]),
        ({"server.json": SERVER_JSON, "tools.json": '{"tools": []}'}, ["native"]),
        ({"tools.py": TOOL + "from mcpc import tool\n@tool\ndef b(): ...\n"}, ["native", "bx-mcp"]),
    ],
)
def test_what_is_recognised(files: Files, formats: list[str]) -> None:
    assert [one.name for one in select_frontends(tree(files), PLAIN)[0]] == formats


@pytest.mark.parametrize("name", ["bx-mcp", "bx", "boxlang"])
def test_it_can_be_named(name: str) -> None:
    found, problems = select_frontends(tree({}), Options(format=name))
    assert ([one.name for one in found], problems) == (["bx-mcp"], ())


MARKS = '''
import mcpc
from typing import Annotated
from mcpc import mcp_prompt, mcp_resource, mcp_tool

@mcp_tool
def plain(a: int, b: Annotated[str, "second"] = "x") -> int:
    """Adds.

    Args:
        a: first
    """
    return a
@mcp_tool("Described")
def described():
    """Not this."""
@mcp_tool({"name": "named", "description": "From an object", "version": "1.5"})
def by_object(): ...
@mcp_tool(name="keyed", description="By keywords", readOnlyHint=True)
def by_keywords(): ...
@mcpc.mcp_tool({"name": "both"}, description="Both")
def by_both(): ...
@mcp_resource
def one(): return "1"
@mcp_resource("A second")
def two(): return "2"
@mcp_resource({"uri": "config://{key}", "name": "three", "mimeType": "text/csv"})
def three(key: str): return key
@mcp_prompt({"name": "asks", "arguments": [{"name": "topic", "description": "what of", "required": True}]})
def ask(topic: str = "", tone: Annotated[str, "how"] = "plain"): return topic
'''


def test_every_way_of_marking() -> None:
    server = server_of({"things.py": MARKS})
    assert [tool.name for tool in server.tools] == ["plain", "described", "named", "keyed", "both"]
    nodes: dict[str, Any] = {tool.name: tool.node.value for tool in server.tools}
    texts = {name: node.get("description") for name, node in nodes.items()}
    assert texts == {
        "plain": "Adds.",
        "described": "Described",
        "named": "From an object",
        "keyed": "By keywords",
        "both": "Both",
    }
    properties = server.tools[0].input.node.value["properties"]
    assert (properties["a"]["description"], properties["b"]["description"]) == ("first", "second")
    assert nodes["named"]["_meta"] == {"bxmcp/version": "1.5"}
    assert nodes["keyed"]["annotations"] == {"readOnlyHint": True}
    assert [one.uri for one in server.resources] == ["resource://one", "resource://two"]
    assert [one.node.value["uriTemplate"] for one in server.templates] == ["config://{key}"]
    (prompt,) = server.prompts
    assert [(one.name, one.required) for one in prompt.arguments] == [("topic", True), ("tone", False)]


def test_a_server_that_nobody_described_has_a_name() -> None:
    server = server_of({"t.py": TOOL})
    assert server.node.value["serverInfo"] == {"name": "bx-mcp", "version": "0.1.0"}
    said = "from mcpc import Server\nmcp = Server('mine', version='3.1')\n"
    for files in ({"t.py": said + TOOL}, {"t.py": TOOL, "server.py": said}, {"server.py": said + TOOL}):
        found, problems = checked(files)
        assert problems == ()
        assert found is not None
        assert found.server.node.value["serverInfo"] == {"name": "mine", "version": "3.1"}


def test_both_kinds_of_marks_in_one_file_and_functions_found_by_name() -> None:
    listed = '{"tools": [{"name": "old", "description": "Old.", "inputSchema": {"type": "object"}}]}'
    both = f"from mcpc import tool\ndef old(): ...\n@tool\ndef new():\n    'New.'\n{TOOL}"
    server = server_of({"server.json": SERVER_JSON, "tools.json": listed, "tools.py": both})
    assert sorted(tool.name for tool in server.tools) == ["hello", "new", "old"]
    assert [file.source.path for file in server.files] == ["tools.py"]


def test_the_settings_and_boxlang_code_stay_at_home() -> None:
    files: Files = {"t.py": TOOL, "boxlang.json": boxlang(authToken=TOKEN), "data.txt": "d"}
    server = server_of(files)
    assert [file.source.path for file in server.files] == ["data.txt", "t.py"]
    assert TOKEN.encode() not in archive(files).data
    with_native = {**files, "server.json": SERVER_JSON, "tools.py": "from mcpc import tool\n@tool\ndef b():\n 'B.'\n"}
    assert TOKEN.encode() not in archive(with_native).data


def test_settings_have_their_meaning() -> None:
    assert settings_of() == {
        "enabled": True,
        "tokens": (),
        "allowed": None,
        "origins": (),
        "body_limit": 0,
        "tools": (("*",), ()),
    }
    digest = sha256(TOKEN.encode()).hexdigest()
    assert settings_of(authToken="")["tokens"] == ()
    assert settings_of(authToken=TOKEN)["tokens"] == (("digest", digest, (("*",), ())),)
    assert settings_of(authToken="${env.SECRET}")["tokens"] == (("variable", "SECRET", (("*",), ())),)
    assert settings_of(authToken="${ENV.SECRET:default}")["tokens"][0][:2] == ("variable", "SECRET")
    rows = [
        {"token": "${env.A}", "profile": "readonly", "includedTools": ["hello"]},
        {"token": "${env.B}", "PROFILE": "Mine"},
        {"token": "${env.C}", "includedTools": ["h*"], "excludedTools": ["hell"]},
    ]
    said = settings_of(authToken=rows, securityProfiles={"mine": {"excludedTools": "hello"}})["tokens"]
    assert [tools for _, _, tools in said] == [
        (("*_get*", "*_has*", "*_search*", "*_read*"), ()),
        (("*",), ("hello",)),
        (("h*",), ("hell",)),
    ]
    more = settings_of(
        ALLOWEDIPS=["10.0.0.7", "10.1.2.3/8", "localhost"],
        corsAllowedOrigins="https://A.example.com/",
        maxRequestBodySize="1000",
        enabled="false",
    )
    assert more["allowed"] == ("10.0.0.7/32", "10.0.0.0/8", "127.0.0.1/32", "::1/128")
    assert (more["origins"], more["body_limit"], more["enabled"]) == (("https://a.example.com",), 1000, False)


def test_the_configuration_may_have_comments_and_other_things() -> None:
    text = """{
    // a line "with quotes
    "modules": { /* and
    lines */ "bxMCP": { "enabled": false, "settings": { "allowedIPs": ["::1"] /* " */ } }, "other": {"x": "//not"} },
    "debugMode": true
}"""
    said = dict(server_of({"t.py": TOOL, "boxlang.json": text}).runtime_settings)["bx"]
    assert (said["enabled"], said["allowed"]) == (False, ("::1/128",))


def test_what_settings_leave_out_is_not_built() -> None:
    more = TOOL + "@mcp_tool\ndef debug_all():\n    'All.'\n"
    files: Files = {"t.py": more, "boxlang.json": boxlang(excludedTools=["debug_*"])}
    found, problems = checked(files)
    assert found is not None
    assert [tool.name for tool in found.server.tools] == ["hello"]
    assert places(problems, files) == [("MCP264", "t.py", 5, 5)]
    assert image_of(archive(files).data).tool("debug_all") is None


def settings_text(said: str) -> str:
    return '{"modules": {"bxmcp": {"settings": {' + said + "}}}}"


WRONG_SETTINGS = [
    ('"authToken": »5', ["MCP261"]),
    ('"authToken": »{}', ["MCP261"]),
    ('"authToken": [»5]', ["MCP261"]),
    ('"authToken": [»{"profile": "admin"}]', ["MCP261"]),
    ('"authToken": [{"token": »7}]', ["MCP261"]),
    ('"authToken": [{"token": »""}]', ["MCP708"]),
    ('"authToken": »"short"', ["MCP708"]),
    ('"authToken": »"FILL_THIS_OUT_ALWAYS"', ["MCP708"]),
    ('"authToken": »"aaaaaaaaaaaaaaaaaaaaaaaa"', ["MCP708"]),
    ('"authToken": »"has spaces in it, and more"', ["MCP708"]),
    ('"authToken": »"${user-home}/token/of/mine"', ["MCP708"]),
    (f'"authToken": »"{TOKEN}"', ["MCP707"]),
    ('"authToken": »"${env.X:fallback-value}"', ["MCP707"]),
    ('"authToken": [{"token": "${env.A}"}, {"token": »"${env.A}"}]', ["MCP261"]),
    ('"authToken": [{"token": "${env.A}", "profile": »"none"}]', ["MCP263"]),
    ('"authToken": [{"token": "${env.A}", »"includeTools": ["*"]}]', ["MCP261"]),
    ('"authToken": [{"token": "${env.A}", "includedTools": [»4]}]', ["MCP261"]),
    ('"allowedIPs": [»"10.0.0"]', ["MCP261"]),
    ('"allowedIPs": [»1]', ["MCP261"]),
    ('"allowedIPs": »{}', ["MCP261"]),
    ('"corsAllowedOrigins": [»"*"]', ["MCP709"]),
    ('"corsAllowedOrigins": [»"app.example.com"]', ["MCP261"]),
    ('"corsAllowedOrigins": [»"https://a.example/path"]', ["MCP261"]),
    ('"corsAllowedOrigins": [»"https://a.example:99999"]', ["MCP261"]),
    ('"corsAllowedOrigins": [»"null"]', ["MCP261"]),
    ('"maxRequestBodySize": »-1', ["MCP261"]),
    ('"maxRequestBodySize": »true', ["MCP261"]),
    ('"maxRequestBodySize": »"1MB"', ["MCP261"]),
    ('"enabled": »"perhaps"', ["MCP261"]),
    ('»"excludeTools": ["hello"]', ["MCP261"]),
    ('»"authTokens": "x"', ["MCP261"]),
    ('»"enableStats": false', ["MCP262"]),
    ('»"slowSQL": {"enabled": true}', ["MCP262"]),
    ('»"somethingNew": 1', ["MCP262"]),
    ('"securityProfiles": »[]', ["MCP261"]),
    ('"securityProfiles": {"a": »"x"}', ["MCP261"]),
    ('"maxRequestBodySize": »-1, "allowedIPs": [»"x"], »"slowHttp": {}', ["MCP261", "MCP261", "MCP262"]),
]


@pytest.mark.parametrize(("said", "codes"), WRONG_SETTINGS)
def test_a_wrong_setting_is_told_at_its_place(said: str, codes: list[str]) -> None:
    files, marks = marked({"boxlang.json": settings_text(said)})
    problems = read_settings(tree(files))[1]
    assert places(problems, files) == [(code, *mark) for code, mark in zip(codes, marks, strict=True)]
    assert not any(TOKEN in problem.message + problem.hint for problem in problems)


def test_a_setting_beside_the_settings_is_told() -> None:
    text = f'{{"modules": {{"bxmcp": {{"enabled": true, "version": "1", »"authToken": "{TOKEN}", "settings": {{}}, »"allowedips": []}}}}}}'
    files, marks = marked({"boxlang.json": text})
    problems = read_settings(tree(files))[1]
    assert places(problems, files) == [("MCP261", *mark) for mark in marks]
    assert not any(TOKEN in problem.message + problem.hint for problem in problems)


@pytest.mark.parametrize(
    "said",
    [
        '"excludedTools": [»"helo"], "includedTools": ["?ello", "*"]',
        '"authToken": [{"token": "${env.A}", "includedTools": [»"Hello"], "excludedTools": ["h*"]}]',
        '"securityProfiles": {"mine": {"includedTools": ["hello", »"other_*"]}}',
    ],
)
def test_a_pattern_that_fits_nothing_is_told(said: str) -> None:
    files, marks = marked({"boxlang.json": settings_text(said), "t.py": TOOL})
    found, problems = checked(files)
    assert found is not None
    assert places(problems, files) == [("MCP265", *mark) for mark in marks]


@pytest.mark.parametrize(
    "text", ['{"modules": {"bxmcp": »5}}', '{"modules": {"bxmcp": {"settings": »[]}}}', '{"modules": {"bxmcp": »[1]}}']
)
def test_a_module_is_an_object(text: str) -> None:
    files, marks = marked({"boxlang.json": text, "t.py": TOOL})
    assert places(read_settings(tree(files))[1], files) == [("MCP261", *mark) for mark in marks]


def test_settings_alone_are_no_server() -> None:
    files: Files = {"boxlang.json": boxlang()}
    found, problems = checked(files)
    assert found is None
    assert [problem.code for problem in problems] == ["MCP004"]


WRONG_MARKS = [
    ('@mcp_tool({»"nmae": "x"})\ndef a(): "A."', "MCP221"),
    ("@mcp_tool(»nmae='x')\ndef a(): 'A.'", "MCP221"),
    ("class A:\n    @»mcp_tool\n    def a(self): ...", "MCP220"),
    ("def outer():\n    @»mcp_tool('x')\n    def a(): ...", "MCP220"),
    ("@mcp_tool\ndef a(*»args): ...", "MCP218"),
    ("@mcp_tool\ndef a(x: »object()): ...", "MCP217"),
    ("@mcp_prompt({'arguments': »[{'name': 'no'}]})\ndef a(b: str): ...", "MCP221"),
    ("@mcp_prompt({'arguments': »'b'})\ndef a(b: str): ...", "MCP221"),
    ("@mcp_resource\ndef a(b: »str): ...", "MCP227"),
    ("@mcp_resource({'uri': »5})\ndef a(): ...", "MCP221"),
]


@pytest.mark.parametrize(("text", "code"), WRONG_MARKS)
@pytest.mark.sampled(4)
def test_a_wrong_mark_is_told_at_its_place(text: str, code: str) -> None:
    head = "from mcpc import mcp_prompt, mcp_resource, mcp_tool\n"
    files, marks = marked({"t.py": head + text + "\n", "u.py": TOOL})
    found, problems = checked(files)
    assert found is None
    assert places(problems, files) == [(code, *mark) for mark in marks]


def test_a_mark_that_is_no_text_and_no_object_is_an_import_that_fails() -> None:
    files: Files = {"t.py": "from mcpc import mcp_tool\n@mcp_tool(5)\ndef a(): ...\n"}
    assert places(checked(files)[1], files) == [("MCP216", "t.py", 2, 1)]


def test_marks_elsewhere_are_told() -> None:
    files: Files = {"t.py": TOOL, "deep/er/u.py": TOOL.replace("hello", "other")}
    _, problems = checked(files)
    assert places(problems, files) == [("MCP224", "deep/er/u.py", 3, 5)]
    assert "`tools/`" in problems[0].hint


def test_boxlang_code_is_told_with_what_it_would_be() -> None:
    code = """class {
    /* @mcpTool in a comment */
    »@mcpTool( "Finds" )
    public struct function getUser( required string userName, numeric mostRows=5, any thing ) {
    }
    »@mcpPrompt
    function ask( topic ) {}
}
"""
    files, marks = marked({"Tools.bx": code, "t.py": TOOL})
    found, problems = checked(files)
    assert found is None
    assert places(problems, files) == [("MCP260", *mark) for mark in marks]
    assert "def get_user(user_name: str, most_rows: float = ..., thing=...)" in problems[0].hint
    assert "@mcp_prompt" in problems[1].hint
    script, marks = marked({"register.bxs": 's = »MCPServer( "a" ).registerTool( x )\n'})
    assert places(checked(script)[1], script) == [("MCP260", *mark) for mark in marks]


def test_hostile_boxlang_code_takes_no_time() -> None:
    text = "/*" * 200_000 + "@mcpTool function f(" + "(" * 200_000
    begun = time.process_time()
    select_frontends(tree({"A.bx": text, "B.bxs": "@mcpTool " * 50_000}), PLAIN)
    checked({"B.bxs": "@mcpTool function a( " * 40_000})
    assert time.process_time() - begun < 20  # it is well below one; what is not linear takes minutes
