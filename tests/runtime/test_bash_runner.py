"""Bash functions through the fork server and through fresh shells: one contract, whatever way is there."""

import errno
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import pytest

from mcpc_runtime.handlers.bash import runner as shell
from mcpc_runtime.handlers.bash.runner import ShellRunner
from mcpc_runtime.handlers.bash.standard_streams import StandardStreamsJob
from mcpc_runtime.handlers.invocations import ProcessResult, ShellCall
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.transports.platforms.pipes import close
from mcpc_runtime.transports.platforms.reactor import Reactor
from support.needs import ROOT, needs
from support.processes import is_alive, turn_until

pytestmark = pytest.mark.sampled(3)

FORKED = "forked"
STREAMS = "standard streams"
"""As on Windows: a shell inherits no other pipes."""
WAYS = {
    FORKED: {},
    "fresh": {},
    "no memfd": {"MCPC_WITHOUT": "memfd"},
    "no proc": {"MCPC_WITHOUT": "proc"},
    STREAMS: {},
}
DEADLINE_SECONDS = 60


class Shells:
    """A runner over libraries given as text, and what it takes to wait for it."""

    def __init__(self, *libraries: str, isolated: bool = False, inherit: bool = True) -> None:
        entries = {f"handlers/{number}.bash": text.encode() for number, text in enumerate(libraries)}
        index = {
            "environment": (("GIVEN", "a 'given' value"), ("LARGE", "x" * 120_000)),
            "environments": ((inherit, ()),),
            "shell": tuple(name.removeprefix("handlers/") for name in entries),
            "prelude": ("mcbox.bash", "notes.bash"),
        }
        self.isolated = isolated
        self.reactor = Reactor()
        self.host = RunnerContext(
            self.reactor, SimpleNamespace(hooks=lambda name: (), index=index, entry=lambda name: entry(entries, name))
        )  # type: ignore[arg-type]
        self.runner = ShellRunner(self.host)
        self.notes: list[dict] = []

    def call(self, function: str = "tool", argument: str = "{}", **more: object) -> ShellCall:
        call = ShellCall("0.bash", function, argument.encode(), 0)
        call.isolated = self.isolated
        for name, value in more.items():
            setattr(call, name, value)
        return call

    def begin(self, call: ShellCall, done: list[ProcessResult]) -> object:
        return self.runner.start(call, done.append, self.notes.append)

    def turn_until(self, is_so, seconds: float = 60.0) -> None:
        turn_until(self.reactor, is_so, seconds)

    def run(self, *calls: ShellCall) -> list[ProcessResult]:
        ended: list[list[ProcessResult]] = [[] for _ in calls]
        for call, done in zip(calls, ended, strict=True):
            self.begin(call, done)
        self.turn_until(lambda: all(ended))
        return [done[0] for done in ended]

    def one(self, function: str = "tool", argument: str = "{}", **more: object) -> ProcessResult:
        return self.run(self.call(function, argument, **more))[0]

    def server_pid(self) -> int:
        (server,) = self.runner._servers.values()
        self.turn_until(lambda: server._child.pid)
        return server._child.pid

    def close(self) -> None:
        self.runner.close()
        self.host.close()
        for descriptor in (self.host.errors, self.host._read_end):  # which a server keeps to its end
            self.reactor.forget(descriptor)
            close(descriptor)


def entry(entries: dict[str, bytes], name: str) -> bytes:
    if name in entries:
        return entries[name]
    return (ROOT / "templates" / name.removeprefix("mcpc_app/bash/")).read_bytes()


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def children() -> set[int]:
    """The processes below this one that have not ended; what other tests left may come to it at any time."""
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return {int(pid) for pid in file.read().split() if is_alive(int(pid)) and is_shell(int(pid))}


