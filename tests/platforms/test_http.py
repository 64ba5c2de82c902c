"""A built server over HTTP: sessions and single requests, every kind of handler, and how it ends."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from corpus.channels import Posts
from support.pipe_client import HANDSHAKE, STATELESS, text_of
from support.witness import Witness

if TYPE_CHECKING:
    from platforms.conftest import Serve, Site

MANY_CONNECTIONS = 600


def call(posts: Posts, tool: str, identifier: int = 1, /, **arguments: Any) -> dict[str, Any]:
    """Call a tool; return the messages' last, which is the answer."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    if posts.revision == STATELESS:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    message = {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}
    return posts.say(json.dumps(message).encode())[-1]


@pytest.mark.parametrize("tool", ["fast", "slow", "later", "convert"])
def test_tools_are_called(serve: Serve, revision: str, tool: str) -> None:
    posts = Posts(serve(), revision)
    answer = call(posts, tool, text="grün")
    assert "result" in answer and not answer["result"].get("isError"), answer
    assert tool == "convert" or text_of(answer["result"]) == "grün"


def test_calls_at_once_are_answered_each(serve: Serve) -> None:
    posts = Posts(serve(), HANDSHAKE)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: call(posts, "slow", number, text=str(number), seconds=0.1), range(64)))
    assert [text_of(answer["result"]) for answer in answers] == [str(number) for number in range(64)]


def test_more_connections_than_select_takes_are_served(serve: Serve) -> None:
    """`select` of Windows takes 512 sockets; the event loop there waits at a completion port."""
    host, _, port = serve().root.removeprefix("http://").partition(":")
    with ExitStack() as stack:
        opened = [stack.enter_context(socket.create_connection((host, int(port)), 60)) for _ in range(MANY_CONNECTIONS)]
        for _ in range(2):
            for connection in opened:
                connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert {connection.recv(1 << 16).split(b" ")[1] for connection in opened} == {b"200"}


def test_nothing_is_left_after_a_kill(serve_alone: Serve) -> None:
    site: Site = serve_alone()
    with Witness() as witness:
        call(Posts(site, HANDSHAKE), "family", port=witness.port)
        assert witness.has_seen(3)
        site.client.process.kill()
        assert witness.left(0.5) == 0
