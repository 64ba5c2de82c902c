"""The embedded server in this process, and how `serve` begins: what it listens on, logs, refuses, and how it stops."""

import asyncio
import contextlib
import gc
import json
import os
import signal
import socket
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.http import serve
from mcpc_runtime.http.embedded import server
from mcpc_runtime.http.embedded.server import HttpServer, address, listen
from mcpc_runtime.http.principals import MisconfiguredError, NotBundledError
from mcpc_runtime.http.serve import ServeError
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.transports.platforms import allocation, system


class Application:
    """An application that notes what it is told, and answers when it is let."""

    def __init__(self, said: list[str]) -> None:
        self.said = said
        self.paths = ("/mcp", "/more", "/other")
        self.go_on = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for word in ("startup", "shutdown"):
                await receive()
                self.said.append(word)
                await send({"type": f"lifespan.{word}.complete"})
            return
        await self.go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    def reload(self) -> None:
        self.said.append("reload")

    def stopping(self) -> str:
        return "stopping now"

    async def shutdown(self) -> None:
        self.said.append("end")
        self.go_on.set()
        await asyncio.sleep(0.01)
        self.said.append("ended")


async def ask(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /mcp HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return answer


def stopped(monkeypatch: pytest.MonkeyPatch, signals: int, **chosen: Any) -> tuple[list[str], int, list[Any]]:
    """Serve one request, stop by signals, and return what was said, the status and the answers."""
    said: list[str] = []
    monkeypatch.setattr(server, "log_line", said.append)
    monkeypatch.setattr(server, "stamp_lines", lambda environment: said.append("stamped"))
    monkeypatch.setattr(HttpServer, "capture_signals", lambda self: contextlib.nullcontext())
    settings = HttpSettings(**chosen)

    async def run() -> Any:
        application = Application(said)
        running = HttpServer(application, settings)
        running.handle_reload(1, None)
        listening = listen(settings)
        port = listening.getsockname()[1]
        serving = asyncio.ensure_future(running.serve([listening]))
        while not running.started:
            await asyncio.sleep(0.005)
        running.handle_reload(1, None)
        asked = asyncio.ensure_future(ask(port))
        while not running.server_state.tasks:
            await asyncio.sleep(0.005)
        for _ in range(signals):
            running.handle_exit(15, None)
        await serving
        answer = (await asyncio.gather(asked, return_exceptions=True))[0]
        return [line.replace(str(port), "PORT") for line in said], running.status, answer

    try:
        return asyncio.run(run())
    finally:
        gc.unfreeze()


def test_a_server_listens_and_lets_calls_end(monkeypatch: pytest.MonkeyPatch) -> None:
    said, status, answer = stopped(monkeypatch, 1, has_page=True)
    listening = [
        "serving http://127.0.0.1:PORT/mcp and /more, /other",
        "the page for people is http://127.0.0.1:PORT/ui/",
    ]
    assert said == ["startup", *listening, "stamped", "reload", "stopping now", "end", "ended", "shutdown", "stopped"]
    assert status == 0 and answer.startswith(b"HTTP/1.1 200 OK\r\n") and answer.endswith(b"\r\n\r\nok")


def test_a_second_signal_stops_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said, status, answer = stopped(monkeypatch, 2)
    assert [line for line in said if line != "reload"] == [
        "startup", "serving http://127.0.0.1:PORT/mcp and /more, /other", "stamped", "stopping now", "stopped"
    ]  # fmt: skip
    assert status == 143 and (answer == b"" or isinstance(answer, OSError))


GET = b"GET /mcp HTTP/1.1\r\nHost: a\r\n\r\n"


def test_what_is_sent_while_it_stops_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a connection that has been used, on one that has not, and on one that was not accepted yet."""
    monkeypatch.setattr(server, "DRAIN_SECONDS", 60.0)
    monkeypatch.setattr(server, "log_line", lambda line: None)
    monkeypatch.setattr(HttpServer, "capture_signals", lambda self: contextlib.nullcontext())

    async def run() -> list[bytes]:
        application = Application([])
        application.go_on.set()
        running, listening = HttpServer(application, HttpSettings(grace_seconds=600.0)), listen(HttpSettings())
        where = listening.getsockname()
        serving = asyncio.ensure_future(running.serve([listening]))
        while not running.started:
            await asyncio.sleep(0.005)
        used, silent = await asyncio.open_connection(*where), await asyncio.open_connection(*where)
        used[1].write(GET)
        assert b"connection: close" not in await used[0].readuntil(b"ok")
        waiting = socket.create_connection(where)
        stopping = asyncio.ensure_future(running.shutdown([listening]))
        while running.server_state.connections and len(running.server_state.connections) < 3:
            await asyncio.sleep(0.005)
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*where)
        waiting.setblocking(False)
        answers = []
        for reader, writer in (used, silent, await asyncio.open_connection(sock=waiting)):
            writer.write(GET)
            answers.append(await reader.read())
            writer.close()
        await stopping
        serving.cancel()
        return answers

    try:
        answers = asyncio.run(run())
    finally:
        gc.unfreeze()
    assert [(answer[:15], b"connection: close" in answer, answer[-2:]) for answer in answers] == [
        (b"HTTP/1.1 200 OK", True, b"ok")
    ] * 3


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("localhost", "127.0.0.1")])
def test_an_address_is_what_it_listens_on(host: str, shown: str) -> None:
    settings = HttpSettings(host=host, path="/p", vanished_seconds=7.5)
    try:
        listening = listen(settings)
    except OSError:
        pytest.skip(f"this machine has no {host}")
    port = listening.getsockname()[1]
    assert address(listening, settings) == f"http://{shown}:{port}/p"
    assert address(listening, settings, "/ui/") == f"http://{shown}:{port}/ui/"
    options = {
        "SO_REUSEADDR": (socket.SOL_SOCKET, 1),
        "SO_KEEPALIVE": (socket.SOL_SOCKET, 1),
        "TCP_KEEPIDLE": (socket.IPPROTO_TCP, 30),
    }
    options |= {
        "TCP_KEEPINTVL": (socket.IPPROTO_TCP, 10),
        "TCP_KEEPCNT": (socket.IPPROTO_TCP, 3),
        "TCP_USER_TIMEOUT": (socket.IPPROTO_TCP, 7500),
    }
    for name, (level, value) in options.items():
        if hasattr(socket, name):
            assert listening.getsockopt(level, getattr(socket, name)) == value, name
    socket.create_connection((shown.strip("[]"), port), 5).close()
    listening.close()


def test_signals_are_handled_while_a_server_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    reset: list[Any] = []
    monkeypatch.setattr(server, "end_at_second", reset.append)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    running = HttpServer(Application([]), HttpSettings())
    with running.capture_signals():
        assert [signal.getsignal(number) for number in before] == [running.handle_exit] * 2 + [running.handle_reload]
    assert [signal.getsignal(number) for number in before] == [
        before[signal.SIGINT],
        before[signal.SIGTERM],
        running.handle_reload,
    ]
    signal.signal(signal.SIGHUP, before[signal.SIGHUP])
    assert reset == [(signal.SIGINT, signal.SIGTERM)]
    assert running.status == 0
    running.handle_exit(2, None)
    assert (running.should_exit, running.force_exit, running.status) == (True, False, 0)
    running.handle_exit(2, None)
    assert (running.force_exit, running.status) == (True, 130)


def test_limits_are_checked_twice_a_second() -> None:
    checked: list[str] = []

    async def run() -> None:
        running = HttpServer(Application([]), HttpSettings())
        running.server_state.connections.add(SimpleNamespace(check_limits=lambda now: checked.append("x")).check_limits)  # type: ignore[arg-type]
        running.server_state.connections = [SimpleNamespace(check_limits=lambda now: checked.append("x"))]  # type: ignore[assignment]
        for counter in range(11):
            await running.on_tick(counter)

    asyncio.run(run())
    assert checked == ["x"] * 3


def test_a_second_signal_is_the_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, bool]] = []

    class Actions:
        def set_reset_flag(self, number: int, *layout: int) -> bool:
            calls.append((number, layout == server.LAYOUTS["linux x86_64"]))
            return number != 3

    monkeypatch.setattr(server, "SignalActions", Actions)
    monkeypatch.setattr(server.sys, "platform", "linux")
    monkeypatch.setattr(server.system, "uname", lambda: SimpleNamespace(machine="x86_64"))
    monkeypatch.setattr(server.system, "getpid", lambda: 5)
    assert server.end_at_second((1, 2)) is True and calls == [(1, True), (2, True)]
    assert server.end_at_second((1, 3)) is False
    for target, value in (("getpid", lambda: 1), ("uname", lambda: SimpleNamespace(machine="z80"))):
        with monkeypatch.context() as patch:
            patch.setattr(server.system, target, value)
            assert server.end_at_second((1,)) is False
    for problem in (ImportError, OSError):
        monkeypatch.setattr(server, "SignalActions", lambda problem=problem: (_ for _ in ()).throw(problem()))
        assert server.end_at_second((1,)) is False
    monkeypatch.setattr(server.sys, "platform", "plan9")
    assert server.end_at_second(()) is False


def test_large_blocks_go_back_where_the_library_can(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Any] = []
    monkeypatch.setattr(allocation.system_features, "address_of", lambda name: name)
    monkeypatch.setattr(allocation.system_features, "call", lambda *words: called.append(words) or 1)
    assert allocation.return_large_blocks() is True and called == [("mallopt", (-3, 1 << 20))]
    monkeypatch.setattr(allocation.system_features, "call", lambda *words: 0)
    assert allocation.return_large_blocks() is False
    monkeypatch.setattr(allocation.system_features, "address_of", lambda name: (_ for _ in ()).throw(OSError()))
    assert allocation.return_large_blocks() is False


# How `serve` begins


def refused(act: Callable[[], object]) -> tuple[int, str]:
    with pytest.raises(ServeError) as problem:
        act()
    return problem.value.status, str(problem.value)


def image_with(**hooks: Any) -> Any:
    """Return as much of an image as a start depends on; each hook is a row that `call_rows` finds."""
    image: Any = SimpleNamespace(index={}, archive="a.pyz", server_name="s", stateless_versions=["v"], tools={"t"})
    image.hooks = lambda name: [hooks[name]] if name in hooks else []
    image.tool = image.any_tool = lambda name: name if name in image.tools else None
    image.revision = lambda version: SimpleNamespace(methods={"tasks/get"})
    image.entry = lambda name: json.dumps({"name": "n", "version": "1", "mcpc": "2"})
    return image


@pytest.fixture(autouse=True)
def rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "call_rows", lambda rows, *words: [row(*words) for row in rows])


def test_settings_are_read_and_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "environ", {})
    for name in ("MCPC_TASKS", "MCPC_EVENTS", "MCPC_STATE_KEYS_FILE"):
        monkeypatch.delenv(name, raising=False)
    settings = serve.read_settings(["--tasks", "memory:", "--http", "5"], {"MCPC_PATH": "/p"})
    assert (settings.path, settings.tasks, os.environ["MCPC_TASKS"]) == ("/p", "memory:", "memory:")
    assert system.environ == {b"MCPC_TASKS": b"memory:"} and "MCPC_EVENTS" not in os.environ
    assert refused(lambda: serve.read_settings(["-x"], {})) == (
        2,
        "unknown option '-x' of serve; `serve --help` lists all options",
    )


def test_who_may_call_is_said_before_serving(monkeypatch: pytest.MonkeyPatch) -> None:
    gates: list[Any] = [None]

    def given(*_: object) -> Any:
        if isinstance(gates[0], Exception):
            raise gates[0]
        return gates[0]

    monkeypatch.setattr(serve, "authenticator", given)
    monkeypatch.setattr(serve, "token_signer", lambda: None)
    public, own = HttpSettings(host="0.0.0.0"), image_with(authenticator=lambda image, environment: "own")
    assert serve.with_authenticator(HttpSettings(), image_with()).authenticator is None
    assert serve.with_authenticator(public.but(open=True), image_with()).authenticator is None
    assert serve.with_authenticator(public, own).authenticator == "own"
    assert refused(lambda: serve.with_authenticator(public, image_with()))[0] == 2
    named = HttpSettings(hosts=("mcp.example.com",))
    assert refused(lambda: serve.with_authenticator(named, image_with()))[0] == 2
    assert serve.with_authenticator(named.but(open=True), image_with()).authenticator is None
    gates[0] = "given"
    assert serve.with_authenticator(public, own).authenticator == "given"
    for problem, status in ((NotBundledError("n"), 8), (MisconfiguredError("m"), 2), (ValueError("v"), 2)):
        gates[0] = problem
        assert refused(lambda: serve.with_authenticator(public, own)) == (status, str(problem))


def test_addresses_of_the_project_are_allowed_unless_others_are_given() -> None:
    image = image_with(allowed_addresses=lambda image: ["10.0.0.0/8", "::1/128"])
    assert serve.with_allowed_addresses(HttpSettings(), image).allowed_ips == ("10.0.0.0/8", "::1/128")
    assert serve.with_allowed_addresses(HttpSettings(allowed_ips=("1.1.1.1/32",)), image).allowed_ips == ("1.1.1.1/32",)
    assert serve.with_allowed_addresses(HttpSettings(), image_with()).allowed_ips == ()


def test_paths_are_taken_once() -> None:
    option = image_with(http_paths=lambda settings: ("--x-path", "/a"))
    assert refused(lambda: serve.refuse_taken_paths(HttpSettings(), {"/a": option}, option)) == (
        2,
        "--x-path /a: an endpoint of MCP is under this path",
    )
    serve.refuse_taken_paths(HttpSettings(), {"/b": option}, option)
    seen: list[Any] = []
    hiding = image_with(
        http_paths=lambda settings: ("--x-path", "/x"),
        route_paths=lambda image: ["/r", "/s"],
        hidden_paths=lambda settings, paths: seen.append(paths) or ("/r", "/s"),
    )
    assert "/r of this server" in refused(lambda: serve.refuse_taken_paths(HttpSettings(), {"/a": hiding}, hiding))[1]
    assert seen == [("/a", "/x", "/r", "/s")]


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(serve, "log_line", logged.append)
    serve.warn_of_unknown_tools(
        [("token a", "t"), ("token a", "u"), ("token b", "v")], [image_with(), SimpleNamespace(any_tool={"v": 1}.get)]
    )  # type: ignore[list-item]
    assert logged == ["the token a is for the tool u, and there is none of this name"]
    monkeypatch.setattr(serve, "image_problems", lambda image: ["a", "b"])
    serve.require_settings(image_with())
    image = image_with()
    image.index["settings"] = []
    assert refused(lambda: serve.require_settings(image)) == (2, "a; b")
    monkeypatch.setattr(serve, "image_problems", lambda image: [])
    serve.require_settings(image)


def test_stores_and_events_are_tried_before_serving(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    store = SimpleNamespace(reason="", close=lambda: closed.append("store"))
    monkeypatch.setattr(serve, "open_store", lambda name, archive: store)
    monkeypatch.setattr(
        serve, "connect_redis", lambda url, archive: SimpleNamespace(close=lambda: closed.append("redis"))
    )
    serve.check_connections(HttpSettings(), image_with())
    assert closed == []
    serve.check_connections(HttpSettings(tasks="memory:", events="redis://h"), image_with())
    assert closed == ["store", "redis"]
    store.reason = "no"
    assert refused(lambda: serve.check_connections(HttpSettings(tasks="x"), image_with())) == (8, "--tasks: no")
    without = image_with()
    without.revision = lambda version: SimpleNamespace(methods=set())
    serve.check_connections(HttpSettings(tasks="x"), without)
    assert closed == ["store", "redis", "store"]

    def fail(*_: object) -> None:
        raise serve.redis.RedisError("gone")

    monkeypatch.setattr(serve, "connect_redis", fail)
    assert refused(lambda: serve.check_connections(HttpSettings(events="x"), without)) == (8, "--events: gone")


def test_another_server_has_to_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    other = image_with()
    facts: dict[str, Any] = {"mcpc": "2"}
    other.entry = lambda name: json.dumps(facts)
    monkeypatch.setattr(serve, "image_of", lambda file: other)
    monkeypatch.setattr(serve, "RuntimeFinder", lambda loader: loader)
    monkeypatch.setattr(serve, "zipimporter", lambda file: f"finder of {file}")
    monkeypatch.setattr(serve.sys, "meta_path", [])
    assert serve.other_server("/o", "o.pyz", image_with()) is other and serve.sys.meta_path == ["finder of o.pyz"]
    for changed, status, words in (
        ({"mcpc": "3"}, 8, "was built by mcpc 3, not 2"),
        ({"mcpc": "2", "running": [{"of": []}, {"inline": True}]}, 8, "has inline handlers"),
        ({}, 2, "is not a server that mcpc built"),
    ):
        facts.clear()
        facts.update(changed)
        found = refused(lambda: serve.other_server("/o", "o.pyz", image_with()))
        assert found[0] == status and found[1].startswith(f"--also /o: o.pyz {words}")
    other.hooks = lambda name: [lambda *_: "", lambda *_: "does not fit"] if name == "refuse_beside" else []
    facts["mcpc"] = "3"
    assert refused(lambda: serve.other_server("/o", "o.pyz", image_with())) == (8, "--also /o: o.pyz does not fit")
    assert serve.sys.meta_path == ["finder of o.pyz"]


def test_serving_ends_with_a_status(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(serve, "import_server", lambda archive: lambda application, settings: application)
    monkeypatch.setattr(serve, "build_application", lambda image, settings: (7, settings))
    image = image_with()
    assert serve.command(image, "a.pyz", ["--http", "0"]) == 7
    assert serve.command(image, "a.pyz", []) == 2

    def taken(application: object, settings: object) -> int:
        raise OSError(98, "Address already in use")

    monkeypatch.setattr(serve, "import_server", lambda archive: taken)
    assert serve.command(image, "a.pyz", ["--http", "[::1]:5"]) == 4
    assert capsys.readouterr().err == (
        "error: serve needs --http [HOST:]PORT, such as --http 8000\nerror: cannot listen on ::1:5: Address already in use\n"
    )
    for word in ("-h", "--help"):
        assert serve.command(image, "a.pyz", [word]) == 0
        assert '{"s": {"type": "http"' in capsys.readouterr().out
    monkeypatch.undo()
    missing = ModuleNotFoundError("x", name="uvicorn")
    monkeypatch.setattr(serve, "activate_server_packages", lambda archive: (_ for _ in ()).throw(missing))
    assert refused(lambda: serve.import_server("a")) == (
        8,
        "this file does not carry uvicorn: build it with `mcpc build --http`",
    )


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_a_socket_that_cannot_listen_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[socket.socket] = []
    real = socket.socket
    monkeypatch.setattr(server.socket, "socket", lambda *given: made.append(real(*given)) or made[-1])
    with real() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match="in use"):
            listen(HttpSettings(port=taken.getsockname()[1]))
    assert [each.fileno() for each in made] == [-1]
