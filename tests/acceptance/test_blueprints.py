"""MCP Dev Blueprints' acceptance cases, by number, against built files, over pipes and over HTTP.

`PLAIN` is the default, where the specification of MCP wins; `EXACT` is built with `--dialect blueprints`.  A deliberate
difference is asserted as such.  The system's own knowledge base is looked for in `TESTS_BLUEPRINTS`.
"""

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import posts
from support.artifact import build, carried, converse, mcpc
from support.files import write_files
from support.serving import Served, served
from support.stdio import conversation, initialization, numbered

GUIDE = "# guide\nline, and no more: ü\n\n"
LISTS = ("tools", "resources", "prompts", "custom_tools", "custom_resources", "custom_prompts")
LINK = {"type": "resource_link", "uri": "https://docs.example/", "name": "TL", "description": "x"}
HELLO = {"role": "user", "content": {"type": "text", "text": "hello"}}
SYSTEM = {"role": "system", "content": {"type": "text", "text": "sys"}}
FIRST = {
    "tools": [
        {
            "id": "mixed",
            "title": "Unit Test",
            "description": "d",
            "content": [
                {"type": "text", "text": "Follow these:"},
                {"type": "file", "path": "docs/guide.md"},
                LINK,
                {"type": "video", "url": "https://docs.example/v"},
            ],
        },
        {"id": "empty", "title": "t", "description": "d", "content": []},
        {
            "id": "data",
            "title": "t",
            "description": "d",
            "content": [{"type": "text", "text": '{"a": "\\u0000 \u2028 %b {name}"}'}],
        },
    ],
    "resources": [
        {
            "id": "r1",
            "title": "R",
            "description": "rd",
            "uri": "docs://r1",
            "mimeType": "text/markdown",
            "content": [
                {"type": "text", "text": "T"},
                {"type": "file", "path": "docs/guide.md"},
                {"type": "uri", "uri": "https://x.example/"},
            ],
        },
        {"id": "r2", "title": "R2", "description": "d", "uri": "file://docs/guide.md", "mimeType": "text/markdown"},
        {
            "id": "r3",
            "title": "R3",
            "description": "d",
            "uri": "docs://r3",
            "content": [{"type": "file", "path": "p.png"}],
        },
    ],
    "prompts": [
        {"id": "p1", "title": "P", "description": "pd", "messages": [HELLO]},
        {"id": "p2", "title": "P2", "description": "pd2"},
        {"id": "p3", "title": "P3", "description": "pd3", "messages": [SYSTEM, HELLO]},
        {"id": "p4", "title": "P4", "description": "pd4", "messages": [{"role": "user", "content": LINK}]},
    ],
    "custom_tools": ["missing_custom"],
}
SECOND = {
    "tools": [{"id": "b_tool", "title": "B", "description": "bd", "content": [{"type": "text", "text": "b"}]}],
    "custom_tools": ["relay"],
}
SERVERS = [
    {"name": "s1", "path": "one", "features": ["f/a.json"]},
    {"name": "s2", "path": "two", "features": ["f/b.json"]},
]
RELAY = '''from mcpc import Context, tool


@tool(name="relay")
def hand_on(name: str, context: Context) -> str:
    """Call another tool, and say what it said."""
    return repr(context.call_tool(name))
'''
PIXEL = b"\x89PNG\xff"
ALL = {"mixed", "empty", "data", "b_tool", "relay"}


def feature(said: dict[str, object]) -> dict[str, object]:
    return {**{key: [] for key in LISTS}, **said}


def knowledge_base(folder: Path) -> Path:
    files: dict[str, object] = {
        "servers.json": SERVERS,
        "f/a.json": feature(FIRST),
        "f/b.json": feature(SECOND),
        "docs/guide.md": GUIDE,
        "p.png": PIXEL,
        "custom/relay.py": RELAY,
    }
    return write_files(folder, files)


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("blueprints")
    project = knowledge_base(folder / "kb")
    made = {name: build(project, folder / f"{name}.pyz", "--dialect", name) for name in ("mcp", "blueprints")}
    return {**made, "http": build(project, folder / "http.pyz", "--http"), "project": project}


