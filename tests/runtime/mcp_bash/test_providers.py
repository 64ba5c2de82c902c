"""Providers of mcp-bash resources: which one serves a uri, with which request, and what each says of a failure."""

import os
import socket
from collections.abc import Callable
from errno import EIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers.invocations import Command, FileResult, ProcessResult
from mcpc_runtime.systems.mcp_bash import environment, remote_token, settings, startup
from mcpc_runtime.systems.mcp_bash.providers import environment as provider_environment
from mcpc_runtime.systems.mcp_bash.providers import file_provider, https_provider, registry, requests
from mcpc_runtime.systems.mcp_bash.providers import runner as provider_runner
from mcpc_runtime.systems.mcp_bash.providers.requests import (
    FAILED,
    INVALID,
    TOO_LARGE,
    UNREACHABLE,
    FileRequest,
    GitRequest,
    HttpsRequest,
    ProviderResult,
    ProviderScript,
)
from support.expressions import check_expressions
from support.needs import ROOT

GOLDEN = ROOT / "tests/golden/runtime/systems/mcp_bash_providers.txt"
SETTINGS = ["in_dialect", "seconds", "most_seconds", "extends", "output_bytes", "error_bytes", "tail_bytes", "payload"]


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> dict[bytes, bytes]:
    variables: dict[bytes, bytes] = {b"PATH": b"/nowhere"}
    monkeypatch.setattr(settings.system, "environ", variables)
    return variables


