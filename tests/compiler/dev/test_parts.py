"""Parts of `mcpc dev`: builds, calls, processes, servers over HTTP, the screen, and the files that are watched."""

import hashlib
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc.diagnostics.model import counted
from mcpc.workbench.dev import building, http_server, proxy, reporting
from mcpc.workbench.dev.building import (
    BuildFacts,
    BuildProblem,
    BuildResult,
    ProjectBuilder,
    ProjectWatcher,
    compiler_command,
    fingerprint,
    parse_report,
)
from mcpc.workbench.dev.http_server import Listener, ServerCommand
from mcpc.workbench.dev.proxy import ServerProcess, read_lines
from mcpc.workbench.dev.reporting import (
    CallLines,
    CallPipe,
    CallWatch,
    Reporter,
    Screen,
    count_offered,
    count_problems,
    describe_changes,
    is_tool_error,
    summarise_problems,
    terminal_columns,
)
from support.files import write_files

PROBLEM = BuildProblem("MCP110", "error", "a.json", "wrong", "plain", "painted")
ROW = {
    "code": "MCP110",
    "severity": "error",
    "path": "a.json",
    "message": "wrong",
    "plain": "plain",
    "painted": "painted",
}


class Text:
    """A screen that keeps what is written."""

    def __init__(self, colour: bool = False) -> None:
        self.colour, self.lines = colour, list[Any]()

    def write(self, text: str, patience: float = 0.5) -> None:
        if text:
            self.lines.append(text if patience else (text, patience))

    def paint(self, text: str, style: str) -> str:
        return f"<{style}>{text}" if self.colour else text

    def mark(self, is_good: bool) -> str:
        return ("+ " if is_good else "- ") if self.colour else ""


class Build:
    def __init__(self, returncode: int, printed: bytes = b"[]", errors: bytes = b"") -> None:
        self.returncode, self.output, self.done = returncode, (printed, errors), list[str]()

    def __enter__(self) -> "Build":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def kill(self) -> None:
        self.done.append("kill")

    def terminate(self) -> None:
        self.done.append("terminate")

    def communicate(self) -> tuple[bytes, bytes]:
        self.done.append("communicate")
        return self.output


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ProjectBuilder, list[Build], list[Any]]:
    made: list[Build] = []
    started: list[Any] = []
    times = iter(range(0, 1000, 2))

    def start_program(name: str, argv: list[str], **given: Any) -> Build:
        started.append((name, argv, given))
        Path(argv[argv.index("-o") + 1]).write_bytes(b"built")
        return made[len(started) - 1]

    monkeypatch.setattr(building.programs, "start_program", start_program)
    monkeypatch.setattr(building, "terminal_columns", lambda: 77)
    monkeypatch.setattr(building.time, "monotonic", lambda: float(next(times)))
    return ProjectBuilder(["--live", "--", "p"], tmp_path, lambda path: BuildFacts(path.name)), made, started


def test_each_build_is_a_process_and_a_file(
    builds: tuple[ProjectBuilder, list[Build], list[Any]], tmp_path: Path
) -> None:
    builder, made, started = builds
    made += [
        Build(0, json.dumps([ROW]).encode(), b"a note\n"),
        Build(1, json.dumps([ROW]).encode()),
        Build(9),
        Build(3, b"[", b"x"),
    ]
    first, *failed = (builder.build() for _ in range(4))
    assert (first.path, first.status, first.facts.format) == (tmp_path / "server-1.pyz", 0, "server-1.pyz")
    assert (first.digest, first.seconds) == (hashlib.sha256(b"built").hexdigest(), 2.0)
    assert (first.problems, first.more, first.output) == ((PROBLEM,), "a note\n", "plain\n\na note")
    assert [(each.path, each.status, each.problems, each.more, each.seconds) for each in failed] == [
        (None, 1, (PROBLEM,), "", 2.0),
        (None, 9, (), "the build ended with status 9", 2.0),
        (None, 3, (), "[x", 2.0),
    ]
    name, argv, given = started[1]
    assert (name, given) == ("compiler", {"stdin": subprocess.DEVNULL})
    assert argv[-9:] == [
        "build",
        "--quiet",
        "--blocks",
        "77",
        "-o",
        str(tmp_path / "server-2.pyz"),
        "--live",
        "--",
        "p",
    ]
    assert PROBLEM.key == ("MCP110", "a.json", "wrong")


