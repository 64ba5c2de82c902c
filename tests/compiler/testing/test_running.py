"""Runs of cases: which calls are made together, on which servers, and what is found; the servers are in this process."""

import http.client
import io
import subprocess
import urllib.error
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from mcpc.client.client import ConversationError
from mcpc.reading import Source
from mcpc.workbench.testing import running, servers
from mcpc.workbench.testing.api_stub import UNANSWERED
from mcpc.workbench.testing.case_files import read_cases
from mcpc.workbench.testing.fixture import CallableServer, CallResult, cases_of_file
from mcpc.workbench.testing.model import Case, Mismatch, Outcome, Reply, Variant
from mcpc.workbench.testing.reports import gathered
from mcpc.workbench.testing.running import (
    OutputValidators,
    VariantSelection,
    compiled,
    differs_itself,
    failed_cases,
    is_read_only,
    remember_failed,
    run_batch,
    run_case,
    run_cases,
)
from mcpc.workbench.testing.servers import CallRoute, Connection, RunningServer, Served, has_http

TEXT = """\
tests:
- {name: a, tool: reads}
- {name: b, tool: reads, env: {A: 1}}
- {name: c, tool: writes}
- {name: d, tool: reads, serial: true}
- {name: e, tool: writes, serial: false, transport: http}
- {name: f, tool: reads, expect: {within_ms: 5}}
- {name: g, tool: reads, answers: [{action: accept}]}
- {name: h, prompt: p, era: stateless}
- {name: i, resource: "a://b", expect: {text: x}}
"""
STDIO, HTTP = (("stdio", "stateless"), ("stdio", "handshake")), (("http", "stateless"), ("http", "handshake"))


def cases() -> dict[str, Case]:
    found, problems = read_cases({"tests/a.yaml": Source("tests/a.yaml", TEXT.encode())})
    assert problems == ()
    return {case.name: case for case in found}


def test_the_simplest_way_is_first() -> None:
    assert VariantSelection().selected == (*STDIO, *HTTP)
    assert VariantSelection(("http",), ("handshake",)).selected == (("http", "handshake"),)
    selection, known = VariantSelection(("stdio",), ("handshake", "stateless")), cases()
    assert selection.variants(known["a"]) == [("stdio", "handshake"), ("stdio", "stateless")]
    assert (selection.variants(known["e"]), selection.variants(known["h"])) == ([], [("stdio", "stateless")])
    assert VariantSelection(eras=("handshake",)).variants(known["h"]) == []


@pytest.mark.parametrize(("jobs", "alone"), [(1, "abcdefghi"), (2, "cdfg")])
def test_what_may_change_something_runs_alone(jobs: int, alone: str) -> None:
    selection = VariantSelection(jobs=jobs, read_only=frozenset({"reads"}))
    assert "".join(name for name, case in cases().items() if selection.is_serial(case)) == alone


def shape(selection: VariantSelection, names: str) -> list[str]:
    known = cases()
    return ["".join(case.name for case, _ in batch) for batch in selection.batches(known[name] for name in names)]


def test_calls_are_made_in_batches() -> None:
    selection = VariantSelection(("stdio",), jobs=1)
    assert shape(selection, "ab") == ["a", "a", "b", "b"]
    together = VariantSelection(("stdio",), jobs=2, read_only=frozenset({"reads"}))
    assert shape(together, "abdhi") == ["aabb", "d", "d", "hii"]
    first = VariantSelection(jobs=2, is_first_only=True, read_only=frozenset({"reads"}))
    assert shape(first, "abc") == ["aaaabbbb", "c", "c", "c", "c"]
    assert shape(first, "abi") == ["aaaabbbb", "iiii"]
    assert shape(VariantSelection(("stdio",), jobs=2), "e") == []


OBJECT = {"type": "object", "required": ["n"]}


def test_validators_are_compiled_once() -> None:
    outputs = OutputValidators({"t": OBJECT, "u": {"type": "nonsense"}})
    assert outputs.of("t") is outputs.of("t") is not None
    assert (outputs.of("u"), outputs.of("none"), compiled(None)) == (None, None, None)
    validator = compiled(False)
    assert not validator.accepts(1)
    hints = [{}, {"annotations": 3}, {"annotations": {"readOnlyHint": 1}}, {"annotations": {"readOnlyHint": True}}]
    assert [is_read_only(tool) for tool in hints] == [False, False, False, True]


