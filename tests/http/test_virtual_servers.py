"""Several servers in one file: each has its path, its lists and its sessions, and nothing of the others."""

import functools
import json
import shutil
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime.http.app import Application
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.http.serve import ServeError, build_application, virtual_servers
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.image import Image
from support.artifact import build
from support.asgi import LEGACY, Client, Doorman, reply, request, served
from support.files import write_files
from support.http_sample import image_of
from support.knocks import mirrors, stateless
from support.serving import served as in_a_process

SERVERS = [
    {"name": "s1", "path": "one", "features": ["one.json", "both.json"]},
    {"name": "s2", "path": "deep/two", "features": ["two.json", "both.json"]},
    {"name": "s3", "path": "", "features": ["both.json"]},
    {"name": "s4", "path": "none", "features": []},
]


def feature(**said: object) -> dict:
    lists = ("tools", "resources", "prompts", "custom_tools", "custom_resources", "custom_prompts")
    return {**{key: [] for key in lists}, **said}


def tool(name: str) -> dict:
    return {"id": name, "description": "d", "content": [{"type": "text", "text": f"this is {name}"}]}


FILES = {
    "servers.json": SERVERS,
    "one.json": feature(tools=[tool("first")], prompts=[{"id": "p", "description": "d"}], custom_tools=["change"]),
    "two.json": feature(
        tools=[tool("second")], resources=[{"id": "r", "description": "d", "uri": "docs://r", "content": []}]
    ),
    "both.json": feature(tools=[tool("shared")]),
}
CUSTOM = '''from mcpc import Context, tool


@tool(name="change")
def change(context: Context) -> str:
    """Tell everybody that the tools are others now."""
    context.list_changed("tools")
    return "told"
'''
OWN = {
    "/mcp": ("s1,s2,s3,s4", {"first", "second", "shared", "change"}),
    "/one": ("s1", {"first", "shared", "change"}),
    "/deep/two": ("s2", {"second", "shared"}),
    "/": ("s3", {"shared"}),
}


@functools.cache
def artifact() -> Path:
    """The built file; it lies in a folder that the system clears."""
    folder = Path(tempfile.mkdtemp(prefix="mcpc-virtual-servers-"))
    project = write_files(folder / "kb", FILES)
    (project / "custom").mkdir()
    (project / "custom/change.py").write_text(CUSTOM)
    return build(project, folder / "virtual_servers.pyz", "--http")


def whole() -> Image:
    return image_of(artifact())


def images() -> dict[str, Image]:
    """The servers as `serve` mounts them."""
    return {"/mcp": whole(), **virtual_servers(whole())}


@pytest.fixture(scope="module", autouse=True)
def _cleared() -> Iterator[None]:
    yield
    folder = artifact().parent
    artifact.cache_clear()
    shutil.rmtree(folder)


async def begin(client: Client, path: str, capabilities: dict | None = None) -> tuple[list[tuple[str, str]], dict]:
    """Begin a session at a path; return its headers, and what the server says."""
    info = {"name": "t", "version": "1"}
    params = {"protocolVersion": LEGACY, "capabilities": capabilities or {}, "clientInfo": info}
    answer = await client.post(request("initialize", params), path=path)
    names = [("mcp-session-id", answer.headers["mcp-session-id"]), ("mcp-protocol-version", LEGACY)]
    return names, (await reply(answer))["result"]


async def modern(client: Client, path: str, method: str, params: dict | None = None) -> Any:
    """Post a stateless request to a path, and return its answer."""
    return await reply(await client.post(stateless(method, params, 1), *mirrors(method, params), path=path))


@served(images)
async def test_each_has_its_own_name_and_lists(client: Client) -> None:
    for path, (name, tools) in OWN.items():
        names, said = await begin(client, path)
        assert said["serverInfo"]["name"] == name
        listed = (await reply(await client.post(request("tools/list"), *names, path=path)))["result"]["tools"]
        assert {one["name"] for one in listed} == tools
        found = (await modern(client, path, "tools/list"))["result"]
        assert {one["name"] for one in found["tools"]} == tools
        assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == name