def test_a_build_that_is_closed_is_ended(builds: tuple[ProjectBuilder, list[Build], list[Any]]) -> None:
    builder, made, _ = builds
    made += [Build(0), Build(0)]

    def communicate() -> tuple[bytes, bytes]:
        builder.close()
        return b"", b""

    made[0].communicate = communicate  # type: ignore[method-assign]
    builder.build()
    assert made[0].done == ["terminate"]
    builder.close()
    assert made[0].done == ["terminate"]
    done: SimpleQueue[BuildResult] = SimpleQueue()
    builder.begin(done.put)
    assert done.get(timeout=60).path is not None
    assert made[1].done == ["kill", "communicate"]


def test_the_compiler_is_started_as_it_runs_here() -> None:
    *_, code, paths, first, second = compiler_command("a", "b")
    assert (code, first, second) == (building.BOOT, "a", "b")
    mine, rest = json.loads(paths)
    assert [Path(each).name for each in mine] == ["compiler", "runtime"]
    assert all(Path(each).is_absolute() for each in rest)
    assert parse_report(b"[1]", b"x") == ((), "[1]x")


def lines_of(screen: Text) -> list[str]:
    return [text.split(" ", 1)[1].rsplit(" ", 2)[0] for text, _ in screen.lines]


def test_calls_are_logged_with_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    told: Any = Text()
    watch = CallWatch(CallLines(told))
    monkeypatch.setattr(reporting.time, "strftime", lambda _: "12:00:00")
    monkeypatch.setattr(reporting.time, "monotonic", lambda: 5.0)
    watch.finish(b"x")
    watch.begin(
        [
            {"id": 1, "method": "tools/call", "params": {"name": "a\x1b"}},
            {"id": 2, "method": "prompts/get", "params": {"name": "p"}},
            {"id": 3, "method": "tools/list"},
            {"method": "tools/call", "params": {"name": "none"}},
            {"id": 4, "method": "tools/call", "params": {"name": "n" * 90}},
        ]
    )
    monkeypatch.setattr(reporting.time, "monotonic", lambda: 5.25)
    watch.begin(
        [{"method": "notifications/cancelled", "params": {"requestId": 2}}, {"method": "notifications/cancelled"}]
    )
    watch.finish(b'[{"id":1,"result":{}},{"id":3,"result":{}},{"id":4,"error":{}}]')
    watch.finish(b'[{"id":1,"result":{}}]')
    assert told.lines == [
        ("12:00:00 prompt p cancelled 250 ms", 0.0),
        ("12:00:00 a<U+001B> ok 250 ms", 0.0),
        (f"12:00:00 {'n' * 80}… error 250 ms", 0.0),
    ]
    painted: Any = Text(colour=True)
    for status in ("ok", "error"):
        CallLines(painted).show("t", status, 1.4)
    assert [text for text, _ in painted.lines] == [
        "<faint>12:00:00 t <good>ok 1 ms",
        "<faint>12:00:00 t <bad>error 1 ms",
    ]


@pytest.mark.parametrize(
    ("line", "is_error"),
    [
        (b'{"id":1,"result":{"isError":true}}', True),
        (b'{"id":1,"result":{"isError": true}}', True),
        (b'{"id":1,"result":{"isError":false}}', False),
        (b'{"id":2,"result":{"isError":true}}', False),
        (b'{"id":1,"result":{"a":{"isError":true}}}', False),
        (b'{"id":1,"result":"isError\\":true"}', False),
    ],
)
def test_a_tool_error_is_one_of_the_result_itself(line: bytes, is_error: bool) -> None:
    assert is_tool_error(line, "1") is is_error


