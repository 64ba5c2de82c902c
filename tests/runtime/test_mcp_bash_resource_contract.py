"""Prompts, resources and completions of mcp-bash where things go wrong: providers, the network, repositories, watching."""

import http.server
import json
import os
import socket
import ssl
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime.systems.mcp_bash.providers import https_provider
from mcpc_runtime.systems.mcp_bash.providers.file_provider import read_requested_file as read_file
from mcpc_runtime.systems.mcp_bash.providers.requests import (
    DONE,
    INVALID,
    MISSING,
    OUTSIDE,
    TOO_LARGE,
    UNREACHABLE,
    FileRequest,
    HttpsRequest,
)
from support.artifact import build, converse
from support.needs import ROOT, needs
from support.processes import run_program
from support.serving import served

GIT = ROOT / "templates" / "mcp_bash" / "providers" / "git.sh"
PROVIDER = """#!/usr/bin/env bash
case "${1#probe://}" in
  *) printf '%s' "$1" ;;
esac
"""
FILES = {
    "server.d/server.meta.json": '{"name": "probing", "version": "1.0.0"}',
    "server.d/health-checks.sh": (
        'mcp_health_check_command bash "the shell" || exit 1\n'
        "echo on standard output\n"
        "mcp_health_check_env PROBE_HEALTH || exit 7\n"
    ),
    "providers/probe.sh": PROVIDER,
    "resources/a.txt": "a\n",
    "tools/one/tool.sh": "#!/usr/bin/env bash\necho one\n",
    "tools/one/tool.meta.json": '{"name": "one", "description": "One."}',
}
PLAIN = {"PATH": os.environ["PATH"], "HOME": "/tmp", "FOO": "seen"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs("bash")
    folder = tmp_path_factory.mktemp("probing")
    for name, text in FILES.items():
        file = folder / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755 if name.endswith("sh") else 0o644)
    return build(folder / "project", folder / "probing.pyz", "--http")


def request(number: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def read(server: Path, *uris: str, **variables: str) -> list[dict[str, Any]]:
    lines = [request(number, "resources/read", uri=uri) for number, uri in enumerate(uris)]
    done = converse([server], "\n".join(lines).encode() + b"\n", env={**PLAIN, **variables})
    assert done.returncode == 0, done.stderr
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    return [replies[number] for number in range(len(uris))]


def text(reply: dict[str, Any]) -> str:
    (contents,) = reply["result"]["contents"]
    found: str = contents["text"]
    return found


def test_files_below_their_folders(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "a").write_text("a")
    (tmp_path / "intruder").write_text("b")
    (tmp_path / "in" / "out").symlink_to(tmp_path)
    (tmp_path / "in" / "loop").symlink_to("loop")
    (tmp_path / "alias").symlink_to(tmp_path / "in")
    os.link(tmp_path / "intruder", tmp_path / "in" / "second")
    os.mkfifo(tmp_path / "in" / "pipe")
    statuses = {
        "in/deep/a": DONE, "in/deep": OUTSIDE, "in/none": MISSING, "in/out/intruder": OUTSIDE, "in/loop": OUTSIDE,
        "in/second": OUTSIDE, "in/pipe": OUTSIDE, "intruder": OUTSIDE, "in": OUTSIDE, "inside": OUTSIDE,
    }  # fmt: skip
    for root in ("in", "alias"):
        found = {
            path: read_file(FileRequest(f"{tmp_path}/{path}", (f"{tmp_path}/{root}",), 9)).status for path in statuses
        }
        assert found == statuses
    assert read_file(FileRequest(f"{tmp_path}/in/deep/a", (f"{tmp_path}/in/deep/a",), 9)).data == b"a"
    assert read_file(FileRequest(f"{tmp_path}/in/deep/a", (f"{tmp_path}/in/",), 0)).status == TOO_LARGE
    assert read_file(FileRequest("/etc/hostname", (), 9)).status == OUTSIDE


PUBLIC = [
    "1.1.1.1", "2606:4700::1111", "8.8.8.8", "168.63.129.15", "64:ff9b::808:808", "2001:4860:4860::8888",
    "2002:808:808::1",
]  # fmt: skip
NOT_PUBLIC = [
    "10.0.0.1", "127.0.0.1", "127.8.8.8", "0.0.0.0", "169.254.169.254", "172.16.0.1", "192.168.1.1", "100.64.0.1",
    "224.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001:0:7f00:1::", "fe80::1", "fd00::1", "ff02::1",
    "fe80::1%lo", "nonsense", "168.63.129.16", "192.0.0.8", "192.0.2.1", "198.19.255.255", "203.0.113.9", "240.0.0.1",
    "fec0::1", "feff::1", "64:ff9b::a83f:8110", "64:ff9b:1::1", "64:ff9b:1::808:808", "64:ff9b:0:1::808:808",
    "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8", "::ffff:8.8.8.8", "::8.8.8.8", "100::1", "100:0:0:1::1", "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:a00:1::",
    "2002:a83f:8110::1", "3fff::1", "3fff:fff::1", "4000::1", "5f00::1", "fc00::1", "febf::1", "2606:4700::1111%eth0",
]  # fmt: skip


def test_addresses_that_may_be_asked() -> None:
    assert [address for address in (*PUBLIC, *NOT_PUBLIC) if https_provider.is_public(address)] == PUBLIC


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]", "[::ffff:10.0.0.1]", "0"],
)
def test_hosts_near_this_machine_are_never_asked(host: str) -> None:
    page = HttpsRequest(f"https://{host}/x", 1, 100)
    page.everywhere = True
    assert https_provider.fetch_network(page).message.startswith(("blocked host", "unknown host"))


