"""bx-mcp's acceptance cases, by number, against a built file that is served, with curl and jq as its page uses them.

`OPEN` is a server without a token, `CLOSED` one with two.  What differs on purpose is asserted as it is here, and says so.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build
from support.needs import ROOT, needs
from support.serving import served
from support.stdio import replies

PATH = "/~bxmcp/boxlang.bxm"
ADMIN, READER = "admin-token-0123456789", "reader-token-0123456789"
TOKENS = {"INVENTORY_ADMIN": ADMIN, "INVENTORY_READER": READER}
TOOLS = """
import time
from mcpc import mcp_prompt, mcp_resource, mcp_tool

@mcp_tool("Facts about the runtime")
def runtime_get_info() -> dict:
    return {"version": "1.0", "modules": ["a", "b"]}

@mcp_tool
def runtime_echo(text: str) -> str:
    "Says it again."
    return text

@mcp_tool({"name": "cache_clear", "description": "Clears", "version": "2.0"})
def clear(name: str = "default"):
    raise RuntimeError(f"the cache {name} is locked")

@mcp_tool
def numbers():
    return [1, 2.5, None, True]

@mcp_resource
def motd() -> str:
    return "Be well."

@mcp_resource({"uri": "config://app", "name": "app", "mimeType": "application/json"})
def app_config():
    return {"debug": False}

@mcp_prompt("A look at everything")
def full_system_audit(depth: int = 1):
    return f"Audit the system, depth {depth}."

@mcp_prompt
def chat(topic: str):
    return [{"content": topic}, {"role": "assistant", "content": "Yes?"}, "Go on."]
"""
RUNTIME_ONLY = "runtime-token-0123456789"


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    needs("curl", "jq")
    folder = tmp_path_factory.mktemp("bx-mcp")
    project = folder / "project"
    project.mkdir()
    (project / "monitor.py").write_text(TOOLS)
    closed = folder / "closed"
    closed.mkdir()
    (closed / "monitor.py").write_text(TOOLS)
    tokens = [{"token": ADMIN}, {"token": RUNTIME_ONLY, "includedTools": ["runtime_*"], "excludedTools": ["*_echo"]}]
    settings = {"authToken": tokens, "corsAllowedOrigins": ["https://app.example.com", "*.example.org"]}
    (closed / "boxlang.json").write_text(json.dumps({"modules": {"bxmcp": {"settings": settings}}}))
    return {
        "open": build(project, folder / "open.pyz", "--http"),
        "closed": build(closed, folder / "closed.pyz", "--http"),
        "dialect": build(project, folder / "dialect.pyz", "--dialect", "bx-mcp"),
        "example": build(ROOT / "examples" / "bx-mcp", folder / "example.pyz", "--http"),
    }


class Curl:
    """curl against one server's endpoint: the words of a call are those of the page."""

    def __init__(self, root: str) -> None:
        self.url = root + PATH

    def run(self, *words: str) -> str:
        argv = ["curl", "-sS", "--max-time", "60", *words, self.url]
        return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=90).stdout

    def post(self, body: Any, *words: str) -> Any:
        text = body if isinstance(body, str) else json.dumps(body)
        return json.loads(self.run("-X", "POST", "-H", "Content-Type: application/json", *words, "-d", text))

    def whole(self, *words: str) -> tuple[int, dict[str, str], str]:
        head, _, body = self.run("-i", *words).partition("\n\n")
        first, *rest = head.split("\n")
        names = (line.partition(": ") for line in rest)
        return int(first.split()[1]), {name.lower(): value for name, _, value in names}, body

    def ask(self, method: str, params: Any = None, *words: str) -> Any:
        return self.post({"jsonrpc": "2.0", "method": method, "params": params or {}, "id": "1"}, *words)


@contextmanager
def curl(artifact: Path, *options: str, **environment: str) -> Iterator[Curl]:
    with served(artifact, *options, environment=environment) as server:
        yield Curl(server.root)


@pytest.fixture(scope="module")
def opened(servers: dict[str, Path]) -> Iterator[Curl]:
    with curl(servers["open"]) as client:
        yield client


@pytest.fixture(scope="module")
def closed(servers: dict[str, Path]) -> Iterator[Curl]:
    with curl(servers["closed"]) as client:
        yield client


