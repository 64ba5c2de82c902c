"""Python handlers run in one process beside the server, never in it; it is started by the first call.

The two speak frames over two pipes: four bytes of length, then JSON.  If the process ends, the calls it was running
are answered with that, and the next call starts a new one.
"""

from __future__ import annotations

import posix
import sys
from _signal import SIGKILL  # type: ignore[import-not-found]

from mcpc_runtime.commands import DEFAULT_SIGNALS, Returned
from mcpc_runtime.protocol.jsonrpc import ParseError, encode, parse
from mcpc_runtime.reactor import READABLE, WRITABLE, close

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.commands import Invocation
    from mcpc_runtime.host import Host
    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.reactor import Reactor

BOOT = "import sys;sys.path.insert(0,sys.argv[1]);from mcpc_runtime.runners.child import main;main(sys.argv[1])"
READ_SIZE = 1 << 16
FRAME_LIMIT = 64 << 20


class WorkerRunner:
    """Hands calls to the worker and its answers back."""

    def __init__(self, host: Host) -> None:
        self._reactor = host.reactor
        self._image = host.image
        self._worker: Worker | None = None

    def start(
        self, invocation: Invocation, done: Callable[[Returned], None], note: Callable[[Any], None]
    ) -> tuple[Worker, int] | None:
        """Send the call to the worker, a new one if there is none."""
        if self._worker is None or self._worker.ended:
            try:
                self._worker = Worker(self._reactor, self._image)
            except OSError as problem:
                done(Returned(problem=f"the handler's process cannot be started: {problem.strerror}"))
                return None
        return self._worker, self._worker.call(invocation, done)

    def stop(self, job: tuple[Worker, int]) -> None:
        """Tell the worker that nobody waits for the answer."""
        worker, number = job
        worker.cancel(number)

    def close(self) -> None:
        """Kill the worker."""
        if self._worker is not None:
            self._worker.kill()


class Worker:
    """One worker process, and the calls it is running."""

    def __init__(self, reactor: Reactor, image: Image) -> None:
        self.ended = False
        self._reactor = reactor
        self._waiting: dict[int, Callable[[Returned], None]] = {}
        self._number = 0
        self._outgoing = bytearray()
        self._incoming = bytearray()
        self._pid, self._requests, self._replies = spawn(image)
        reactor.watch(self._replies, READABLE, self._listen)

    def call(self, invocation: Invocation, done: Callable[[Returned], None]) -> int:
        """Send a call; `done` is called with its answer, or with the worker's end."""
        self._number += 1
        self._waiting[self._number] = done
        body: dict[str, Json] = {"call": self._number, "file": invocation.file, "function": invocation.function}
        self._send({**body, "binding": invocation.binding, "arguments": invocation.arguments})  # type: ignore[dict-item]
        return self._number

    def cancel(self, number: int) -> None:
        """Forget a call, and tell the worker."""
        if self._waiting.pop(number, None) is not None:
            self._send({"cancel": number})

    def kill(self) -> None:
        """End the process and everything it started."""
        if not self.ended:
            try:
                posix.killpg(self._pid, SIGKILL)
            except ProcessLookupError:
                return

    def _send(self, message: dict[str, Json]) -> None:
        body = encode(message)
        self._outgoing += len(body).to_bytes(4, "little") + body
        self._feed()

    def _feed(self) -> None:
        try:
            while self._outgoing:
                del self._outgoing[: posix.write(self._requests, self._outgoing)]
        except BlockingIOError:
            self._reactor.watch(self._requests, WRITABLE, self._feed)
        except OSError:
            self._outgoing.clear()  # it has ended: `_listen` will see it
        if not self._outgoing:
            self._reactor.forget(self._requests)

    def _listen(self) -> None:
        try:
            data = posix.read(self._replies, READ_SIZE)
        except BlockingIOError:
            return
        self._incoming += data
        if not data or not all(map(self._take, frames(self._incoming))):
            self._end()

    def _take(self, body: bytes) -> bool:
        """Hand an answer to whoever waits for it; False if it is none."""
        try:
            answer = parse(body)
        except ParseError:
            return False
        if type(answer) is not dict:
            return False
        done = self._waiting.pop(answer.get("call"), None)  # type: ignore[arg-type]
        if done is not None:
            done(Returned(answer.get("value"), str(answer.get("error", "")), str(answer.get("refused", ""))))
        return True

    def _end(self) -> None:
        self.kill()
        self.ended = True
        _, status = posix.waitpid(self._pid, 0)
        for descriptor in (self._requests, self._replies):
            self._reactor.forget(descriptor)
            close(descriptor)
        code = posix.waitstatus_to_exitcode(status)
        reason = f"with status {code}" if code >= 0 else f"by signal {-code}"
        waiting, self._waiting = self._waiting, {}
        for done in waiting.values():
            done(Returned(problem=f"the handler's process was ended {reason}"))


def frames(buffer: bytearray) -> list[bytes]:
    """Take the complete frames out of `buffer`; one over the limit becomes an unreadable one."""
    found: list[bytes] = []
    at = 0
    while len(buffer) - at >= 4:
        length = int.from_bytes(buffer[at : at + 4], "little")
        if length > FRAME_LIMIT:
            found.append(b"")
            break
        if len(buffer) - at - 4 < length:
            break
        found.append(bytes(buffer[at + 4 : at + 4 + length]))
        at += 4 + length
    del buffer[:at]
    return found


def spawn(image: Any) -> tuple[int, int, int]:
    """Start the worker; return its process id, and our ends of the pipes to it and from it."""
    requests_out, requests = posix.pipe()
    replies, replies_in = posix.pipe()
    actions = [
        (posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDONLY, 0),
        (posix.POSIX_SPAWN_DUP2, 2, 1),
        (posix.POSIX_SPAWN_DUP2, requests_out, 3),
        (posix.POSIX_SPAWN_DUP2, replies_in, 4),
    ]
    argv = [sys.executable or "python3", "-I", "-S", "-c", BOOT, image.archive]
    try:
        pid = posix.posix_spawnp(
            argv[0], argv, posix.environ, file_actions=actions, setpgroup=0, setsigdef=DEFAULT_SIGNALS, setsigmask=()
        )
    except OSError:
        close(requests)
        close(replies)
        raise
    finally:
        close(requests_out)
        close(replies_in)
    posix.set_blocking(requests, False)
    posix.set_blocking(replies, False)
    return pid, requests, replies