def is_shell(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return b"\0MCPC_CALL=%d." % os.getpid() in b"\0" + file.read()
    except OSError:
        return False


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """Have whatever a process opens once and keeps be open."""
    needs("bash")
    first = Shells("tool() { :; }")
    first.one()
    first.close()


@contextmanager
def runners(isolated: bool = False) -> Iterator[Callable[..., Shells]]:
    """What makes runners; in the end nothing of them is left."""
    needs("bash")
    made: list[Shells] = []
    before, alive = descriptors(), children()

    def make(*libraries: str, **more: bool) -> Shells:
        made.append(Shells(*libraries, **{"isolated": isolated, **more}))
        return made[-1]

    yield make
    for each in made:
        each.close()
        assert each.reactor._callbacks == {}
    assert descriptors() == before
    assert children() <= alive


@pytest.fixture(params=WAYS)
def shells(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    for name, value in WAYS[request.param].items():
        monkeypatch.setenv(name, value)
    if request.param == STREAMS:
        monkeypatch.setattr(shell, "JOB_KIND", StandardStreamsJob)
    with runners(request.param == "fresh") as make:
        yield make


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("MCPC_WITHOUT", raising=False)
    with runners() as make:
        yield make


def seen(done: ProcessResult) -> tuple[int, bytes, bytes]:
    return done.status, done.printed, done.errors


def test_a_call(shells) -> None:
    assert seen(shells('tool() { printf "%s|%s" "$#" "$1"; }').one(argument='{"a": 1}')) == (0, b'1|{"a": 1}', b"")


def test_streams_apart_and_merged(shells) -> None:
    each = shells("tool() { echo out; echo err >&2; return 3; }")
    assert seen(each.one()) == (3, b"out\n", b"err\n")
    assert seen(each.one(merged=True)) == (3, b"out\nerr\n", b"")


STATUS = {
    "nothing": (":", 0), "exit 0": ("exit 0", 0), "exit": ("exit 7", 7),
    "exit deep": ("f() { g; }; g() { command exit 5; }; f", 5),
    "exit 0 by another name": ("builtin exit 0", 0), "return": ("return 3", 3), "last command": ("false", 1),
    "errexit does not hold": ("set -e; false; true", 0),
    "errexit does not hold in a pipe": ("false | true; true", 0),
    "pipefail": ("(exit 4) | true", 4), "unset variable in a subshell": ("x=$(echo $nope)", 1),
    "unknown command": ("no-such-command-xyz 2>/dev/null", 127),
    "read-only": ("R=2", 1), "exec": ("exec true", 0),
    "exec that fails": ("exec sh -c 'exit 9'", 9),
    "own trap": ("trap 'echo bye' EXIT; exit 5", 5),
    "own trap and no exit": ("trap 'echo bye' EXIT", 0),
    "closed outputs": ("exec >&- 2>&-; return 4", 4),
    "closed everything": ('for fd in {3..20}; do eval "exec $fd>&-"; done; return 6', 6),
    "other input": ("exec </etc/passwd; read -r x; [[ -n $x ]]", 0),
    "debug trap": ("trap : DEBUG; true; return 2", 2),
}  # fmt: skip


@pytest.mark.parametrize("case", STATUS)
def test_status(shells, case: str) -> None:
    body, status = STATUS[case]
    traps = any(word in body for word in ("exec", "trap", "eval"))
    each = shells(f"readonly R=1\ntool() {{ {body}; }}")
    assert each.one(traps=traps).status == status
    assert each.one(traps=True).status == status


@pytest.mark.parametrize("signal_name", ["KILL", "TERM", "SEGV", "INT", "HUP"])
def test_a_function_that_kills_itself(shells, signal_name: str) -> None:
    each = shells(f"tool() {{ echo before; kill -{signal_name} $BASHPID; echo after; }}; other() {{ echo fine; }}")
    for traps in (False, True):
        done = each.one(traps=traps)
        assert done.status != 0
        assert done.printed == b"before\n"
    assert seen(each.one("other")) == (0, b"fine\n", b"")


def test_a_function_that_kills_the_shell_it_believes_to_be_in(shells) -> None:
    each = shells("tool() { kill -9 $$; echo here; }; other() { echo fine; }")
    each.one()
    assert [done.printed for done in each.run(*(each.call("other") for _ in range(5)))] == [b"fine\n"] * 5


CHANGES = {
    "a variable": ("V=2", "echo $V"),
    "an export": ("export V=2; export NEW=3", "sh -c 'echo $V $NEW'"),
    "the folder": ("cd /", "echo $PWD; pwd"),
    "the umask": ("umask 0777", "umask"),
    "a trap": ("trap 'echo trapped' EXIT TERM", "trap -p"),
    "options": ("set -f -e -x; set +u; shopt -s nullglob extglob", "echo $- $SHELLOPTS $BASHOPTS"),
    "a function": ("f() { echo changed; }; other() { echo changed; }", "f"),
    "a removed function": ("unset -f f other", "f"),
    "IFS": ("IFS=xyz", 'printf %q "$IFS"'),
    "PATH": ("PATH=/nowhere", "echo $PATH"),
    "positional parameters": ("set -- a b c", "echo $#"),
    "a background process": ("sleep 100 & :", "jobs"),
    "the locale": ("LC_ALL=C", "echo ${LC_ALL-unset}"),
    "descriptors": ("exec 3</dev/null 15>&- 0</etc/passwd", "ls /proc/$BASHPID/fd; cat"),
    "limits": ("ulimit -n 50", "ulimit -n"),
    "a killed group": ("kill -9 -- -$BASHPID; kill 0", "echo fine"),
    "an alias": ("shopt -s expand_aliases; alias echo=false", "echo fine"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_a_call_changes_is_unseen_by_the_next(shells, case: str) -> None:
    change, look = CHANGES[case]
    library = f"V=1; f() {{ echo f; }}\ntool() {{ {change}; }}\nother() {{ {look}; }} 2>&1\n"
    each = shells(library)
    before = each.one("other")
    each.one(traps=True)
    each.one()
    after = each.one("other")
    assert (after.status, after.printed) == (before.status, before.printed)


def test_a_function_finds_what_a_fresh_shell_would_show_it(forked) -> None:
    """Nothing tells a child of the fork server from a fresh shell, but what is frozen or is the process itself."""
    look = """tool() {
      declare -p | grep -vE '^declare [-a-z]+ (BASH|BASHPID|BASHOPTS|BASH_[A-Z_]*|EPOCH.*|FUNCNAME|MCPC_CALL|PPID|[S]?RANDOM|SECONDS|SHLVL|LINENO|PIPESTATUS|_)(=|$)'
      declare -F; set -o; shopt; printf '%s\\n' "$0" "$-" "$#" "${FUNCNAME[@]}" "${BASH_SOURCE[0]}"
      umask; pwd; ls -l /proc/$BASHPID/fd | awk '{ print $9 }' | grep -vE '^(255|25[0-9])$'
    }"""
    child = forked(look).one()
    alone = forked(look, isolated=True).one()
    assert child.errors == alone.errors == b""
    assert child.printed.decode() == alone.printed.decode()


def test_options_of_the_library_hold(shells) -> None:
    each = shells(
        "set -f -x +u; set +o pipefail; shopt -s nullglob\ntool() { echo * $nope; shopt nullglob; false | true; }"
    )
    done = each.one()
    assert (done.status, done.printed) == (0, b"*\nnullglob       \ton\n")
    assert b"+ echo" in done.errors


def test_a_trap_of_the_library_is_there_in_each_call(shells) -> None:
    each = shells("trap 'echo bye' EXIT; tool() { echo in; }; other() { return 3; }")
    for _ in range(3):
        assert seen(each.one()) == (0, b"in\nbye\n", b"")
    assert seen(each.one("other")) == (3, b"bye\n", b"")
    each = shells("trap 'echo got' USR1; tool() { kill -USR1 $BASHPID; }")
    assert each.one().printed == b"got\n"


def test_what_the_library_prints_is_in_no_answer(forked) -> None:
    each = forked("echo top; echo above >&2; tool() { echo in; }; echo end")
    for _ in range(3):
        assert seen(each.one()) == (0, b"in\n", b"")


ENDING = {"exit": "exit 0", "failure": "tool() { :; }\nfalse", "unset": "echo $nope", "syntax": "tool() { :; }\nif\n"}


@pytest.mark.parametrize("case", ENDING)
def test_a_library_that_ends_its_shell_says_so_in_each_call(shells, case: str) -> None:
    each = shells(ENDING[case])
    for _ in range(2):
        done = each.one()
        assert (done.status, done.printed) == (126, b"")
        assert done.errors.endswith(b"0.bash: the library ended the shell that read it\n")


def test_there_is_no_such_function(shells) -> None:
    each = shells("x=1")
    for name in ("tool_x", "printf"):
        assert seen(each.one(name)) == (127, b"", b'0.bash: there is no function "%b"\n' % name.encode())


def test_there_is_no_bash(shells, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shells("tool() { :; }").one().problem.endswith(os.strerror(errno.ENOENT))


def test_messages_name_the_library_and_its_line(shells) -> None:
    first = '#!/usr/bin/env bash\n\nhelp() {\n  echo "$UNSET_ONE"\n}\n'
    second = "tool() {\n  echo fine\n  help\n}\nother() { no_such_program; }\n"
    made = shells(first, second)
    done = made.one(merged=True)
    assert (done.status, done.output.decode()) == (1, "fine\n0.bash: line 4: UNSET_ONE: unbound variable\n")
    done = made.one("other")
    assert (done.status, done.errors.decode()) == (127, "1.bash: line 5: no_such_program: command not found\n")


def test_several_libraries_and_what_is_given(shells) -> None:
    each = shells(
        'a() { echo "a$1"; }', 'tool() { a "$1"; echo "$GIVEN" "${#LARGE}"; sh -c \'echo "$GIVEN${LARGE-}"\'; }'
    )
    assert each.one(argument="x").printed == b"ax\na 'given' value 120000\na 'given' value\n"


CONTENT = ["", "{}", "\\ \\\\ \\n \n\n\t'\"`$(exit 9) $x ${y} !z *\n", "-n", "--", "é😀", "x\n"]


@pytest.mark.parametrize("text", CONTENT)
def test_any_text_arrives_as_argument_and_as_variable(shells, text: str) -> None:
    each = shells(
        'tool() { printf "%s\\0" "$1" "$mcpc_arg_a" "${mcpc_arg_b[@]}" "${#mcpc_arg_b[@]}" "${mcpc_arg_c-unset}"; }'
    )
    data = text.encode()
    done = each.one(argument=text, variables={"mcpc_arg_a": data, "mcpc_arg_b": [data, b"", data]})
    assert done.printed == b"\0".join([data, data, data, b"", data, b"3", b"unset", b""])
    assert done.errors == b""


def test_variables_are_only_this_call_s(shells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("mcpc_arg_b", "from outside")
    each = shells('tool() { echo "${mcpc_arg_a-no} ${mcpc_arg_b-no} ${mcpc_arg_c[@]+set}${mcpc_arg_c+first}"; }')
    assert each.one(variables={"mcpc_arg_a": b"1", "mcpc_arg_c": []}).printed == b"1 no \n"
    assert each.one().printed == b"no no \n"


def test_nothing_of_the_environment_has_a_hand_in_it(shells, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    (tmp_path / "env").write_text("echo hostile\n")
    hostile = {
        "BASH_ENV": f"{tmp_path}/env", "ENV": f"{tmp_path}/env", "BASH_FUNC_printf%%": "() { echo hostile; }",
        "SHELLOPTS": "xtrace:noexec", "BASHOPTS": "nullglob", "PS4": "$(echo hostile)", "CDPATH": "/", "IFS": "o",
        "POSIXLY_CORRECT": "1",
    }  # fmt: skip
    for name, value in hostile.items():
        monkeypatch.setenv(name, value)
    each = shells("tool() { printf %s hello; cd etc 2>/dev/null || echo no; }")
    assert seen(each.one()) == (0, b"hellono\n", b"")


STUBBORN = {
    "plain": "echo $BASHPID >{0}; sleep 100",
    "ignores a signal": "trap '' TERM; echo $BASHPID >{0}; sleep 100 & wait; sleep 100",
    "another session": "echo $BASHPID >{0}; setsid sleep 100 & wait",
    "a daemon without session, parent and mark": (
        "env -i setsid -f bash -c 'echo $$ >{0}; exec sleep 100 >&- 2>&-'; sleep 100"
    ),
}


@pytest.mark.parametrize("case", STUBBORN)
@pytest.mark.sampled(6)
def test_a_stopped_call_is_gone(shells, case: str, tmp_path) -> None:
    if "setsid" in STUBBORN[case] and os.environ.get("MCPC_WITHOUT") == "proc":
        pytest.skip("without /proc only a group can be found")
    file = tmp_path / "pid"
    each = shells(f"tool() {{ {STUBBORN[case].format(file)}; }}; other() {{ echo fine; }}")
    done: list[ProcessResult] = []
    job = each.begin(each.call(traps="trap" in STUBBORN[case]), done)
    each.turn_until(lambda: file.exists() and file.read_text().strip())
    pid = int(file.read_text())
    each.runner.stop(job)
    each.turn_until(lambda: not is_alive(pid), 20)
    each.turn_until(lambda: not job.streams, 20)
    assert done == []
    assert each.one("other").printed == b"fine\n"


def test_notes_come_while_the_function_runs_and_before_its_end(shells) -> None:
    each = shells(
        'tool() { mcpc_progress 1; mcpc_progress 2 10; mcpc_progress 3.5 10 "wör\\"k"; mcpc_log info a "b  c"; mcpc_json_string $\'x\\n"\'; }'
        '\nbad() { mcpc_progress x; mcpc_log loud hello; }\nraw() { echo \'{"log":"info","data":1}\' >&$MCPC_NOTES; sh -c \'echo "{\\"progress\\":1}" >&$MCPC_NOTES\'; printf "not a note\\n{"  >&$MCPC_NOTES; }'
    )
    done = each.one()
    assert seen(done) == (0, b'"x\\n\\""\n', b"")
    assert each.notes == [
        {"progress": 1},
        {"progress": 2, "total": 10},
        {"progress": 3.5, "total": 10, "message": 'wör"k'},
        {"log": "info", "data": "a b  c"},
    ]
    each.notes.clear()
    done = each.one("bad")
    assert (done.status, each.notes) == (2, [])
    assert each.one("raw", merged=True).status == 0
    assert each.notes == [{"log": "info", "data": 1}, {"progress": 1}]


def test_without_a_server_notes_are_nothing() -> None:
    needs("bash")
    read = f"source {ROOT}/templates/mcbox.bash; source {ROOT}/templates/notes.bash"
    script = f'set -eu; {read}; mcpc_progress 1; mcpc_log info x; mcpc_call x "{{}}" || echo failed'
    status = os.system(f"env -u MCPC_NOTES bash --norc -c '{script}' >/dev/null 2>&1")
    assert status == 0


def spare_of(server: int) -> int:
    """The child that waits for the next call, once it has been forked and those of earlier calls have gone."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    seen: list[list[str]] = []
    while time.monotonic() < deadline:
        with open(f"/proc/{server}/task/{server}/children") as file:
            seen.append(file.read().split())
        if len(seen[-1]) == 1 and seen[-10:] == [seen[-1]] * 10:
            return int(seen[-1][0])
        time.sleep(0.01)
    raise AssertionError("there is no spare child")


def test_a_spare_child_that_is_killed_costs_no_call(forked) -> None:
    """Each call has a child forked, so that without a spare one it waits for its own; one that it took is given back."""
    each = forked('tool() { echo "$1"; }')
    each.one()
    server = each.server_pid()
    each.one()  # what was forked for the first call may still be ending: the spare is the one after it
    with suppress(ProcessLookupError):
        os.kill(spare_of(server), signal.SIGKILL)
    done = each.run(*(each.call(argument=str(number)) for number in range(5)))
    assert [int(one.printed) for one in done] == list(range(5))
