"""Beyond the table: parts killed, odd starts, floods, and the server started in every way (Y02 to Y05, S11, P9)."""

import os
import random
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from faults.client import HANDSHAKE, Fault, Peak, Process, Server, failed, good, require, text, until
from faults.endings import all_kinds
from faults.forms import APART, BASH, INLINE, PYTHON
from faults.handlers import LIMIT_WORDS, still_serving
from faults.trial import Case, Trial, within
from support.scale import scaled
from support.slack import slack

ONE = (HANDSHAKE,)
KILLS = int(os.environ.get("MCPC_KILLS", "12"))
"""How many processes are killed in each case of Y02."""
STORM = int(os.environ.get("TESTS_STORM", "5000"))


def parts(server: Server) -> dict[str, list[Process]]:
    family = [process for process in server.running() if process.state not in "ZX"]
    own = [process for process in family if process.parent == server.pid]
    shells = [process for process in family if process not in own and process.words().split(" ")[0].endswith("bash")]
    pythons = [process for process in family if process not in own and "python" in process.words().split(" ")[0]]
    return {"supervisor": own, "bash": shells, "worker": pythons, "any": family}


def killed_parts(kind: str) -> Callable[[Trial], None]:
    """Return a case: processes of one kind are killed at random moments; each request is answered, and it serves on."""

    def run(trial: Trial) -> None:
        chance = random.Random(f"{kind}{trial.form}")
        server = trial.start(warm=True)
        sent: list[Any] = []
        struck = 0
        for _ in range(KILLS):
            sent += [server.start_call("echo", text="x") for _ in range(5)]
            sent += [server.start_call("sleep", seconds=0.05), server.start_call("spawn", seconds=0.02)]
            time.sleep(chance.random() * 0.1)
            victims = parts(server)[kind]
            if victims:
                with suppress(ProcessLookupError):  # it may have ended by itself
                    os.kill(chance.choice(victims).pid, signal.SIGKILL)
                    struck += 1
            if server.process.poll() is not None:
                break
        require(struck, f"there was no {kind} to kill")
        if server.process.poll() is None:
            for identifier in sent:
                require(
                    server.wait_if(identifier, 15 * slack()) is not None, f"no answer to {identifier}", server.state()
                )
            serves_on(server)
        else:
            require(server.ends(1) != 0, "it ended with 0")
        trial.bases.clear()
        trial.note = f"{struck} killed, {sum('error' in (server.wait_if(one, 0) or {}) for one in sent)} errors"

    return run


def serves_on(server: Server) -> None:
    """Raise Fault unless calls are served soon: the next one may still meet the end of what the last kill left alone."""

    def is_serving() -> bool:
        try:
            still_serving(server)
        except Fault:
            return False
        return True

    until(is_serving, 3)
    still_serving(server)


def killed_in_call(trial: Trial) -> None:
    """The supervisor is killed while handlers run that ignore everything: nothing is left of them."""
    server = trial.start(warm=True)
    server.result("daemon", 20)
    call = server.start_call("stubborn")
    require(
        until(lambda: any("while :; do sleep 1" in one.words() for one in server.running()), 10), "its child never came"
    )
    for process in parts(server)["supervisor"]:
        os.kill(process.pid, signal.SIGKILL)
    require(
        server.wait_if(call, 10 * slack()) is not None or server.process.poll() is not None, "no answer", server.state()
    )
    if server.process.poll() is None:
        serves_on(server)
    trial.bases.clear()


STARTS = {
    "SIGCHLD and SIGPIPE ignored": "import signal as s; [s.signal(n, s.SIG_IGN) for n in (s.SIGCHLD, s.SIGPIPE)]",
    "SIGALRM, SIGUSR1, SIGTERM ignored": "import signal as s; [s.signal(n, s.SIG_IGN) for n in (s.SIGALRM, s.SIGUSR1)]",
    "all signals blocked": "import signal as s; s.pthread_sigmask(s.SIG_BLOCK, set(range(1, 32)) - {s.SIGKILL, s.SIGSTOP})",
    "descriptor 2 closed": "import os; os.close(2)",
    "descriptors 3 to 20 open": "import os; [os.dup2(0 if n % 2 else 1, n) for n in range(3, 21)]",
    "umask 0777": "import os; os.umask(0o777)",
    "nice 19": "import os; os.nice(19)",
    "32 descriptors": "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (32, 32))",
    "hard limit of 4096 descriptors, soft 48": "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (48, 4096))",
    "1 GiB of address space": "import resource as r; r.setrlimit(r.RLIMIT_AS, (1 << 30, 1 << 30))",
    "1 MiB of stack": "import resource as r; r.setrlimit(r.RLIMIT_STACK, (1 << 20, 1 << 20))",
    "no core, files of 64 KiB": "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (65536, 65536))",
    "no new privileges": "import ctypes; ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)",
    "a session of its own": "import os; os.setsid() if os.getpgrp() != os.getpid() else None",
}
"""What the one who starts the server may have done before."""
WITHOUT = (
    "proc", "memfd", "pidfd", "subreaper", "seqpacket", "closerange,hangup", "proc,memfd,pidfd,subreaper,seqpacket",
)  # fmt: skip


