"""Processes through the supervisor: how they start, that they end, and that nothing survives whoever is killed."""

import ctypes
import errno
import os
import posix
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpc_runtime.transports.platforms.posix import system_features
from mcpc_runtime.transports.platforms.posix import system_features as ways
from mcpc_runtime.transports.platforms.posix.supervision import client, proc_files, process, process_table
from mcpc_runtime.transports.platforms.posix.supervision.termination import PREFIX
from mcpc_runtime.transports.platforms.reactor import Reactor
from mcpc_runtime.transports.platforms.supervisor import SupervisedProcess, Supervisor
from support.libproc import FakeLibproc
from support.processes import RUNTIME, TESTS, Token, is_alive, nothing_left, turn_until, until

FORMS = {
    "plain": "sleep 1000",
    "stubborn": "trap '' TERM; while :; do sleep 1000 & wait; done",
    "background": "trap '' TERM; sleep 1000 & sleep 1000 & wait",
    "new session": "setsid bash -c \"trap '' TERM; sleep 1000; sleep 1000\" & exit 0",
    "daemon": "( setsid bash -c \"trap '' TERM; (sleep 1000; :) & sleep 1001; :\" & ) & exit 0",
    "stopped": "kill -STOP $$",
}
"""Handlers that do not want to end, in scripts of Bash."""


class Server:
    """A supervisor in this process: what ended, and how."""

    def __init__(self, token: Token) -> None:
        self.reactor = Reactor()
        self.supervisor = Supervisor(self.reactor)
        self.token = token
        self.ended: dict[SupervisedProcess, tuple[int, str]] = {}

    def spawn(
        self,
        *argv: str,
        mark: str = "",
        directory: str = "",
        more: dict[bytes, bytes] | None = None,
        descriptors: dict[int, int] | None = None,
    ) -> SupervisedProcess:
        environment = {**self.token.environment, b"MCPC_CALL": mark.encode(), **(more or {})}
        holder: list[SupervisedProcess] = []
        child = self.supervisor.spawn(
            list(argv),
            environment,
            descriptors or {},
            lambda status, problem: self.ended.__setitem__(holder[0], (status, problem)),
            directory,
        )
        holder.append(child)
        return child

    def until(self, is_so) -> None:
        turn_until(self.reactor, is_so)

    def run(self, *argv: str, **how) -> tuple[int, str]:
        child = self.spawn(*argv, **how)
        self.until(lambda: child in self.ended)
        assert child.ended
        return self.ended[child]


AS_ON_MACOS = f"""
import sys
sys.path[:0] = [{str(RUNTIME)!r}, {str(TESTS)!r}]
from mcpc_runtime.transports.platforms.posix import system_features
from support.libproc import FakeLibproc
system_features.address_of = FakeLibproc().address_of
"""
"""How a program begins that has the fake of macOS's functions."""