def test_a_name_that_leads_to_an_address_nearby(monkeypatch: pytest.MonkeyPatch) -> None:
    """One good address among them makes it no better."""
    rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in ("1.1.1.1", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)
    page = HttpsRequest("https://example.com/", 1, 100)
    page.everywhere = True
    assert https_provider.fetch_network(page).status == INVALID
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows[:1])
    assert https_provider.resolve_host(page) == ("example.com", 443, ("1.1.1.1",))


class Site(http.server.BaseHTTPRequestHandler):
    """A site with every kind of page, and a repository."""

    repositories = ""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _send(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.startswith("/repo.git"):
            self._git(b"")
        elif path == "/unsigned-end":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"perhaps more")
        elif path == "/trickle":
            self.send_response(200)
            self.end_headers()
            for _ in range(100):
                self.wfile.write(b".")
                self.wfile.flush()
                time.sleep(0.05)
        elif path == "/slow-head":
            for letter in "HTTP/1.0 200 OK\r\nX-A: b\r\n" * 9:
                self.wfile.write(letter.encode())
                self.wfile.flush()
                time.sleep(0.05)
        else:
            said = f"{self.path} {self.headers['Host']} {self.headers['User-Agent']}"
            self._send(200, said.encode(), ("Content-Type", "text/markdown; charset=utf-8"))

    def do_POST(self) -> None:
        self._git(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _git(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        environment = {
            **os.environ, "GIT_PROJECT_ROOT": self.repositories, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
            "QUERY_STRING": query, "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "CONTENT_LENGTH": str(len(body)),
        }  # fmt: skip
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment, check=False)
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        rows = [line.split(": ", 1) for line in head.decode().split("\r\n") if line]
        status = next((int(value.split()[0]) for name, value in rows if name == "Status"), 200)
        self._send(status, rest, *((name, value) for name, value in rows if name != "Status"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """A site on this machine, with a certificate for `localhost`: its port, and the folder with both."""
    needs("openssl", "git")
    folder = tmp_path_factory.mktemp("site")
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    run_program(["openssl", *words.split(), "-keyout", folder / "key", "-out", folder / "cert"], check=True, text=False)
    make_repository(folder)
    Site.repositories = str(folder / "repositories")
    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert", folder / "key")
    listening.socket = context.wrap_socket(listening.socket, server_side=True)
    listening.handle_error = lambda *_: None  # type: ignore[method-assign]
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    yield listening.server_address[1], folder
    listening.shutdown()
    listening.server_close()


def make_repository(folder: Path) -> None:
    """Make `repositories/repo.git` with a few files, two branches, a link and a hook."""
    work = folder / "work"
    run = lambda *words: subprocess.run(["git", "-C", work, *words], check=True, capture_output=True)  # noqa: E731
    work.mkdir()
    run("init", "-q", "-b", "main")
    run("config", "user.email", "a@b")
    run("config", "user.name", "a")
    (work / "docs").mkdir()
    (work / "docs" / "a b.txt").write_text("on main\n")
    (work / "link").symlink_to("/etc/passwd")
    (work / "docs" / "[x]").write_text("brackets")
    run("add", ".")
    run("commit", "-qm", "one")
    run("checkout", "-qb", "feature/other")
    (work / "docs" / "a b.txt").write_text("on another\n")
    (work / "noise").write_bytes(os.urandom(3_000_000))
    run("add", ".")
    run("commit", "-qm", "two")
    target = folder / "repositories" / "repo.git"
    subprocess.run(["git", "clone", "-q", "--bare", work, target], check=True, capture_output=True)
    subprocess.run(["git", "-C", target, "symbolic-ref", "HEAD", "refs/heads/main"], check=True)
    subprocess.run(["git", "-C", target, "config", "uploadpack.allowAnySHA1InWant", "true"], check=True)


PAGES = {
    "/page?a=1": (DONE, "/page?a=1 localhost:{port} mcpc"),
    "/unsigned-end": (UNREACHABLE, "localhost: SSL"),
    "/trickle": (UNREACHABLE, "localhost: took longer than 1 s"),
    "/slow-head": (UNREACHABLE, "localhost: took longer than 1 s"),
}


@pytest.mark.slow
def test_pages(site: tuple[int, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    port, folder = site
    monkeypatch.setattr(https_provider, "is_public", lambda _: True)
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "cert"))
    found = {}
    for path in PAGES:
        page = HttpsRequest(f"https://localhost:{port}{path}", 1, 100)
        page.allowed = frozenset(("localhost",))
        began = time.monotonic()
        brought = https_provider.fetch_network(page)
        assert time.monotonic() - began < 60
        found[path] = brought.status, (brought.data.decode() or brought.message)
        assert brought.mime == ("text/markdown" if path == "/page?a=1" else "")
    for path, (status, words) in PAGES.items():
        assert found[path][0] == status, (path, found[path])
        assert found[path][1].startswith(words.format(port=port)), (path, found[path])


def test_a_site_has_to_prove_its_name(site: tuple[int, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    port, folder = site
    monkeypatch.setattr(https_provider, "is_public", lambda _: True)
    page = HttpsRequest(f"https://localhost:{port}/page", 1, 100)
    page.everywhere = True
    assert "CERTIFICATE_VERIFY_FAILED" in https_provider.fetch_network(page).message
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "cert"))
    page.uri = f"https://127.0.0.1:{port}/page"
    assert https_provider.fetch_network(page).status == UNREACHABLE
    page.uri = "https://localhost:1/page"
    assert "ConnectionRefusedError" in https_provider.fetch_network(page).message


def git(site: tuple[int, Path], fragment: str, host: str = "", **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run the script that gets a file of the repository, told that the host is this machine."""
    port, folder = site
    given = {"GIT_SSL_CAINFO": str(folder / "cert"), "MCPC_ADDRESSES": "127.0.0.1", "TMPDIR": str(folder / "tmp")}
    (folder / "tmp").mkdir(exist_ok=True)
    uri = f"git+https://{host or f'localhost:{port}'}/repo.git{fragment}"
    done = subprocess.run([GIT, uri], capture_output=True, check=False, timeout=60, env={**PLAIN, **given, **variables})
    assert not list((folder / "tmp").iterdir()), "something was left"
    return done


@pytest.mark.slow
def test_files_of_a_repository(site: tuple[int, Path]) -> None:
    commit = run_program(["git", "-C", site[1] / "work", "rev-parse", "main"], check=True).stdout.strip()
    wanted = {
        "#main:docs/a b.txt": b"on main\n",
        "#docs/a b.txt": b"on main\n",
        "#feature/other:/docs/a b.txt": b"on another\n",
        f"#{commit}:docs/a b.txt": b"on main\n",
        "#main:docs/[x]": b"brackets",
    }
    for fragment, data in wanted.items():
        done = git(site, fragment)
        assert (done.returncode, done.stdout) == (0, data), (fragment, done.stderr)


@pytest.mark.parametrize(
    ("fragment", "status"),
    [
        ("", 4), ("#", 4), ("#main:", 4), ("#main:none", 3), ("#main:docs", 3), ("#main:link", 3),
        ("#main:../work/docs/a", 3),
        ("#main:docs/*", 3), ("#none:docs/a", 5),
        ("#--upload-pack=touch /tmp/owned:docs/a", 4),
        ("#-c:docs/a", 4),
        ("#main..other:docs/a", 4),
        ("#refs/heads/*:docs/a", 4),
        ("#main --exec=x:a", 4),
    ],
)  # fmt: skip
def test_what_is_no_file_of_a_repository(site: tuple[int, Path], fragment: str, status: int) -> None:
    done = git(site, fragment)
    assert done.returncode == status and done.stderr and not done.stdout, done


def test_repositories_that_are_not_asked(site: tuple[int, Path]) -> None:
    assert git(site, "#main:a", MCPC_ADDRESSES="").returncode == 4
    assert git(site, "#main:a", host="user:secret@localhost").returncode == 4
    assert git(site, "#main:a", host="localhost:1").returncode == 5
    assert git(site, "#feature/other:noise", MCPBASH_GIT_MAX_KB="100").returncode == 6
    for uri in ("git+ext::sh -c id", "ext::sh -c id", "git+file:///etc", "--upload-pack=id", "git+https:ext::sh%20-c"):
        done = run_program([GIT, uri], env={**PLAIN, "MCPC_ADDRESSES": "127.0.0.1"}, text=False)
        assert done.returncode == 4, (uri, done)


def test_a_repository_whose_host_says_nothing(site: tuple[int, Path]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        done = git(site, "#main:a", host=f"localhost:{silent.getsockname()[1]}", MCPBASH_GIT_TIMEOUT="1")
        assert done.returncode == 5 and time.monotonic() - began < 300


def post(url: str, body: str, **headers: str) -> tuple[dict[str, Any], Any]:
    asked = urllib.request.Request(
        url,
        body.encode(),
        {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers},
    )
    with urllib.request.urlopen(asked, timeout=20) as answer:
        return json.loads(answer.read()), answer.headers


def test_over_http(server: Path, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    uri = f"file://{tmp_path}/a"
    environment = {"MCP_RESOURCES_ROOTS": str(tmp_path), "MCPBASH_RESOURCES_POLL_INTERVAL_SECS": "1"}
    with served(server, environment=environment) as place:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        _, headers = post(place.url, request(1, "initialize", **hello))
        session = {"Mcp-Session-Id": headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-06-18"}
        reply, _ = post(place.url, request(2, "resources/read", uri=uri), **session)
        assert text(reply) == "one"
        listening = urllib.request.urlopen(
            urllib.request.Request(place.url, headers={"Accept": "text/event-stream", **session}), timeout=20
        )
        with listening:
            reply, _ = post(place.url, request(3, "resources/subscribe", uri=uri), **session)
            assert reply["result"] == {}
            (tmp_path / "a").write_text("two")
            said = next(line for line in listening if b"resources/updated" in line)
            assert uri.encode() in said


def test_health_checks(server: Path) -> None:
    done = converse([server, "check"], b"", env=PLAIN)
    assert done.returncode == 8
    said = done.stdout.decode()
    assert "failed  the project's own health checks pass" in said
    assert (
        "server.d/health-checks.sh ended with status 7" in said and "missing: variable PROBE_HEALTH (not set)" in said
    )
    done = converse([server, "check", "--json"], b"", env={**PLAIN, "PROBE_HEALTH": "1"})
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["ok"] is True