def prepared(code: str) -> Callable[[Trial], None]:
    def run(trial: Trial) -> None:
        all_kinds(trial, before=code)

    return run


def without(ways: str) -> Callable[[Trial], None]:
    """Return a case: the same without some facility of the system; what a daemon needs to be found may be missing."""

    def run(trial: Trial) -> None:
        server = trial.start(environment={"MCPC_WITHOUT": ways})
        still_serving(server)
        given = "ü\u2028😀 é" * 5_000
        require(server.result("echo", 20, text=given)["structuredContent"]["text"] == given, "text altered")
        failed(server.call("fail", 20, how="exit"))
        if trial.form != INLINE:
            call = server.start_call("child")
            time.sleep(0.3)
            server.notify("notifications/cancelled", {"requestId": call})
        words = failed(server.call("never", 15, how="sleep"))
        require(any(word in words for word in LIMIT_WORDS), words)
        still_serving(server)

    return run


def no_input_at_all(trial: Trial) -> None:
    """Without standard input or output there is nobody to serve: it ends at once."""
    for closed in ((0,), (1,), (0, 1), (0, 1, 2)):
        server = trial.start(shake=False, before=f"import os; [os.close(n) for n in {closed}]")
        server.write(server.line("tools/list", id=1))
        server.close_input()
        server.ends(5)


def gibibyte(trial: Trial) -> None:
    server = trial.start(warm=True)
    to = "stdout" if trial.form == BASH else "child"
    server.call("flood", 30, mib=1, to=to)
    trial.warm(server)
    peak = Peak(server.pid)
    began = time.monotonic()
    reply = server.call("flood", 60, mib=scaled(1024, 256), to=to)
    took = time.monotonic() - began
    grown = peak.growth()
    good(reply)
    require(grown <= 32, f"memory grew by {grown:.1f} MiB, and may by 32")
    trial.note = f"{took:.1f} s, +{grown:.1f} MiB"


def empty_lines(trial: Trial) -> None:
    server = trial.start(warm=True)
    said = text(server.result("lines", 60, count=10_000_000))
    require(said.startswith("begin\n") and len(said) >= 10_000_000, "the lines came back altered:", said)
    still_serving(server)


def colours(trial: Trial) -> None:
    server = trial.start()
    expected = '\x1b[31mred\x1b[0m \x1b]0;title\x07 {"jsonrpc":"2.0","id":1,"result":{}}'
    require(text(server.result("colours")) == expected, "escape sequences were altered")


def limits_at_once(trial: Trial) -> None:
    server = trial.start(warm=True)
    calls = [server.start_call("never", how="sleep") for _ in range(64)]
    beside = server.start_call("sleep", seconds=2)
    began = time.monotonic()
    for call in calls:
        words = failed(server.wait(call, 20))
        require(any(word in words for word in LIMIT_WORDS), "it does not name the limit:", words)
    took = within(server, 8, began)
    good(server.wait(beside))
    still_serving(server)
    trial.bases.clear()
    trial.note = f"{took:.2f} s"


def cancel_storm(trial: Trial) -> None:
    server = trial.start(warm=True)
    count = STORM if trial.form != BASH else STORM // 5
    began = time.monotonic()
    for number in range(0, count, 100):
        lines = []
        for one in range(number, number + 100):
            lines.append(server.line("tools/call", {"name": "sleep", "arguments": {"seconds": 5}}, id=one))
            lines.append(server.line("notifications/cancelled", {"requestId": one}))
        server.write(b"".join(lines))
    server.result("echo", 90, text="after")
    trial.note = f"{count} in {time.monotonic() - began:.1f} s"
    still_serving(server)
    require(until(lambda: len(server.running()) < 20, 10), "processes of cancelled calls run on", server.state())
    answered = sum(server.wait_if(one, 0) is not None for one in range(count))
    require(not answered, f"{answered} cancelled calls were answered")
    trial.bases.clear()