LOG = (
    b'{"tool":"a","status":"success","milliseconds":1.6,"chain":[]}\n{"tool":"inner","status":"success","milliseconds":1,"chain":["a"]}\n'
    b'{"prompt":"p","status":"error","milliseconds":2}\n{"resource":"r","status":"success","milliseconds":2}\n[]\n{\n{"tool":"b","status":"success"}\n'
    b'{"tool":"c","status":"success","milliseconds":"x"}\n{"tool":"last","status":"timeout","milliseconds":3}\nunfinished'
)


@pytest.mark.parametrize("size", [7, 1 << 16])
def test_the_call_log_of_a_server_is_read(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen: Any = Text()
    over = threading.Event()
    monkeypatch.delenv(reporting.CALL_LOG, raising=False)
    monkeypatch.setattr(
        screen, "write", lambda text, _: (screen.lines.append((text, 0)), "last" in text and over.set())
    )
    pipe = CallPipe(tmp_path, CallLines(screen))
    for start in range(0, len(LOG), size):
        with Path(pipe.variables[reporting.CALL_LOG]).open("ab") as log:  # each a writer, as each server process is
            log.write(LOG[start : start + size])
    assert over.wait(60)
    assert lines_of(screen) == ["a ok", "prompt p error", "last timeout"]
    assert pipe.variables == {reporting.CALL_LOG: str(tmp_path / "calls")}
    monkeypatch.setenv(reporting.CALL_LOG, "own")
    assert CallPipe(tmp_path, CallLines(screen)).variables == {}


@pytest.mark.parametrize(
    ("limit", "lines"),
    [
        (-1, [b"a\n", b"longer\n", b"end\n"]),
        (3, [b"a\n", b"lon\n", b"end\n"]),
        (7, [b"a\n", b"longer\n", b"end\n"]),
        (6, [b"a\n", b"longer\n", b"end\n"]),
    ],
)
def test_lines_are_read_up_to_a_limit(limit: int, lines: list[bytes]) -> None:
    assert [*read_lines(io.BytesIO(b"a\nlonger\nend"), limit)] == lines


class Stream(io.BytesIO):
    def __init__(self, over: threading.Event) -> None:
        super().__init__()
        self.over, self.flushed, self.content = over, threading.Event(), b""

    def flush(self) -> None:
        self.flushed.set()

    def close(self) -> None:
        self.content = self.getvalue()
        super().close()
        self.over.set()


def test_lines_go_to_a_process_and_come_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    over, received = threading.Event(), SimpleQueue[Any]()
    stream, waited = Stream(over), list[Any]()

    def wait(seconds: float | None = None) -> int:
        waited.append(seconds)
        if seconds == 1:
            raise subprocess.TimeoutExpired("x", 1)
        return 3

    process = SimpleNamespace(
        stdin=stream, stdout=io.BytesIO(b"one\ntwo"), wait=wait, kill=lambda: waited.append("kill")
    )
    started: list[Any] = []
    monkeypatch.setattr(
        proxy.programs, "start_program", lambda *given, **more: started.append((given, more)) or process
    )
    monkeypatch.setattr(proxy.programs, "end_program", lambda given, seconds: waited.append(("end", seconds)))
    start = ServerCommand(lambda path: [path.name], Path("empty"), {"A": "b"})
    server = ServerProcess(start, Path("x"), lambda sender, line: received.put((sender, line)))
    assert started == [(("server", ["x"]), {"cwd": Path("empty"), "more": {"A": "b"}, "stderr": None})]
    assert [received.get(timeout=60) for _ in range(3)] == [(server, b"one\n"), (server, b"two\n"), (server, None)]
    server.send(b"a\n")
    assert stream.flushed.wait(60)
    server.send(b"b\n")
    server.close()
    assert over.wait(60)
    assert stream.content == b"a\nb\n"
    assert (server.status(2), server.status(1)) == (3, 3)
    server.kill()
    server.end(7)
    assert waited == [2, 1, "kill", None, "kill", ("end", 7)]


class Running:
    def __init__(self, stderr: Any) -> None:
        self.stderr, self.returncode, self.ended = stderr, None, False

    def poll(self) -> int | None:
        return self.returncode


class Stop(Exception):  # noqa: N818 - ends the loop of a test
    """The script of a test is over."""


def listener(
    results: list[BuildResult],
    monkeypatch: pytest.MonkeyPatch,
    told: Any,
    hidden: tuple[bytes, ...] = (),
    log: bytes = b"",
) -> tuple[Listener, list[Any], list[Running]]:
    """Return a listener whose builder has some results and then ends the run; what was done; and its servers."""
    done: list[Any] = []
    running: list[Running] = []

    def start_program(name: str, argv: list[str], more: dict[str, str], cwd: Path, **streams: Any) -> Running:
        done.append((name, argv, (cwd, more), streams))
        running.append(Running(io.BytesIO(log) if streams["stderr"] == subprocess.PIPE else None))
        return running[-1]

    def build() -> BuildResult:
        if not results:
            raise Stop
        return results.pop(0)

    reporter: Any = SimpleNamespace(
        failed=lambda build: done.append("failed"), rebuilt=lambda facts, build: done.append(("rebuilt", facts.format))
    )
    builder: Any = SimpleNamespace(build=build, close=lambda: done.append("closed"))
    monkeypatch.setattr(http_server.programs, "start_program", start_program)
    monkeypatch.setattr(http_server.programs, "end_program", lambda server, seconds: done.append(("end", seconds)))
    monkeypatch.setattr(http_server, "POLL_SECONDS", 0.001)
    command = ServerCommand(lambda path: [path.name], Path("empty"), {"A": "b"}, hidden)
    return Listener(builder, command, reporter, told, lambda: done.append("served")), done, running


def made(folder: Path, digest: str) -> BuildResult:
    (folder / f"{digest}.pyz").write_text("")
    return BuildResult(folder / f"{digest}.pyz", 0, digest[:1], BuildFacts(digest))


PLACE = (Path("empty"), {"A": "b"})
STREAMS = {"stdin": subprocess.DEVNULL, "stdout": None, "stderr": None}


def test_several_changes_are_one_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: Any = Text()
    one, done, _ = listener([], monkeypatch, told)
    for _ in range(3):
        one.changed()
    with pytest.raises(Stop):
        one.run(made(tmp_path, "1"))
    assert one.changes.empty()
    assert done == [("server", ["1.pyz"], PLACE, STREAMS), "served", "closed", ("end", 15.0)]


def run_changes(one: Listener, first: BuildResult, count: int) -> None:
    left = [count]

    def get(timeout: float | None = None) -> None:
        if left[0]:
            left[0] -= 1
            return
        raise Stop

    one.changes = SimpleNamespace(get=get, empty=lambda: True)  # type: ignore[assignment]
    with pytest.raises(Stop):
        one.run(first)


def test_builds_are_served_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: Any = Text()
    results = [made(tmp_path, "1b"), BuildResult(None, 1), made(tmp_path, "2")]
    one, done, _ = listener(results, monkeypatch, told)
    run_changes(one, made(tmp_path, "1"), 3)
    assert done == [
        ("server", ["1.pyz"], PLACE, STREAMS),
        "served",
        ("rebuilt", "1"),
        "failed",
        ("rebuilt", "1"),
        ("end", 15.0),
        ("server", ["2.pyz"], PLACE, STREAMS),
        "served",
        "closed",
        ("end", 15.0),
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["2.pyz"]


def test_a_server_that_has_ended_is_told_once_and_started_by_an_equal_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: Any = Text()
    one, done, running = listener([made(tmp_path, "1b")], monkeypatch, told)
    polls = [0]

    def get(timeout: float | None = None) -> None:
        polls[0] += 1
        if polls[0] == 1:
            running[0].returncode = 7  # type: ignore[assignment]
        if polls[0] == 4:
            return
        if polls[0] > 4:
            raise Stop
        raise http_server.Empty

    one.changes = SimpleNamespace(get=get, empty=lambda: True)  # type: ignore[assignment]
    with pytest.raises(Stop):
        one.run(made(tmp_path, "1"))
    assert told.lines == [http_server.ENDED.format(status=7)]
    assert [each[1] for each in done if isinstance(each, tuple) and each[0] == "server"] == [["1.pyz"], ["1b.pyz"]]


def test_a_first_build_that_failed_starts_nothing_and_the_log_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    told: Any = Text()
    log = b"serving http://x\na line\n\xff\n"
    one, done, _ = listener([made(tmp_path, "1")], monkeypatch, told, (b"serving ",), log)
    original = told.write

    def write(text: str, patience: float = 0.5) -> None:
        original(text, patience)
        if len(told.lines) == 2:
            over.set()

    told.write = write
    run_changes(one, BuildResult(None, 1), 1)
    assert over.wait(60)
    assert told.lines == ["a line\n", "\ufffd\n"]
    assert done[0] == ("rebuilt", "")
    assert done[1][3]["stderr"] == subprocess.PIPE


def test_the_screen_paints_and_writes_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[Any] = []

    def write_within(descriptor: int, piece: bytes, patience: float) -> bool:
        pieces.append((descriptor, piece, patience))
        return not piece.startswith(b"stop")

    monkeypatch.setattr(reporting, "write_within", write_within)
    monkeypatch.setattr(reporting, "terminal_columns", lambda: 80)
    plain, painted = Screen(False), Screen(True, 5)
    assert (plain.paint("a", "bold"), painted.paint("a", "bold")) == ("a", "\x1b[1ma\x1b[0m")
    assert [plain.mark(True), painted.mark(True), painted.mark(False)] == ["", "\x1b[32m✓\x1b[0m ", "\x1b[31m✗\x1b[0m "]
    plain.write("")
    plain.write("\x1b[1ma\x1b[0m\n\n")
    painted.write("\x1b[1ma\x1b[0m", 0.1)
    plain.working("w")
    plain.done()
    assert pieces == [(2, b"a\n", 0.5), (5, b"\x1b[1ma\x1b[0m\n", 0.1), (2, b"w", 0.0), (2, b"\r\x1b[K", 0.0)]
    pieces.clear()
    plain.write("x" * 511 + "yz")
    plain.write("stop" + "x" * 600)
    assert [len(piece) for _, piece, _ in pieces] == [512, 2, 512]
    monkeypatch.setattr(reporting, "terminal_columns", lambda: 0)
    pieces.clear()
    plain.working("w")
    plain.done()
    assert pieces == []


def test_the_width_is_that_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(os, "get_terminal_size", lambda descriptor: os.terminal_size((descriptor * 30, 9)))
    assert terminal_columns() == 60
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: False))
    assert terminal_columns() == 0

    def fails(_: int) -> os.terminal_size:
        raise OSError

    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(os, "get_terminal_size", fails)
    assert terminal_columns() == 0


