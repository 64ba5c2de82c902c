"""Tests of what is said of tools that nobody may call: once, by name; and of patterns that mean none of them."""

import importlib.util
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpc.diagnostics import Diagnostics
from mcpc.frontends import mcp_bash
from mcpc.frontends.mcp_bash import register
from mcpc.frontends.mcp_bash.register import HookError
from mcpc.options import Options
from mcpc.reading import read_tree
from support.mcp_bash_projects import SH, codes, facts, read, values
from support.needs import ROOT, needs
from support.processes import running
from support.projects import SMOKETEST, Files, checked, tree

NAMES = ("read-one", "read-two", "wipe", "write")
PLAIN: Files = {
    "server.d/server.meta.json": '{"name": "demo"}',
    **{f"tools/{name}/tool.sh": "#!/bin/sh\necho ran\n" for name in NAMES},
    **{f"tools/{name}/tool.meta.json": json.dumps({"name": name, "description": "d"}) for name in NAMES},
}
DENIED = "clients will not see the tools of mcp-bash (`read-one`, `read-two`, `wipe` and 1 more): "


def told(files: Files, *allow: str) -> list[tuple[str, str]]:
    server, problems = checked(files, Options(allow=allow))
    assert server is not None
    return [(problem.code, problem.message) for problem in problems if problem.code in ("MCP712", "MCP265")]


def test_that_nothing_is_allowed_is_said_once() -> None:
    assert told(PLAIN) == [("MCP712", DENIED + "they are not allowed yet")]


def test_a_policy_of_the_project_decides_and_nothing_is_said() -> None:
    assert told({**PLAIN, "server.d/policy.sh": "true\n"}) == []


def test_other_projects_know_nothing_of_it() -> None:
    assert told(SMOKETEST) == []
    assert told({path: text for path, text in PLAIN.items() if not path.startswith("tools")}) == []


@pytest.mark.parametrize("pattern", ["*", "all", "write", "read-*", "*-one", "r*d-*", "w*e"])
def test_what_allows_something(pattern: str) -> None:
    assert told(PLAIN, pattern) == []


@pytest.mark.parametrize("pattern", ["nope", "Write", "read", "read-?", "[rw]*", "writes*", ".*"])
def test_what_allows_nothing(pattern: str) -> None:
    assert told(PLAIN, "write", pattern) == [("MCP265", f"`--allow {pattern}` allows no tool")]


PAYLOAD = '{"name": "p", "path": "x/run.sh", "description": "d"}'
HOOKED: Files = {"tools/x/run.sh": SH, "prompts/p.txt": "x"}


def hooked(script: str, **files: str) -> tuple[Any, Diagnostics]:
    needs("bash")
    return read({**HOOKED, **files, "server.d/register.sh": script}, hooks=True)


@pytest.mark.parametrize(
    ("script", "names"),
    [
        (f"mcp_register_tool '{PAYLOAD}'\n", ["p"]),
        (f"set -euo pipefail\nmcp_tools_manual_begin\nmcp_tools_register_manual '{PAYLOAD}'\n", ["p"]),
        (f"mcp_register_tool '{PAYLOAD}'\nmcp_tools_manual_abort\n", ["run"]),
        (f"mcp_register_tool '{PAYLOAD}'\nmcp_register_tool '{PAYLOAD}'\n", ["p"]),
        (f"""mcp_register_tool '{PAYLOAD.replace('"p"', '"z"')}'\nmcp_register_tool '{PAYLOAD}'\n""", ["p", "z"]),
        (f"printf '%s' '{{\"tools\": [{PAYLOAD}]}}'\n", ["p"]),
        (f"echo noise >&2; mcp_register_tool '{PAYLOAD}'\n", ["p"]),
        (f"( mcp_register_tool '{PAYLOAD}' )\n[ -z \"${{SECRET:-}}\" ]\n", ["p"]),
        ('[ -f tools/x/run.sh ] && [ "$MCPBASH_PROJECT_ROOT" = "$PWD" ] && [ $# = 0 ]\n', ["run"]),
        ("mcp_register_tool ''\n", ["run"]),
    ],
)
def test_a_hook_registers(script: str, names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    definition, problems = hooked(script)
    assert codes(problems) == []
    assert [tool["name"] for tool in values(definition, "tools")] == names


def test_what_a_hook_registers_has_an_entry_as_the_registry_would() -> None:
    definition, _ = hooked(f"mcp_register_tool '{PAYLOAD}'\n")
    assert json.loads(facts(definition.tools[0])["metadata"]) == {
        "name": "p",
        "description": "d",
        "path": "x/run.sh",
        "inputSchema": {"type": "object", "properties": {}},
        "timeoutSecs": None,
    }


@pytest.mark.parametrize(
    ("script", "named"),
    [
        ("echo why >&2\nexit 3\n", "3: why"),
        ("kill -KILL $$\n", "signal 9"),
        ('set -u\necho "$nothing"\n', "status 1"),
        ("echo hello\n", "JSON"),
        ("echo '[1]'\n", ""),
        ("mcp_register_tool '{'\n", "`tools`"),
        ("head -c 2000000 /dev/zero\n", ""),
        ("if\n", "status"),
    ],
)
def test_a_hook_that_fails_registers_nothing(script: str, named: str) -> None:
    definition, problems = hooked(script)
    (problem,) = [problem for problem in problems if problem.code == "MCP154"]
    assert named in problem.message
    assert problem.span.path == "server.d/register.sh"
    assert not definition.complete


def test_a_hook_that_does_not_end_is_ended_with_all_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(register, "TIMEOUT_SECONDS", 0.5)
    _, problems = hooked("sleep 600.125 &\nwait\n")
    assert [problem.message for problem in problems if problem.code == "MCP154"] == [
        "`server.d/register.sh` did not end within 0.5 seconds"
    ]
    assert not running("sleep", "600.125")


def test_a_hook_changes_nothing_of_the_project(tmp_path: Path) -> None:
    needs("bash")
    (tmp_path / "server.d").mkdir()
    (tmp_path / "server.d/register.sh").write_text("echo changed >VERSION; rm -rf server.d\n")
    (tmp_path / "server.d/register.sh").chmod(0o644)
    mcp_bash.parse(read_tree(tmp_path)[0], Options(hooks=True))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["server.d"]


def test_without_bash_a_hook_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(register, "find_bash", lambda: "")
    with pytest.raises(HookError, match="no `bash`"):
        register._run(tree({}))


def test_a_register_keeps_the_hook_from_running() -> None:
    definition, problems = hooked("exit 1\n", **{"server.d/register.json": '{"version": 1, "tools": []}'})
    assert codes(problems) == []
    assert definition.tools == ()


OPTIONS = {"most": 1000, "seconds": 2, "agent": "test", "attempts": 1, "delay": 0.01}


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec = importlib.util.spec_from_file_location("download", ROOT / "templates/mcp_bash/lib/python/download.py")
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