@pytest.fixture
def plain(servers: dict[str, Path]) -> Path:
    return servers["mcp"]


@pytest.fixture
def exact(servers: dict[str, Path]) -> Path:
    return servers["blueprints"]


@pytest.fixture(scope="module")
def live(servers: dict[str, Path]) -> Iterator[Served]:
    with served(servers["http"]) as server:
        yield server


def ask(
    server: Path, *requests: tuple[str, object], version: str = "2025-11-25", cwd: Path | None = None
) -> list[dict]:
    done, said = conversation(server, numbered([("initialize", initialization(version)), *requests]), cwd=cwd)
    assert done.stderr == b""
    assert len(said) == len(requests) + 1, "nothing but answers is on standard output"
    return sorted(said, key=lambda reply: reply["id"])[1:]


def call(server: Path, name: str, **more: object) -> dict:
    return ask(server, ("tools/call", {"name": name, **more}))[0]


def result(reply: dict) -> dict:
    assert "error" not in reply, reply
    return reply["result"]


MIXED = [{"type": "text", "text": "Follow these:"}, {"type": "text", "text": GUIDE}, LINK]


def test_case_1_mixed_content_in_its_order_and_byte_for_byte(plain: Path) -> None:
    assert result(call(plain, "mixed", arguments={})) == {"content": MIXED}
    odd = result(call(plain, "data"))["content"][0]["text"]
    assert odd == '{"a": "\\u0000 \u2028 %b {name}"}'


def test_case_1_a_link_is_a_text_where_links_are_not_known(plain: Path) -> None:
    for version in ("2024-11-05", "2025-03-26"):
        (reply,) = ask(plain, ("tools/call", {"name": "mixed"}), version=version)
        assert [block["type"] for block in result(reply)["content"]] == ["text", "text", "text"]
        assert "https://docs.example/" in result(reply)["content"][2]["text"]


def test_case_2_arguments_are_not_looked_at(plain: Path, exact: Path) -> None:
    for server in (plain, exact):
        for more in ({}, {"arguments": None}, {"arguments": {}}, {"arguments": {"x": 1}}):
            assert result(call(server, "mixed", **more)) == {"content": MIXED}
        assert call(server, "mixed", arguments=[1])["error"]["code"] == -32602


def test_case_3_content_of_an_unknown_type_is_left_out_and_told(servers: dict[str, Path]) -> None:
    assert result(call(servers["mcp"], "mixed"))["content"] == MIXED
    told = mcpc("check", servers["project"]).stderr
    assert "warning[MCP274]" in told
    assert "`video`" in told


def test_case_4_empty_content(plain: Path) -> None:
    assert result(call(plain, "empty")) == {"content": []}


def test_case_5_the_servers_are_one_over_pipes(plain: Path) -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    again, listed = ask(plain, ("initialize", client), ("tools/list", None))
    assert result(again)["serverInfo"] == {"name": "s1,s2", "version": "1.0.0"}
    assert {tool["name"] for tool in result(listed)["tools"]} == ALL
    shown = result(listed)["tools"][0]
    empty = {"type": "object", "properties": {}}
    assert shown == {"name": "mixed", "title": "Unit Test", "description": "d", "inputSchema": empty}