class FakeConnection:
    """A server in this process.  `log`: all that was done with any; calls of a case fail as often as `failing` says."""

    log: list[Any]
    failing: dict[str, int]

    def __init__(self, served: Served) -> None:
        self.served = served

    def __enter__(self) -> "FakeConnection":
        self.log.append(("start", dict(self.served.variables)))
        return self

    def __exit__(self, *_: object) -> None:
        self.log.append("end")

    def call(self, case: Case, variant: Variant) -> Reply:
        self.log.append((case.name, *variant))
        self.failing[case.name] = left = self.failing.get(case.name, 0) - 1
        if case.name == "lost":
            raise ConversationError("it ended")
        return Reply(is_error=left >= 0, text="x", structured={"n": 1})


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    monkeypatch.setattr(FakeConnection, "log", [], raising=False)
    monkeypatch.setattr(FakeConnection, "failing", {}, raising=False)
    monkeypatch.setattr(running, "Connection", FakeConnection)
    return FakeConnection.log


SERVED = Served(Path("/s.pyz"), Path("/f"), {}, {"X": "y"})


def test_cases_of_one_environment_share_a_server(log: list[Any]) -> None:
    known = cases()
    selection = VariantSelection(("stdio",), ("stateless",))
    found = [*run_cases([known["b"], known["a"], known["c"]], SERVED, selection, OutputValidators({}))]
    assert [(each.case.name, each.variant, each.mismatches) for each in found] == [
        (name, ("stdio", "stateless"), ()) for name in "acb"
    ]
    calls = [[(name, "stdio", "stateless") for name in names] for names in ("ac", "b")]
    assert log == [("start", {"X": "y"}), *calls[0], "end", ("start", {"X": "y", "A": "1"}), *calls[1], "end"]


ANSWERED = """\
tests:
- {name: list, tool: t, given: {response: [{body: {a: 1}}, {to: HEAD /v, body: x}, {status: 204}, {to: GET /never}]}}
- {name: one, tool: t, given: {response: {status: 201, headers: {X: y}, base64: AP8=}}}
"""


@pytest.mark.parametrize(
    ("name", "sent", "answers", "unanswered", "unused"),
    [
        (
            "list",
            ("GET /v/a?b", "GET /v", "HEAD /v", "PUT /v"),
            [
                (200, "application/json", b'{"a": 1}'),
                (204, None, b""),
                (200, "text/plain; charset=utf-8", b""),
                (501, "text/plain", UNANSWERED.body),
            ],
            ("PUT /v",),
            ("GET /never",),
        ),
        ("one", ("POST /v/c", "POST /v/c"), [(201, None, b"\0\xff")] * 2, (), ()),
    ],
)
def test_the_stub_answers_with_the_responses_of_a_case(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    sent: tuple[str, ...],
    answers: list[tuple[int, str | None, bytes]],
    unanswered: tuple[str, ...],
    unused: tuple[str, ...],
) -> None:
    seen = []

    class Asking(FakeConnection):
        def __enter__(self) -> "Asking":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def call(self, case: Case, variant: Variant) -> Reply:
            url = urlsplit(self.served.variables["BASE"])
            connection = http.client.HTTPConnection(url.netloc, timeout=60)
            for line in sent:
                method, target = line.split(" ")
                assert target.startswith(url.path)
                connection.request(method, target, b"data", {"X-Two": "2"})
                answer = connection.getresponse()
                seen.append((answer.status, answer.headers["Content-Type"], answer.read()))
            connection.close()
            return Reply(is_error=False, structured={"n": 1})

    monkeypatch.setattr(running, "Connection", Asking)
    read, problems = read_cases({"a.yaml": Source("a.yaml", ANSWERED.encode())})
    case = next(each for each in read if each.name == name)
    served = Served(Path("/s.pyz"), Path("/f"), {}, bases={"BASE": "https://a.example/v"})
    with running.connection_for(served, {}, is_answered=True) as connection:
        reply = connection.call(case, STDIO[0])  # type: ignore[arg-type]
    assert (problems, seen) == ((), answers)
    assert tuple(each.line for each in reply.requests) == sent and reply.requests[0].headers["x-two"] == "2"
    assert (reply.unanswered, reply.unused) == (unanswered, unused)


