"""Programs that use other servers in built files: clients, proxies, and interfaces with OpenAPI documents."""

from __future__ import annotations

import json
import shutil
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from support.artifact import build
from support.needs import ROOT
from support.serving import served
from support.stdio import StdioClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAMS = ROOT / "tests/system/programs"
PEER = PROGRAMS / "peer.py"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    artifact = build(PROGRAMS / "sdk", tmp_path_factory.mktemp("orders") / "server.pyz", "--http")
    with served(artifact) as server:
        yield server.url


def built(name: str, folder: Path) -> Path:
    """Build a program that has the small server beside it."""
    project = folder / name
    shutil.copytree(PROGRAMS / name, project)
    shutil.copy(PEER, project / "peer.py")
    return build(project, folder / "server.pyz")


@contextmanager
def connected(artifact: Path, **variables: str) -> Iterator[StdioClient]:
    client = StdioClient(artifact, environment=variables)
    try:
        client.initialize(capabilities={"elicitation": {}})
        yield client
    finally:
        client.close()


def call(client: StdioClient, name: str, **arguments: object) -> Any:
    return client.ask("tools/call", {"name": name, "arguments": arguments})["result"]


def text(result: Any) -> str:
    return "\n".join(block["text"] for block in result["content"])


def test_clients_of_fastmcp(tmp_path: Path, orders: str) -> None:
    with connected(built("clients", tmp_path), ORDERS_URL=orders) as client:
        names = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
        assert names == ["in_memory", "in_a_process", "over_http", "unreachable", "books_find"]
        in_memory = text(call(client, "in_memory", title="Emma"))
        assert in_memory == "['find'] Emma 7 ['found Emma'] always Recommend 3 books."
        assert text(call(client, "in_memory", title="none")) == "failed: no such book"
        in_a_process = call(client, "in_a_process", n=4)["structuredContent"]["result"]
        assert in_a_process == ["peer", "3", "{'double': 8}", "1/2"]
        assert text(call(client, "over_http", item="nuts")) == "Orders {'item': 'nuts', 'count': 1}"
        assert text(call(client, "unreachable")) == "Client failed to connect"


def test_a_proxy_of_a_server_object_hands_on_questions(tmp_path: Path) -> None:
    with connected(built("clients", tmp_path)) as client:
        client.answers = lambda _: {"result": {"action": "accept", "content": {"value": 9}}}
        client.ask("logging/setLevel", {"level": "info"})
        assert call(client, "books_find", title="Emma")["structuredContent"] == {"title": "Emma", "pages": 9}
        told = [
            message["params"]["data"] for message in client.said if message.get("method") == "notifications/message"
        ]
        assert [each["msg"] for each in told] == ["found Emma"]
        (read,) = client.ask("resources/read", {"uri": "library://books/opening"})["result"]["contents"]
        assert read["text"] == "always"


def test_clients_of_the_sdk(tmp_path: Path, orders: str) -> None:
    with connected(built("client_sessions", tmp_path), ORDERS_URL=orders) as client:
        assert text(call(client, "in_memory")) == "True {'result': 3}"
        in_a_process = call(client, "in_a_process")["structuredContent"]["result"]
        assert in_a_process == ["double", "8", "read peer://notes"]
        assert text(call(client, "over_http")) == "{'item': 'nuts', 'count': 1}"


def test_a_proxy_of_a_program_is_asked_at_run_time(tmp_path: Path) -> None:
    with connected(built("proxy", tmp_path)) as client:
        tools = client.ask("tools/list")["result"]["tools"]
        assert sorted(tool["name"] for tool in tools) == ["ask", "double", "own", "process"]
        assert text(call(client, "own")) == "own"
        assert call(client, "double", n=21)["structuredContent"] == {"double": 42}
        (resource,) = client.ask("resources/list")["result"]["resources"]
        assert resource["uri"] == "peer://notes"
        (template,) = client.ask("resources/templates/list")["result"]["resourceTemplates"]
        assert template["uriTemplate"] == "peer://{name}/note"
        (read,) = client.ask("resources/read", {"uri": "peer://a/note"})["result"]["contents"]
        assert read["text"] == "read peer://a/note"
        prompt = client.ask("prompts/get", {"name": "greet", "arguments": {"who": "you"}})["result"]
        assert prompt["messages"][0]["content"]["text"] == "Hello you"
        client.answers = lambda _: {"result": {"action": "accept", "content": {"sure": True}}}
        assert json.loads(text(call(client, "ask")))["content"] == {"sure": True}
        assert text(call(client, "process")) == text(call(client, "process"))
        unknown = client.ask("tools/call", {"name": "none", "arguments": {}})
        assert unknown["result"]["isError"] is True


def test_a_proxy_of_a_server_over_http(tmp_path: Path, orders: str) -> None:
    artifact = build(PROGRAMS / "front", tmp_path / "server.pyz")
    with connected(artifact, ORDERS_URL=orders) as client:
        names = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
        assert "shop_order" in names
        ordered = call(client, "shop_order", item="nuts", count=2)
        assert ordered["structuredContent"] == {"item": "nuts", "count": 2}
        client.answers = lambda _: {"result": {"action": "accept", "content": {"sure": True}}}
        assert text(call(client, "shop_delete", item="nuts")) == "accept: True"
        failed = call(client, "shop_fail")
        assert failed["isError"]
        assert "no such order" in text(failed)
        (read,) = client.ask("resources/read", {"uri": "orders://shop/nuts/state"})["result"]["contents"]
        assert read["text"] == "nuts: open"
    with connected(artifact) as client:
        assert client.ask("tools/list")["result"]["tools"] == []  # as FastMCP 2 leaves out what it cannot ask
        assert call(client, "shop_order", item="nuts")["isError"]


class Shop(BaseHTTPRequestHandler):
    """An interface that answers with what it was asked."""

    def answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or "null")
        status = 404 if self.path == "/missing" else 200
        told = {"path": self.path, "key": self.headers.get("x-key"), "body": body}
        data = json.dumps(told if status == 200 else {"detail": "no"}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = answer  # noqa: N815 - the base class's names

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@pytest.fixture
def shop() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_an_interface_with_a_document(tmp_path: Path, shop: str) -> None:
    artifact = build(PROGRAMS / "openapi", tmp_path / "server.pyz")
    with connected(artifact, SHOP_URL=shop) as client:
        tools = {tool["name"]: tool for tool in client.ask("tools/list")["result"]["tools"]}
        assert [*tools] == ["add_order", "missing"]
        assert tools["add_order"]["inputSchema"]["required"] == ["item"]
        assert tools["add_order"]["description"] == "Order something."
        (template,) = client.ask("resources/templates/list")["result"]["resourceTemplates"]
        assert template["uriTemplate"] == "resource://stock/{item}"
        ordered = call(client, "add_order", item="nuts", count=2)["structuredContent"]
        assert ordered == {"path": "/orders", "key": "k", "body": {"item": "nuts", "count": 2}}
        (read,) = client.ask("resources/read", {"uri": "resource://stock/nuts"})["result"]["contents"]
        assert json.loads(read["text"])["path"] == "/stock/nuts"
        failed = call(client, "missing")
        assert failed["isError"]
        assert "HTTP error 404: Not Found - {'detail': 'no'}" in text(failed)