def test_case_5_a_capability_for_each_kind_and_no_promise_of_changes(plain: Path) -> None:
    """A difference: the lists of a built server never change, and it does not say they might."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    capabilities = result(ask(plain, ("initialize", client))[0])["capabilities"]
    assert {"tools", "prompts", "resources"} <= capabilities.keys()
    assert not any("listChanged" in said for said in capabilities.values())


def post(live: Served, path: str, message: dict, session: str = "") -> tuple[int, str, dict]:
    """The status, the session and the body of an answer."""
    names = {"mcp-session-id": session, "mcp-protocol-version": "2025-06-18"} if session else {}
    answer = posts.post(live.root + path, message, **names)
    return answer.status, answer.headers.get("mcp-session-id", ""), json.loads(answer.body or b"{}")


def begin(live: Served, path: str) -> tuple[str, dict]:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    status, session, body = post(live, path, message)
    assert status == 200
    return session, body["result"]["serverInfo"]


LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def test_case_6_each_server_has_its_own_path(live: Served) -> None:
    for path, name, tools in (
        ("/one", "s1", {"mixed", "empty", "data"}),
        ("/two", "s2", {"b_tool", "relay"}),
        ("/mcp", "s1,s2", ALL),
    ):
        session, info = begin(live, path)
        assert info == {"name": name, "version": "1.0.0"}
        status, _, body = post(live, path, LIST, session)
        assert status == 200
        assert {tool["name"] for tool in body["result"]["tools"]} == tools
    assert post(live, "/zzz", LIST)[0] == 404


def test_case_6_a_session_of_one_is_refused_by_the_other(live: Served) -> None:
    """A difference: 404, by which the specification says that a session is not known; 400 is for no session at all."""
    sessions = {path: begin(live, path)[0] for path in ("/one", "/two", "/mcp")}
    for mine, session in sessions.items():
        for other in sessions:
            assert post(live, other, LIST, session)[0] == (200 if mine == other else 404)
    for path in sessions:
        assert post(live, path, LIST)[0] == 400


def test_case_6_one_has_nothing_of_the_other(live: Served) -> None:
    session, _ = begin(live, "/two")
    call_other = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "mixed"}}
    assert post(live, "/two", call_other, session)[2]["error"]["code"] == -32602
    own = {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "b_tool"}}
    assert post(live, "/two", own, session)[2]["result"]["content"] == [{"type": "text", "text": "b"}]
    for method, params in (("resources/list", None), ("resources/read", {"uri": "docs://r1"}), ("prompts/list", None)):
        message = {"jsonrpc": "2.0", "id": 5, "method": method, **({"params": params} if params else {})}
        assert post(live, "/two", message, session)[2]["error"]["code"] == -32601


def test_case_6_a_tool_of_one_server_calls_only_its_own(live: Served) -> None:
    session, _ = begin(live, "/two")
    for name, expected in (("b_tool", "'text': 'b'"), ("mixed", "Unknown tool: mixed")):
        params = {"name": "relay", "arguments": {"name": name}}
        message = {"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": params}
        assert expected in json.dumps(post(live, "/two", message, session)[2], ensure_ascii=False)


def test_a_known_tool_is_called_by_others_as_any_other(plain: Path) -> None:
    (block,) = result(call(plain, "relay", arguments={"name": "mixed"}))["content"]
    assert "Follow these:" in block["text"]
    assert "resource_link" in block["text"]


def test_a_known_answer_in_a_batch_and_in_the_stateless_era(plain: Path) -> None:
    requests = [
        {"jsonrpc": "2.0", "id": n, "method": method, "params": {"name": name}}
        for n, (method, name) in enumerate([("tools/call", "mixed"), ("prompts/get", "p1"), ("tools/call", "empty")])
    ]
    client = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    first = {"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": client}
    done = converse([plain], json.dumps(first).encode() + b"\n" + json.dumps(requests).encode() + b"\n")
    _, batch = map(json.loads, done.stdout.splitlines())
    assert sorted(reply["id"] for reply in batch) == [0, 1, 2]
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": "mixed", "_meta": meta}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    done = converse([plain], line, silence=0)  # which its end completes
    answer = json.loads(done.stdout)["result"]
    assert (answer["content"], answer["resultType"]) == (MIXED, "complete")


def test_case_7_a_resource_of_texts_files_and_uris(plain: Path) -> None:
    """A difference: contents have the resource's media type, and what is no text is a blob."""
    listed, read, png = ask(
        plain,
        ("resources/list", None),
        ("resources/read", {"uri": "docs://r1"}),
        ("resources/read", {"uri": "docs://r3"}),
    )
    shown = {"uri": "docs://r1", "name": "r1", "title": "R", "description": "rd", "mimeType": "text/markdown"}
    assert result(listed)["resources"][0] == shown
    assert result(read)["contents"] == [
        {"uri": "docs://r1", "mimeType": "text/markdown", "text": "T"},
        {"uri": "docs://r1", "mimeType": "text/markdown", "text": GUIDE},
        {"uri": "https://x.example/", "text": "Resource available at: https://x.example/"},
    ]
    blob = {"uri": "docs://r3", "mimeType": "image/png", "blob": base64.b64encode(PIXEL).decode()}
    assert result(png)["contents"] == [blob]


