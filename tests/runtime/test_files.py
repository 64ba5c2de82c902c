"""Files below a folder: what is read lies there, whatever is put in its way; and nobody waits for a slow one."""

import errno
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers import threads
from mcpc_runtime.handlers.files import runner as files
from mcpc_runtime.handlers.files.runner import FILE_LIMIT, FileRunner, read_file_below
from mcpc_runtime.handlers.invocations import FileRead, FileResult
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.transports.platforms.reactor import Reactor
from support.artifact import built_fixture
from support.images import MODERN, archive, image_of, request
from support.needs import needs

SECRET = b"secret"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a file, beside it one that nobody may see."""
    inside, outside = tmp_path / "root", tmp_path / "outside"
    (inside / "a" / "b").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.txt").write_bytes(SECRET)
    (inside / "plain.txt").write_bytes(b"plain")
    (inside / "a" / "b" / "deep.txt").write_bytes(b"deep")
    return inside


def found(root: Path, path: str) -> FileResult:
    return read_file_below(str(root), path)


def test_files_below_the_folder_are_read(root: Path) -> None:
    assert found(root, "plain.txt").data == b"plain"
    assert found(root, "a/b/deep.txt").data == b"deep"
    (root / "empty").write_bytes(b"")
    assert (found(root, "empty").data, found(root, "empty").missing) == (b"", False)


def test_the_folder_may_be_a_link_and_may_be_named_by_a_variable(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root.parent / "link").symlink_to(root)
    assert found(root.parent / "link", "plain.txt").data == b"plain"
    monkeypatch.setitem(files.system.environ, b"DOCS", os.fsencode(root))
    assert read_file_below("$DOCS", "plain.txt").data == b"plain"
    for wrong in (b"", b"relative", b"."):
        monkeypatch.setitem(files.system.environ, b"DOCS", wrong)
        assert "DOCS" in read_file_below("$DOCS", "plain.txt").problem
    monkeypatch.delitem(files.system.environ, b"DOCS")
    problem = read_file_below("$DOCS", "plain.txt")
    assert problem.problem and not problem.missing


UPWARD = ["..", "../outside/secret.txt", "a/../plain.txt", "a/../../outside/secret.txt", ".", "./plain.txt", "", "/",
          "/etc/passwd", "a//b/deep.txt", "plain.txt/", "a/", "plain.txt/x", "nope", "a/nope/x", "a\\..\\plain.txt",
          "x" * 300, "x/" * 2000 + "x", "a/b"]  # fmt: skip


@pytest.mark.parametrize("path", UPWARD, ids=lambda path: path[:30])
def test_a_path_that_leads_nowhere_or_out_is_no_file(root: Path, path: str) -> None:
    """R01 and R02 once more: whatever got as far as this."""
    outcome = found(root, path)
    assert outcome.missing and outcome.data == b""


def test_a_null_character_is_no_crash(root: Path) -> None:
    runner = Running(root)
    assert "null" in runner.read("a\0b").problem


def test_links_are_not_followed(root: Path) -> None:
    """R04: a link to a file outside, to one inside, to a folder, on the way, and in a circle."""
    outside = root.parent / "outside"
    (root / "out.txt").symlink_to(outside / "secret.txt")
    (root / "in.txt").symlink_to("plain.txt")
    (root / "folder").symlink_to(outside)
    (root / "a" / "up").symlink_to("../../outside")
    (root / "circle").symlink_to("circle")
    (root / "proc").symlink_to("/proc/self/root")
    for path in ("out.txt", "in.txt", "folder/secret.txt", "a/up/secret.txt", "circle", "circle/x", "proc/etc/passwd"):
        assert found(root, path).missing, path


def test_a_file_with_a_second_name_is_refused(root: Path) -> None:
    """R04: it may be one outside."""
    os.link(root.parent / "outside" / "secret.txt", root / "hard.txt")
    outcome = found(root, "hard.txt")
    assert outcome.missing and outcome.problem
    os.unlink(root.parent / "outside" / "secret.txt")
    assert found(root, "hard.txt").data == SECRET


def test_what_is_no_regular_file_is_refused_at_once(root: Path) -> None:
    """R06: FIFO, folder, socket, device, and none of them is waited for."""
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket"))
        for path in ("fifo", "socket", "a"):
            outcome = found(root, path)
            assert outcome.missing and outcome.problem
        for path in ("null", "zero", "full", "tty", "stdin"):
            outcome = read_file_below("/dev", path)
            assert outcome.missing


def test_a_fifo_put_in_the_place_of_a_file_is_not_waited_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R06: between the look at the file and its opening."""
    real = files.refuse_irregular
    looked: list[Any] = []

    def judge(status: os.stat_result) -> None:
        if not looked:
            os.unlink(root / "plain.txt")
            os.mkfifo(root / "plain.txt")
        looked.append(status)
        real(status)

    monkeypatch.setattr(files, "refuse_irregular", judge)
    assert found(root, "plain.txt").missing
    assert len(looked) == 2