def bearer(token: str) -> tuple[str, str]:
    return "-H", f"Authorization: Bearer {token}"


def test_case_1_the_list_of_tools(opened: Curl) -> None:
    answer = opened.ask("tools/list")
    assert answer["id"] == "1"
    assert answer["jsonrpc"] == "2.0"
    tools = {tool["name"]: tool for tool in answer["result"]["tools"]}
    assert list(tools) == ["runtime_get_info", "runtime_echo", "cache_clear", "numbers"]
    assert all(tool.keys() == {"name", "description", "inputSchema"} for tool in tools.values())
    assert tools["runtime_echo"]["inputSchema"]["required"] == ["text"]
    assert tools["runtime_get_info"]["description"] == "Facts about the runtime"
    assert tools["numbers"] == {
        "name": "numbers",
        "description": "",
        "inputSchema": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
    }


def test_case_2_an_object_is_json_in_a_text(opened: Curl) -> None:
    body = json.dumps({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "runtime_get_info"}, "id": "1"})
    answer = opened.run("-X", "POST", "-H", "Content-Type: application/json", "-d", body)
    words = ["jq", "-c", ".result.content[0].text|fromjson"]
    found = subprocess.run(words, input=answer, capture_output=True, text=True, check=True, timeout=30).stdout
    assert json.loads(found) == {"version": "1.0", "modules": ["a", "b"]}
    assert json.loads(answer)["result"].keys() == {"content"}
    listed = opened.ask("tools/call", {"name": "numbers"})["result"]["content"]
    assert [json.loads(block["text"]) for block in listed] == [[1, 2.5, None, True]]


def test_case_3_a_string_is_itself(opened: Curl) -> None:
    text = 'said "again",\n1 + 1 = ü'
    answer = opened.ask("tools/call", {"name": "runtime_echo", "arguments": {"text": text}})
    assert answer["result"] == {"content": [{"type": "text", "text": text}]}


def test_case_4_args_are_arguments(opened: Curl) -> None:
    for key in ("args", "arguments"):
        answer = opened.ask("tools/call", {"name": "runtime_echo", key: {"text": key}})
        assert answer["result"]["content"][0]["text"] == key
    prompt = opened.ask("prompts/get", {"name": "chat", "args": {"topic": "t"}})
    assert prompt["result"]["messages"][0]["content"]["text"] == "t"


def test_case_5_a_tool_that_raises(opened: Curl) -> None:
    body = json.dumps({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "cache_clear"}, "id": "1"})
    status, _, answer = opened.whole("-X", "POST", "-d", body)
    assert status == 200
    # A deliberate difference: the exception's type comes before its message.
    error = {"code": -32000, "message": "RuntimeError: the cache default is locked"}
    assert json.loads(answer) == {"jsonrpc": "2.0", "id": "1", "error": error}


def test_case_6_an_unknown_tool(opened: Curl) -> None:
    error = opened.ask("tools/call", {"name": "nothing"})["error"]
    assert error == {"code": -32001, "message": "Tool not found: nothing"}


def test_case_7_an_unknown_method(opened: Curl) -> None:
    error = opened.ask("completion/complete")["error"]
    assert error == {"code": -32601, "message": "Method not found: completion/complete"}


def test_case_8_what_is_no_json(opened: Curl) -> None:
    status, _, body = opened.whole("-X", "POST", "-d", "{")
    answer = json.loads(body)
    # A deliberate difference: JSON-RPC's null where the original has an empty text.
    assert (status, answer["error"]["code"], answer["id"]) == (200, -32700, None)


def test_case_9_a_missing_name(opened: Curl) -> None:
    for method in ("tools/call", "prompts/get", "resources/read"):
        assert opened.ask(method)["error"]["code"] == -32602
    wrong = opened.ask("tools/call", {"name": "runtime_echo", "arguments": {"text": 1}})["error"]
    assert wrong["code"] == -32602
    assert "text" in wrong["message"]