def test_case_7_a_resource_without_content_is_its_file(plain: Path) -> None:
    """A difference: the original fails with an internal error."""
    (read,) = ask(plain, ("resources/read", {"uri": "file://docs/guide.md"}))
    assert result(read)["contents"] == [{"uri": "file://docs/guide.md", "mimeType": "text/markdown", "text": GUIDE}]


def test_case_8_files_are_those_of_the_build(tmp_path: Path) -> None:
    """A difference: everything is compiled in, so what lies on the disk later changes neither tools nor resources."""
    project = knowledge_base(tmp_path / "kb")
    server = build(project, tmp_path / "s.pyz")
    requests = (("tools/call", {"name": "mixed"}), ("resources/read", {"uri": "docs://r1"}))
    before = ask(server, *requests)
    (project / "docs/guide.md").write_text("changed")
    assert ask(server, *requests, cwd=project) == before
    server = build(project, tmp_path / "s.pyz")
    assert "changed" in json.dumps(ask(server, *requests)[0])


def test_case_9_messages_are_as_they_are_written(plain: Path) -> None:
    one, none, given, link = ask(
        plain,
        ("prompts/get", {"name": "p1"}),
        ("prompts/get", {"name": "p2"}),
        ("prompts/get", {"name": "p1", "arguments": {"not": "known"}}),
        ("prompts/get", {"name": "p4"}),
    )
    assert result(one) == result(given) == {"messages": [HELLO]}
    assert result(none) == {"messages": []}
    assert result(link) == {"messages": [{"role": "user", "content": LINK}]}
    (old,) = ask(plain, ("prompts/get", {"name": "p4"}), version="2025-03-26")
    assert result(old)["messages"][0]["content"]["type"] == "text"


def test_case_9_a_system_message_is_the_users(plain: Path) -> None:
    """A difference: MCP has no such role, and clients that check would refuse the prompt."""
    (reply,) = ask(plain, ("prompts/get", {"name": "p3"}))
    assert result(reply)["messages"] == [{**SYSTEM, "role": "user"}, HELLO]


def test_case_10_unknown_prompts_and_resources(plain: Path, exact: Path) -> None:
    """A difference: a resource is unknown with the code that its revision has for that, unless the dialect is chosen."""
    requests = (("prompts/get", {"name": "zz"}), ("resources/read", {"uri": "docs://zz"}))
    prompt, resource = (reply["error"] for reply in ask(plain, *requests))
    assert (prompt["code"], resource["code"]) == (-32602, -32002)
    prompt, resource = (reply["error"] for reply in ask(exact, *requests))
    assert (prompt["code"], prompt["message"]) == (-32602, "MCP error -32602: Prompt zz not found")
    assert (resource["code"], resource["message"]) == (-32602, "MCP error -32602: Resource docs://zz not found")