@pytest.mark.parametrize(("is_first_only", "names"), [(True, "a"), (False, "aac")])
def test_a_run_may_end_at_the_first_failure(is_first_only: bool, names: str, log: list[Any]) -> None:
    known = cases()
    FakeConnection.failing["a"] = 1
    selection = VariantSelection(("stdio",), is_first_only=is_first_only)
    known["c"] = cases()["c"]
    outcomes = run_cases([known["a"], known["c"]], SERVED, selection, OutputValidators({}))
    found = [(each.case.name, bool(each.mismatches)) for each in outcomes]
    assert found == ([("a", True)] if is_first_only else [("a", True), ("a", False), ("c", False), ("c", False)])
    assert log[-1] == "end"


def test_a_call_that_fails_among_others_is_made_again_alone(log: list[Any]) -> None:
    known = cases()
    calls = [(known[name], Variant("stdio", "stateless")) for name in "ab"]
    for first, alone, is_repeated in ((1, False, True), (2, True, True), (0, False, False)):
        FakeConnection.failing = {"a": first}
        one, other = run_batch(calls, FakeConnection(SERVED), OutputValidators({}), 2)  # type: ignore[arg-type]
        assert (one.case.name, bool(one.mismatches), one.is_repeated) == ("a", alone, is_repeated)
        assert (other.case.name, bool(other.mismatches), other.is_repeated) == ("b", False, False)
    FakeConnection.failing = {"a": 1}
    (single,) = run_batch(calls[:1], FakeConnection(SERVED), OutputValidators({}), 2)  # type: ignore[arg-type]
    assert (bool(single.mismatches), single.is_repeated) == (True, False)


def test_a_server_that_does_not_answer_is_a_failure(log: list[Any]) -> None:
    case = cases()["a"]
    lost = read_cases({"a.yaml": Source("a.yaml", b"tests: [{name: lost, tool: t}]")})[0][0]
    variant, connection = Variant("stdio", "stateless"), FakeConnection(SERVED)
    outcome = run_case(lost, variant, connection, OutputValidators({}))  # type: ignore[arg-type]
    missing = Mismatch("answer", "an answer", "it ended")
    assert outcome == Outcome(lost, variant, (missing,), Reply(is_error=True))
    assert not differs_itself(outcome)
    wrong = run_case(case, variant, connection, OutputValidators({"reads": {"required": ["m"], "type": "object"}}))  # type: ignore[arg-type]
    assert [each.what for each in wrong.mismatches] == ["schema (all)"]
    assert differs_itself(wrong)
    prompt = run_case(cases()["h"], variant, connection, OutputValidators({"p": {"type": "string"}}))  # type: ignore[arg-type]
    assert prompt.mismatches == ()


def test_the_cases_that_failed_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "cache"))
    known = cases()
    variant, wrong = Variant("stdio", "stateless"), (Mismatch("text", "a", "b"),)

    def ran(**failed: bool) -> None:
        outcomes = [Outcome(known[name], variant, wrong if each else (), Reply(each)) for name, each in failed.items()]
        remember_failed(tmp_path / "tests", gathered(outcomes))

    def failed_names() -> str:
        return "".join(case.name for case in failed_cases(tmp_path / "x" / ".." / "tests", known.values()))

    assert failed_names() == ""
    ran(a=True, b=False, c=True)
    assert failed_names() == "ac"
    ran(a=False, b=True)
    assert failed_names() == "bc"
    monkeypatch.setattr("mcpc.workbench.testing.running.store_entry", lambda *_: pytest.fail("nothing has changed"))
    ran(c=True)
    assert failed_names() == "bc"
    assert failed_cases(tmp_path / "other", known.values()) == []