def test_case_10_a_token_is_wanted(closed: Curl, opened: Curl) -> None:
    listing = ("-X", "POST", "-d", '{"jsonrpc":"2.0","method":"tools/list","id":"1"}')
    for words in ((), bearer("not-the-token-0123456789"), ("-H", "X-API-Key: wrong-key-0123456789"), bearer("")):
        status, headers, body = closed.whole(*listing, *words)
        assert (status, json.loads(body)["error"]["code"]) == (401, -32002)
        assert headers["www-authenticate"].startswith("Bearer")
    for words in (bearer(ADMIN), ("-H", f"X-API-Key: {ADMIN}")):
        status, _, body = closed.whole(*listing, *words)
        assert (status, len(json.loads(body)["result"]["tools"])) == (200, 4)
    assert opened.whole(*listing)[0] == 200


def test_case_11_prompts(opened: Curl) -> None:
    listed = opened.ask("prompts/list")["result"]["prompts"]
    assert [prompt["name"] for prompt in listed] == ["full_system_audit", "chat"]
    assert [(one["name"], one["required"]) for one in listed[1]["arguments"]] == [("topic", True)]
    assert [(one["name"], one["required"]) for one in listed[0]["arguments"]] == [("depth", False)]
    got = opened.ask("prompts/get", {"name": "full_system_audit", "arguments": {}})["result"]
    assert got["messages"] == [{"role": "user", "content": {"type": "text", "text": "Audit the system, depth 1."}}]
    assert got["description"] == "A look at everything"
    deeper = opened.ask("prompts/get", {"name": "full_system_audit", "arguments": {"depth": 3}})["result"]
    assert deeper["messages"][0]["content"]["text"] == "Audit the system, depth 3."
    several = opened.ask("prompts/get", {"name": "chat", "arguments": {"topic": "t"}})["result"]["messages"]
    assert [(one["role"], one["content"]["text"]) for one in several] == [
        ("user", "t"),
        ("assistant", "Yes?"),
        ("user", "Go on."),
    ]
    assert opened.ask("prompts/get", {"name": "none"})["error"]["code"] == -32001


def test_case_12_resources(opened: Curl) -> None:
    listed = {one["uri"]: one for one in opened.ask("resources/list")["result"]["resources"]}
    assert list(listed) == ["resource://motd", "config://app"]
    assert opened.ask("resources/read", {"uri": "resource://motd"})["result"]["contents"] == [
        {"uri": "resource://motd", "mimeType": "text/plain", "text": "Be well."}
    ]
    (config,) = opened.ask("resources/read", {"uri": "config://app"})["result"]["contents"]
    assert (json.loads(config["text"]), config["mimeType"]) == ({"debug": False}, "application/json")
    assert opened.ask("resources/read", {"uri": "resource://none"})["error"]["code"] == -32001


def test_case_13_what_a_get_shows(opened: Curl) -> None:
    status, headers, body = opened.whole()
    answer = json.loads(body)
    assert (status, headers["content-type"]) == (200, "application/json")
    assert answer["id"] is None
    assert answer["result"]["protocolVersion"] == "2024-11-05"
    assert answer["result"]["capabilities"] == {"tools": {}, "resources": {}, "prompts": {}}
    assert answer["result"]["serverInfo"].keys() == {"name", "version"}
    assert json.loads(Curl(opened.url.removesuffix(PATH)).run("-G", "-d", "id=abc"))["id"] == "abc"
    assert opened.ask("initialize", {"protocolVersion": "2025-11-25"})["result"] == answer["result"]


def test_case_14_the_preflight_of_a_page(closed: Curl) -> None:
    for origin in ("https://app.example.com", "https://a.b.example.org"):
        status, headers, _ = closed.whole("-X", "OPTIONS", "-H", f"Origin: {origin}")
        assert (status, headers["access-control-allow-origin"]) == (200, origin)
        assert headers["access-control-allow-methods"] == "POST, GET, OPTIONS"
        assert headers["access-control-allow-headers"] == "Content-Type, Authorization, X-API-Key"
        assert headers["access-control-max-age"] == "86400"
    for origin in ("https://evil.example", "https://example.org", "https://app.example.com.evil.example", "null"):
        status, headers, body = closed.whole("-X", "OPTIONS", "-H", f"Origin: {origin}")
        assert (status, json.loads(body)["error"]["code"]) == (403, -32600)
        assert "access-control-allow-origin" not in headers