def test_case_11_an_unknown_tool(plain: Path, exact: Path) -> None:
    for name in ("nope", "not legal"):
        assert call(plain, name)["error"]["code"] == -32602
        said = [{"type": "text", "text": f"MCP error -32602: Tool {name} not found"}]
        assert result(call(exact, name)) == {"content": said, "isError": True}


def test_case_12_an_unknown_custom_tool_is_a_warning(servers: dict[str, Path]) -> None:
    told = mcpc("check", servers["project"])
    assert told.returncode == 0
    assert "warning[MCP272]: the custom tool `missing_custom` is not implemented" in told.stderr
    assert result(call(servers["mcp"], "b_tool"))


ENTERPRISE: dict[str, object] = {
    "servers.json": [
        {"name": "engineering", "path": "engineering", "features": ["front/react.json", "back/api.json"]},
        {"name": "platform", "path": "platform", "features": ["ops/deploy.json"]},
    ],
    "front/react.json": feature(
        {
            "tools": [
                {
                    "id": "component_rules",
                    "title": "Components",
                    "description": "How components are written.",
                    "content": [
                        {"type": "file", "path": "front/text/rules.md"},
                        {"type": "text", "text": "Keep them small."},
                    ],
                }
            ]
        }
    ),
    "front/text/rules.md": "One component a file.\n",
    "back/api.json": feature(
        {
            "tools": [
                {
                    "id": "api_rules",
                    "title": "APIs",
                    "description": "How APIs are designed.",
                    "content": [{"type": "resource_link", "uri": "https://wiki.example/api", "mimeType": "text/html"}],
                }
            ],
            "resources": [
                {
                    "id": "templates",
                    "title": "Templates",
                    "description": "All of them.",
                    "uri": "file://templates/",
                    "mimeType": "application/json",
                },
                {"id": "wiki", "title": "Wiki", "description": "All of it.", "uri": "https://wiki.example/"},
            ],
            "prompts": [{"id": "review", "title": "Review", "description": "Begins one.", "messages": [HELLO]}],
        }
    ),
    "templates/service.json": "{}\n",
    "ops/deploy.json": feature({}),
}
STARTER: dict[str, object] = {
    "servers.json": [{"name": "team", "path": "team", "features": ["starter.json"]}],
    "starter.json": feature(
        {
            "tools": [
                {
                    "id": "welcome",
                    "title": "Welcome",
                    "description": "What everybody needs first.",
                    "content": [{"type": "file", "path": "first/hello.md"}],
                }
            ],
            "resources": [
                {
                    "id": "people",
                    "title": "People",
                    "description": "Who is who.",
                    "uri": "file://people/list.json",
                    "mimeType": "application/json",
                }
            ],
        }
    ),
    "first/hello.md": "Hello.\n",
    "people/list.json": "[]\n",
}


@pytest.mark.parametrize("files", [STARTER, ENTERPRISE], ids=["starter", "enterprise"])
def test_case_13_the_documented_shapes_build(tmp_path: Path, files: dict[str, object]) -> None:
    server = build(write_files(tmp_path / "kb", files), tmp_path / "s.pyz", "--strict")
    listed = result(ask(server, ("resources/list", None))[0])["resources"]
    assert listed
    for resource in listed:
        (read,) = ask(server, ("resources/read", {"uri": resource["uri"]}))
        assert result(read)["contents"], "what is without content can be read all the same"


@pytest.mark.checkout("TESTS_BLUEPRINTS")
def test_case_14_the_shipped_knowledge_base(tmp_path: Path) -> None:
    place = os.environ["TESTS_BLUEPRINTS"]
    told = mcpc("check", place).stderr
    assert "warning[MCP276]: the resource `mcp_blueprint_github_repo` has no `uri`" in told
    server = build(Path(place), tmp_path / "s.pyz")
    for tool, document in (
        ("mcp_blueprint_create_tool", "TOOLS.md"),
        ("mcp_blueprint_configuration_guide", "CONFIGURATION.md"),
        ("mcp_blueprint_running_guide", "RUNNING.md"),
    ):
        (block,) = result(call(server, tool))["content"]
        assert block["text"].encode() == (Path(place) / "docs" / document).read_bytes()
    assert len(result(ask(server, ("tools/list", None))[0])["tools"]) == 3