def facts(**lists: list[Any]) -> BuildFacts:
    return BuildFacts(
        lists={kind: json.dumps(items) for kind, items in lists.items()},
        names=tuple(each["name"] for each in lists.get("tools", ())),
    )


WARNING = BuildProblem("MCP108", "warning", "a", "m", "w", "p")


def test_reports_of_builds_are_exactly_these() -> None:
    told: Any = Text(colour=True)
    reporter = Reporter(told)
    built = BuildResult(Path("a"), facts=facts(tools=[{"name": "t"}], prompts=[{"name": "p"}]), seconds=1.26)
    reporter.first(BuildResult(None, 1, problems=(PROBLEM, WARNING), more="more\n"))
    reporter.first(built)
    reporter.failed(BuildResult(None, 1, problems=(PROBLEM,)))
    assert reporter.rebuilt(built.facts, BuildResult(Path("b"), facts=built.facts, problems=(WARNING,), seconds=2)) == (
        "rebuilt in 2.0 s: all errors fixed; nothing changed; 1 new warning"
    )
    reporter.failed(BuildResult(None, 1, problems=(WARNING,)))
    reporter.rebuilt(built.facts, built)
    reporter.rebuilt(built.facts, built)
    assert told.lines == [
        "painted\n\np\n\nmore",
        "mcpc dev: - 1 error, 1 warning; see `mcpc help MCP110`; the build failed",
        "mcpc dev: + built in 1.3 s: 1 tool, 1 prompt",
        "painted",
        "mcpc dev: - 1 error; see `mcpc help MCP110`; the build failed; the last successful build keeps serving",
        "p",
        "mcpc dev: + rebuilt in 2.0 s: all errors fixed; nothing changed; 1 new warning",
        "p",
        "mcpc dev: - 1 warning; see `mcpc help MCP108`; the build failed; the last successful build keeps serving",
        "mcpc dev: + rebuilt in 1.3 s: all problems fixed; nothing changed",
        "mcpc dev: + rebuilt in 1.3 s: nothing changed",
    ]


