"""Programs that use other servers, as clients and as proxies: built files have the framework itself."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build
from support.needs import ROOT
from support.serving import served
from support.stdio import StdioClient

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
    with StdioClient(artifact, environment=variables) as client:
        client.initialize(capabilities={"elicitation": {}})
        yield client


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
        assert in_a_process == ["peer", "3", "{'double': 8}", "1.0/2.0"]
        assert text(call(client, "over_http", item="nuts")) == "{'item': 'nuts', 'count': 1}"
        assert text(call(client, "unreachable")) == "Client failed to connect"


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