BROKEN: dict[str, tuple[dict[str, object], tuple[str, ...]]] = {
    "a duplicate": (
        {"f/b.json": feature({"tools": [{"id": "mixed", "description": "d", "content": []}]})},
        ("error[MCP104]", "f/b.json:1:", "`mixed`", "f/a.json:1:"),
    ),
    "a missing file": (
        {
            "f/b.json": feature(
                {"tools": [{"id": "b", "description": "d", "content": [{"type": "file", "path": "x.md"}]}]}
            )
        },
        ("error[MCP271]", "f/b.json:1:", "`b`", "`x.md`"),
    ),
    "a missing feature file": (
        {"servers.json": [{**SERVERS[0], "features": ["no.json"]}]},
        ("error[MCP271]", "`no.json`"),
    ),
    "a missing list": ({"f/b.json": {"tools": []}}, ("warning[MCP273]", "f/b.json:1:1", "`resources`")),
    "JSON that is none": ({"f/b.json": '{"tools": [}'}, ("error[MCP002]", "f/b.json:1:12")),
    "servers that are none": ({"servers.json": '[{"features": '}, ("error[MCP002]", "servers.json:1:")),
    "a path outside": (
        {
            "f/b.json": feature(
                {"tools": [{"id": "b", "description": "d", "content": [{"type": "file", "path": "../x"}]}]}
            )
        },
        ("error[MCP710]", "`../x`", "f/b.json:1:", "`b`"),
    ),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.sampled(4)
def test_case_15_what_is_wrong_is_told_at_the_build(tmp_path: Path, case: str) -> None:
    """A missing list is a warning, and empty, because the documentation has files without them; `--strict` refuses it."""
    files, words = BROKEN[case]
    project = write_files(knowledge_base(tmp_path / "kb"), files)
    (tmp_path / "x").write_text("beside the project")
    done = mcpc("build", project, "-o", tmp_path / "s.pyz", "--strict", "--no-smoke")
    assert done.returncode == 1
    assert not (tmp_path / "s.pyz").exists()
    for word in words:
        assert word in done.stderr


def test_only_such_servers_carry_what_answers_for_them(servers: dict[str, Path], tmp_path: Path) -> None:
    own = {"mcpc_runtime/handlers/static/contract.py", "mcpc_runtime/protocol/static_results.py"}
    assert own <= set(carried(servers["mcp"]))
    other = write_files(
        tmp_path / "p",
        {
            "server.json": {"serverInfo": {"name": "n", "version": "1"}},
            "tools.py": NATIVE,
            "helpers/words.py": "WORD = 1",
        },
    )
    names = set(carried(build(other, tmp_path / "o.pyz", "--http")))
    assert not names & own


NATIVE = '''from helpers.words import WORD
from mcpc import tool


@tool
def say() -> str:
    """Say a word out of a folder that is a package only because it lies there."""
    return WORD
'''


def test_with_our_own_format_in_one_project(tmp_path: Path) -> None:
    files: dict[str, object] = {
        "server.json": {"serverInfo": {"name": "both", "version": "2.0.0"}},
        "tools.py": NATIVE,
        "helpers/words.py": 'WORD = "word"\n',
    }
    project = write_files(knowledge_base(tmp_path / "p"), files)
    server = build(project, tmp_path / "s.pyz")
    listed, said, known = ask(
        server, ("tools/list", None), ("tools/call", {"name": "say"}), ("tools/call", {"name": "b_tool"})
    )
    assert {tool["name"] for tool in result(listed)["tools"]} == ALL | {"say"}
    assert result(said)["content"][0]["text"] == "word"
    assert result(known)["content"][0]["text"] == "b"
