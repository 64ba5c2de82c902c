"""Sections E to G: how a server ends, what surroundings it finds, and many calls at once."""

import os
import signal
import time
from collections.abc import Callable
from typing import Any

from faults import soak
from faults.client import HANDSHAKE, good, require, until
from faults.forms import APART, BASH, INLINE
from faults.handlers import still_serving, stubborn
from faults.trial import SOAK, Case, Trial, within
from support.slack import slack

ONE = (HANDSHAKE,)


def idle_end(trial: Trial) -> None:
    for warm in (False, True):
        server = trial.start(warm=warm)
        began = time.monotonic()
        server.close_input()
        require(server.ends(5) == 0, f"it ended with {server.status}", server.state())
        took = within(server, 1, began)
        require(not server.left(1), "an orphan")
    trial.note = f"{took:.3f} s"


def busy_end(trial: Trial) -> None:
    server = trial.start()
    server.start_call("sleep", seconds=60)
    time.sleep(0.5)
    began = time.monotonic()
    server.close_input()
    server.ends(10)
    trial.note = f"{within(server, 5, began):.2f} s"
    require(not server.left(1), "an orphan")


def finishes(trial: Trial) -> None:
    """All at once and at the very start; under Wine the worker runs already, for the reason of `accepted`."""
    server = trial.start(shake=False, warm=trial.machine is not None)
    server.write(
        b"".join(server.line("tools/call", {"name": "echo", "arguments": {"text": f"{n}"}}, id=n) for n in range(10))
    )
    server.close_input()
    require(server.ends(10) == 0, f"it ended with {server.status}")
    for number in range(10):
        require(good(server.wait(number, 1))["structuredContent"] == {"text": f"{number}"}, number)


def accepted(trial: Trial) -> None:
    """Calls that take a second, and the end of the input: all are answered.

    Under Wine a worker may take the two seconds to start that calls have after the end of the input.
    """
    server = trial.start(warm=trial.machine is not None)
    calls = [server.start_call("sleep", seconds=1) for _ in range(10)]
    server.close_input()
    server.ends(10)
    for call in calls:
        good(server.wait(call, 1))


def last_line(trial: Trial) -> None:
    server = trial.start()
    server.write(server.line("tools/list", id="last").rstrip(b"\n"))
    server.close_input()
    require(server.ends(5) == 0, f"it ended with {server.status}")
    require("result" in server.wait("last", 1), "the last line was not answered")


def closed_output(trial: Trial) -> None:
    for busy in (False, True):
        server = trial.start(warm=busy)
        if busy:
            server.start_call(
                "stubborn" if trial.form != INLINE else "sleep", **({"seconds": 60} if trial.form == INLINE else {})
            )
            time.sleep(0.3)
        server.close_output()
        began = time.monotonic()
        while server.process.poll() is None and time.monotonic() - began < 5 * slack():
            server.write(server.line("tools/list", id="gone"))
            time.sleep(0.05)
        server.ends(5)
        require(not server.left(1), "an orphan")


def signalled(number: int, *, status: bool = True) -> Callable[[Trial], None]:
    """Return a case: a signal ends an idle server, whether handlers were started or not."""

    def run(trial: Trial) -> None:
        for warm in (False, True):
            server = trial.start(warm=warm)
            began = time.monotonic()
            server.signal(number)
            server.ends(5)
            took = within(server, 1, began)
            require(server.status != 0 or not status, "it ended with 0")
            require(not server.left(1), "an orphan")
        trial.note = f"{took:.3f} s"

    return run


def signalled_busy(trial: Trial) -> None:
    server = trial.start()
    server.start_call("stubborn")
    require(until(lambda: stubborn(server), 10), "its child never came")
    began = time.monotonic()
    server.signal(signal.SIGTERM)
    server.ends(12)
    trial.note = f"{within(server, 5, began):.2f} s"
    require(not server.left(1), "an orphan")


def killed(trial: Trial) -> None:
    server = trial.start()
    server.result("daemon", 20)
    for tool in ("stubborn", "child", "loop"):
        server.start_call(tool)
    require(until(lambda: stubborn(server), 10), "its child never came")
    server.family()
    began = time.monotonic()
    server.signal(signal.SIGKILL)
    server.ends(5)
    require(not server.left(3), "orphans after SIGKILL")
    trial.note = f"{within(server, 1, began):.2f} s"


def stopped(trial: Trial) -> None:
    server = trial.start(warm=True)
    call = server.start_call("sleep", seconds=0.5)
    server.signal(signal.SIGSTOP)
    time.sleep(1)
    server.signal(signal.SIGCONT)
    good(server.wait(call))
    still_serving(server)


def all_kinds(trial: Trial, **options: Any) -> None:
    """Serve under odd surroundings: calls that end well, fail, leave daemons, and are cancelled."""
    server = trial.start(**options)
    still_serving(server)
    require("error" in server.call("nobody") or "isError" in str(server.replies.messages), "a tool that is not there")
    failing = server.call("fail", 20, how="exit")
    require("error" in failing or failing["result"].get("isError"), failing)
    given = "ü\u2028😀 é" * 10
    require(server.result("echo", text=given)["structuredContent"]["text"] == given, "UTF-8 text altered")
    if trial.form != INLINE:
        server.result("daemon", 20)
        call = server.start_call("child")
        time.sleep(0.2)
        server.notify("notifications/cancelled", {"requestId": call})
    still_serving(server)


def surroundings(**variables: str | None) -> Callable[[Trial], None]:
    """Return a case: the same under another environment."""

    def run(trial: Trial) -> None:
        all_kinds(trial, environment=variables)

    return run