def test_counts_are_words() -> None:
    assert count_offered(facts()) == "0 tools"
    assert count_offered(facts(tools=[{"name": "a"}], resources=[{}], resourceTemplates=[{}])) == "1 tool, 2 resources"
    assert count_problems([WARNING, PROBLEM, WARNING], "new ") == "1 new error, 2 new warnings"
    assert (count_problems([]), summarise_problems([]), counted(1, "x"), counted(0, "x")) == ("", [], "1 x", "0 xs")
    many = [{"name": f"t{number}"} for number in range(11)]
    assert describe_changes(facts(), facts(tools=many[:10])).count("+") == 10
    assert describe_changes(facts(), facts(tools=many)).endswith("+t9 and 1 more")
    assert (
        describe_changes(facts(tools=many[:2]), facts(tools=[{"name": "t1", "x": 1}, {"name": "n"}])) == "+n, -t0, ~t1"
    )


def test_the_state_of_a_project_is_that_of_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(
        tmp_path,
        {"a.py": "", "sub/b": "", ".hidden/c": "", "__pycache__/d": "", "e.pyc": "", ".mcpc-x.pyz": "", "f.pyz": ""},
    )
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    names = sorted(os.path.relpath(row[0], tmp_path) for row in fingerprint(tmp_path))
    assert {"a.py", "sub/b", "gone"} <= {*names}
    assert not any(name.startswith("loop/loop") for name in names)
    assert not {".hidden/c", "__pycache__/d", "e.pyc", ".mcpc-x.pyz"} & {*names}
    before = fingerprint(tmp_path)
    assert fingerprint(tmp_path) == before
    for change in (
        lambda: (tmp_path / "a.py").write_text("x"),
        lambda: (tmp_path / "a.py").chmod(0o755),
        lambda: (tmp_path / "sub/b").unlink(),
    ):
        change()
        assert fingerprint(tmp_path) != before
        before = fingerprint(tmp_path)
    assert fingerprint(tmp_path / "none") == frozenset()
    monkeypatch.setattr(building, "MAX_ENTRIES", 0)
    assert fingerprint(tmp_path) == frozenset()