def progress_flood(trial: Trial) -> None:
    server = trial.start(warm=True)
    peak = Peak(server.pid)
    count = 100 * STORM
    params = {"name": "notes", "arguments": {"count": count}, "_meta": {"progressToken": "p"}}
    call = server.request("tools/call", params)
    time.sleep(0.2)
    began = time.monotonic()
    server.alive(10)
    beside = time.monotonic() - began
    good(server.wait(call, 120), "the call that floods")
    grown = peak.growth()
    seen = [notice for notice in server.replies.notices if notice["method"] == "notifications/progress"]
    values = [notice["params"]["progress"] for notice in seen]
    require(seen, "not one notification of progress")
    require(values == sorted(values), "progress came out of order")
    require(all(notice["params"]["progressToken"] == "p" for notice in seen), "another token")
    require(len(seen) <= 5_000, f"{len(seen)} notifications of {count} were sent on")
    require(grown <= 32, f"memory grew by {grown:.1f} MiB")
    require(server.wait_if(call, 0) is not None, "no answer")
    trial.note = f"{len(seen)} of {count} sent on, +{grown:.1f} MiB, list beside it {beside * 1e3:.0f} ms"


def unread_output(trial: Trial) -> None:
    """A client stops reading for a while: the server waits, its memory does not grow, and nothing is lost."""
    server = trial.start(warm=True)
    peak = Peak(server.pid)
    server.replies.changed.acquire()
    try:
        lines = b"".join(
            server.line("tools/call", {"name": "echo", "arguments": {"text": "y" * 20_000}}, id=number)
            for number in range(300)
        )
        os.set_blocking(server.process.stdin.fileno(), False)
        view = memoryview(lines)
        deadline = time.monotonic() + 1.5
        while view and time.monotonic() < deadline:
            try:
                view = view[os.write(server.process.stdin.fileno(), view) :]
            except BlockingIOError:
                time.sleep(0.01)
    finally:
        server.replies.changed.release()
    os.set_blocking(server.process.stdin.fileno(), True)
    server.write(bytes(view))
    for number in range(300):
        good(server.wait(number, 60))
    grown = peak.growth()
    require(grown <= 40, f"memory grew by {grown:.1f} MiB")
    trial.note = f"+{grown:.1f} MiB"


def nothing_written(trial: Trial) -> None:
    """P9: a session with everything in it leaves no file in any folder it was told of."""
    server = trial.start()
    server.result("daemon", 20)
    failed(server.call("never", 15, how="sleep"))
    still_serving(server)
    server.close_input()
    server.ends(6)
    server.left(3)
    found = [path for path in server.folder.rglob("*") if path not in (server.home, server.temporary)]
    require(not found, "files were written:", found)


HOSTILE = 'import os\nopen(os.path.join(os.path.dirname(os.path.abspath(__file__)), "imported"), "w").close()\nraise SystemExit(9)\n'


def flagged(*flags: str) -> Callable[[Trial], None]:
    """Return a case: started by another command line."""

    def run(trial: Trial) -> None:
        server = trial.start(argv=[sys.executable, *flags, str(trial.artifact)])
        still_serving(server)
        failed(server.call("fail", 20, how="exit"))
        server.result("noise") if trial.form == INLINE else server.call("noise")
        server.close_input()
        require(server.ends(6) == 0, f"it ended with {server.status}", server.state())
        require(b"Warning" not in server.errors, "a warning:", server.state())

    return run


def hostile_place(trial: Trial) -> None:
    """Modules that are named as the standard library's lie in the working directory and on PYTHONPATH."""
    for argv in ([sys.executable, str(trial.artifact)], [str(trial.artifact)]):
        place = trial.folder()
        for name in (
            "json",
            "mcp",
            "os",
            "subprocess",
            "threading",
            "mcpc_runtime",
            "mcpc_app",
            "traceback",
            "asyncio",
            "select",
            "typing",
            "posix",
        ):
            (place / f"{name}.py").write_text(HOSTILE)
        for environment in ({}, {"PYTHONPATH": str(place)}):
            # The interpreter itself imports `os` from PYTHONPATH: what is judged there is what comes after.
            if environment:
                (place / "os.py").unlink()
            if environment and argv[0] == sys.executable:
                continue
            served = trial.start(argv=argv, cwd=place, environment=environment)
            still_serving(served)
            served.close_input()
            served.ends(6)
        imported = (place / "imported").exists()
        require(not imported, "a hostile module was imported")


ODD_FOR_PYTHON = ("new\nline", "quo'te\"")