@served(images)
async def test_what_another_has_is_not_there(client: Client) -> None:
    for path, (_, tools) in OWN.items():
        for name in ("first", "second", "shared"):
            answer = await modern(client, path, "tools/call", {"name": name})
            if name in tools:
                assert answer["result"]["content"] == [{"type": "text", "text": f"this is {name}"}]
            else:
                assert answer["error"]["code"] == -32602
    assert (await modern(client, "/deep/two", "resources/read", {"uri": "docs://r"}))["result"]["contents"] == []
    for path in ("/one", "/", "/none"):
        assert (await modern(client, path, "resources/read", {"uri": "docs://r"}))["error"]["code"] == -32601
    assert (await modern(client, "/one", "prompts/get", {"name": "p"}))["result"]["messages"] == []
    assert (await modern(client, "/deep/two", "prompts/get", {"name": "p"}))["error"]["code"] == -32601


@served(images)
async def test_a_change_is_told_to_the_clients_of_the_one_server(client: Client) -> None:
    names, _ = await begin(client, "/one")
    others, _ = await begin(client, "/deep/two")
    mine = await client.send("GET", *names, ("accept", "text/event-stream"), path="/one")
    theirs = await client.send("GET", *others, ("accept", "text/event-stream"), path="/deep/two")
    answer = await client.post(request("tools/call", {"name": "change", "arguments": {}}), *names, path="/one")
    assert "told" in json.dumps(await reply(answer))
    assert (await mine.message())["method"] == "notifications/tools/list_changed"
    await mine.leave()
    await theirs.leave()
    heard = [theirs.chunks.get_nowait() for _ in range(theirs.chunks.qsize())]
    assert not any(b"list_changed" in chunk for chunk in heard if chunk)


@served(images)
async def test_other_paths_are_nobodys(client: Client) -> None:
    for path in ("/two", "/deep", "/One", "/one/x", "/deep/two/x", "//one", "/one%2f"):
        assert (await client.post(request("ping"), path=path)).status == 404
    assert (await begin(client, "/one/"))[1]["serverInfo"]["name"] == "s1"


BY_PATH = Doorman(lambda name, path: Principal(path) if name == path else None)


@served(images, authenticator=BY_PATH)
async def test_who_may_is_asked_for_each_path(client: Client) -> None:
    for path in OWN:
        for token in OWN:
            answer = await client.post(
                stateless("tools/list", None, 1), *mirrors("tools/list", None), ("authorization", token), path=path
            )
            assert answer.status == (200 if token == path else 401)
            await answer.body()


def test_the_authors_path_has_the_endpoint_that_the_whole_would_have(tmp_path: Path) -> None:
    servers = [
        {"name": "mine", "path": "mcp", "features": ["a.json"]},
        {"name": "b", "path": "b", "features": ["b.json"]},
    ]
    files = {"servers.json": servers, "a.json": feature(tools=[tool("x")]), "b.json": feature(tools=[tool("y")])}
    file = build(write_files(tmp_path / "kb", files), tmp_path / "s.pyz", "--http")
    application, _ = build_application(image_of(file), HttpSettings(path="/mcp"))
    assert application._images["/mcp"].index["virtual_server"] == "/mcp"
    application, _ = build_application(image_of(file), HttpSettings(path="/all"))
    assert "virtual_server" not in application._images["/all"].index
    assert list(application._images) == ["/all", "/mcp", "/b"]


def test_another_file_cannot_take_the_path_of_a_virtual_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])  # the modules of another file are found through it
    with pytest.raises(ServeError, match="another server"):
        build_application(whole(), HttpSettings(also=(("/one", str(artifact())),)))
    application, _ = build_application(whole(), HttpSettings(also=(("/copy", str(artifact())),)))
    assert isinstance(application, Application)
    assert list(application._images) == ["/mcp", "/one", "/deep/two", "/", "/none", "/copy"]


TYPES = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


def test_a_whole_process_serves_them_all() -> None:
    with in_a_process(artifact()) as server:
        for path, (name, _) in OWN.items():
            params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            body = json.dumps(request("initialize", params)).encode()
            asked = urllib.request.Request(server.root + path, body, TYPES)
            with urllib.request.urlopen(asked, timeout=20) as answer:
                assert json.loads(answer.read())["result"]["serverInfo"]["name"] == name
