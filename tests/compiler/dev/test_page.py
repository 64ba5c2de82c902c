"""The page of `mcpc dev`: its builds, its port, what is relayed, and how the command serves; nothing is built."""

import contextlib
import http.client
import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from mcpc.cli import cli, dev
from mcpc.cli.dev import listening, option_arguments, parse_address, project_target, read_build_facts, read_lists
from mcpc.client.model import lists_from_json
from mcpc.workbench.dev import page
from mcpc.workbench.dev.building import BuildFacts, BuildProblem, BuildResult
from mcpc.workbench.dev.page import (
    BuildHistory,
    CaseError,
    Front,
    PageReporter,
    PageServer,
    completed_of,
    connect_within,
    request_head,
)
from support.archives import built_file

PROBLEM = BuildProblem("MCP110", "error", "a.json", "wrong", "plain", "painted")
TOKEN = {"Authorization": "Bearer secret"}


def test_builds_are_rows(tmp_path: Path) -> None:
    tools = {"1": [{"name": "a"}], "2": [{"name": "a"}, {"name": "b"}]}
    builds = BuildHistory()
    told: Any = SimpleNamespace(write=lambda *_: None, colour=False, paint=lambda text, _: text, mark=lambda _: "")
    reporter = PageReporter(told, builds, lambda path: lists_from_json({"name": "n", "tools": tools[path.name]}))
    reporter.first(BuildResult(None, 1, problems=(PROBLEM,), more="\nmore\n", seconds=0.12345))
    assert (builds.is_serving, builds.wait(0, 0)["served"]) == (False, 0)
    reporter.rebuilt(BuildFacts(), BuildResult(Path("1"), seconds=1))
    builds.serve_last()
    reporter.failed(BuildResult(None, 1))
    reporter.rebuilt(BuildFacts(), BuildResult(Path("2")))
    found = builds.wait(0, 0)
    assert (found["version"], found["served"], builds.is_serving) == (5, 2, True)
    first, *rows = found["builds"]
    problem = {"code": "MCP110", "severity": "error", "path": "a.json", "message": "wrong", "plain": "plain"}
    assert first == {
        "number": 1,
        "ok": False,
        "seconds": 0.123,
        "summary": "",
        "problems": [problem],
        "more": "more",
        "changes": [],
    }
    assert [(row["number"], row["ok"], row["summary"]) for row in rows] == [
        (2, True, "nothing changed"),
        (3, False, ""),
        (4, True, "all problems fixed; nothing changed"),
    ]
    assert [row["changes"] for row in rows[:2]] == [[], []]
    (change,) = rows[2]["changes"]
    assert (change["rule"], change["verdict"], change["location"]) == ("tool-added", "additive", "tool:b")
    assert {*change} == {"verdict", "rule", "location", "message", "old", "now"}


def test_a_history_is_limited_and_waits_for_what_is_next(monkeypatch: pytest.MonkeyPatch) -> None:
    builds = BuildHistory()
    for number in range(51):
        builds.add(BuildResult(None, 1, problems=(PROBLEM,) * 201), str(number), None)
    found = builds.wait(50, 60)
    assert (found["version"], [row["summary"] for row in found["builds"]]) == (
        51,
        [str(number) for number in range(1, 51)],
    )
    assert len(found["builds"][0]["problems"]) == 200
    many: Any = SimpleNamespace(
        changes=[SimpleNamespace(verdict="v", rule="r", location="l", message="m", old=1, new=2)] * 501
    )
    builds.add(BuildResult(Path("a")), "", many)
    assert (
        builds.wait(0, 0)["builds"][-1]["changes"]
        == [{"verdict": "v", "rule": "r", "location": "l", "message": "m", "old": 1, "now": 2}] * 500
    )
    version = builds.wait(0, 0)["version"]
    assert builds.wait(version, 0)["version"] == version
    later: list[Any] = []
    waiting = threading.Thread(target=lambda: later.append(builds.wait(version, 60)["version"]))
    waiting.start()
    builds.serve_last()
    waiting.join(60)
    assert later == [version + 1]
    assert page.MAX_BUILDS == 50