def odd_places(trial: Trial) -> None:
    """By a link, from folders with odd names, from one that cannot be written, by its own first line."""
    home = trial.folder()
    for name in ("with space", "new\nline", "quo'te\"", "$(touch owned)", "-dash", "ünï", "a.pyz.d", "%s"):
        folder = home / name
        folder.mkdir(parents=True)
        copy = Path(shutil.copy(trial.artifact, folder / "server.pyz"))
        serve_from(trial, [str(copy)])
        if name in ODD_FOR_PYTHON:
            serve_from(trial, [sys.executable, str(copy)])
            serve_from(trial, [sys.executable, "server.pyz"], cwd=folder)
    link = home / "link"
    link.symlink_to(trial.artifact)
    serve_from(trial, [str(link)])
    serve_from(trial, [sys.executable, "link"], cwd=home)
    locked = home / "locked"
    locked.mkdir()
    copy = Path(shutil.copy(trial.artifact, locked / "server.pyz"))
    copy.chmod(0o555)
    locked.chmod(0o555)
    serve_from(trial, [str(copy)])
    locked.chmod(0o755)


def serve_from(trial: Trial, argv: list[str], **options: Any) -> None:
    server = trial.start(argv=argv, **options)
    require(server.result("echo", text="x")["structuredContent"] == {"text": "x"}, argv)
    server.close_input()
    require(server.ends(6) == 0, f"{argv} ended with {server.status}", server.state())


def replaced(trial: Trial) -> None:
    """The file is replaced, as an installer does it, while its server runs: the server goes on as it was."""
    home = trial.folder()
    copy = Path(shutil.copy(trial.artifact, home / "server.pyz"))
    server = trial.start(argv=[sys.executable, "-I", "-S", str(copy)])
    other = home / "new.pyz"
    other.write_bytes(b"not an archive")
    other.replace(copy)
    still_serving(server)
    failed(server.call("broken"))
    failed(server.call("echo"))
    good(server.ask("tools/list"))
    server.close_input()
    server.ends(6)


def identifier(words: str) -> str:
    """Return words as a part of an id."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


KILLED = (
    Case("Y02.supervisor", "kill -9 of the supervisor at random moments", killed_parts("supervisor"), APART, ONE),
    Case("Y02.bash", "kill -9 of the fork server and its children", killed_parts("bash"), (BASH,), ONE),
    Case("Y02.worker", "kill -9 of the worker", killed_parts("worker"), (PYTHON,), ONE),
    Case("Y02.any", "kill -9 of whatever there is", killed_parts("any"), APART, ONE),
    Case("Y02.daemon", "kill -9 of the supervisor beside stubborn children and daemons", killed_in_call, APART, ONE),
)
STARTED = (
    *(
        Case(f"Y03.{identifier(name)}", f"started with: {name}", prepared(code), eras=ONE)
        for name, code in STARTS.items()
    ),
    *(Case(f"Y03.without-{identifier(ways)}", f"started without {ways}", without(ways), eras=ONE) for ways in WITHOUT),
    Case("Y03.closed", "standard streams closed: it ends", no_input_at_all, (BASH,), ONE),
)
FLOODS = (
    Case("Y04.gibibyte", f"{scaled(1024, 256)} MiB without a newline: capped, memory +32 MiB at most", gibibyte, APART, ONE),
    Case("Y04.lines", "10^7 empty lines: exact, or capped with a mark", empty_lines, APART, ONE),
    Case("Y04.colours", "escape sequences and protocol lines: text passed as text", colours, eras=ONE),
    Case("Y05.limits", "64 calls at their time limit at once", limits_at_once, APART, ONE),
    Case("Y05.cancel", "a storm of cancelled calls", cancel_storm, eras=ONE),
    Case("Y05.progress", "a flood of progress: bounded, in order, the answer kept", progress_flood, (BASH,)),
    Case("Y05.unread", "a client that stops reading: back-pressure, nothing lost", unread_output, eras=ONE),
)  # fmt: skip
WAYS = (
    Case("P9", "nothing is written to disk", nothing_written, APART),
    Case("S11.isolated", "python -I -S -O -b", flagged("-I", "-S", "-O", "-b"), eras=ONE),
    Case("S11.strict", "python -W error -X dev", flagged("-W", "error", "-X", "dev", "-b"), eras=ONE),
    Case("S11.hostile", "hostile modules in the working directory and on PYTHONPATH", hostile_place, eras=ONE),
    Case("S11.places", "by a link, from odd folders, from a folder that is locked", odd_places, (BASH, PYTHON), ONE),
    Case("S11.replaced", "its file is replaced while it runs", replaced, eras=ONE),
)
CASES = (*KILLED, *STARTED, *FLOODS, *WAYS)
