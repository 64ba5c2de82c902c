"""What the SDK fetches over https: the rules for hosts and addresses, and a server that breaks them."""

import importlib.util
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.needs import ROOT

OPTIONS = {"most": 1000, "seconds": 2, "agent": "test", "attempts": 1, "delay": 0.01}


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec = importlib.util.spec_from_file_location("download", ROOT / "templates/mcp_bash/lib/python/download.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


class Plain:
    """A context for TLS that leaves the connection as it is: certificates are not what is tested."""

    post_handshake_auth = False
    verify_mode = 0
    check_hostname = False

    def wrap_socket(self, plain: socket.socket, server_hostname: str) -> socket.socket:
        assert server_hostname == "files.example"
        return plain


@pytest.fixture
def serve(module: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], list[bytes]]]:
    """Answer every request with the same bytes; the host's address is our own, and counts as public."""
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    heard: list[bytes] = []

    def start(answer: bytes) -> list[bytes]:
        def run() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                heard.append(connection.recv(1 << 16))
                connection.sendall(answer)
                connection.close()

        threading.Thread(target=run, daemon=True).start()
        return heard

    monkeypatch.setattr(module, "is_public", lambda address: True)
    monkeypatch.setattr(module.ssl, "create_default_context", Plain)
    monkeypatch.setattr(module.socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("192.0.2.7", 443))])
    connected: list[Any] = []

    def connect(place: tuple[str, int], timeout: float) -> socket.socket:
        connected.append(place)
        made = socket.socket()
        made.settimeout(timeout)
        made.connect(("127.0.0.1", port))
        return made

    monkeypatch.setattr(module.socket, "create_connection", connect)
    start.connected = connected  # type: ignore[attr-defined]
    yield start
    server.close()


def fetched(module: Any, out: Path, url: str = "https://files.example/a?b=c", **more: Any) -> dict[str, Any]:
    found = module.download(
        url, str(out), more.pop("allow", "files.example"), more.pop("deny", ""), {**OPTIONS, **more}
    )
    assert not [place for place in out.parent.iterdir() if place.name.startswith(".mcp-download")]
    return found


def test_a_file(module: Any, serve: Any, tmp_path: Path):
    heard = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
    out = tmp_path / "out"
    assert fetched(module, out) == {"success": True, "bytes": 3, "path": str(out)}
    assert out.read_bytes() == b"abc"
    assert heard[0].startswith(b"GET /a?b=c HTTP/1.1\r\nHost: files.example\r\n")
    assert serve.connected == [("192.0.2.7", 443)]


ANSWERS = {
    b"HTTP/1.1 302 Found\r\nLocation: https://other.example/\r\n\r\n": ("redirect", 1),
    b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n": ("network_error", 2),
    b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + b"x" * 2000: ("size_exceeded", 1),
    b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2000: ("size_exceeded", 1),
    b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort": ("network_error", 2),
    b"nonsense\r\n\r\n": ("network_error", 2),
    b"": ("network_error", 2),
}


@pytest.mark.parametrize(("answer", "expected"), ANSWERS.items())
def test_what_is_no_file(module: Any, serve: Any, tmp_path: Path, answer: bytes, expected: tuple[str, int]):
    heard = serve(answer)
    (tmp_path / "out").write_text("before")
    found = fetched(module, tmp_path / "out", attempts=2)
    assert (found["success"], found["error"]["type"], len(heard)) == (False, *expected)
    assert (tmp_path / "out").read_text() == "before"


def test_where_it_cannot_be_written(module: Any, serve: Any, tmp_path: Path):
    serve(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
    assert (
        module.download("https://files.example/", str(tmp_path / "no/out"), "files.example", "", OPTIONS)["error"][
            "type"
        ]
        == "write_error"
    )
    (tmp_path / "folder").mkdir()
    assert fetched(module, tmp_path / "folder")["error"]["type"] == "write_error"


BLOCKED = [
    "https://other.example/", "https://files.example@other.example/", "https://2130706433/", "https://0x7f000001/", "https://010.0.0.1/",
]  # fmt: skip


@pytest.mark.parametrize("url", BLOCKED)
def test_hosts(module: Any, url: str, tmp_path: Path):
    allow = "files.example,2130706433,0x7f000001,010.0.0.1"
    assert fetched(module, tmp_path / "out", url, allow=allow)["error"]["type"] == "host_blocked"


def test_denied(module: Any, tmp_path: Path):
    assert fetched(module, tmp_path / "out", deny="a, FILES.example")["error"]["type"] == "host_blocked"
    assert fetched(module, tmp_path / "out", allow="")["error"]["type"] == "host_blocked"


@pytest.mark.parametrize(
    "url", ["https://a b/", "https:///x", "https://[::1/", "https://files.example:x/", "https://files.example/\r\nX: y"]
)
def test_urls(module: Any, url: str, tmp_path: Path):
    assert fetched(module, tmp_path / "out", url)["error"]["type"] == "invalid_url"


ADDRESSES = [
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "::1",
    "fe80::1%eth0",
    "fd00::1",
    "::ffff:10.0.0.1",
    "224.0.0.1",
    "0.0.0.0",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_addresses(module: Any, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """One private address among others is enough."""
    rows = [(0, 0, 0, "", (one, 443)) for one in ("93.184.216.34", address)]
    monkeypatch.setattr(module.socket, "getaddrinfo", lambda *_, **__: rows)
    monkeypatch.setattr(module.socket, "create_connection", lambda *_: pytest.fail("it was connected to"))
    assert fetched(module, tmp_path / "out")["error"]["type"] == "host_blocked"


def test_a_host_without_addresses(module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fails(*_: object, **__: object) -> None:
        raise socket.gaierror

    monkeypatch.setattr(module.socket, "getaddrinfo", fails)
    assert fetched(module, tmp_path / "out")["error"]["type"] == "network_error"