@pytest.fixture(params=["all ways", "proc", "subreaper", "proc,subreaper", "macOS"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every way, and every slower one; that of macOS by a fake of its functions."""
    monkeypatch.setattr(process_table, "tables", [])
    without = "proc,subreaper" if request.param == "macOS" else request.param
    monkeypatch.setitem(posix.environ, ways.WITHOUT, without.encode())
    if request.param == "macOS":
        monkeypatch.setattr(system_features, "address_of", FakeLibproc().address_of)
        monkeypatch.setattr(client, "BOOT", AS_ON_MACOS + client.BOOT)
    return request.param


@pytest.fixture(params=["forked", "spawned"])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Forked even where the test runner has a thread: it holds no lock that the supervisor could want."""
    monkeypatch.setattr(client._thread, "_count", lambda: request.param == "spawned")
    before = descriptors()
    with nothing_left() as token:
        made = Server(token)
        try:
            yield made
        finally:
            made.supervisor.close()
            not_a_subreaper()
    assert descriptors() == before


def not_a_subreaper() -> None:
    """Make the test runner what it was, and take the ends of the orphans it was given."""
    ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)
    for pid in zombies():
        client.reap(pid)


def zombies() -> list[int]:
    """Return the children that have ended and were not reaped, whatever is switched off."""
    entries = ((pid, proc_files.process_entry(pid)) for pid in proc_files.process_ids())
    return [pid for pid, entry in entries if entry and entry[0] and entry[1] == os.getpid()]


def call_mark(pid: int) -> bytes:
    """Return the call that a process was started for, whatever is switched off."""
    block = b"\0" + proc_files.environment_block(pid)
    return block.partition(PREFIX)[2].partition(b"\0")[0]


def descriptors() -> set[str]:
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[name] = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue
    return set(found)


# How processes start


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
class TestStarting:
    def test_the_end_is_told(self, server: Server, way: str) -> None:
        assert server.run("bash", "-c", "exit 7") == (7, "")
        assert server.run("bash", "-c", "kill -KILL $$") == (-9, "")
        assert server.run("true") == (0, "")

    @pytest.mark.parametrize(
        ("argv", "problem"),
        [
            (("no-such-program",), "cannot run no-such-program: No such file or directory"),
            (("/no/such/program", "x"), "cannot run /no/such/program: No such file or directory"),
            (("/etc/passwd",), "cannot run /etc/passwd: Permission denied"),
            (("bash", "a\0b"), "cannot run bash: embedded null byte"),
            (("true", "x" * 200_000), "cannot run true: Argument list too long"),
            ((), "cannot run nothing: missing program name"),
        ],
    )
    def test_what_cannot_run_is_told(self, server: Server, argv: tuple[str, ...], problem: str) -> None:
        assert server.run(*argv) == (-1, problem)
        assert server.run("true") == (0, "")

    def test_a_script_without_its_interpreter(self, server: Server, tmp_path: Path) -> None:
        script = tmp_path / "script"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o700)
        assert server.run(str(script))[1].endswith("the interpreter in its first line does not exist")

    def test_a_directory(self, server: Server, tmp_path: Path) -> None:
        assert server.run("bash", "-c", f'[[ $PWD = "{tmp_path}" ]]', directory=str(tmp_path)) == (0, "")
        assert server.run("bash", "-c", f'[[ $PWD = "{os.getcwd()}" ]]') == (0, "")
        assert server.run("true", directory="/none") == (-1, "cannot run true: /none: No such file or directory")

    def test_a_large_command_and_environment_are_exact(self, server: Server) -> None:
        words = [f"{number:06d}" + "x" * 100_000 for number in range(10)]
        script = '(( $# == 10 )) && [[ ${#1} == 100006 && ${10} = "$last" && ${#more} == 120000 ]]'
        more = {b"more": b"y" * 120_000, b"last": words[-1].encode()}
        assert server.run("bash", "-c", script, "bash", *words, more=more) == (0, "")

    def test_descriptors_signals_and_groups_are_as_usual(self, server: Server) -> None:
        read, write = os.pipe()
        script = (
            "import os, signal; os.write(5, repr((sorted(map(int, os.listdir('/proc/self/fd'))),"
            "[s.name for s in signal.valid_signals() if s < 32 and signal.getsignal(s) == signal.SIG_IGN],"
            "[*signal.pthread_sigmask(signal.SIG_BLOCK, ())], os.getpgid(0) == os.getpid(),"
            "os.readlink('/proc/self/fd/0'), os.fstat(1) == os.fstat(2))).encode())"
        )
        try:
            assert server.run(sys.executable, "-I", "-S", "-c", script, descriptors={5: write}) == (0, "")
            said = os.read(read, 10_000).decode()
        finally:
            os.close(read)
            os.close(write)
        assert said == "([0, 1, 2, 3, 5], ['SIGPIPE', 'SIGXFSZ'], [], True, '/dev/null', True)"  # 3 reads the folder

    def test_descriptors_may_change_places(self, server: Server) -> None:
        pipes = [os.pipe() for _ in range(4)]
        wanted = {3: pipes[2][1], 4: pipes[0][1], 5: pipes[3][1], 6: pipes[1][1]}
        assert server.run("bash", "-c", "for i in 3 4 5 6; do echo $i >&$i; done", descriptors=wanted) == (0, "")
        found = []
        for read, write in pipes:
            os.close(write)
            found.append(os.read(read, 10))
            os.close(read)
        assert found == [b"4\n", b"6\n", b"3\n", b"5\n"]

    @pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOMEM, errno.EAGAIN, errno.ENFILE])
    def test_no_room_for_a_supervisor_leaves_nothing_open(
        self, server: Server, number: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise OSError(number, os.strerror(number))

        before = descriptors()
        for name in ("fork", "posix_spawnp"):
            monkeypatch.setattr(client.posix, name, refuse)
        with pytest.raises(OSError, match=os.strerror(number)):
            server.spawn("true")
        assert descriptors() == before
        monkeypatch.undo()
        assert server.run("true") == (0, "")


# How they end


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
class TestEnding:
    @pytest.fixture(autouse=True)
    def soon_killed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Give what ignores a signal little time, in a supervisor that is forked from this process or started."""
        monkeypatch.setattr(process, "GRACE_SECONDS", 0.5)
        soon = "run_supervisor.__globals__['GRACE_SECONDS'] = 0.5; run_supervisor(3"
        monkeypatch.setattr(client, "BOOT", client.BOOT.replace("run_supervisor(3", soon))

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.sampled(6)
    def test_a_call_is_ended_with_all_it_started(self, server: Server, form: str) -> None:
        child = server.spawn("bash", "-c", FORMS[form], mark="1.a")
        other = server.spawn("bash", "-c", FORMS[form], mark="1.b")
        server.until(lambda: settled(server.token, form, "1.a") and settled(server.token, form, "1.b"))
        server.supervisor.end(child.pid, "1.a")
        server.until(lambda: {call_mark(pid) for pid in server.token.alive()} == {b"1.b"})
        server.supervisor.end(other.pid, "1.b")
        server.until(lambda: not server.token.alive() and len(server.ended) == 2)

    @pytest.mark.parametrize("rest", ["sleep 1000", "exit 0"])
    def test_a_daemon_without_session_parent_and_mark_is_ended_with_its_call(self, server: Server, rest: str) -> None:
        script = f"env -i setsid -f bash -c 'echo $$ >&3; exec sleep 1000' 3>&3; {rest}"
        read, write = os.pipe()
        children, daemons = [], []
        for mark in ("1.a", "1.b"):
            children.append(server.spawn("bash", "-c", script, mark=mark, descriptors={3: write}))
            server.until(lambda: select.select([read], [], [], 0)[0])
            daemons.append(int(os.read(read, 20)))
        os.close(read)
        os.close(write)
        server.until(lambda: children[0].pid and (rest != "exit 0" or len(server.ended) == 2))
        server.supervisor.end(children[0].pid, "1.a")
        server.until(lambda: not is_alive(daemons[0]))
        assert is_alive(daemons[1])
        server.supervisor.end(children[1].pid, "1.b")
        server.until(lambda: not is_alive(daemons[1]) and len(server.ended) == 2)

    @pytest.mark.parametrize("form", ["plain", "stubborn", "background"])
    @pytest.mark.sampled(8)
    def test_in_every_way(self, server: Server, form: str, way: str) -> None:
        child = server.spawn("bash", "-c", FORMS[form], mark="1.a")
        server.until(lambda: child.pid and settled(server.token, form, "1.a"))
        server.supervisor.end(child.pid, "1.a")
        server.until(lambda: not server.token.alive() and child in server.ended)

    def test_before_it_is_known_by_its_number(self, server: Server, way: str) -> None:
        child = server.spawn("sleep", "1000", mark="1.a")
        assert child.pid == 0
        server.supervisor.end(child.pid, "1.a")
        server.until(lambda: child in server.ended)
        assert server.ended[child] == (-15, "")

    def test_nothing_and_what_is_not_there_are_harmless(self, server: Server, way: str) -> None:
        child = server.spawn("sleep", "1000", mark="1.a")
        foreign = subprocess.Popen(["sleep", "1000"], process_group=0)
        try:
            for pid, mark in (
                (0, ""),
                (1, ""),
                (-1, ""),
                (999_999_999, ""),
                (0, "1.z"),
                (os.getpid(), ""),
                (foreign.pid, ""),
            ):
                server.supervisor.end(pid, mark)
            assert server.run("true", mark="1.b") == (0, "")
            server.until(lambda: child.pid)
            server.supervisor.end(server.supervisor._pid, "")
            assert server.run("true", mark="1.b") == (0, "")
            assert child not in server.ended
            assert foreign.poll() is None
        finally:
            foreign.kill()
            foreign.wait()

    def test_what_is_left_of_a_group_is_told_and_killed(self, server: Server) -> None:
        assert server.run("true") == (0, "")
        child = server.spawn("bash", "-c", "trap '' TERM HUP; sleep 1000 & exit 0")
        server.until(lambda: child in server.ended)
        assert child.is_left
        server.supervisor.end_rest(child)
        server.until(lambda: not server.token.alive())
        child = server.spawn("true")
        server.until(lambda: child in server.ended)
        assert not child.is_left

    def test_closing_ends_everything(self, server: Server, way: str) -> None:
        forms = ["plain", "stubborn", "background"] if "proc" in way else list(FORMS)
        for form in forms:
            server.spawn("bash", "-c", FORMS[form], mark=f"{os.getpid()}.{form}")
        server.until(lambda: all(settled(server.token, form, f"{os.getpid()}.{form}") for form in forms))
        server.supervisor.close()
        assert not server.token.alive()
        assert server.ended.keys() == {child for child in server.ended if child.ended}

    def test_a_supervisor_that_dies_takes_all_with_it_and_another_follows(self, server: Server, way: str) -> None:
        forms = ["plain", "stubborn", "background"] if "proc" in way else list(FORMS)
        children = [server.spawn("bash", "-c", FORMS[form], mark=f"{os.getpid()}.{form}") for form in forms]
        server.until(lambda: all(settled(server.token, form, f"{os.getpid()}.{form}") for form in forms))
        server.until(lambda: len(server.ended) == len(set(forms) & {"new session", "daemon"}))
        server.until(lambda: all(child.pid for child in children))
        running = [child for child in children if child not in server.ended]
        first = server.supervisor._pid
        os.kill(first, signal.SIGKILL)
        server.until(lambda: len(server.ended) == len(children))
        assert {server.ended[child] for child in running} == {(-9, "")}
        server.until(lambda: not server.token.alive())
        assert server.run("bash", "-c", "exit 5") == (5, "")
        assert server.supervisor._pid != first
        if way != "subreaper":
            assert [proc_files.stat_fields(pid) for pid in zombies()] == []


SETTLED = {
    "plain": ["sleep"],
    "stubborn": ["bash", "sleep"],
    "background": ["bash", "sleep", "sleep"],
    "new session": ["bash", "sleep"],
    "daemon": ["bash", "bash", "sleep", "sleep"],
    "stopped": ["bash"],
}
"""The processes each form ends up with: from then on whoever is to ignore a signal does."""


def settled(token: Token, form: str, mark: str) -> bool:
    ours = [pid for pid in token.alive() if call_mark(pid) == mark.encode()]
    is_stopped = form != "stopped" or [state_of(pid) for pid in ours] == ["T"]
    return is_stopped and sorted(map(command_of, ours)) == SETTLED[form]


def command_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def state_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return ""


# A server that is killed

PROGRAM = """
import os, sys
sys.path.insert(0, sys.argv[1])
from mcpc_runtime.transports.platforms.reactor import Reactor
from mcpc_runtime.transports.platforms.posix.supervision import client
from mcpc_runtime.transports.platforms.processes import TEMPORARY_FOLDERS
if sys.argv[2] == "spawned":
    client._thread._count = lambda: 1
if "AS_ON_MACOS" in globals():
    client.BOOT = AS_ON_MACOS + client.BOOT
TEMPORARY_FOLDERS += sys.argv[3:4]
reactor = Reactor()
supervisor = client.Supervisor(reactor)
for number, script in enumerate(sys.argv[4:]):
    mark = b"%d.%d" % (os.getpid(), number)
    supervisor.spawn(["bash", "-c", script], {**os.environb, b"MCPC_CALL": mark}, {}, print)
while True:
    reactor.turn()
"""


@pytest.mark.parametrize("start", ["forked", "spawned"])
@pytest.mark.parametrize("without", ["", "proc", "subreaper", "macOS"])
@pytest.mark.sampled(4)
def test_a_server_that_is_killed_leaves_nothing(start: str, without: str, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/file").write_text("x")
    (folder / "link").symlink_to(tmp_path)
    forms = ["plain", "stubborn", "background"] if without == "proc" else list(FORMS)
    words = [str(RUNTIME), start, str(folder), *(FORMS[form] for form in forms)]
    with nothing_left() as token:
        switched_off = "proc,subreaper" if without == "macOS" else without
        environment = {**token.environment, b"MCPC_WITHOUT": switched_off.encode()}
        program = f"AS_ON_MACOS = {AS_ON_MACOS!r}\nexec(AS_ON_MACOS)\n{PROGRAM}" if without == "macOS" else PROGRAM
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", program, *words], env=environment, stdout=subprocess.DEVNULL
        )
        until(lambda: all(settled(token, form, f"{process.pid}.{n}") for n, form in enumerate(forms)))
        process.kill()
        process.wait()
        until(lambda: not token.alive())
        until(lambda: not folder.exists())
        assert tmp_path.exists()


# What macOS has not


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_nothing_is_forked_where_libraries_forbid_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client._thread, "_count", lambda: 0)
    assert client.may_fork()
    monkeypatch.setitem(posix.environ, ways.WITHOUT, b"fork")
    monkeypatch.setattr(client.posix, "fork", None)
    with nothing_left() as token:
        made = Server(token)
        assert made.run("bash", "-c", "exit 7") == (7, "")
        made.supervisor.close()
        not_a_subreaper()


class DeafPoll:
    """A `poll` as that of macOS: what is registered without events is never reported."""

    def __init__(self) -> None:
        self._poll = select.poll()

    def register(self, descriptor: int, events: int) -> None:
        if events:
            self._poll.register(descriptor, events)

    def poll(self, timeout: int) -> list[tuple[int, int]]:
        return self._poll.poll(timeout)


def test_the_end_of_the_supervisor_is_noticed_without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "poll", DeafPoll)
    replaced: list[list[int]] = []
    monkeypatch.setattr(client.Supervisor, "_replace", lambda _, leaders: replaced.append(leaders))
    monkeypatch.setattr(client, "CLOSE_SECONDS", 60.0)
    with nothing_left() as token:
        made = Server(token)
        assert made.run("true") == (0, "")
        made.spawn("sleep", "600")
        made.supervisor.close()
        not_a_subreaper()
    assert replaced == []


@pytest.mark.parametrize("without", ["", "closerange"])
def test_only_what_is_open_is_closed(without: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(posix.environ, ways.WITHOUT, without.encode())
    monkeypatch.setattr(ways, "probed", {})
    ranges: list[tuple[int, int]] = []
    closerange = posix.closerange
    pid = posix.fork()
    if pid == 0:
        try:
            posix.closerange = lambda *numbers: (ranges.append(numbers), closerange(*numbers))
            lowest = posix.dup2(0, 500) and posix.dup2(0, 900) and 400
            process.close_from(lowest)
            left = [number for number in (500, 900) if is_open(number)]
            posix._exit(0 if (left, bool(ranges)) == ([], not without) else 1)
        finally:
            posix._exit(2)
    assert os.waitstatus_to_exitcode(posix.waitpid(pid, 0)[1]) == 0


def is_open(number: int) -> bool:
    try:
        posix.fstat(number)
    except OSError:
        return False
    return True
