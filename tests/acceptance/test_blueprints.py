"""MCP Dev Blueprints' acceptance cases, by number, against built files, over pipes and over HTTP.

`PLAIN` is the default, where the specification of MCP wins; `EXACT` is built with `--dialect blueprints`.  A deliberate
difference is asserted as such.  The system's own knowledge base is looked for in `TESTS_BLUEPRINTS`.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import posts
from support.artifact import build, converse, mcpc
from support.files import write_files
from support.serving import served
from support.stdio import conversation, initialization, numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.serving import Served

GUIDE = "# guide\nline, and no more: ü\n\n"
LINK = {"type": "resource_link", "uri": "https://docs.example/", "name": "TL", "description": "x"}
PROJECT = Path(__file__).parent / "blueprints"
ALL = {"mixed", "empty", "data", "b_tool", "relay"}


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("blueprints")
    made = {name: build(PROJECT, folder / f"{name}.pyz", "--dialect", name) for name in ("mcp", "blueprints")}
    return {**made, "http": build(PROJECT, folder / "http.pyz", "--http")}


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
    """The replies to these requests, in their order, after a handshake."""
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


def test_case_2_arguments_are_not_looked_at(plain: Path, exact: Path) -> None:
    for server in (plain, exact):
        for more in ({}, {"arguments": None}, {"arguments": {}}, {"arguments": {"x": 1}}):
            assert result(call(server, "mixed", **more)) == {"content": MIXED}
        assert call(server, "mixed", arguments=[1])["error"]["code"] == -32602


def test_case_5_the_servers_are_one_over_pipes(plain: Path) -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    again, listed = ask(plain, ("initialize", client), ("tools/list", None))
    assert result(again)["serverInfo"] == {"name": "s1,s2", "version": "1.0.0"}
    assert {tool["name"] for tool in result(listed)["tools"]} == ALL
    shown = result(listed)["tools"][0]
    empty = {"type": "object", "properties": {}}
    assert shown == {"name": "mixed", "title": "Unit Test", "description": "d", "inputSchema": empty}


def post(live: Served, path: str, message: dict, session: str = "") -> tuple[int, str, dict]:
    """The status, the session and the body of an answer."""
    names = {"mcp-session-id": session, "mcp-protocol-version": "2025-06-18"} if session else {}
    answer = posts.post(live.root + path, message, **names)
    return answer.status, answer.headers.get("mcp-session-id", ""), json.loads(answer.body or b"{}")


def begin(live: Served, path: str) -> tuple[str, dict]:
    """Begin a session; return its id, and what the server says of itself."""
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
    done = converse([plain], json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode())
    answer = json.loads(done.stdout)["result"]
    assert (answer["content"], answer["resultType"]) == (MIXED, "complete")


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
    project = write_files(shutil.copytree(PROJECT, tmp_path / "p"), files)
    server = build(project, tmp_path / "s.pyz")
    listed, said, known = ask(
        server, ("tools/list", None), ("tools/call", {"name": "say"}), ("tools/call", {"name": "b_tool"})
    )
    assert {tool["name"] for tool in result(listed)["tools"]} == ALL | {"say"}
    assert result(said)["content"][0]["text"] == "word"
    assert result(known)["content"][0]["text"] == "b"
