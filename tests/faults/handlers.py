"""Section D, and time limits: whatever a handler does is its own failure."""

import hashlib
import signal
import time
from collections.abc import Callable

from faults.client import HANDSHAKE, Peak, Server, failed, good, require, text, until
from faults.forms import APART, BASH, INLINE, PYTHON
from faults.trial import Case, Trial, within

ONE = (HANDSHAKE,)
LIMIT_WORDS = ("limit", "time", "second", " s")


def still_serving(server: Server) -> None:
    """Raise Fault unless the next call is served."""
    require(good(server.call("echo", 20, text="next"))["structuredContent"] == {"text": "next"}, "echo")
    require("slept" in text(server.result("sleep", seconds=0)), "sleep")


def dies(how: str, *, warm: bool = False, words: bool = False) -> Callable[[Trial], None]:
    """Return a case: a tool that ends so is an error, with some text if it wrote any, and the next call is served."""

    def run(trial: Trial) -> None:
        server = trial.start(warm=warm)
        beside = server.start_call("sleep", seconds=0.1) if how == "status" else None
        said = failed(server.call("fail", 20, how=how)).strip()
        require(said or not words, "it failed without a word")
        if beside is not None:
            good(server.wait(beside))
        still_serving(server)
        trial.note = (said.splitlines() or ["(no text)"])[-1][:60]

    return run


def answered(how: str) -> Callable[[Trial], None]:
    """Return a case: a tool that does this is answered in whatever way."""

    def run(trial: Trial) -> None:
        server = trial.start()
        server.call("fail", 20, how=how)
        still_serving(server)

    return run


def flood(mib: int, to: str, growth: float) -> Callable[[Trial], None]:
    """Return a case: so much written, and memory grows by no more than `growth` MiB."""

    def run(trial: Trial) -> None:
        server = trial.start(warm=True)
        server.call("flood", 30, mib=1, to=to)
        trial.warm(server)
        peak = Peak(server.pid)
        began = time.monotonic()
        reply = server.call("flood", 60, mib=mib, to=to)
        took = within(server, 60, began)
        grown = peak.growth()
        still_serving(server)
        require(grown <= growth, f"memory grew by {grown:.1f} MiB, and may by {growth:g}")
        if to == "stdout" and "result" in reply and not reply["result"].get("isError"):
            said = text(reply["result"])
            require(len(said) < 64 << 20 and "dropped" in said[-200:], "the output was not capped with a mark")
        trial.note = f"{took:.1f} s, +{grown:.1f} MiB"

    return run


def unread(trial: Trial) -> None:
    server = trial.start(warm=True)
    began = time.monotonic()
    require("ignored" in text(server.result("ignore", 30, text="x" * (4 << 20))), "4 MiB that nobody reads")
    trial.note = f"{within(server, 5, began):.2f} s"


def sizes(trial: Trial) -> None:
    server = trial.start(warm=True)
    for size in (131_071, 131_072, 200 << 10, 1 << 20):
        require(text(server.result("size", 30, text="x" * size)) == str(size), f"{size} bytes")
    server.result("ignore", 30, text="x" * (1 << 20))


def largest(trial: Trial) -> None:
    """A digest says whether 16 MiB arrived as they were sent (P5): to come back they would have to fit the output's limit."""
    server = trial.start(warm=True)
    given = "0123456789abcdef" * (1 << 20)
    began = time.monotonic()
    found = text(server.result("digest", 60, text=given)).split()[0]
    require(found == hashlib.sha256(given.encode()).hexdigest(), "16 MiB arrived altered")
    half = given[: 6 << 20]
    require(server.result("echo", 60, text=half)["structuredContent"]["text"] == half, "6 MiB came back altered")
    trial.note = f"{time.monotonic() - began:.2f} s"


def stubborn_cancelled(trial: Trial) -> None:
    server = trial.start(warm=True)
    before = {process.pid for process in server.running()}
    identifier = server.start_call("stubborn")
    require(until(lambda: stubborn(server), 10), "its child never came")
    began = time.monotonic()
    server.notify("notifications/cancelled", {"requestId": identifier})
    require(until(lambda: not stubborn(server), 12), "its child runs on")
    trial.note = f"{within(server, 4, began):.2f} s"
    still_serving(server)
    require(server.wait_if(identifier, 0) is None, "a cancelled call was answered")
    del before