@pytest.fixture
def image(tmp_path: Path, environ: dict[bytes, bytes], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(provider_environment, "extracted_folder", lambda image: str(tmp_path))
    (tmp_path / "providers").mkdir()
    (tmp_path / "providers/own.sh").write_text("#!/usr/bin/env bash\n")
    return HashedImage({"mcp_bash": {"providers": ["own", "echo2"], "allow": ["a*"]}})


def test_what_its_functions_return(
    image: Any, environ: dict[bytes, bytes], golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def request(provider: str, uri: str, variables: dict[str, str]) -> Any:
        given = {f"MCPBASH_{name}".encode(): value.encode() for name, value in variables.items()}
        with monkeypatch.context() as patch:
            patch.setattr(settings.system, "environ", {**environ, **given})
            return registry.build_provider_request(image, provider, uri)

    def answered(provider: str, uri: str, **variables: str) -> Any:
        result = request(provider, uri, variables)
        assert isinstance(result, ProviderResult)
        return result.status, result.data, result.message

    def page(**variables: str) -> Any:
        made = request("https", "https://a/b", variables)
        assert isinstance(made, HttpsRequest)
        return made.uri, made.seconds, made.most, made.everywhere, sorted(made.allowed), sorted(made.denied), made.agent

    def body(*pieces: bytes, **more: Any) -> Any:
        response: Any = Response(*pieces, **more)
        result = https_provider.read_response(HttpsRequest("https://x", 1, 4), response)
        return result.status, result.data, result.message, result.mime

    def configured(**variables: str) -> dict[str, Any]:
        given = {f"MCPBASH_{name}".encode(): value.encode() for name, value in variables.items()}
        found = settings.McpBashSettings(SimpleNamespace(index={"mcp_bash": {"dialect": "mcp-bash"}}), given)  # type: ignore[arg-type]
        return {name: getattr(found, name) for name in SETTINGS}

    def number(text: str) -> tuple[int, int]:
        environ[b"N"] = text.encode()
        made = settings.McpBashSettings(SimpleNamespace(index={"mcp_bash": {}}), environ)  # type: ignore[arg-type]
        return made.number("N", 3), provider_environment.variable_number("N", 3, 10)

    names = {
        "image": image, "answered": answered, "page": page, "body": body, "configured": configured, "number": number,
    }  # fmt: skip
    check_expressions(golden, GOLDEN, registry, file_provider, https_provider, **names)


def test_a_payload_is_short_up_to_its_limit() -> None:
    made = settings.McpBashSettings(SimpleNamespace(index={"mcp_bash": {}}), {})  # type: ignore[arg-type]
    assert [environment.is_short(made, b"x" * size) for size in (65_536, 65_537)] == [True, False]


def test_a_repository_is_requested_by_a_script(image: Any, environ: dict[bytes, bytes], tmp_path: Path) -> None:
    environ |= {
        b"MCPBASH_ENABLE_GIT_PROVIDER": b"true", b"MCPBASH_GIT_ALLOW_ALL": b"true", b"MCPBASH_GIT_TIMEOUT": b"7"
    }  # fmt: skip
    made = registry.build_provider_request(image, "git", "git+https://h/r#main:a")
    assert isinstance(made, GitRequest)
    script = f"{tmp_path}/.mcpc/mcp-bash/providers/git.sh"
    assert (made.command.argv, made.seconds, made.everywhere) == ([script, "git+https://h/r#main:a"], 7, True)
    environ[b"MCPBASH_GIT_ALLOW_ALL"] = b"yes"
    assert isinstance(registry.build_provider_request(image, "git", "git+https://h/r"), ProviderResult)


def test_a_file_is_requested_below_its_folders(image: Any, environ: dict[bytes, bytes], tmp_path: Path) -> None:
    for roots, expected in ((b"", (f"{tmp_path}/resources",)), (b"/a::/b", ("/a", "/b"))):
        environ[b"MCP_RESOURCES_ROOTS"] = roots
        for file, path in (("", "/x/y"), ("resources/z", f"{tmp_path}/resources/z")):
            made = registry.build_provider_request(image, "file", "file:///x/y", file)
            assert isinstance(made, FileRequest)
            assert (made.path, made.roots, made.most) == (path, expected, 10 << 20)
    environ[b"MCPBASH_MAX_TOOL_OUTPUT_SIZE"] = b"5"
    assert provider_environment.max_resource_bytes() == 5
    environ[b"MCPBASH_MAX_RESOURCE_BYTES"] = b"6"
    assert provider_environment.max_resource_bytes() == 6


def test_a_script_of_the_project_has_an_isolated_environment(
    image: Any, environ: dict[bytes, bytes], tmp_path: Path
) -> None:
    environ |= {
        b"LC_X": b"1", b"MCP_X": b"2", b"MCPBASH_GIT_X": b"3", b"MCPBASH_X": b"4", b"FOO": b"5", b"BAR": b"6",
        b"https_proxy": b"7", b"SSL_CERT_FILE": b"8", b"LANG": b"C.x", b"TMPDIR": b"/t", b"MCPC_TASKS": b"secret",
        b"PATHS": b"9",
    }  # fmt: skip
    made = registry.build_provider_request(image, "own", "own://x")
    assert isinstance(made, ProviderScript)
    command = made.command
    assert (command.argv, command.stdin, command.directory) == (
        ["bash", f"{tmp_path}/providers/own.sh", "own://x"], b"", str(tmp_path)
    )  # fmt: skip
    home = str(tmp_path).encode()
    isolated = {
        b"PATH": b"/nowhere", b"LC_X": b"1", b"MCP_X": b"2", b"MCPBASH_GIT_X": b"3", b"https_proxy": b"7", b"LANG": b"C.x",
        b"TMPDIR": b"/t", b"TMP": b"/t", b"TEMP": b"/t", b"LC_ALL": b"C.x", b"HOME": home,
        b"MCPBASH_HOME": home + b"/.mcpc/mcp-bash", b"MCPBASH_PROJECT_ROOT": home,
        b"MCP_RESOURCES_ROOTS": home + b"/resources", b"MCPBASH_PROVIDERS_DIR": home + b"/providers",
    }  # fmt: skip
    assert command.exact == isolated

    def found(provider: str = "own") -> dict[bytes, bytes]:
        command = registry.provider_command(image, provider, f"{tmp_path}/providers/own.sh")
        return dict(command.exact or {})

    assert found("https") == {**isolated, b"SSL_CERT_FILE": b"8"}
    environ |= {b"MCPBASH_PROVIDER_ENV_MODE": b"Allowlist", b"MCPBASH_PROVIDER_ENV_ALLOWLIST": b"FOO,MCPC_TASKS"}
    assert found() == {**isolated, b"FOO": b"5"}
    environ[b"MCPBASH_PROVIDER_ENV_MODE"] = b"inherit"
    assert found() == isolated
    environ[b"MCPBASH_PROVIDER_ENV_INHERIT_ALLOW"] = b"true"
    assert found().keys() - isolated.keys() >= {b"FOO", b"BAR", b"MCPBASH_X", b"PATHS"}
    assert b"MCPC_TASKS" not in found()
    environ[b"USERPROFILE"] = b"/user"
    assert found()[b"HOME"] == b"/user"


def test_the_json_program_of_a_provider_may_be_configured(image: Any, environ: dict[bytes, bytes]) -> None:
    def find() -> dict[bytes, bytes]:
        fresh: Any = HashedImage(image.index)
        return provider_environment.json_tool_variables(fresh, b"/nowhere", str)

    assert find() == {b"MCPBASH_JSON_TOOL": b"none", b"MCPBASH_JSON_TOOL_BIN": b""}
    environ |= {b"MCPBASH_JSON_TOOL": b"jq", b"MCPBASH_JSON_TOOL_BIN": b"/jq"}
    assert find() == {b"MCPBASH_JSON_TOOL": b"jq", b"MCPBASH_JSON_TOOL_BIN": b"/jq"}


class HashedImage:
    """An image by which settings can be kept."""

    def __init__(self, index: dict[str, Any]) -> None:
        self.index = index
        self.shows_tool: Any = None
        self.check_request: Any = None
        self.tools: set[str] = set()

    def any_tool(self, name: str) -> object:
        return name if name in self.tools else None

    tool = any_tool


@pytest.mark.parametrize(("most", "status"), [(5, 0), (4, TOO_LARGE), (0, TOO_LARGE)])
def test_a_file_is_read_up_to_its_limit(tmp_path: Path, most: int, status: int) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    result = file_provider.read_requested_file(FileRequest(f"{tmp_path}/a", ("/other", str(tmp_path)), most))
    assert (result.status, result.data) == (status, b"" if status else b"12345")
    missing = file_provider.read_requested_file(FileRequest(f"{tmp_path}/b", (str(tmp_path),), most))
    assert (missing.status, missing.message) == (requests.MISSING, "b: No such file or directory")


def test_a_file_that_cannot_be_read_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"12345")

    def fail(file: int, size: int) -> bytes:
        raise OSError(EIO, "no")

    before = os.listdir("/dev/fd")
    with monkeypatch.context() as patch:
        patch.setattr(file_provider.system, "read", fail)
        result = file_provider.read_requested_file(FileRequest(f"{tmp_path}/a", (str(tmp_path),), 9))
    assert (result.status, result.message, os.listdir("/dev/fd")) == (FAILED, "a: no", before)


def test_a_host_is_resolved_once_and_all_its_addresses_are_public(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    addresses = [f"1.1.1.{number}" for number in range(10)] + ["1.1.1.0"]

    def resolve(host: str, port: int, **more: Any) -> Any:
        asked.append((host, port))
        if host == "unknown":
            raise OSError
        return [(0, 0, 0, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    request = HttpsRequest("git+https://H:1/x", 1, 9)
    request.allowed = frozenset(["h", "unknown"])
    assert https_provider.resolve_host(request) == ("h", 1, tuple(addresses[:8]))
    request.denied = frozenset(["h"])
    for uri, status in (("https://h", INVALID), ("https://other", INVALID), ("https://unknown", UNREACHABLE)):
        request.uri = uri
        with pytest.raises(https_provider.AddressRefusedError) as refused:
            https_provider.resolve_host(request)
        assert refused.value.status == status
    assert asked == [("h", 1), ("unknown", 443)]
    request.uri, request.denied, request.everywhere, request.allowed = "https://other", frozenset(), True, frozenset()
    addresses[:] = []
    result = https_provider.fetch_network(request)
    assert (result.status, result.message) == (INVALID, "blocked host other")
    addresses.append("1.1.1.1")
    git = GitRequest("git+https://other/r", 1, 9, Command([], 0, {}))
    git.everywhere = True
    assert https_provider.fetch_network(git).addresses == ("1.1.1.1",)


class Response:
    def __init__(self, *pieces: bytes, status: int = 200, length: int | None = None, mime: str = "") -> None:
        self.pieces, self.status, self.length = list(pieces), status, length
        self.headers = Headers(mime)

    def read1(self, size: int) -> bytes:
        piece = self.pieces.pop(0) if self.pieces else b""
        if self.length is not None:
            self.length -= len(piece)
        return piece


class Headers(dict[str, str]):
    def __init__(self, mime: str) -> None:
        super().__init__({"Content-Type": mime} if mime else {})

    def get_content_type(self) -> str:
        return self.get("Content-Type", "text/plain").partition(";")[0]


class Runner:
    """A runner whose jobs end when the test says so."""

    def __init__(self, host: Any, read: Any = None) -> None:
        self.read = read
        self.started: list[Any] = []
        self.stopped: list[Any] = []
        self.closed = False
        self.problem: OSError | None = None
        RUNNERS.append(self)

    def start(self, request: Any, done: Any, note: Any) -> int:
        if self.problem is not None:
            raise self.problem
        self.started.append((request, done))
        return len(self.started)

    def stop(self, job: Any) -> None:
        self.stopped.append(job)

    def close(self) -> None:
        self.closed = True


RUNNERS: list[Runner] = []


@pytest.fixture
def providers(monkeypatch: pytest.MonkeyPatch) -> provider_runner.ProviderRunner:
    RUNNERS.clear()
    for name in ("FileRunner", "ProcessRunner"):
        monkeypatch.setattr(provider_runner, name, Runner)
    return provider_runner.ProviderRunner(SimpleNamespace())  # type: ignore[arg-type]


def test_each_request_goes_to_its_runner(providers: provider_runner.ProviderRunner) -> None:
    found: list[Any] = []
    known = ProviderResult(3)
    assert providers.start(known, found.append, print).inner is None
    page, file = HttpsRequest("https://x", 1, 9), FileRequest("/x", (), 9)
    jobs = [providers.start(request, found.append, print) for request in (page, file, file)]
    script = providers.start(ProviderScript(Command(["x"], 0, {})), found.append, print)
    network, files, processes = RUNNERS
    reads = (https_provider.fetch_network, file_provider.read_requested_file, None)
    assert tuple(each.read for each in RUNNERS) == reads
    assert [len(each.started) for each in RUNNERS] == [1, 2, 1]
    network.started[0][1](known)
    files.started[0][1](FileResult(problem="it raised"))
    completed = ProcessResult()
    completed.status, completed.printed, completed.errors, completed.dropped = 4, b"out", b" " + b"e" * 2001, 7
    processes.started[0][1](completed)
    processes.started[0][1](ProcessResult("no bash"))
    assert found[:2] == [known, known]
    assert [(each.status, each.data, each.message, each.dropped) for each in found[2:]] == [
        (FAILED, b"", "it raised", 0), (4, b"out", "e" * 2000, 7), (FAILED, b"", "no bash", 0)
    ]  # fmt: skip
    providers.stop(jobs[2])
    providers.stop(script)
    assert [each.stopped for each in RUNNERS] == [[], [2], [1]]
    providers.close()
    assert [each.closed for each in RUNNERS] == [True] * 3


@pytest.mark.parametrize("end", ["fetched", "refused", "stopped", "no room"])
def test_a_repository_is_fetched_from_the_addresses_that_were_checked(
    providers: provider_runner.ProviderRunner, end: str
) -> None:
    found: list[Any] = []
    command = Command(["git"], 0, {})
    command.exact = {b"A": b"1"}
    job = providers.start(GitRequest("git+https://x", 1, 9, command), found.append, print)
    resolved = ProviderResult(INVALID if end == "refused" else 0)
    resolved.addresses = ("1.1.1.1", "2.2.2.2")
    if end == "stopped":
        providers.stop(job)
    if end == "no room":
        providers.start(ProviderScript(Command(["x"], 0, {})), found.append, print)
        RUNNERS[-1].problem = OSError(EIO, "no room")
    RUNNERS[0].started[0][1](resolved)
    if end == "fetched":
        assert RUNNERS[1].started[0][0].exact == {b"A": b"1", b"MCPC_ADDRESSES": b"1.1.1.1 2.2.2.2"}
        providers.stop(job)
        assert (found, RUNNERS[1].stopped) == ([], [1])
    elif end == "no room":
        assert [(each.status, each.message) for each in found] == [(UNREACHABLE, "no room")]
    else:
        assert (found, len(RUNNERS)) == ([resolved], 1)


def test_a_file_without_a_network_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing:
        @property
        def fetch_network(self) -> None:
            raise ImportError

    assert provider_runner.network_reader() is https_provider.fetch_network
    monkeypatch.setattr(provider_runner, "https_provider", Missing())
    result = provider_runner.network_reader()(None)
    assert (result.status, result.message) == (FAILED, provider_runner.NO_NETWORK)


def test_the_first_state_of_a_resource_is_remembered_for_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, bytes] = {}
    monkeypatch.setattr(requests, "first_seen", seen)
    monkeypatch.setattr(requests, "MAX_SEEN", 2)
    for number in range(3):
        requests.remember_first_seen(str(number), ProviderResult(number, b"x"))
    assert list(seen) == ["0", "1"]
    other = ProviderResult(0, b"x")
    other.dropped = 1
    assert (
        len({requests.result_digest(each) for each in (other, ProviderResult(0, b"x"), ProviderResult(1, b"x"))}) == 3
    )
    assert seen["0"] == requests.result_digest(ProviderResult(0, b"x"))


@pytest.mark.parametrize(
    ("environ_", "built", "shown", "logged", "note"),
    [
        ({}, {"allow": ["*"]}, None, 0, ""),
        ({}, {"policy": True}, None, 0, ""),
        ({}, {}, [], 1, "a, b"),
        ({}, {"others": ["b"]}, ["b"], 1, "a, b"),
        ({}, {"allow": ["a*"]}, ["a"], 0, "b"),
        ({"MCPBASH_TOOL_ALLOWLIST": "a"}, {}, ["a"], 0, "b"),
        ({"MCPBASH_TOOL_ALLOWLIST": "z y"}, {}, [], 1, "a, b"),
        ({"MCPBASH_TOOL_ALLOWLIST": "a b"}, {}, ["a", "b"], 0, ""),
    ],
)
def test_only_allowed_tools_are_listed(
    environ: dict[bytes, bytes], environ_: dict[str, str], built: dict[str, Any], shown: list[str] | None, logged: int,
    note: str, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    lines: list[str] = []
    monkeypatch.setattr(startup, "log_line", lines.append)
    environ.update({name.encode(): value.encode() for name, value in environ_.items()})
    made: Any = HashedImage({"mcp_bash": built})
    made.tools = {"a", "b"}
    startup.hide_tools(made)
    listed = None if made.shows_tool is None else [name for name in ("a", "b") if made.shows_tool(name)]
    assert (listed, len(lines), made.check_request) == (shown, logged, None)
    if shown is not None:
        assert made.shows_tool.nothing is (not shown and "MCPBASH_TOOL_ALLOWLIST" not in environ_)
    if environ_.get("MCPBASH_TOOL_ALLOWLIST") == "z y":
        assert lines == [f"{startup.NO_KNOWN_TOOL}y z"]
    text = startup.hidden_tools_note(made, ["a", "b"])
    if note and not environ_ and "allow" not in built:
        assert settings.NOTHING_ALLOWED in text
    else:
        assert (text.partition("allowed: ")[2], bool(text)) == (f"{note}\n" if note else "", bool(note))


def guarded(environ: dict[bytes, bytes]) -> Any:
    made: Any = HashedImage({"mcp_bash": {"allow": ["*"]}})
    startup.hide_tools(made)
    return made.check_request


TOKEN = "t" * 32


def test_the_remote_token_is_checked_and_failures_are_counted(
    environ: dict[bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(remote_token, "monotonic", lambda: now[0])
    environ |= {b"MCPBASH_REMOTE_TOKEN": TOKEN.encode(), b"MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN": b"2"}
    guard = guarded(environ)

    def answer(meta: Any) -> str:
        failure = guard(SimpleNamespace(params={"_meta": meta}))
        assert failure is None or failure.code == -32602
        return "" if failure is None else failure.message

    refused, throttled = remote_token.REFUSED, remote_token.THROTTLED
    accepted = [
        {"mcpbash/remoteToken": TOKEN},
        {"remoteToken": TOKEN},
        {"mcpbash/remoteToken": "", "remoteToken": TOKEN},
    ]
    assert [answer(meta) for meta in accepted] == [""] * 3
    wrong = [{"mcpbash/remoteToken": "x", "remoteToken": TOKEN}, {"remoteToken": 5}, None, {}]
    assert [answer(meta) for meta in wrong] == [refused, refused, throttled, throttled]
    now[0] += remote_token.WINDOW_SECONDS
    assert answer({}) == throttled
    now[0] += 0.1
    assert [answer({}), answer({"remoteToken": "\ud800"}), answer({})] == [refused, refused, throttled]
    assert answer({"remoteToken": TOKEN}) == ""
    environ |= {b"MCPBASH_REMOTE_TOKEN_KEY": b"own", b"MCPBASH_REMOTE_TOKEN_FALLBACK_KEY": b"",
                b"MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN": b"0"}  # fmt: skip
    guard = guarded(environ)
    assert [bool(answer({key: TOKEN})) for key in ("own", "remoteToken", "")] == [False, True, True]
    assert [answer({}) for _ in range(20)] == [refused] * 20
    environ[b"MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN"] = b"x"
    guard = guarded(environ)
    assert [answer({}) for _ in range(11)] == [refused] * 10 + [throttled]


def test_a_token_that_is_too_short_ends_the_server(
    environ: dict[bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    monkeypatch.setattr(remote_token, "log_line", lines.append)
    for token in ("é" * 32, "x" * 31):
        environ[b"MCPBASH_REMOTE_TOKEN"] = token.encode()
        if len(token) == 32:
            assert guarded(environ) is not None
            continue
        with pytest.raises(SystemExit) as left:
            guarded(environ)
        assert (left.value.code, lines) == (2, [remote_token.TOO_SHORT])
