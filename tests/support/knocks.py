"""Requests to a server over HTTP, and their expected responses: for tests in this process, and with a served file.

A table's headers are pairs that replace the usual ones of the same name; the value "-" takes one away.
"""

import base64
from typing import Any

LEGACY, MODERN = "2025-11-25", "2026-07-28"
VERSION, CAPABILITIES = "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
JSON = "application/json"
ECHO = {"name": "echo", "arguments": {"text": "x"}}


def request(method: str, params: object = None, identifier: object = 1) -> dict:
    """A request of the handshake era."""
    body = {"jsonrpc": "2.0", "id": identifier, "method": method}
    return body if params is None else {**body, "params": params}


def stateless(method: str, params: dict | None = None, identifier: object = 1, **capabilities: Any) -> dict:
    meta = {VERSION: MODERN, CAPABILITIES: capabilities, **(params or {}).get("_meta", {})}
    return request(method, {**(params or {}), "_meta": meta}, identifier)


def mirrors(method: str, params: dict | None = None) -> list[tuple[str, str]]:
    """The headers that go with it."""
    found = [("mcp-protocol-version", MODERN), ("mcp-method", method)]
    if method in NAMED and NAMED[method] in (params or {}):
        found.append(("mcp-name", str((params or {})[NAMED[method]])))
    return found


