"""How the children of a fork server get the descriptors of a call: from a process that has those and nothing else.

Bash takes a descriptor from outside only by opening it in /proc, and nobody may look at the server's own there, because
its secrets and its connections are beside them.  So the server sends sets of descriptors to a small process, which
answers what they are called there, before a call needs them: passing is not on a call's way.  Of what a function writes
to that process has the ends to read from: opened in /proc they can be written to, and end without it.
"""

from __future__ import annotations

import _socket
import sys

from mcpc_runtime.reactor import READABLE
from mcpc_runtime.shells.job import ANSWERS, ERRORS, NOTED, OUTPUT, TEXTS, Ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpc_runtime.host import Host

NUMBER, FIELD, PLACE = 10, 6, 8
"""How long a line's parts are: a call's number, each of its descriptors, and the process that has them."""
ORDER = (TEXTS, OUTPUT, ERRORS, NOTED, ANSWERS)
LINE = NUMBER + len(ORDER) * FIELD + PLACE
READY, FEW = 4, 2
"""So many sets are kept ready, and sent together when few are left: one turn of both processes for several calls."""
FILL_SECONDS = 0.05
"""How long some may be missing when no further call comes."""
ROOM_SECONDS = 0.1
"""How long there may be none before it is tried again."""
COUNT = 2
"""How long the number of sets in a message is, which the numbers of the sets follow, and of those to be let go."""
FORGET_SECONDS = 0.5
"""How long it may keep what no call needs any more, if no other call comes meanwhile."""
MOST_FORGOTTEN = 100
INTAKE = 3
ROOM = 4096
PROGRAM = f"""
import _socket, posix
intake = _socket.socket(fileno={INTAKE})
place = str(posix.getpid()).rjust({PLACE}, "/").encode()
kept = {{}}
room = _socket.CMSG_SPACE({4 * len(ORDER) * READY})
while True:
    try:
        data, passed, _, _ = intake.recvmsg({ROOM}, room, _socket.MSG_CMSG_CLOEXEC)
        if not data:
            break
        rights = passed[0][2] if passed else b""
        ends = [int.from_bytes(rights[at : at + 4], "little") for at in range(0, len(rights), 4)]
        numbers = [data[at : at + {NUMBER}] for at in range({COUNT}, len(data), {NUMBER})]
        count = int(data[:{COUNT}])
        lines = []
        for number in numbers[:count]:
            kept[number], ends = ends[:{len(ORDER)}], ends[{len(ORDER)}:]
            lines.append(number + b"".join([(b"%d" % end).rjust({FIELD}, b"/") for end in kept[number]]) + place)
        if lines:
            intake.send(b"".join(lines))
    except (BrokenPipeError, ConnectionResetError):
        break
    for number in numbers[count:]:
        for end in kept.pop(number, ()):
            posix.close(end)
"""


class Passing:
    """The sets of descriptors that are ready for calls; `came` is called when there is one again."""

    def __init__(self, host: Host, environment: Mapping[bytes, bytes], ended: Callable[[int, str], None]) -> None:
        self._reactor = host.reactor
        self._is_filling = self._is_forgetting = self._is_over = False
        self._number = 0
        self._sent: dict[bytes, Ends] = {}
        self._ready: list[Ends] = []
        self._forgotten: list[bytes] = []
        self.came: Callable[[], None] = lambda: None
        self._socket, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        argv = [sys.executable or "python3", "-I", "-S", "-c", PROGRAM]
        try:
            host.supervisor.spawn(argv, environment, {INTAKE: theirs.fileno()}, ended)
        except BaseException:
            self._socket.close()
            raise
        finally:
            theirs.close()
        self._reactor.watch(self._socket.fileno(), READABLE, self._hear)
        self._prepare()

    @property
    def is_ready(self) -> bool:
        """Whether there is a set for a call."""
        return bool(self._ready)

    def take(self) -> Ends:
        """Return a set; the next is made ready meanwhile.  `forget` it when a child has begun the call."""
        found = self._ready.pop(0)
        self._prepare()
        return found

    def forget(self, number: bytes) -> None:
        """Have the other process let go of a set: with the next one that it is sent, or in a while."""
        self._forgotten.append(number)
        self._forget_later()

    def _forget_later(self) -> None:
        if not self._is_forgetting:
            self._is_forgetting = True
            self._reactor.after(FORGET_SECONDS, self._forget)

    def _forget(self) -> None:
        self._is_forgetting = False
        some, self._forgotten = self._forgotten[:MOST_FORGOTTEN], self._forgotten[MOST_FORGOTTEN:]
        try:
            if some:
                self._socket.send(b"".join([b"%0*d" % (COUNT, 0), *some]))
        except BlockingIOError:
            self._forgotten = some + self._forgotten
        except OSError:
            return  # it has ended
        if self._forgotten:
            self._forget_later()

    def close(self) -> None:
        """Let go of all sets that no call has."""
        self._is_over = True
        if self._socket.fileno() >= 0:
            self._reactor.forget(self._socket.fileno())
        self._socket.close()
        for ends in (*self._ready, *self._sent.values()):
            ends.close()
        self._ready.clear()
        self._sent.clear()

    def _prepare(self) -> None:
        """Have sets sent: at once if few are left, else in a while, with those that are taken meanwhile."""
        if len(self._ready) + len(self._sent) < FEW:
            self._fill()
        elif not self._is_filling:
            self._is_filling = True
            self._reactor.after(FILL_SECONDS, self._fill_up)

    def _fill_up(self) -> None:
        self._is_filling = False
        self._fill()

    def _fill(self) -> None:
        """Send what is missing: one set, where there is no room for more; without room for one, none for a while."""
        missing = 0 if self._is_over else READY - len(self._ready) - len(self._sent)
        for count in sorted({missing, min(missing, 1)} - {0}, reverse=True):
            try:
                self._send(count)
            except OSError:
                continue
            return
        if missing == READY:
            self._reactor.after(ROOM_SECONDS, self._fill)

    def _send(self, count: int) -> None:
        made: list[Ends] = []
        try:
            for _ in range(count):
                self._number += 1
                made.append(Ends(b"%0*d" % (NUMBER, self._number)))
                made[-1].open()
            rights = b"".join([ends.passed(name).to_bytes(4, "little") for ends in made for name in ORDER])
            some = self._forgotten[:MOST_FORGOTTEN]
            head = b"".join([b"%0*d" % (COUNT, count), *(ends.number for ends in made), *some])
            self._socket.sendmsg([head], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
        except OSError:
            for ends in made:
                ends.close()
            raise
        del self._forgotten[: len(some)]
        self._sent.update((ends.number, ends) for ends in made)

    def _hear(self) -> None:
        """Take what sets are called in the other process.

        If it cannot be heard, no call gets a set any more; the supervisor then tells of its end.
        """
        try:
            data = self._socket.recv(ROOM)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        for start in range(0, len(data), LINE):
            ends = self._sent.pop(data[start : start + NUMBER], None)
            if ends is not None:
                fields = data[start + NUMBER : start + LINE]
                ends.fields = {name: fields[at * FIELD : (at + 1) * FIELD] for at, name in enumerate(ORDER)}
                ends.place = fields[len(ORDER) * FIELD :]
                self._ready.append(ends)
        self.came()


def line_of(number: bytes, ends: Ends) -> bytes:
    """Return what a child reads of a call."""
    return number + b"".join([ends.fields.get(name, b"/" * FIELD) for name in ORDER]) + ends.place
