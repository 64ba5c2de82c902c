"""Raw sockets to a served file, a project to serve, and requests as bytes: what no HTTP library would send."""

import json
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from support.files import write_files
from support.serving import Served

VERSION = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
PROJECT = {
    "server.json": '{"serverInfo": {"name": "limits", "version": "1.0.0"}}',
    "tools.py": '''
import os
import time

from mcpc import tool


@tool
def echo(text: str) -> str:
    """Give the text back."""
    return text


@tool
def slow(seconds: float, mark: str = "") -> str:
    """Wait; `mark`: a file that is written when the wait is over."""
    if mark:
        with open(mark + ".began", "w") as file:
            file.write(str(os.getpid()))
    time.sleep(seconds)
    if mark:
        with open(mark, "w") as file:
            file.write("done")
    return "waited"


@tool
def big(size: int) -> str:
    """Return so many characters."""
    return "x" * size
''',
}


def write_project(folder: Path) -> Path:
    return write_files(folder, PROJECT)


def call(tool: str, **arguments: Any) -> bytes:
    params = {"name": tool, "arguments": arguments, "_meta": META}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


def head(tool: str, length: int, *more: str, method: str = "tools/call") -> bytes:
    lines = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", f"Content-Length: {length}"]
    lines += [f"MCP-Protocol-Version: {VERSION}", f"Mcp-Method: {method}", f"Mcp-Name: {tool}", *more]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def request(tool: str, *more: str, **arguments: Any) -> bytes:
    body = call(tool, **arguments)
    return head(tool, len(body), *more) + body


def connect(server: Served, seconds: float = 10.0) -> socket.socket:
    """Return a connection."""
    where = urlsplit(server.url)
    assert where.hostname is not None
    return socket.create_connection((where.hostname, where.port or 80), timeout=seconds)


def everything(connection: socket.socket) -> bytes:
    data = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(1 << 16):
            data += part
    return data


def said(server: Served, data: bytes, seconds: float = 10.0) -> bytes:
    """Send these bytes, and return all that comes until the server ends the connection; TimeoutError if it does not."""
    with connect(server, seconds) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(data)
        return everything(connection)


def answer(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """Return one answer with a length: its status, headers and body."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(1 << 16)
        assert part, f"the connection ended after {data!r}"
        data += part
    top, _, body = data.partition(b"\r\n\r\n")
    first, *lines = top.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = int(headers.get("content-length", "0"))
    while len(body) < length:
        part = connection.recv(1 << 16)
        assert part, "the body ended early"
        body += part
    assert len(body) == length, "more came than was announced"
    return int(first.split()[1]), headers, body


def text_of(body: bytes) -> str:
    """Return the text of a tool's answer."""
    text: str = json.loads(body)["result"]["content"][0]["text"]
    return text


def status_of(data: bytes) -> int:
    """Return the status of the first answer in what was said."""
    return int(data.split(b" ", 2)[1])