def stubborn(server: Server) -> list[str]:
    """Return the children that ignore SIGTERM."""
    return [process.words() for process in server.running() if "while :; do sleep 1" in process.words()]


def stubborn_end(trial: Trial) -> None:
    server = trial.start()
    server.start_call("stubborn")
    require(until(lambda: stubborn(server), 10), "its child never came")
    began = time.monotonic()
    server.close_input()
    server.ends(12)
    trial.note = f"{within(server, 5, began):.2f} s"
    require(not server.left(1.0), "an orphan")


def daemon(trial: Trial) -> None:
    server = trial.start(warm=True)
    began = time.monotonic()
    require("left" in text(server.result("daemon", 20)), "daemon")
    took = within(server, 5, began)
    require(until(lambda: daemons(server), 2), "the daemon is not even there")
    still_serving(server)
    began = time.monotonic()
    server.close_input()
    server.ends(5)
    require(not server.left(1.0), "the daemon lives on")
    trial.note = f"reply {took:.2f} s, gone {time.monotonic() - began:.2f} s"


def daemons(server: Server) -> list[str]:
    return [process.words() for process in server.running() if "sleep 300" in process.words()]


def straggler(trial: Trial) -> None:
    server = trial.start(warm=True)
    began = time.monotonic()
    require("left" in text(server.result("straggler", 20)), "straggler")
    trial.note = f"{within(server, 5, began):.2f} s"
    still_serving(server)


def output_schema(trial: Trial) -> None:
    server = trial.start()
    require(failed(server.call("broken")), "no words")
    still_serving(server)


def no_output(trial: Trial) -> None:
    server = trial.start()
    result = server.result("empty")
    require(isinstance(result["content"], list) and not text(result), result)


def noise(trial: Trial) -> None:
    server = trial.start()
    for _ in range(5):
        server.call("noise")
    require(
        all("forged" not in reply.get("result", {}) for found in server.replies.messages.values() for reply in found),
        "forged",
    )
    require(not [notice for notice in server.replies.notices if notice["method"] == "forged"], "a forged notification")
    still_serving(server)


def head_of_line(tool: str) -> Callable[[Trial], None]:
    """Return a case: while a call does this for 4 s, others are answered within 1 s."""

    def run(trial: Trial) -> None:
        server = trial.start(warm=True)
        held = server.start_call(tool, seconds=4)
        time.sleep(0.3)
        slowest = 0.0
        for _ in range(5):
            began = time.monotonic()
            server.alive()
            if not (trial.form == INLINE and tool == "burn"):
                server.result("echo", text="beside")
            slowest = max(slowest, within(server, 1, began))
        good(server.wait(held, 30), tool)
        trial.bases.pop(server.pid)
        trial.note = f"{slowest * 1e3:.0f} ms"

    return run


def change(trial: Trial) -> None:
    server = trial.start()
    before = text(server.result("where"))
    require("changed" in text(server.result("change")), "change")
    still_serving(server)
    if trial.form == BASH:
        require(text(server.result("where")) == before, "the next call sees the change")
    server.signal(signal.SIGTERM)
    require(server.ends(5) != 0, "SIGTERM ended it with 0")


def no_input(trial: Trial) -> None:
    server = trial.start()
    calls = [server.start_call("input") for _ in range(5)]
    server.write(b"".join(server.line("tools/list", id=number) for number in range(20)))
    for call in calls:
        require(text(good(server.wait(call))).strip() == "0", "standard input was not at its end")
    for number in range(20):
        server.wait(number)


def limited(how: str) -> Callable[[Trial], None]:
    """Return a case: a tool with a limit of 1 s that never ends, while others run beside it."""

    def run(trial: Trial) -> None:
        server = trial.start(warm=True)
        beside = [server.start_call("sleep", seconds=2.5) for _ in range(3)]
        began = time.monotonic()
        words = failed(server.call("never", 10, how=how))
        took = time.monotonic() - began
        require(took >= 0.9, "it was ended before its time")
        within(server, 6, began)
        require(any(word in words for word in LIMIT_WORDS) and "1" in words, "it does not name the limit:", words)
        require(good(server.call("echo", 10, text="x"))["structuredContent"] == {"text": "x"}, "the next call")
        for call in beside:
            reply = server.wait(call, 15)
            # Nothing runs in a process whose one lock is held: what began in it can only be answered.
            require(how == "hold" or "slept" in text(good(reply, "a call beside it")), "a call beside it")
        trial.note = f"{took:.2f} s: {words.strip()[:50]}"
        if trial.form != BASH:
            trial.bases.pop(server.pid)

    return run