def test_a_change_is_told_when_the_files_are_stable(monkeypatch: pytest.MonkeyPatch) -> None:
    states = iter([0, 0, 1, 2, 2, 2, 3, 4, 5, 6])
    waits: list[float] = []
    clock = [0.0]
    told: list[float] = []
    over = threading.Event()

    def next_state(_: Path) -> Any:
        clock[0] += 0.05
        return frozenset({next(states, 6)})

    def wait(seconds: float) -> bool:
        waits.append(round(seconds, 3))
        clock[0] += seconds if seconds != building.SETTLE_SECONDS else 0.7
        return len(waits) > 11

    monkeypatch.setattr(building, "fingerprint", next_state)
    monkeypatch.setattr(building.time, "monotonic", lambda: clock[0])

    class Now:
        def __init__(self, target: Callable[[], None], daemon: bool) -> None:
            self.start = target

    event = SimpleNamespace(wait=wait, set=over.set)
    monkeypatch.setattr(building, "threading", SimpleNamespace(Event=lambda: event, Thread=Now))
    watcher = ProjectWatcher(Path("p"), lambda: told.append(len(waits)))
    watcher.start()
    # No change; a change that is stable after two looks; none; then files that keep changing for too long.
    assert waits == [0.4, 1.0, 0.1, 0.1, 1.0, 1.0, 0.1, 0.1, 0.1, 1.0, 1.0, 1.0]
    assert told == [4, 9]
    watcher.stop()
    assert over.is_set()