def bare(trial: Trial) -> None:
    gone = dict.fromkeys(("HOME", "TMPDIR", "LANG", "MCPC_FAULT"))
    all_kinds(trial, environment={**gone})


def few_descriptors(trial: Trial) -> None:
    server = trial.start(before="import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))", warm=True)
    for _ in range(2):
        calls = [server.start_call("sleep", seconds=0.2) for _ in range(50)]
        for call in calls:
            good(server.wait(call, 60))
    still_serving(server)


def beside_slow(trial: Trial) -> None:
    server = trial.start(warm=True)
    slow = server.start_call("sleep", seconds=3)
    time.sleep(0.2)
    began = time.monotonic()
    server.result("echo", text="x")
    trial.note = f"{within(server, 1, began) * 1e3:.0f} ms"
    good(server.wait(slow))


def beside_many(trial: Trial) -> None:
    server = trial.start(warm=True)
    calls = [server.start_call("sleep", seconds=2) for _ in range(200)]
    began = time.monotonic()
    server.result("echo", 20, text="x")
    took = within(server, 2, began)
    began = time.monotonic()
    server.alive()
    listed = within(server, 1, began)
    for call in calls:
        good(server.wait(call, 60))
    trial.note = f"echo {took * 1e3:.0f} ms, list {listed * 1e3:.0f} ms"


def many(trial: Trial) -> None:
    server = trial.start(warm=True)
    count = 1000 if trial.form != BASH else 300
    began = time.monotonic()
    server.write(
        b"".join(server.line("tools/call", {"name": "echo", "arguments": {"text": f"{n}"}}, id=n) for n in range(count))
    )
    for number in range(count):
        require(good(server.wait(number, 60))["structuredContent"]["text"] == f"{number}", number)
    trial.note = f"{count} in {time.monotonic() - began:.2f} s"


def soaked(tool: str, part: float) -> Callable[[Trial], None]:
    """Return a case: so large a part of the soak's calls, all answered, memory and descriptors flat."""

    def run(trial: Trial) -> None:
        server = trial.start(warm=True)
        count = max(200, int(SOAK * part * (0.1 if trial.form == BASH else 1)))
        soak.soak(server, tool, count // 2)  # what is allocated once is not judged
        soak.settle(server)
        figures = soak.soak(server, tool, count)
        trial.note = str(figures)
        require(not (problems := figures.problems()), *problems)
        require(not [process for process in server.running() if process.state == "Z"], "a zombie")

    return run


def stderr_full(trial: Trial) -> None:
    """Nobody reads standard error: no call waits for that."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writing, True)
    os.set_inheritable(writing, True)
    try:
        server = trial.start(before=f"import os; os.dup2({writing}, 2)", pass_fds=(writing,))
        for _ in range(3):
            server.result("echo", text="x")
            server.call("broken")
        still_serving(server)
    finally:
        os.close(writing)
        os.close(reading)


ENDS = (
    Case("E01", "stdin EOF while idle: exit 0, no orphan", idle_end),
    Case("E02", "stdin EOF during a 60 s call: exit, no orphan", busy_end),
    Case("E03", "10 calls, then EOF at once: all 10 replies before exit", finishes),
    Case("E03b", "10 calls of 1 s, then EOF: all 10 replies before exit", accepted),
    Case("E04", "last line without newline, then EOF: answered, exit 0", last_line, (BASH,)),
    Case("E06", "client closes stdout: exit, no orphan", closed_output, eras=ONE),
    Case("E07", "SIGTERM while idle: exit", signalled(signal.SIGTERM)),
    Case("E08", "SIGINT while idle: exit", signalled(signal.SIGINT)),
    Case("E09", "SIGHUP while idle: exit", signalled(signal.SIGHUP)),
    Case("E10", "SIGTERM during a call that ignores SIGTERM: exit, no orphan", signalled_busy, APART),
    Case("E11", "SIGKILL during calls, with daemons: all gone", killed, APART),
    Case("E12", "SIGSTOP 1 s, then SIGCONT: serving again", stopped, eras=ONE),
    Case("E13", "nobody reads standard error: calls are answered", stderr_full, eras=ONE),
)
PLACES = (
    Case("F01", "HOME unset", surroundings(HOME=None), eras=ONE),
    Case("F02", "TMPDIR does not exist", surroundings(TMPDIR="/does/not/exist"), eras=ONE),
    Case("F03", "HOME does not exist", surroundings(HOME="/does/not/exist"), eras=ONE),
    Case("F04", "empty environment but PATH", bare, eras=ONE),
    Case("F05", "LC_ALL=C, UTF-8 text: exact", surroundings(LC_ALL="C", LANG="C"), eras=ONE),
    Case("F06", "LC_ALL names no locale", surroundings(LC_ALL="xx_XX.UTF-8"), eras=ONE),
    Case("F08", "64 descriptors, 50 calls at once, twice: every one answered", few_descriptors, eras=ONE),
)
MANY = (
    Case("G01", "3 s call in flight: an echo answered within 1 s", beside_slow, eras=ONE),
    Case("G02", "200 slow calls in flight: an echo answered within 2 s", beside_many, eras=ONE),
    Case("G03", "N echo calls at once: N replies, each once", many),
    Case("G05", "soak: every call answered, memory, descriptors and processes flat", soaked("echo", 0.5), eras=ONE),
    Case("G06", "soak of calls with children: no zombie, descriptors flat", soaked("spawn", 0.05), eras=ONE),
)
CASES = (*ENDS, *PLACES, *MANY)
