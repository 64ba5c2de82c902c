"""Y01: the n-th call into the system fails, for every n: the request is answered, nothing leaks, the next is served.

A test-only boot wraps functions of `posix` and `_socket` in the server's process, before the archive's own beginning
runs.  Faults are armed by the client: a file says which call of which function is to fail with what.
"""

import errno
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from faults.client import HANDSHAKE, Fault, Server, require, until
from faults.forms import APART, INLINE
from faults.trial import Case, Trial

ERRORS = ("ENOMEM", "EMFILE", "EAGAIN", "EINTR", "ENOSPC", "EIO")
FUNCTIONS = (
    "fork", "pipe", "pipe2", "read", "write", "open", "memfd_create", "posix_spawn", "pidfd_open", "lseek", "dup",
    "dup2", "poll",
)  # fmt: skip
LONGEST = int(os.environ.get("MCPC_INJECT", "40"))
"""The largest n: a call of a tool makes fewer system calls than that."""

BOOT = r"""
import sys, posix, zipimport
real_open, real_read, real_close, real_write, owner = posix.open, posix.read, posix.close, posix.write, posix.getpid()
plan_file = sys.argv[1]
clients = set()
state = {"function": "", "left": 0, "error": 0, "fired": 0}

def plan():
    try:
        descriptor = real_open(plan_file, posix.O_RDONLY)
    except OSError:
        return
    try:
        words = real_read(descriptor, 100).decode().split()
    finally:
        real_close(descriptor)
    posix.unlink(plan_file)
    if words:
        state.update(function=words[0], left=int(words[1]), error=int(words[2]), fired=0)

def wrapped(name, real):
    def call(*words, **more):
        if posix.getpid() == owner:
            if not state["function"]:
                plan()
            where = name + "_client" if name in ("read", "write") and words[0] in clients else name
            if state["function"] == where:
                state["left"] -= 1
                if state["left"] == 0:
                    state["function"] = ""
                    descriptor = real_open(plan_file + ".fired", posix.O_WRONLY | posix.O_CREAT, 0o600)
                    real_write(descriptor, b"x")
                    real_close(descriptor)
                    raise OSError(state["error"], "injected")
        found = real(*words, **more)
        if name == "dup" and posix.getpid() == owner and words[0] in (0, 1):
            clients.add(found)
        return found
    return call

for name in FUNCTIONS:
    if hasattr(posix, name):
        setattr(posix, name, wrapped(name, getattr(posix, name)))
import _socket
Plain = _socket.socket
class Socket(Plain):
    send = wrapped("send", Plain.send)
    sendmsg = wrapped("sendmsg", Plain.sendmsg)
    recv = wrapped("recv", Plain.recv)
    recvmsg = wrapped("recvmsg", Plain.recvmsg)
    recv_into = wrapped("recv_into", Plain.recv_into)
_socket.socket = Socket
if hasattr(_socket, "socketpair"):
    made = _socket.socketpair
    def socketpair(*words):
        pair = made(*words)
        return tuple(Socket(fileno=one.detach()) for one in pair)
    _socket.socketpair = wrapped("socketpair", socketpair)
sys.argv[1:] = sys.argv[2:]
z = zipimport.zipimporter(sys.argv[1])
exec(z.get_code("__main__"))
"""
SOCKETS = ("send", "sendmsg", "recv", "recvmsg", "recv_into", "socketpair")


def boot() -> str:
    """Return the program that starts a server under faults."""
    names = tuple(name for name in FUNCTIONS if name != "poll")
    return BOOT.replace("FUNCTIONS", repr(names))