def limited_end(trial: Trial) -> None:
    """Nothing of a call that was over its limit is left, and its place is free again."""
    server = trial.start(warm=True)
    for _ in range(3):
        failed(server.call("never", 10, how="stubborn"))
    require(until(lambda: not stubborn(server), 4), "its children run on")
    still_serving(server)
    if trial.form != BASH:
        trial.bases.pop(server.pid)


HANDLERS = (
    Case("D01", "tool fails: isError with some text", dies("status", warm=True, words=True)),
    Case("D02", "child writes 256 MiB to stdout: answered, memory +128 MiB at most", flood(256, "stdout", 128), APART, ONE),
    Case("D03", "tool writes 64 MiB to stderr: answered", flood(64, "stderr", 128), APART, ONE),
    Case("D05", "4 MiB argument to a tool that never reads it", unread, eras=ONE),
    Case("D06", "200 KiB argument: right length", sizes, eras=ONE),
    Case("D06b", "16 MiB argument: exact", largest, eras=ONE),
    Case("D07", "child ignores SIGTERM, call cancelled: child gone", stubborn_cancelled, APART, ONE),
    Case("D08", "child ignores SIGTERM, stdin EOF: exit, no orphan", stubborn_end, APART, ONE),
    Case("D09", "setsid'ed daemons hold stdout: answered, gone at exit", daemon, APART),
    Case("D09b", "a background child in the call's group: answered", straggler, APART),
    Case("D11", "output breaks its outputSchema: error", output_schema),
    Case("D13", "empty output: valid result", no_output),
    Case("D14", "tool dies: command not found: error, still serving", dies("missing", warm=True, words=True)),
    Case("D15", "tool dies: exit 3: error, still serving", dies("exit", warm=True)),
    Case("D16", "tool dies: KeyboardInterrupt / SIGINT to itself", dies("interrupt")),
    Case("D17", "tool dies: infinite recursion", dies("recursion"), eras=ONE),
    Case("D18", "tool dies: kill -9 itself", dies("kill"), APART),
    Case("D18b", "tool dies: os._exit", dies("leave"), (PYTHON,)),
    Case("D18c", "tool dies: SIGTERM to itself", dies("term"), APART),
    Case("D18d", "tool dies: exec of another program", dies("exec"), APART, ONE),
    Case("D18e", "tool dies: kill -9 of its process group", dies("group"), APART, ONE),
    Case("D18f", "tool closes every descriptor", answered("close"), APART, ONE),
    Case("D18g", "tool forks itself and both return", dies("fork"), (PYTHON,), ONE),
    Case("D18h", "tool raises GeneratorExit", dies("generator"), (PYTHON, INLINE), ONE),
    Case("D18i", "tool returns what JSON has no word for: answered", answered("odd"), (PYTHON, INLINE), ONE),
    Case("D18j", "tool returns NaN", dies("nan"), (PYTHON, INLINE), ONE),
    Case("D19", "tool dies: segmentation fault", dies("segv"), APART),
    Case("D20", "tool prints to stdout, stderr, fd 1: stdout stays clean", noise),
    Case("D21", "tool holds the CPU and the GIL 4 s: others answered within 1 s", head_of_line("hold"), APART, ONE),
    Case("D21b", "tool burns the CPU 4 s: others answered within 1 s", head_of_line("burn"), eras=ONE),
    Case("D23", "tool changes cwd, PATH, SIGTERM: next call works, SIGTERM ends", change, APART),
    Case("D24", "tool reads stdin: EOF at once, steals no message", no_input),
)  # fmt: skip
LIMITS = (
    Case("T01", "time limit: sleeps", limited("sleep"), eras=ONE),
    Case("T02", "time limit: burns CPU", limited("burn"), eras=ONE),
    Case("T03", "time limit: holds the GIL in C", limited("hold"), (PYTHON,), ONE),
    Case("T04", "time limit: waits for a child that ignores SIGTERM", limited("stubborn"), APART, ONE),
    Case("T05", "time limit: swallows every exception", limited("except"), (PYTHON, INLINE), ONE),
    Case("T06", "time limit: a byte a second for ever (Y04)", limited("drip"), (BASH,), ONE),
    Case("T07", "three over their limit: nothing of them is left", limited_end, APART, ONE),
)
CASES = (*HANDLERS, *LIMITS)
