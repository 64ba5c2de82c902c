"""Where the worker begins: calls are read and run by turns; the main thread takes what the server says of them.

No handler ever runs on the main thread, so Python's signal handlers always can; a handler that wants to set one is told
so by Python.  Modules are imported once and keep their state.  What a handler prints goes to standard error.
"""

from __future__ import annotations

import marshal
import posix
import sys
from _signal import SIGINT, SIGTERM, signal
from _thread import RLock, start_new_thread

from mcpc_runtime.concurrency.leader_followers import LeaderFollowers
from mcpc_runtime.handlers.python.bindings import BEFORE_EXIT
from mcpc_runtime.handlers.python.worker.calls import WorkerCall
from mcpc_runtime.handlers.python.worker.coroutines import EventLoopThread
from mcpc_runtime.handlers.python.worker.intake import DatagramReceiver, StreamReceiver, exactly
from mcpc_runtime.handlers.python.worker.replies import ReplyWriter, report
from mcpc_runtime.lazy import lazy, resolve
from mcpc_runtime.platforms.artifact_file import refuse_changed, watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from mcpc_runtime import packages
    from mcpc_runtime.protocol.jsonrpc import Json
else:
    packages = lazy("mcpc_runtime.packages")

CALLS, REPLIES, WORDS, ARCHIVE = 3, 4, 5, 6
BROKEN = 70


def main(archive: str, way: str, *known: str) -> None:
    """Answer calls until there are no more.  `known`: what the server's file was when the server opened it."""
    for descriptor in (CALLS, REPLIES, WORDS):
        posix.set_inheritable(descriptor, False)
    if known:
        inode, size, changed = map(int, known)
        watch(archive, (inode, size, changed))
        refuse_changed(archive)
        if archive == f"/proc/{posix.getpid()}/fd/{ARCHIVE}":
            posix.set_inheritable(ARCHIVE, False)
    sys.stdout = sys.stderr
    sys.path.insert(0, f"{archive}/handlers")
    sys.argv = [archive]
    worker = Worker(way)
    signal(SIGINT, worker.interrupted)
    posix.register_at_fork(after_in_child=worker.fork)
    carry(archive)
    worker.prepare_to_leave()
    worker.replies.tell(b'{"ready":true}')
    start_new_thread(worker.turns.serve, ())
    worker.listen()
    worker.leave()


def carry(archive: str) -> None:
    """Put the packages in reach that the archive carries, if it carries any: then it has the module for it, too."""
    try:
        activate = packages.activate_packages
    except ModuleNotFoundError:
        return
    activate(archive)


class Worker:
    """The calls this process is running."""

    def __init__(self, way: str) -> None:
        self.replies = ReplyWriter(REPLIES)
        self.coroutines = EventLoopThread()
        self.calls: dict[int, WorkerCall] = {}
        self.forked = False
        self.turns = LeaderFollowers(self.drive)
        self._intake = StreamReceiver(CALLS, self._begun) if way == "stream" else DatagramReceiver(CALLS)
        self._modules: dict[str, ModuleType] = {}
        self._imports = RLock()
        self._leaving = RLock()
        self._last_words: list[Callable[[], None]] = []
        self._last = 0
        self._early: set[int] = set()

    def drive(self) -> None:
        """Take one call after the other."""
        try:
            while (taken := self._intake.take()) is not None:
                self._take(*taken)
        except Exception as problem:  # noqa: BLE001 - without calls there is nothing to do here
            report(problem)
            posix._exit(BROKEN)
        self.leave()

    def prepare_to_leave(self) -> None:
        """Have modules let go of what they hold before the process ends, if a binding asks for that."""
        try:
            self._last_words = [resolve(row) for row in BEFORE_EXIT.values()]
        except ModuleNotFoundError:
            return
        signal(SIGTERM, lambda *_: self.leave())

    def leave(self) -> None:
        """End the process, once."""
        with self._leaving:
            for call in [] if self.forked else self._last_words:
                call()
            posix._exit(0)

    def _take(self, number: int, body: bytes) -> None:
        call = WorkerCall(self, number, marshal.loads(body))
        self.calls[number] = call
        self._last = number
        if number in self._early:
            self._early.discard(number)
            call.cancelled = True
        key = call.key
        self.turns.run(key if key[0] in self._modules else None, call.run)

    def _begun(self, number: int) -> None:
        self.replies.tell(b'{"begun":%d}' % number)

    def function(self, file: str, name: str) -> Any:
        """Return a function of a module, which is imported if it was not yet."""
        module = self._modules.get(file)
        if module is None:
            dotted = file.removesuffix(".py").replace("/", ".")
            with self._imports:
                __import__(dotted)
                module = self._modules[file] = sys.modules[dotted]
        return getattr(module, name)

    def listen(self) -> None:
        """Take the server's words until there are no more.

        They are `("cancel", call)`, `("answer", call, number, result)`, and `("alive", 0)`, which wants to be answered.
        """
        while (head := exactly(WORDS, 4)) is not None:
            body = exactly(WORDS, int.from_bytes(head, "little"))
            if body is None:
                return
            word, number, *rest = marshal.loads(body)
            try:
                WORDS_OF_SERVER[word](self, number, *rest)
            except Exception as problem:  # noqa: BLE001 - something a handler did to its loop; the next word is another's
                report(problem)

    def _say_alive(self, _: int) -> None:
        self.replies.tell(b'{"alive":true}')

    def _answer(self, number: int, reply: int, result: Json) -> None:
        call = self.calls.get(number)
        if call is not None:
            call.answered(reply, result)

    def _cancel(self, number: int) -> None:
        """Cancel a call, or have it cancelled when it comes; one that has ended is passed over."""
        self._early.add(number)
        call = self.calls.get(number)
        if call is not None or number <= self._last:
            self._early.discard(number)
        if call is not None:
            call.cancel()

    def interrupted(self, *_: object) -> None:
        """Take SIGINT for the one call that runs; if there are several, nobody can tell which was meant."""
        running = [call for call in list(self.calls.values()) if call.is_running]
        if len(running) == 1:
            running[0].interrupt()

    def fork(self) -> None:
        """See to it that a process that a handler forked off says nothing in the name of this one."""
        self.forked = True
        nothing = posix.open("/dev/null", posix.O_RDWR)
        for descriptor in (CALLS, REPLIES, WORDS):
            posix.dup2(nothing, descriptor, False)
        posix.close(nothing)


WORDS_OF_SERVER: dict[str, Callable[..., None]] = {
    "alive": Worker._say_alive,
    "answer": Worker._answer,
    "cancel": Worker._cancel,
}
"""What each word of the server's has done."""