def test_case_15_other_methods(opened: Curl) -> None:
    for method in ("PUT", "DELETE", "PATCH"):
        status, headers, body = opened.whole("-X", method)
        assert (status, json.loads(body)["error"]["code"]) == (405, -32600)
        assert headers["allow"] == "POST, GET, OPTIONS"
    assert opened.whole("--head")[0] == 405


def test_case_16_no_handshake_and_one_event(opened: Curl) -> None:
    assert opened.ask("ping")["result"] == {}
    body = '{"jsonrpc":"2.0","method":"ping","id":1}'
    status, headers, text = opened.whole("-X", "POST", "-H", "Accept: application/json, text/event-stream", "-d", body)
    assert (status, headers["content-type"]) == (200, "text/event-stream")
    assert text == 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'


def test_case_17_a_token_for_some_tools(closed: Curl) -> None:
    words = bearer(RUNTIME_ONLY)
    listed = closed.ask("tools/list", {}, *words)["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["runtime_get_info"]
    assert "result" in closed.ask("tools/call", {"name": "runtime_get_info"}, *words)
    for name in ("cache_clear", "runtime_echo", "numbers"):
        assert closed.ask("tools/call", {"name": name}, *words)["error"]["code"] == -32001


def test_every_answer_has_the_same_headers(opened: Curl) -> None:
    for words in (("-X", "POST", "-d", "{"), (), ("-X", "PUT"), ("-X", "OPTIONS")):
        _, headers, _ = opened.whole(*words, "-H", "X-Request-ID: abc-1")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert {"x-xss-protection", "referrer-policy", "strict-transport-security"} <= headers.keys()
        assert headers["x-request-id"] == "abc-1"


def test_an_id_is_said_again_and_none_is_not(opened: Curl) -> None:
    for identifier in ("1", 7, "a" * 3000, 1.5, -3):
        assert opened.post({"method": "ping", "id": identifier}) == {"jsonrpc": "2.0", "id": identifier, "result": {}}
    for message in ({"method": "ping"}, {"method": "ping", "id": ""}, {"method": "ping", "id": None}):
        assert opened.post(message) == {"jsonrpc": "2.0", "result": {}}
    notified = opened.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (notified["error"]["code"], "id" in notified) == (-32601, False)


def test_mcp_itself_is_served_beside_it(opened: Curl, closed: Curl) -> None:
    words = ("-X", "POST", "-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream")
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client})
    for one, expected in ((opened, 200), (closed, 401)):
        beside = Curl(one.url.removesuffix(PATH))
        beside.url = one.url.removesuffix(PATH) + "/mcp"
        assert beside.whole(*words, "-d", body)[0] == expected
    _, _, text = beside.whole(*words, *bearer(RUNTIME_ONLY), "-d", body)
    assert '"protocolVersion":"2025-11-25"' in text


def test_the_example_is_what_its_settings_say(servers: dict[str, Path]) -> None:
    with curl(servers["example"], **TOKENS) as client:
        tools = [tool["name"] for tool in client.ask("tools/list", {}, *bearer(ADMIN))["result"]["tools"]]
        assert tools == ["stock_get", "stock_search", "greeting", "stock_take"]
        readable = [tool["name"] for tool in client.ask("tools/list", {}, *bearer(READER))["result"]["tools"]]
        assert readable == ["stock_get", "stock_search"]
        found = client.ask("tools/call", {"name": "stock_get", "args": {"part": "nut"}}, *bearer(READER))
        assert json.loads(found["result"]["content"][0]["text"]) == {"part": "nut", "count": 80, "shelf": 2}


def test_over_pipes_the_dialect_has_the_codes(servers: dict[str, Path]) -> None:
    calls = [("nothing", {}), ("cache_clear", {}), ("runtime_echo", {"text": 1}), ("runtime_echo", {"text": "t"})]
    said = replies(servers["dialect"], [("tools/call", {"name": name, "arguments": given}) for name, given in calls])
    assert [reply.get("error", {}).get("code") for reply in said] == [-32001, -32000, -32602, None]
    assert said[1]["error"]["message"] == "RuntimeError: the cache default is locked"
    assert said[3]["result"]["content"] == [{"type": "text", "text": "t"}]