def test_lines_of_standard_error_are_told_once_and_are_limited() -> None:
    builds = BuildHistory()
    builds.hear("Traceback (most recent call last):\n")
    builds.hear("x" * 2001 + "\r\n")
    found = builds.wait(0, 60)
    assert (found["version"], found["log"]) == (2, ["Traceback (most recent call last):", "x" * 2000])
    assert builds.wait(1, 60)["log"] == ["x" * 2000]
    assert builds.wait(2, 0)["log"] == []
    for number in range(501):
        builds.hear(str(number))
    assert builds.wait(0, 60)["log"] == [str(number) for number in range(1, 501)]


@pytest.fixture
def front() -> Iterator[tuple[PageServer, list[Any]]]:
    saved: list[Any] = []

    def save(case: dict[str, Any]) -> Path:
        if case["name"] == "fails":
            raise OSError("no space")
        saved.append(case)
        return Path("p/tests/recorded.yaml")

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    files = {"index.html": b"<p>", "a.js": b"1"}
    made = PageServer("127.0.0.1", 0, Front("secret", port, "proj", files, BuildHistory(), save))
    threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
    yield made, saved
    made.shutdown()
    made.server_close()


def ask(
    made: PageServer, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", made.server_port, timeout=60)
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, data, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    connection.close()
    return found


def test_so_many_connections_are_open_at_once(front: tuple[PageServer, list[Any]]) -> None:
    made, _ = front
    held = [socket.create_connection(("127.0.0.1", made.server_port), 60) for _ in range(page.MAX_CONNECTIONS)]
    for connection in held:  # each has a thread once it is answered
        connection.sendall(b"GET /ui/a.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
    with socket.create_connection(("127.0.0.1", made.server_port), 60) as one_more:
        assert one_more.recv(1) == b""
    held.pop().close()
    while True:
        with contextlib.suppress(ConnectionError, http.client.HTTPException):
            assert ask(made, "GET", "/ui/a.js")[2] == b"1"
            break
    for connection in held:
        connection.close()


def test_a_head_that_is_not_whole_in_time_ends_its_connection(
    front: tuple[PageServer, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = front
    head = b"GET /ui/a.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection(("127.0.0.1", made.server_port), 60) as connection:
        for part in (head[:20], head[20:], head):  # the second request has its own time
            connection.sendall(part)
        answers = b""
        while answers.count(b"HTTP/1.1 200 OK") < 2:
            answers += connection.recv(1000)
    monkeypatch.setattr(page, "HEAD_SECONDS", 0.05)
    with socket.create_connection(("127.0.0.1", made.server_port), 60) as connection:
        connection.sendall(head[:-2])
        answer = b"".join(iter(lambda: connection.recv(1000), b""))
    assert b"200" not in answer


def test_the_page_and_its_facts_are_for_everybody(front: tuple[PageServer, list[Any]]) -> None:
    made, _ = front
    status, headers, body = ask(made, "GET", "/ui/")
    assert (status, body, headers["content-length"], headers["content-type"]) == (
        200,
        b"<p>",
        "3",
        "text/html; charset=utf-8",
    )
    assert ask(made, "GET", "/ui/a.js")[2] == b"1"
    assert ask(made, "HEAD", "/ui/a.js")[::2] == (200, b"")
    assert ask(made, "GET", "/ui")[:2][1]["location"] == "/ui/"
    assert ask(made, "GET", "/ui")[0] == 308
    facts = {"endpoint": "/mcp", "token": False, "dev": True, "target": "proj"}
    assert json.loads(ask(made, "GET", "/ui/facts")[2]) == facts
    assert ask(made, "GET", "/ui/", Origin="https://evil.example")[0] == 403
    assert ask(made, "GET", "/ui/", Host="evil.example")[0] >= 400
    for path in ("/ui/none.js", "/mcp", "/uix"):
        status, _, body = ask(made, "GET", path)
        assert (status, json.loads(body)["error"]["message"]) == (503, page.NOT_BUILT)
    assert ask(made, "POST", "/ui/a.js", b"")[0] == 503


def test_the_project_needs_the_token(front: tuple[PageServer, list[Any]]) -> None:
    made, saved = front
    assert [
        ask(made, "GET", "/ui/dev/builds", **headers)[0] for headers in ({}, {"Authorization": "Bearer wrong"})
    ] == [401, 401]
    assert ask(made, "GET", "/ui/dev/none", **TOKEN)[0] == 404
    assert ask(made, "POST", "/ui/dev/builds", b"", **TOKEN)[0] == 404
    made.front.history.add(BuildResult(None, 1), "s", None)
    for query in ("", "?after=0", "?after=x"):
        assert json.loads(ask(made, "GET", f"/ui/dev/builds{query}", **TOKEN)[2])["version"] == 1
    case = {"name": "n", "tool": "t"}
    sent = {**TOKEN, "Content_Type": "application/json"}
    assert json.loads(ask(made, "POST", "/ui/dev/tests", case, **sent)[2]) == {"path": "tests/recorded.yaml"}
    assert saved == [case]
    assert ask(made, "POST", "/ui/dev/tests", case, **TOKEN)[0] == 415
    for wrong in ({"name": "n"}, {**case, "name": "fails"}, b"{", b"\xff"):
        assert ask(made, "POST", "/ui/dev/tests", wrong, **sent)[0] == 400
    assert ask(made, "POST", "/ui/dev/tests", b"", **{**sent, "Content_Length": "x"})[0] in (400, 413)
    too_long = {**sent, "Content_Length": str((4 << 20) + 1)}
    assert ask(made, "POST", "/ui/dev/tests", b"", **too_long)[0] == 413


def test_other_requests_are_relayed_to_the_built_server(front: tuple[PageServer, list[Any]]) -> None:
    made, _ = front
    made.front.history.serve_last()
    made.front.history.add(BuildResult(Path("a")), "", None)
    made.front.history.serve_last()
    got: list[bytes] = []
    with socket.create_server(("127.0.0.1", made.front.port)) as built:

        def answer() -> None:
            connection, _ = built.accept()
            with connection:
                data = b""
                while b"body" not in data:
                    data += connection.recv(1 << 16)
                got.append(data)
                connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok")

        thread = threading.Thread(target=answer)
        thread.start()
        status, _, body = ask(made, "POST", "/mcp?x=1", b"body", X_A="b", Connection="keep-alive")
        thread.join(60)
    assert (status, body) == (201, b"ok")
    head, _, rest = got[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert (lines[0], lines[-1], rest) == ("POST /mcp?x=1 HTTP/1.1", "Connection: close", b"body")
    assert "X-A: b" in lines
    assert [line.lower() for line in lines].count("connection: keep-alive") == 0


def test_a_server_that_starts_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, tries = [0.0], [0]

    def create_connection(address: tuple[str, int]) -> Any:
        tries[0] += 1
        if tries[0] % 4:
            raise ConnectionRefusedError
        return address

    monkeypatch.setattr(page.socket, "create_connection", create_connection)
    monkeypatch.setattr(page.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(page.time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    found: Any = connect_within(9, 1, lambda: True)
    assert (found, tries, round(clock[0], 2)) == (("127.0.0.1", 9), [4], 0.15)
    assert connect_within(9, 0.1, lambda: True) is None
    assert tries == [7]
    assert connect_within(9, 1, lambda: False) is None
    assert request_head(
        "GET / HTTP/1.1", [("Upgrade", "x"), ("A", "é")]
    ) == "GET / HTTP/1.1\r\nA: é\r\nConnection: close\r\n\r\n".encode("latin-1")


@pytest.mark.parametrize(
    "sent",
    [
        {"prompt": "p"},
        {"argument": "a"},
        {"prompt": "p", "resource": "r", "argument": "a"},
        {"prompt": "p", "argument": "a", "value": 1},
    ],
)
def test_what_is_completed_is_checked(sent: dict[str, Any]) -> None:
    with pytest.raises(CaseError):
        completed_of(sent)
    assert completed_of({"prompt": "p", "argument": "a", "value": "v", "x": 1}) == {
        "prompt": "p",
        "argument": "a",
        "value": "v",
    }


@pytest.mark.parametrize(
    ("value", "address"),
    [
        (None, None),
        ("80", "127.0.0.1:80"),
        (":1", "127.0.0.1:1"),
        ("[::1]:65535", "[::1]:65535"),
        ("0", 2),
        ("65536", 2),
        ("x:y", 2),
        ("", 2),
        ("a:-1", 2),
    ],
)
def test_an_address_has_a_port(value: str | None, address: Any) -> None:
    given: Any = None
    if address == 2:
        with pytest.raises(click.BadParameter):
            parse_address(given, given, value)
    else:
        assert parse_address(given, given, value) == address


def test_the_facts_of_a_build_are_read(tmp_path: Path) -> None:
    lists = {"tools": [{"name": "t"}], "resources": [{"uri": "a"}]}
    entries = {"handlers/a.py": b"1", "META-INF/x": b"1", "mcpc_runtime/y": b"1"}
    found = read_build_facts(built_file(tmp_path / "a.pyz", {"prompts": 0}, lists, entries=entries))
    assert (found.format, found.names) == ("native", ("t",))
    assert {name: json.loads(text) for name, text in found.lists.items()} == {
        "tools": lists["tools"],
        "prompts": [],
        "resources": lists["resources"],
        "resourceTemplates": [],
    }
    same = {**entries, "META-INF/x": b"22"}
    code, other = {**entries, "handlers/a.py": b"2"}, {**entries, "mcpc_runtime/y": b"2"}
    again, coded, changed = (
        read_build_facts(built_file(tmp_path / "b.pyz", {"prompts": 0}, lists, entries=each))
        for each in (same, code, other)
    )
    assert again == found
    assert (coded.code != found.code, coded.content != found.content) == (True, True)
    assert (changed.code != found.code, changed.content != found.content) == (False, True)
    assert read_lists(tmp_path / "b.pyz").settings == ()


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """How the command serves, and what a first build is."""
    done: list[Any] = []

    class Builder:
        def __init__(self, words: list[str], place: Path, facts: Any) -> None:
            done.append(words)
            self.result = BuildResult(None, 3) if (tmp_path / "fails").exists() else BuildResult(Path("a.pyz"))

        def build(self) -> BuildResult:
            return self.result

        def close(self) -> None:
            done.append("closed")

    class Watcher:
        def __init__(self, root: Path, changed: Any) -> None:
            done.append(("watches", root.name))

        def start(self) -> None:
            done.append("start")

        def stop(self) -> None:
            done.append("stop")

    class Serving:
        def __init__(self, *given: Any) -> None:
            self.given = given
            self.changed = None

        def run(self, first: BuildResult, *output: int) -> None:
            start = self.given[1]
            assert [*start.folder.iterdir()] == []
            done.append(("run", first.path, *output, start.argv(Path("a.pyz"))[-4:], start.variables))

        def read(self, client: Any) -> None:
            client.close()

    monkeypatch.setattr(dev, "ProjectBuilder", Builder)
    monkeypatch.setattr(dev, "ProjectWatcher", Watcher)
    monkeypatch.setattr(dev, "Listener", Serving)
    monkeypatch.setattr(dev, "Proxy", Serving)
    monkeypatch.setattr(dev, "CallPipe", lambda *_: SimpleNamespace(variables={"LOG": "x"}))
    monkeypatch.setattr(dev, "free_port", lambda: 9)
    monkeypatch.setattr(dev, "require_free", lambda at: None)
    monkeypatch.setattr(dev, "read_lists", lambda path: lists_from_json({"name": path.name}))
    monkeypatch.setattr(dev, "start_command", lambda path, *words: [path.name, *words])
    return done


def run(*words: object) -> Any:
    return CliRunner().invoke(cli, ["dev", *map(str, words)])


def test_a_project_is_served_in_each_way(
    served: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    root = str(tmp_path.resolve())
    (tmp_path / ".env").write_text("OWN=a\nPATH=b\n")
    assert run(tmp_path, "--strict", "--allow", "a", "--allow", "b", "--tools-page-size", 5).exit_code == 0
    name = tmp_path.resolve().name
    words = ["--strict", "--tools-page-size", "5", "--allow", "a", "--allow", "b"]
    serving = ("run", Path("a.pyz"), 1, ["a.pyz"], {"OWN": "a", "MCPC_LOG_REQUESTS": "1"})
    assert served == [[*words, "--live", "--", root], ("watches", name), "start", serving, "stop"]
    served.clear()
    assert run(tmp_path, "--http", "8000", "--no-defaults").exit_code == 0
    argv = ["a.pyz", "serve", "--http", "127.0.0.1:8000"]
    assert served == [
        ["--no-defaults", "--http", "--", root],
        ("watches", name),
        "start",
        ("run", Path("a.pyz"), argv, {"OWN": "a", "LOG": "x", "MCPC_LOG_REQUESTS": "1"}),
    ]
    served.clear()
    monkeypatch.setattr(dev, "listening", lambda front, at: SimpleNamespace(serve_forever=lambda: None, server_port=77))
    done = run(tmp_path, "--ui")
    assert done.exit_code == 0, done.output
    assert "http://127.0.0.1:77/ui/#dev=" in capfd.readouterr().err
    assert (served[0], served[-1][-2][-2:]) == (["--ui", "--", root], ["127.0.0.1:9", "--ui"])
    assert run(tmp_path, "--ui", "--http", "0.0.0.0:80").exit_code == 2
    (tmp_path / "fails").write_text("")
    served.clear()
    assert [run(tmp_path, *words).exit_code for words in ((), ("--http", "80"), ("--ui",))] == [3, 3, 0]
    assert run(tmp_path / "none").exit_code == 2


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_port_that_is_taken_is_refused_before_the_first_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(dev, "serve_http", lambda *_: None)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run(tmp_path, "--http", f"{host}:{port}")
        assert (done.exit_code, f"cannot listen on {host}:{port}: " in done.output) == (2, True)
    assert run(tmp_path, "--http", f"{host}:{port}").exit_code == 0


def test_a_first_build_that_is_interrupted_is_closed(served: list[Any]) -> None:
    def build() -> BuildResult:
        raise KeyboardInterrupt

    told: Any = SimpleNamespace(working=served.append, done=lambda: served.append("done"))
    builder: Any = SimpleNamespace(build=build, close=lambda: served.append("closed"))
    reporter: Any = None
    with pytest.raises(KeyboardInterrupt):
        dev.first_build(builder, reporter, told)
    assert served == ["mcpc dev: building …", "closed", "done"]


def test_the_page_has_its_port_or_any(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def opened_server(host: str, port: int, front: Any) -> Any:
        asked.append((host, port))
        if port in (7357, 80):
            raise OSError(98, "Address already in use")
        return port

    monkeypatch.setattr(dev, "PageServer", opened_server)
    front: Any = None
    found: list[Any] = [listening(front, None), listening(front, "localhost:81")]
    assert (found, asked) == ([0, 81], [("127.0.0.1", 7357), ("127.0.0.1", 0), ("localhost", 81)])
    with pytest.raises(click.UsageError, match="Address already in use"):
        listening(front, "127.0.0.1:80")
    assert 0 < dev.free_port() < 65_536


def test_a_project_is_named_as_from_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = Path.cwd()
    assert [project_target(each) for each in (here, here / "a" / "b", here.parent)] == [
        ".",
        os.path.join("a", "b"),
        str(here.parent),
    ]
    with click.Context(dev.command):
        given = {
            "http": None,
            "strict": True,
            "format": "",
            "platforms": (),
            "lock": "l",
            "tools_page_size": 0,
            "project": "x",
        }
        assert [*option_arguments(given)] == ["--strict", "--tools-page-size", "0", "--lock", "l"]