def test_tests_run_again_when_a_file_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    # Before and after the first run, while it waits, until the files are stable; then a run that changes a file itself.
    states = iter([0, 0, 0, 0, 1, 2, 2, 2, 3, 3, 4, 4, 5])
    done: list[Any] = []

    def run_in_foreground(name: str, words: list[str]) -> int:
        done.append((name, words[-2:]))
        return 0

    def fingerprint(_root: Path) -> Any:
        try:
            return frozenset({next(states)})
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(running, "fingerprint", fingerprint)
    monkeypatch.setattr(running.programs, "run_in_foreground", run_in_foreground)
    monkeypatch.setattr(running.time, "sleep", done.append)
    with pytest.raises(KeyboardInterrupt):
        running.watch(Path("p"), ["-x"], lambda: done.append("ended"))
    poll, settle = running.POLL_SECONDS, running.SETTLE_SECONDS
    run = ("compiler", ["test", "-x"])
    assert done == [run, "ended", poll, poll, settle, settle, run, "ended", run, "ended", poll, settle]


@pytest.mark.parametrize(
    ("facts", "found"), [({}, False), ({"options": None}, False), ({"options": {"http": False}}, False), ({"options": {"http": True}}, True)]
)  # fmt: skip
def test_facts_tell_whether_a_file_serves_over_http(facts: dict[str, Any], found: bool) -> None:
    assert has_http(facts) is found