class Injected:
    """A server under faults, started again whenever one of them ended it."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.server: Server | None = None
        self.plan = trial.folder() / "plan"
        self.ends = 0

    def running(self, *, fresh: bool) -> Server:
        """Return a server that serves; with `fresh`, one whose handlers have not been started."""
        if self.server is not None and (fresh or self.server.process.poll() is not None):
            self.over()
        if self.server is None:
            for path in (self.plan, self.fired):
                path.unlink(missing_ok=True)
            argv = [sys.executable, "-I", "-S", "-c", boot(), str(self.plan), str(self.trial.artifact)]
            self.server = self.trial.start(argv=argv, warm=not fresh)
        return self.server

    @property
    def fired(self) -> Any:
        """The file that is there once the fault has happened."""
        return self.plan.with_name("plan.fired")

    def over(self) -> None:
        server, self.server = self.server, None
        self.trial.servers.remove(server)
        self.trial.bases.pop(server.pid, None)
        server.end(6)

    def strike(self, function: str, number: int, error: str, *, fresh: bool) -> bool:
        """Have the n-th call fail during one call of a tool; say whether it came to that."""
        server = self.running(fresh=fresh)
        name = f"{function} {number} {error}"
        self.plan.with_suffix(".new").write_text(f"{function} {number} {getattr(errno, error)}")
        self.plan.with_suffix(".new").rename(self.plan)
        calls = [server.start_call("echo", text="x"), server.start_call("sleep", seconds=0.01)]
        answers = [
            until(lambda call=call: server.wait_if(call, 0.05) or server.process.poll() is not None, 8)
            for call in calls
        ]
        struck = bool(self.fired.exists())
        self.fired.unlink(missing_ok=True)
        self.plan.unlink(missing_ok=True)
        if server.replies.ended or server.process.poll() is not None:
            self.ended(server, name, may_end=function.endswith("_client"))
            return struck
        require(all(answers), f"{name}: no answer", server.state())
        try:
            self.recovers(server, name)
        except Fault:
            if not server.replies.ended:
                raise
            self.ended(server, name, may_end=function.endswith("_client"))
        return struck

    def ended(self, server: Server, name: str, *, may_end: bool) -> None:
        """Judge a server that a fault ended: only one of the client's own streams may do that, and it is said why."""
        require(server.ends(5) != 0, f"{name}: it ended with 0")
        until(lambda: server.errors.strip(), 1)
        require(server.errors.strip(), f"{name}: it ended without a reason")
        require(may_end, f"{name}: it ended", server.state())
        self.ends += 1
        self.over()

    def recovers(self, server: Server, name: str) -> None:
        """Raise Fault unless calls are served as if nothing had been."""
        try:
            require(
                until(
                    lambda: (
                        "error" not in (reply := server.call("echo", 10, text="y"))
                        and not reply["result"].get("isError")
                    ),
                    3,
                ),
                "echo",
            )
            if server.pid in self.trial.bases:
                self.trial.settle(server)
        except Fault as fault:
            raise Fault(f"{name}: afterwards {fault}") from None


def injected(function: str, *, fresh: bool) -> Callable[[Trial], None]:
    """Return a case: the n-th call of a function fails, with each error, for every n until none fires."""

    def run(trial: Trial) -> None:
        under = Injected(trial)
        struck = 0
        problems: list[str] = []
        began = time.monotonic()
        for error in ERRORS if not fresh else ERRORS[:3]:
            for number in range(1, LONGEST):
                try:
                    if not under.strike(function, number, error, fresh=fresh):
                        break
                except Fault as fault:
                    problems.append(str(fault)[:160])
                    trial.bases.clear()
                    if under.server is not None:
                        trial.servers.remove(under.server)
                        under.server.discard()
                        under.server = None
                    if len(problems) > 3 or time.monotonic() - began > 20:
                        raise Fault("; ".join(problems)) from None
                struck += 1
        require(not problems, "; ".join(problems))
        trial.note = f"{struck} faults, {under.ends} ends"

    return run


NAMES = tuple(name for name in (*FUNCTIONS, *SOCKETS) if name != "poll")
CASES = tuple(
    Case(
        f"Y01.{name}",
        f"the n-th {name} fails while calls run",
        injected(name, fresh=False),
        (*APART, INLINE),
        (HANDSHAKE,),
    )
    for name in NAMES
) + tuple(
    Case(
        f"Y01.{name}.first",
        f"the n-th {name} fails while handlers are started",
        injected(name, fresh=True),
        APART,
        (HANDSHAKE,),
    )
    for name in (
        "fork",
        "pipe",
        "pipe2",
        "open",
        "memfd_create",
        "posix_spawn",
        "pidfd_open",
        "socketpair",
        "sendmsg",
        "send",
    )
)