def test_a_large_file_is_refused_unread_and_one_of_the_limit_is_not(root: Path) -> None:
    """R06: 10 GiB of holes."""
    with (root / "large").open("wb") as file:
        file.truncate(10 << 30)
    began = time.process_time()
    outcome = found(root, "large")
    assert "16 MiB" in outcome.problem and not outcome.missing
    assert time.process_time() - began < 10
    with (root / "most").open("wb") as file:
        file.truncate(FILE_LIMIT)
    assert len(found(root, "most").data) == FILE_LIMIT
    with (root / "most").open("ab") as file:
        file.write(b"x")
    assert found(root, "most").problem


def test_a_file_that_grows_while_it_is_read_is_read_to_the_limit(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R06."""
    path = root / "plain.txt"
    real, sizes = os.read, []

    def growing(descriptor: int, size: int) -> bytes:
        with path.open("ab") as file:
            file.write(b"x" * (2 << 20))
        sizes.append(size)
        return real(descriptor, size)

    monkeypatch.setattr(files.system, "read", growing)
    assert "16 MiB" in found(root, "plain.txt").problem
    assert sum(sizes) <= FILE_LIMIT + (1 << 20)


def test_a_file_that_shrinks_or_goes_while_it_is_read_is_what_was_there(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R06."""
    path = root / "plain.txt"
    real = os.read

    def going(descriptor: int, size: int) -> bytes:
        if path.exists():
            path.unlink()
        return real(descriptor, size)

    monkeypatch.setattr(files.system, "read", going)
    assert found(root, "plain.txt").data == b"plain"
    assert found(root, "plain.txt").missing


def test_what_the_system_has_against_it_is_said(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any, **__: Any) -> bytes:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(files.system, "read", failing)
        assert found(root, "plain.txt").problem.endswith(os.strerror(errno.EIO))
    with monkeypatch.context() as patch:
        patch.setattr(files.system, "open", failing)
        assert found(root, "plain.txt").problem.endswith(os.strerror(errno.EIO))
    assert found(root, "plain.txt").data == b"plain"


def test_nothing_stays_open(root: Path) -> None:
    os.mkfifo(root / "fifo")
    (root / "link").symlink_to("plain.txt")
    before = sorted(os.listdir("/proc/self/fd"))
    for path in ("plain.txt", "a/b/deep.txt", "fifo", "link", "nope", "a/nope/x", "a", "link/x", "fifo/x"):
        found(root, path)
    assert sorted(os.listdir("/proc/self/fd")) == before


NAMES = ["new\nline", "\x1b[31m", "é", "\u202e", "%2e%2e", " ", "-rf", "a?b#c", "x" * 255, "😀"]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_odd_names_are_read(root: Path, name: str) -> None:
    """R07: as data; how a uri says them is decided before."""
    (root / name).write_bytes(b"odd")
    assert found(root, name).data == b"odd"


def test_a_name_that_is_not_utf_8_and_one_that_is_too_long_are_no_files(root: Path) -> None:
    """R07: no uri says the first (`test_resources`), and no system has the second."""
    (root / "sub").mkdir()
    with open(os.fsencode(root) + b"/sub/\xff", "wb") as file:
        file.write(b"x")
    assert found(root, "sub/\ufffd").missing
    assert found(root, "x" * 4096).missing


TRIES = 10_000


def test_a_racing_renamer_leaks_nothing(root: Path) -> None:
    """R04: 10,000 tries while a folder, and a file, change places with links to what is outside."""
    outside = root.parent / "outside"
    (root / "swapped").mkdir()
    (root / "swapped" / "secret.txt").write_bytes(b"inside")
    program = (
        "import os, sys\n"
        "root, outside = sys.argv[1:]\n"
        "os.chdir(root)\n"
        "os.symlink(outside, 'link'); os.symlink(f'{outside}/secret.txt', 'swapped/link.txt')\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    os.rename('swapped', 'away'); os.rename('link', 'swapped')\n"
        "    os.rename('swapped', 'link'); os.rename('away', 'swapped')\n"
        "    os.rename('swapped/secret.txt', 'swapped/held'); os.rename('swapped/link.txt', 'swapped/secret.txt')\n"
        "    os.rename('swapped/secret.txt', 'swapped/link.txt'); os.rename('swapped/held', 'swapped/secret.txt')\n"
    )
    renamer = subprocess.Popen([sys.executable, "-c", program, root, outside], stdout=subprocess.PIPE)
    try:
        assert renamer.stdout.readline() == b"ready\n"
        outcomes = [found(root, "swapped/secret.txt") for _ in range(TRIES)]
        assert renamer.poll() is None
    finally:
        renamer.kill()
        renamer.wait()
        renamer.stdout.close()
    data = [outcome.data for outcome in outcomes]
    assert SECRET not in data
    assert {b"inside", b""} == set(data), "the renamer, or the reader, never had the better of the other"


class Running:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.reactor = Reactor()
        self.runner = FileRunner(RunnerContext(self.reactor, SimpleNamespace(hooks=lambda name: (), index={})))  # type: ignore[arg-type]
        self.done: dict[str, FileResult] = {}

    def start(self, path: str, name: str = "") -> Any:
        return self.runner.start(FileRead(str(self.root), path), lambda found: self.take(name or path, found), print)

    def take(self, name: str, found: FileResult) -> None:
        assert name not in self.done
        self.done[name] = found

    def turn(self, seconds: float = 10.0) -> None:
        late = threading.Event()
        self.reactor.after(seconds, late.set)
        self.reactor.turn()
        assert not late.is_set(), "nothing came"

    def read(self, path: str) -> FileResult:
        self.start(path)
        while path not in self.done:
            self.turn()
        return self.done.pop(path)


def test_the_runner_brings_back_every_file_once(root: Path) -> None:
    running = Running(root)
    for number in range(100):
        running.start("plain.txt" if number % 2 else "nope", str(number))
    while len(running.done) < 100:
        running.turn()
    assert [running.done[str(number)].data for number in (0, 1)] == [b"", b"plain"]


def test_a_free_thread_takes_the_next_job_and_ends_without_one_or_with_its_runner(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[threading.Event] = []
    real = threads.start_new_thread

    def watched(work: Any, arguments: tuple[Any, ...]) -> int:
        end = threading.Event()
        ends.append(end)
        return real(lambda: (work(*arguments), end.set()), ())

    monkeypatch.setattr(threads, "start_new_thread", watched)
    running = Running(root)
    assert [running.read("plain.txt").data for _ in range(3)] == [b"plain"] * 3
    assert len(ends) == 1
    running.runner.close()
    assert ends[0].wait(30)
    monkeypatch.setattr(threads, "IDLE_SECONDS", 0.0)
    running = Running(root)
    for number in (1, 2):
        running.read("plain.txt")
        assert ends[number].wait(30)


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A disk that does not answer until the event."""
    answer, real = threading.Event(), files.read_file_below

    def slow(folder: str, path: str) -> FileResult:
        if path == "slow":
            answer.wait(30)
        return real(folder, path)

    monkeypatch.setattr(files, "read_file_below", slow)
    yield answer
    answer.set()


def test_a_slow_disk_holds_nobody_else(root: Path, stuck: threading.Event) -> None:
    running = Running(root)
    jobs = [running.start("slow", f"slow{number}") for number in range(files.MAX_THREADS - 1)]
    assert running.read("plain.txt").data == b"plain"
    assert running.done == {}
    for job in jobs:
        running.runner.stop(job)
    stuck.set()
    assert running.read("plain.txt").data == b"plain"
    assert running.done == {}, "what was stopped is not brought back"


def test_what_waits_is_read_when_there_is_room_unless_it_was_stopped(root: Path, stuck: threading.Event) -> None:
    running = Running(root)
    for number in range(files.MAX_THREADS):
        running.start("slow", f"slow{number}")
    waiting = [running.start("plain.txt", f"waiting{number}") for number in range(10)]
    running.runner.stop(waiting[3])
    assert running.done == {}
    stuck.set()
    while len(running.done) < files.MAX_THREADS + 9:
        running.turn()
    assert "waiting3" not in running.done


def test_without_room_for_a_thread_a_call_waits(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running = Running(root)

    def none(*_: Any) -> int:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threads, "start_new_thread", none)
        with pytest.raises(BlockingIOError):
            running.start("plain.txt")
    assert running.read("plain.txt").data == b"plain"


def test_threads_that_cannot_be_started_are_started_later(
    root: Path, stuck: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = Running(root)
    real, refused = threads.start_new_thread, []

    def seldom(*words: Any) -> int:
        if running.runner._threads or len(refused) < 3:
            refused.append(words)
            raise RuntimeError("can't start new thread")
        return real(*words)

    refused += [(), (), ()]
    monkeypatch.setattr(threads, "start_new_thread", seldom)
    for number in range(5):
        running.start("plain.txt", str(number))
    del refused[:]
    while len(running.done) < 5:
        running.turn()


DOCS = {
    "server.json": json.dumps({"serverInfo": {"name": "docs", "version": "1"}}),
    "resources.json": json.dumps(
        {
            "resourceTemplates": [
                {"uriTemplate": "file:///docs/{+path}", "name": "docs", "description": "d", "root": {"environment": "DOCS"}}
            ]
        }
    ),
}  # fmt: skip


docs_server = built_fixture(DOCS)


HOSTILE = ["../outside/secret.txt", "..%2foutside/secret.txt", "%2e%2e/outside/secret.txt", "..%252foutside/secret.txt",
           "..%5coutside", "%c0%ae%c0%ae/outside/secret.txt", "/etc/passwd", "//etc/passwd", "file:///etc/passwd",
           "a%00.txt", "out.txt", "folder/secret.txt", "%2fetc/passwd", "a/../../outside/secret.txt"]  # fmt: skip


def test_no_other_file_is_opened(docs_server: Path, root: Path, tmp_path: Path) -> None:
    """R01 to R04, by what the system was asked for: no path that an outside file has, and no word of a secret."""
    needs("strace")
    (root / "out.txt").symlink_to(root.parent / "outside" / "secret.txt")
    (root / "folder").symlink_to(root.parent / "outside")
    uris = [f"file:///docs/{path}" for path in (*HOSTILE, "plain.txt", "a/b/deep.txt")]
    asked = [request("resources/read", {"uri": uri}, f"l{uri}") for uri in uris]
    asked += [request("resources/read", {"uri": uri, "_meta": MODERN}, f"m{uri}") for uri in uris]
    trace = tmp_path / "trace"
    argv = ["strace", "-f", "-qq", "-e", "trace=%file", "-o", str(trace), sys.executable, "-I", "-S", str(docs_server)]
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in asked)
    environment = {**os.environ, "DOCS": str(root)}
    done = subprocess.run(argv, input=lines, capture_output=True, timeout=60, check=True, env=environment)
    assert SECRET not in done.stdout.replace(b"secret.txt", b"")
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    for path in HOSTILE:
        legacy, modern = (replies[f"{era}file:///docs/{path}"]["error"]["code"] for era in "lm")
        assert modern == -32602
        assert legacy == (-32002 if path in ("out.txt", "folder/secret.txt") else -32602)
    assert replies["lfile:///docs/plain.txt"]["result"]["contents"][0]["text"] == "plain"
    opened = trace.read_text(errors="replace")
    assert '"plain.txt"' in opened and '"deep.txt"' in opened and f'"{root}"' in opened
    for line in opened.splitlines():
        assert "outside" not in line and "etc/passwd" not in line, line
        if '"secret.txt"' in line:
            raise AssertionError(line)


def test_only_servers_that_read_files_carry_what_reads_them() -> None:
    plain = archive(
        {**DOCS, "resources.json": '{"resources": [{"uri": "a:b", "name": "a", "description": "d", "text": ""}]}'}
    )
    for name, there in ((DOCS["resources.json"], True), (None, False)):
        built = archive({**DOCS, "resources.json": name}).data if name else plain.data
        assert (b"mcpc_runtime/handlers/files" in image_of(built).entry("mcpc_runtime/bytecode")) is there