class Conversation:
    def __init__(self, log: list[Any], transport: object) -> None:
        self.log, self.transport = log, transport

    def call(self, *given: Any) -> Reply:
        self.log.append((self.transport, *given))
        if given[0] == "lost":
            raise ConversationError("it ended")
        return Reply(is_error=given[0] == "fails", text="x")


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Servers that write their name on standard error for each call, and what was done with them."""
    log: list[Any] = []

    @contextmanager
    def start(served: Served, errors: Path) -> Iterator[Any]:
        assert served.variables["MCPC_TASKS"] == f"sqlite:{errors.parent}/tasks.db"
        if "FAILS" in served.variables:
            raise ConversationError("it did not start")
        errors.write_bytes(b"started\n")
        log.append(("start", errors))
        yield SimpleNamespace(
            conversation=lambda: f"conversation {errors.write_bytes(errors.read_bytes() + b'more' + bytes([10]))}"
        )
        log.append("end")

    monkeypatch.setattr(servers, "STARTS", {"stdio": start, "http": start})
    monkeypatch.setattr(servers, "EraClient", lambda transport, era, tools: Conversation(log, (era, tools)))
    return log


def test_conversations_are_used_again_and_servers_end(process: list[Any]) -> None:
    served = Served(Path("/s.pyz"), Path("/f"), {"t": {}}, seconds=9)
    route = CallRoute(Variant("stdio", "stateless"))
    with Connection(served) as connection:
        assert connection.request(route, "tool", {"a": 1}) == Reply(is_error=False, text="x")
        assert connection.request(route, "fails", {}, [{"b": 1}]) == Reply(is_error=True, text="x")
        other = CallRoute(Variant("stdio", "handshake"), (("A", "b"),))
        assert connection.request(other, "fails", {}).log == "more\n"
        (_, errors), *calls = process
        assert calls == [
            (("stateless", {"t": {}}), "tool", {"a": 1}, (), 9),
            (("stateless", {"t": {}}), "fails", {}, [{"b": 1}], 9),
            (("handshake", {"t": {}}), "fails", {}, (), 9),
        ]
        with pytest.raises(ConversationError) as lost:
            connection.request(route, "lost", {})
        assert str(lost.value) == "it ended\n  started\n  more\n  more"
        assert (process[-1], errors.exists()) == ("end", False)
        connection.request(route, "tool", {})
        assert process[-2][0] == "start"
    assert process[-1] == "end"
    with pytest.raises(ConversationError, match="the run has ended"):
        connection.request(route, "tool", {})
    with Connection(served.with_variables({"FAILS": "1"})) as connection, pytest.raises(ConversationError):
        connection.request(route, "tool", {})


def test_a_case_is_called_with_its_own_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(Connection, "request", lambda _, *given: asked.append(given) or Reply(False))
    text = b"tests: [{name: a, tool: t, arguments: {x: 1}, headers: {H: v}}, {name: b, complete: {prompt: p, argument: q}}]"
    variant = Variant("stdio", "stateless")
    for case in read_cases({"a.yaml": Source("a.yaml", text)})[0]:
        Connection(SERVED).call(case, variant)
    assert asked == [
        (CallRoute(variant, (("H", "v"),)), "tool", {"name": "t", "arguments": {"x": 1}}, ()),
        (
            CallRoute(variant),
            "complete",
            {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "q", "value": ""}},
            (),
        ),
    ]


@pytest.mark.parametrize(
    ("start", "size", "length"), [(0, 10, 10), (4, 10, 6), (0, 4001, 4000), (3999, 4001, 2), (0, 4000, 4000)]
)
def test_the_end_of_a_log_is_kept(start: int, size: int, length: int, tmp_path: Path) -> None:
    (tmp_path / "errors").write_bytes(bytes(range(48, 58)) * 401)
    (tmp_path / "errors").write_bytes((tmp_path / "errors").read_bytes()[:size])
    stack: Any = None
    server = RunningServer("http://x", tmp_path / "errors", stack)
    assert server.log_size() == size
    assert server.log(start) == (tmp_path / "errors").read_text()[size - length :]
    (tmp_path / "errors").write_bytes(b"\xff")
    assert server.log(0) == "\ufffd"


class Process:
    def __init__(self, polls: list[int | None]) -> None:
        self.polls = polls

    def poll(self) -> int | None:
        return self.polls.pop(0) if len(self.polls) > 1 else self.polls[0]


@pytest.mark.parametrize(
    ("texts", "ready", "polls", "found"),
    [
        (["", "x", "serving http://127.0.0.1:9/mcp now"], [False, True], [None], "http://127.0.0.1:9/mcp"),
        (["fault\n"], [], [None, None, 3], "it ended with status 3\n  fault"),
        (["serving http://127.0.0.1:9/mcp now"], [False], [None], "it did not listen in 60 seconds\n  serving http://127.0.0.1:9/mcp now"),
    ],
)  # fmt: skip
def test_a_server_is_used_when_it_listens(
    texts: list[str],
    ready: list[bool],
    polls: list[int | None],
    found: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, asked = [0.0], list[str]()
    errors = tmp_path / "errors"
    ended: list[Any] = []

    def sleep(seconds: float) -> None:
        clock[0] += 10 if seconds == servers.POLL_SECONDS else 1000
        errors.write_text(texts.pop(0) if len(texts) > 1 else texts[0])

    def urlopen(url: str, timeout: float) -> Any:
        asked.append(url)
        assert timeout == 5
        is_ready = ready.pop(0) if len(ready) > 1 else ready[0]
        if not is_ready:
            raise urllib.error.URLError("refused")
        answer = io.BytesIO()
        answer.status = 200  # type: ignore[attr-defined]
        return answer

    def start_program(name: str, words: list[str], **given: Any) -> Any:
        given["stdout"].write(texts[0].encode())
        given["stdout"].flush()
        assert (name, words[-4:]) == ("server", ["/s.pyz", "serve", "--http", "127.0.0.1:0"])
        assert (given["cwd"], given["more"], given["stdin"]) == (Path("/f"), {"X": "y"}, subprocess.DEVNULL)
        assert given["stderr"] is given["stdout"]
        return Process([*polls])

    monkeypatch.setattr(servers.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(servers.time, "sleep", sleep)
    monkeypatch.setattr(servers.urllib.request, "urlopen", urlopen)
    monkeypatch.setattr(servers.programs, "start_program", start_program)
    monkeypatch.setattr(servers.programs, "end_program", lambda process, seconds: ended.append(seconds))
    if found.startswith("http"):
        with servers.http_server(SERVED, errors) as url:
            assert (url, ended) == (found, [])
        assert asked == ["http://127.0.0.1:9/readyz"] * 2
    else:
        with pytest.raises(ConversationError) as problem, servers.http_server(SERVED, errors):
            pass
        assert str(problem.value) == found
    assert ended == [10.0]


def test_a_server_over_pipes_writes_its_errors_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []

    @contextmanager
    def started_server(words: list[str], **given: Any) -> Iterator[str]:
        given["stderr"].write(b"e")
        started.append((words[-1], given["cwd"], given["more"]))
        yield "transport"

    monkeypatch.setattr(servers, "started_server", started_server)
    monkeypatch.setattr(
        servers, "SharedProcess", lambda transport, decline: (transport, decline({"id": 1, "method": "roots/list"}))
    )
    with servers.stdio_server(SERVED, tmp_path / "errors") as shared:
        found: Any = shared
        assert found == ("transport", {"jsonrpc": "2.0", "id": 1, "result": {"roots": []}})
    assert started == [("/s.pyz", Path("/f"), {"X": "y"})]
    assert (tmp_path / "errors").read_bytes() == b"e"


@pytest.fixture
def callable_server(monkeypatch: pytest.MonkeyPatch) -> tuple[CallableServer, list[Any]]:
    made: list[Any] = []
    facts = {
        "tools": [{"name": "t", "outputSchema": OBJECT}, {"name": "u"}],
        "resourceTemplates": [{"uriTemplate": "a://{b}"}],
        "options": {},
    }

    class Remembering:
        def __init__(self, served: Served) -> None:
            made.append(dict(served.variables))

        def __enter__(self) -> "Remembering":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def request(self, *given: Any) -> Reply:
            made.append(given)
            return Reply(True, "x", 3, {"n": 1}, ({"path": "/a"},), {"completion": {"values": ["v"]}})

        def call(self, case: Case, variant: Variant) -> Reply:
            return Reply(False, "x")

    monkeypatch.setattr(running, "Connection", Remembering)
    return CallableServer(SERVED, facts, ExitStack()), made


def test_a_server_of_a_test_is_called_in_every_way(callable_server: tuple[CallableServer, list[Any]]) -> None:
    server, made = callable_server
    found = server.call("t", a=1)
    assert found == CallResult("x", {"n": 1}, True, 3, ({"path": "/a"},), {"completion": {"values": ["v"]}}, ["v"])
    server.era("handshake").over("http").with_headers({"B": "2", "A": "1"}).answering({"action": "accept"}).prompt(
        "p", q="r"
    )
    other = server.with_environment(LEVEL="1").with_environment(A="2")
    other.read("a://b")
    other.complete("a://{b}", "b", "v", c="d")
    server.complete("p", "q")
    plain = CallRoute(Variant("stdio", "stateless"))
    assert made == [
        {"X": "y"},
        (plain, "tool", {"name": "t", "arguments": {"a": 1}}, ()),
        (CallRoute(Variant("http", "handshake"), (("A", "1"), ("B", "2"))), "prompt", {"name": "p", "arguments": {"q": "r"}}, ({"action": "accept"},)),
        {"X": "y", "LEVEL": "1", "A": "2"},
        (plain, "resource", {"uri": "a://b"}, ()),
        (plain, "complete", {"ref": {"type": "ref/resource", "uri": "a://{b}"}, "argument": {"name": "b", "value": "v"}, "context": {"arguments": {"c": "d"}}}, ()),
        (plain, "complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "q", "value": ""}}, ()),
    ]  # fmt: skip
    assert (server.tools, server.is_served_over("stdio"), server.is_served_over("http")) == (["t", "u"], True, False)


def test_the_cases_of_a_file_are_tests(callable_server: tuple[CallableServer, list[Any]], tmp_path: Path) -> None:
    server, made = callable_server
    (tmp_path / "a.yaml").write_text(
        "tests:\n- {name: a, tool: u, expect: {text: y}}\n\n- {name: b, tool: u, env: {A: 1}}\n"
    )
    first, second = cases_of_file(tmp_path / "a.yaml")
    assert [(each.case.name, each.line) for each in (first, second)] == [("a", 2), ("b", 4)]
    variant = Variant("stdio", "stateless")
    assert server.failures(first.case, variant) == ["text", '  expected "y"', '  found    "x"', "            ^"]
    assert server.failures(second.case, variant) == []
    assert made == [{"X": "y"}, {"X": "y", "A": "1"}]
    (tmp_path / "b.yaml").write_text("tests:\n- {tol: u}\n")
    with pytest.raises(ValueError, match="MCP602"):
        cases_of_file(tmp_path / "b.yaml")