def word(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def meta(**members):
    return request("tools/list", {"_meta": members})


PUBLIC = {
    "host": "0.0.0.0",
    "hosts": ("mcp.example.com", "other.example.com:8443"),
    "origins": ("https://app.example.com",),
}
HOSTS = [
    ({}, "localhost", 0), ({}, "localhost:8000", 0), ({}, "127.0.0.1:1", 0), ({}, "[::1]:65535", 0), ({}, "LOCALHOST", 0),
    ({}, "evil.example", 421), ({}, "evil.example:8000", 421), ({}, "127.0.0.1.evil.example", 421),
    ({}, "localhost.evil.example", 421), ({}, "127.0.0.2", 421), ({}, "10.0.0.1:8000", 421), ({}, "[::2]", 421),
    ({}, "", 400), ({}, "localhost:", 400), ({}, "localhost:0", 400), ({}, "localhost:65536", 400), ({}, "localhost:80:80", 400),
    ({}, "user@localhost", 400), ({}, "localhost/x", 400), ({}, "localhost#", 400), ({}, "localhost\\", 400),
    ({}, "[::1", 400), ({}, "::1", 400), ({}, "localhost.", 400), ({}, "local host", 400), ({}, "löcalhost", 400),
    ({}, "x" * 5000, 400), ({}, "127.1", 421), ({}, "0x7f000001", 421), ({}, "2130706433", 421),
    (PUBLIC, "mcp.example.com", 0), (PUBLIC, "mcp.example.com:9", 0), (PUBLIC, "other.example.com:8443", 0),
    (PUBLIC, "other.example.com", 421), (PUBLIC, "other.example.com:443", 421), (PUBLIC, "evil.example", 421),
    (PUBLIC, "xmcp.example.com", 421), (PUBLIC, "10.1.2.3:8000", 0), (PUBLIC, "localhost", 0), (PUBLIC, "[2001:db8::1]", 0),
    ({"host": "0.0.0.0", "url": "https://proxy.example.com/mcp"}, "proxy.example.com", 0),
    ({"host": "mcp.local"}, "mcp.local:8000", 0), ({"host": "::1"}, "[::1]:8000", 0),
]  # fmt: skip
ORIGINS = [
    ({}, "localhost", "http://localhost:3000", 0), ({}, "localhost", "https://127.0.0.1", 0), ({}, "localhost", "http://[::1]:5", 0),
    ({}, "localhost", "http://evil.example", 403), ({}, "localhost:8000", "http://evil.example:8000", 403),
    ({}, "localhost", "http://localhost.evil.example", 403), ({}, "localhost", "null", 403), ({}, "localhost", "", 403),
    ({}, "localhost", "file://", 403), ({}, "localhost", "chrome-extension://localhost", 403),
    ({}, "localhost", "http://localhost@evil.example", 403), ({}, "localhost", "http://localhost/", 403),
    ({}, "localhost", "http://localhost http://evil.example", 403), ({}, "localhost", "localhost", 403),
    (PUBLIC, "mcp.example.com", "https://app.example.com", 0), (PUBLIC, "mcp.example.com", "https://app.example.com:443", 0),
    (PUBLIC, "mcp.example.com", "http://app.example.com", 403), (PUBLIC, "mcp.example.com", "https://app.example.com:444", 403),
    (PUBLIC, "mcp.example.com", "http://mcp.example.com", 0), (PUBLIC, "mcp.example.com:8000", "http://mcp.example.com:8000", 0),
    (PUBLIC, "mcp.example.com:8000", "http://mcp.example.com:8001", 403), (PUBLIC, "mcp.example.com", "http://localhost", 403),
    (PUBLIC, "localhost", "http://localhost", 403),
]  # fmt: skip
TYPES = [
    (JSON, 200), ("application/json; charset=utf-8", 200), ("Application/JSON;charset=UTF-8", 200), ('application/json; charset="utf-8"', 200),
    ("text/plain", 415), ("application/x-www-form-urlencoded", 415), ("multipart/form-data; boundary=x", 415), ("-", 415),
    ("", 415), ("application/jsonx", 415), ("application/json; charset=latin-1", 415), ("text/plain; application/json", 415),
    ("application/json, text/plain", 415),
]  # fmt: skip
ACCEPTED = [
    ("application/json, text/event-stream", JSON), ("-", JSON), ("*/*", JSON), (JSON, JSON), ("text/html", JSON),
    ("application/*", JSON), ("text/event-stream", "text/event-stream"), ("text/event-stream;q=0.5", "text/event-stream"),
    ("TEXT/EVENT-STREAM, APPLICATION/JSON", JSON), ("application/json;q=0, text/event-stream", "text/event-stream"),
    ("application/*;q=0.000, */*, text/event-stream", "text/event-stream"), ("*/*;q=0, text/event-stream", "text/event-stream"),
    ("text/event-stream;q=0", JSON), ("text/event-stream; Q=0.0, */*", JSON), ("*/*;q=0", JSON),
]  # fmt: skip
LADDER = [
    ("parse", b"{", [], 400, -32700),
    ("parse nothing", b"", [], 400, -32700),
    ("parse twice", b"{}{}", [], 400, -32700),
    ("shape", {**stateless("tools/list"), "jsonrpc": "1.0"}, [], 400, -32600),
    ("shape of the id", {**stateless("tools/list"), "id": None}, [], 400, -32600),
    ("shape of the method", {**stateless("tools/list"), "method": 1}, [], 400, -32600),
    ("shape before headers", {**stateless("tools/list"), "jsonrpc": "1.0"}, [("mcp-method", "x")], 400, -32600),
    ("no capabilities", meta(**{VERSION: MODERN}), [], 400, -32602),
    ("no version", meta(**{CAPABILITIES: {}}), [], 400, -32602),
    ("version no string", meta(**{CAPABILITIES: {}, VERSION: 1}), [], 400, -32602),
    ("capabilities no object", meta(**{CAPABILITIES: [], VERSION: MODERN}), [], 400, -32602),
    ("_meta before headers", meta(**{VERSION: MODERN}), [("mcp-method", "x")], 400, -32602),
    ("no _meta", request("tools/list", {}), [], 400, -32602),
    ("no params", request("tools/list"), [], 400, -32602),
    ("_meta no object", request("tools/list", {"_meta": 1}), [], 400, -32602),
    ("no version header", stateless("tools/list"), [("mcp-protocol-version", "-")], 400, -32020),
    ("another version header", stateless("tools/list"), [("mcp-protocol-version", "2025-11-25")], 400, -32020),
    ("unknown version header", stateless("tools/list"), [("mcp-protocol-version", "2099-01-01")], 400, -32020),
    ("no method header", stateless("tools/list"), [("mcp-method", "-")], 400, -32020),
    ("another method header", stateless("tools/list"), [("mcp-method", "tools/call")], 400, -32020),
    ("method in another case", stateless("tools/list"), [("mcp-method", "Tools/List")], 400, -32020),
    ("no name header", stateless("tools/call", ECHO), [("mcp-method", "tools/call")], 400, -32020),
    ("headers before the version", stateless("tools/list", {"_meta": {VERSION: "2099-01-01"}}), [], 400, -32020),
    ("headers before the method", stateless("no/such"), [("mcp-method", "tools/list")], 400, -32020),
    ("unsupported version", stateless("tools/list", {"_meta": {VERSION: "2099-01-01"}}),
     [("mcp-protocol-version", "2099-01-01")], 400, -32022),
    ("a handshake's version", stateless("tools/list", {"_meta": {VERSION: "2025-11-25"}}),
     [("mcp-protocol-version", "2025-11-25")], 400, -32022),
    ("unknown method", stateless("no/such"), [("mcp-method", "no/such")], 404, -32601),
    ("initialize in this era", stateless("initialize"), [("mcp-method", "initialize")], 404, -32601),
    ("ping in this era", stateless("ping"), [("mcp-method", "ping")], 404, -32601),
    ("a bad cursor", stateless("tools/list", {"cursor": "x"}), [], 400, -32602),
    ("good", stateless("tools/list"), [], 200, 0),
    ("white space around values", stateless("tools/list"), [("mcp-method", " tools/list\t")], 200, 0),
]  # fmt: skip
NAMES = [
    ("echo", 200), (" echo ", 200), (word("echo"), 200), ("Echo", 400), ("-", 400), ("", 400), ("echo,echo", 400),
    (word("other"), 400), ("=?base64?ZWNobw?=", 400), ("=?base64?ZWNobw===?=", 400), ("=?base64?ZWNo bw==?=", 400),
    ("=?base64?ZWNob-==?=", 400), ("=?base64?ZWNobx==?=", 400), ("=?base64?/w==?=", 400), ("=?base64??=", 400),
    ("=?BASE64?ZWNobw==?=", 400), ("=?base64?ZWNobw==", 400), ("ZWNobw==", 400), ("=?base64?=", 400),
]  # fmt: skip
