"""Polling of subscribed resources turn by turn, completion scripts, embedded files and roots of mcp-bash."""

import json
from collections.abc import Callable
from errno import EMFILE
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.protocol.effects import Call, CompletionOutcome
from mcpc_runtime.systems.mcp_bash import completion_contract, contract, resource_polling, roots, settings
from mcpc_runtime.systems.mcp_bash.completion_contract import parse_offset, requested_count
from mcpc_runtime.systems.mcp_bash.providers import environment as provider_environment
from mcpc_runtime.systems.mcp_bash.providers.requests import ProviderResult, result_digest
from mcpc_runtime.systems.mcp_bash.resource_polling import MAX_READ_SECONDS, subscribed_uris
from support.contracts import call_of, described
from support.expressions import check_expressions
from support.fake_runtime import FakeReactor
from support.needs import ROOT


class Driver:
    """A driver with subscribed clients, whose provider answers when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: str = "") -> None:
        self.reactor = FakeReactor()
        self.image: Any = type("Image", (), {"index": {"mcp_bash": {}}})()
        made = settings.McpBashSettings(self.image, {b"MCPBASH_RESOURCES_POLL_INTERVAL_SECS": seconds.encode()})
        monkeypatch.setattr(settings, "settings_by_image", {self.image: made})
        monkeypatch.setattr(resource_polling, "pollers", {})
        self.seen: dict[str, bytes] = {}
        monkeypatch.setattr(resource_polling, "first_seen", self.seen)
        monkeypatch.setattr(resource_polling, "locate_uri", self.locate)
        monkeypatch.setattr(resource_polling, "polling_request", lambda image, definition, uri: definition)
        self.lines: list[str] = []
        monkeypatch.setattr(resource_polling, "log_line", self.lines.append)
        self.session = SimpleNamespace(watched=dict.fromkeys(["a", "b"]), listening={})
        self.clients: Any = [self.session]
        self.published: list[Any] = []
        self.reads: list[Any] = []
        self.stopped: list[Any] = []
        self.room = True

    def locate(self, image: Any, uri: str) -> Any:
        if uri == "bad":
            raise ValueError
        return None if uri == "unknown" else (None if uri == "web" else uri,)

    def prepare(self) -> Any:
        return SimpleNamespace(runner_of=lambda contract: self)

    def watch(self) -> FakeReactor:
        return self.reactor

    def ask(self, work: Any) -> None:
        self.reactor.after(0, work)

    def publish(self, change: Any) -> None:
        self.published.append((change.kind, change.uri))

    def start(self, request: Any, done: Any, note: Any) -> str:
        if not self.room:
            raise OSError(EMFILE, "no")
        self.reads.append((request, done))
        return f"job {len(self.reads)}"

    def stop(self, job: Any) -> None:
        self.stopped.append(job)

    def answer(self, data: bytes = b"") -> str:
        """Answer the oldest read; return what was read."""
        request, done = self.reads.pop(0)
        done(ProviderResult(0, data))
        self.reactor.pass_time(0)
        return str(request)

    def begin(self) -> None:
        driver: Any = self
        resource_polling.start_polling(driver)


def test_each_subscribed_resource_is_read_in_turn_and_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(monkeypatch, "3")
    driver.begin()
    assert [len(driver.reads), driver.answer(b"1"), driver.answer(b"1")] == [1, "a", "b"]
    driver.reactor.pass_time(2.9)
    assert driver.reads == []
    driver.reactor.pass_time(0.1)
    assert [driver.answer(b"1"), driver.answer(b"2")] == ["a", "b"]
    assert driver.published == [("resource", "b")]
    driver.session.watched = dict.fromkeys(["b", "c"])
    driver.begin()
    assert driver.answer(b"3") == "c"  # the base of later comparisons
    driver.reactor.pass_time(3)
    assert [driver.answer(b"2"), driver.answer(b"4")] == ["b", "c"]
    assert driver.published == [("resource", "b"), ("resource", "c")]
    driver.session.watched = {}
    driver.reactor.pass_time(3)
    assert (driver.reads, resource_polling.pollers) == ([], {})
    driver.session.watched = {"a": None}
    driver.begin()
    driver.answer(b"5")
    assert driver.published[2:] == []


def test_polling_may_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(monkeypatch, "0")
    driver.begin()
    assert (driver.reads, resource_polling.pollers) == ([], {})
    other = Driver(monkeypatch)
    other.begin()
    other.answer()
    other.answer()
    assert resource_polling.DEFAULT_SECONDS in other.reactor.due


def test_the_state_at_the_subscription_is_the_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(monkeypatch)
    driver.seen |= {"a": result_digest(ProviderResult(0, b"1")), "x": b""}
    driver.begin()
    assert (list(driver.seen), driver.answer(b"1")) == (["x"], "b")
    driver.reactor.pass_time(2)
    assert (driver.answer(b"2"), driver.published) == ("a", [("resource", "a")])


def test_a_read_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(monkeypatch)
    driver.begin()
    ((_, late),) = driver.reads
    driver.reactor.pass_time(MAX_READ_SECONDS - 0.1)
    assert driver.stopped == []
    driver.reactor.pass_time(0.1)
    driver.reactor.pass_time(0)
    assert (driver.stopped, driver.reads[-1][0]) == (["job 1"], "b")
    late(ProviderResult(0, b"late"))
    driver.reads.pop(0)
    driver.answer(b"b")
    driver.reactor.pass_time(2)
    driver.answer(b"on time")
    driver.answer(b"b")
    assert driver.published == []
    driver.reactor.pass_time(2 + MAX_READ_SECONDS)
    assert len(driver.stopped) == 2


def test_what_cannot_be_polled_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(monkeypatch)
    driver.session.watched = dict.fromkeys(["unknown", "bad", "web", "a"])
    driver.begin()
    assert (driver.answer(b"1"), driver.reads) == ("a", [])
    driver.room = False
    driver.reactor.pass_time(2)
    driver.room = True
    driver.reactor.pass_time(2)
    assert (driver.answer(b"2"), driver.published) == ("a", [("resource", "a")])


def test_only_so_many_resources_are_polled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource_polling, "MAX_POLLED", 2)
    driver = Driver(monkeypatch)
    driver.begin()
    assert ([driver.answer(), driver.answer()], driver.lines) == (["a", "b"], [])
    driver.session.watched = dict.fromkeys(["a", "b", "c"])
    for _ in range(2):
        driver.begin()
    assert (driver.reads, len(driver.lines)) == ([], 1)
    driver.reactor.pass_time(2)
    assert ([driver.answer(), driver.answer()], driver.reads) == (["a", "b"], [])


def test_subscriptions_of_sessions_and_streams_count_once() -> None:
    def stream(notifications: Any) -> Any:
        return SimpleNamespace(params={"notifications": notifications})

    listening = {
        1: stream({"resourceSubscriptions": ["b", "c", 5]}), 2: stream({"resourceSubscriptions": "x"}), 3: stream([]),
        4: stream({}),
    }  # fmt: skip
    sessions: Any = [
        SimpleNamespace(watched={"a": 1, "b": 1}, listening=listening),
        SimpleNamespace(watched={"d": 1}, listening={}),
    ]
    assert subscribed_uris(sessions) == ["a", "b", "c", "d"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(provider_environment, "extracted_folder", lambda image: str(tmp_path))
    monkeypatch.setattr(settings.system, "environ", {b"PATH": b"/nowhere"})
    (tmp_path / "c.sh").write_text("#!/usr/bin/env bash\n")
    return tmp_path


CURSOR = completion_contract.encode_cursor("word", 2)


def completing(params: dict[str, Any], handler: list[Any], **more: Any) -> Any:
    given = {"argument": {"name": "n", "value": "v"}, "ref": {"type": "ref/prompt"}, **params}
    case = {"method": "completion/complete", "params": given, "arguments": {"value": "v", "arguments": {"o": "é"}}}
    return call_of({**case, "call": {"handler": handler}, **more})


def test_a_completion_script_gets_what_was_typed(project: Path) -> None:
    paths = [("MCP_PROMPT_REL_PATH", "p.md"), ("MCP_RESOURCE_REL_PATH", ""), ("MCP_X", "a\0b")]
    call = completing({"limit": 3, "cursor": CURSOR}, ["c.sh", 5, "word", paths])
    command = completion_contract.build_invocation(call, call.request.session.image)
    assert (command.argv, command.directory, command.stdin, command.refusal) == (
        ["bash", f"{project}/c.sh"],
        str(project),
        b"",
        "",
    )
    assert (completion_contract.limit(call), call.definition.seconds) == (5.0, 30.0)
    environ = dict(command.exact or {})
    typed = {
        "query": "v", "prefix": "v", "argument": {"name": "n", "value": "v"}, "context": {"arguments": {"o": "é"}},
        "ref": {"type": "ref/prompt"},
    }  # fmt: skip
    normalized = json.dumps(typed, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert json.loads(environ[b"MCP_COMPLETION_ARGS_JSON"]) == typed
    expected = {
        "MCP_COMPLETION_NAME": "word", "MCP_COMPLETION_LIMIT": "3", "MCP_COMPLETION_OFFSET": "2", "MCP_X": "ab",
        "MCP_COMPLETION_ARGS_HASH": sha256(normalized).hexdigest(), "MCP_PROMPT_REL_PATH": "p.md",
        "MCP_PROMPT_PATH": f"{project}/prompts/p.md", "MCP_RESOURCE_REL_PATH": "", "MCP_RESOURCE_PATH": "",
        "MCPBASH_JSON_TOOL": "none", "MCPBASH_JSON_TOOL_BIN": "",
    }  # fmt: skip
    assert {name: environ[name.encode()].decode() for name in expected} == expected
    other = completing({"argument": 5, "cursor": "no"}, ["c.sh", 0, "word"])
    command = completion_contract.build_invocation(other, other.request.session.image)
    assert (command.refusal, completion_contract.limit(other)) == (completion_contract.BAD_CURSOR, 30.0)
    assert (command.exact or {})[b"MCP_COMPLETION_OFFSET"] == b"0"
    assert json.loads((command.exact or {})[b"MCP_COMPLETION_ARGS_JSON"])["argument"] == {"name": "", "value": "v"}


def test_cursors_and_numbers_of_values(golden: Callable[[Path, str], None]) -> None:
    def offset(cursor: Any) -> int:
        return parse_offset(completing({"cursor": cursor}, []).request, "word")

    def count(limit: Any) -> int:
        return requested_count(completing({"limit": limit}, []).request)

    golden_file = ROOT / "tests/golden/runtime/systems/mcp_bash_completion.txt"
    check_expressions(golden, golden_file, completion_contract, offset=offset, count=count)


def test_an_argument_without_a_completion_has_the_values_of_its_dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(value: str, dialect: str = "mcp-bash", name: str = "n", **params: Any) -> Any:
        request = completing(params, [], dialect=dialect).request
        request.session.image.index["mcp_bash"]["completions"] = {"known": ["k.sh", 7, [("A", "b")], "script"]}
        return completion_contract.complete_unknown(request, name, value, {"c": "d"})

    assert described(unknown("v", "mcp")) == described(CompletionOutcome([]))
    words = ["v", "v snippet", "v example"]
    assert described(unknown(" v ")) == described(CompletionOutcome(words, None, False))
    assert described(unknown("v", limit=2)) == described(CompletionOutcome(words[:2], None, True))
    assert unknown("v", limit=2, cursor=completion_contract.encode_cursor("n", 1)).values == words[1:]
    assert unknown("v", cursor="broken").values == words
    assert [unknown("", name=name).values[0] for name in ("n", " ")] == ["n", "suggestion"]
    call = unknown("v", "mcp", "known")
    assert isinstance(call, Call)
    assert (call.name, call.arguments) == ("script", {"value": "v", "arguments": {"c": "d"}})
    assert call.definition.handler == ("k.sh", 7, "script", [("A", "b")])


def test_files_to_embed_are_below_a_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/é").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "in")
    monkeypatch.setattr(contract, "MAX_FILES", 4)
    home = str(tmp_path)
    allowed = [("", "", f"{home}/in")]
    rows = [
        ("in/é", "", ""), ("link/é", "a/b", "u"), ("out", "", ""), ("a\nb", "", ""), ("in/é", "", ""), ("in/é", "", ""),
    ]  # fmt: skip
    files, warnings = contract.find_embeddable(allowed, home, rows)
    assert [(root, file.path, file.mime, file.uri) for root, file in files] == [
        (f"{home}/in", f"{home}/in/é", "", f"file://{home}/in/%C3%A9"), (f"{home}/in", f"{home}/in/é", "a/b", "u")
    ]  # fmt: skip
    assert [warning.split(" was")[0] for warning in warnings[:2]] == ["'out'", "'a\\nb'"]
    assert warnings[2:] == ["2 files were left out of the answer: the maximum is 4"]
    assert len(contract.find_embeddable(allowed, home, rows[:4])[1]) == 2
    split = contract.split_below_root
    assert [split("/a", "/a/b/c"), split("/", "/b"), split("/a/b", "/a/b"), split("/a", "/a")] == [
        ("/a", "b/c"), ("/", "b"), ("/a", "b"), ("/", "a")
    ]  # fmt: skip
    data = b"x" * contract.PROBE_LENGTH
    for content, key in ((data[1:] + b"\0", "blob"), (data + b"\0", "text")):
        file = files[0][1]
        file.mime, file.data = "text/plain", content
        assert key in contract.embedded_resource(file)["resource"]  # type: ignore[index,call-overload]


def test_roots_may_begin_with_the_home_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(roots, "log_line", lines.append)
    monkeypatch.setattr(roots, "reported", set())
    (tmp_path / "a").mkdir()

    def found(listed: str, **environ: str) -> list[str]:
        image: Any = SimpleNamespace(index={"mcp_bash": {"roots": [["~x", "n"]]}})
        made = settings.McpBashSettings(
            image, {b"MCPBASH_ROOTS": listed.encode(), **{k.encode(): v.encode() for k, v in environ.items()}}
        )
        return [path for _, _, path in roots.fallback_roots(made, str(tmp_path))]

    home = str(tmp_path)
    assert found("~/a:~", HOME=home) == [f"{home}/a", home]
    assert found("~/a", USERPROFILE=home) == [f"{home}/a"]
    assert found("~/a:a:a") == [f"{home}/a"]
    assert found("none") == [home]
    assert found("none") == [home]
    assert len(lines) == 3  # each once: `~/a`, `none`, `~x`
    assert [roots.expand_home(SimpleNamespace(text=lambda *words: "/h"), path) for path in ("~", "~/a", "~a", "a/~")] == [  # type: ignore[arg-type]
        "/h", "/h/a", "~a", "a/~"
    ]  # fmt: skip
