"""The memory budget: the maximum bytes that clients can make this process store.

Bytes are charged to a principal before they are stored, and released afterwards.  At the limit a request is refused, or
a stream is ended.  Rule: a principal may hold no more than what is free for all others.  So a single principal gets
half of the budget, two get a third each, and there is always room for another one.  Without authentication all clients
are one principal, which gets all of it.
"""

from __future__ import annotations

from mcpc_runtime.protocol.values import count_structure

MIB = 1 << 20
MIN_LIMIT = 32 * MIB
DEFAULT_LIMIT = 512 * MIB
RESERVE, RESERVE_PART = 64 * MIB, 4
"""This part of the limit, at most a quarter, stays free: an answer is copied while it is built."""
CONNECTIONS = None
"""The holder of bytes whose principal is not known: those of connections, before a request is parsed."""
CONNECTIONS_PART = 4
"""Connections may hold a quarter of the budget."""
NEW_CONNECTIONS_PART = 4
"""A quarter of that is for connections without data, so that there is room for new ones."""
PLENTY_PART = 4
"""While no more than this part is held, any small request has room."""
CONNECTION_COST = 16 << 10
"""The bytes of a connection with a small request, without the system's buffers."""
FREE_AHEAD = 4096
"""How many buffered bytes of a connection CONNECTION_COST includes."""
WAITING_COST = 16 << 10
"""The bytes of a request that waits for its answer, without its body: task, timers, the connection's buffers."""
EVENT_COST = 64
"""The overhead of a queued event."""
VALUE_COST = 120
"""The maximum overhead of a parsed value: `{"":0}` is three values, of 232 bytes."""
SMALL, SMALL_FACTOR = 4096, 40
"""A body up to this length is not examined: it is charged for the worst case."""
WIDE_FACTOR = 4


class MemoryBudget:
    """The bytes that are held, in all and by principal.  O(1) for each charge."""

    __slots__ = ("_by_principal", "_usable", "for_new_connections", "held", "limit", "plenty")

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        self._usable = limit - min(RESERVE, limit // RESERVE_PART)
        self.plenty = self._usable // PLENTY_PART
        """While no more than this is held, any principal has room for one small request."""
        self.for_new_connections = self._usable // CONNECTIONS_PART // NEW_CONNECTIONS_PART
        """The part of connections without data, in bytes."""
        self.held = 0
        self._by_principal: dict[str | None, int] = {}

    def held_by(self, principal: str | None) -> int:
        """Return how many bytes a principal holds."""
        return self._by_principal.get(principal, 0)

    def charge(self, principal: str | None, size: int, leaving: int = 0) -> bool:
        """Charge bytes to a principal; return False, and charge nothing, if that is too much.

        `leaving`: how many bytes of the principal's share must stay free.
        """
        total, total_of_principal = self.held + size, self._by_principal.get(principal, 0) + size
        if principal is CONNECTIONS:
            room = self._usable
            most = room // CONNECTIONS_PART
        else:
            # What is reserved for new connections and not used by them is for nobody else.
            room = self._usable - max(0, self.for_new_connections - self._by_principal.get(CONNECTIONS, 0))
            # What is left for others after this charge; the anonymous principal is all clients, and there are no
            # others.
            most = room - total if principal else room
        if total > room or total_of_principal > most - leaving:
            return False
        self.held = total
        self._by_principal[principal] = total_of_principal
        return True

    def hold(self, principal: str | None, size: int) -> None:
        """Charge bytes for which there was room (`plenty`)."""
        self.held += size
        self._by_principal[principal] = self._by_principal.get(principal, 0) + size

    def release(self, principal: str | None, size: int) -> None:
        """Release bytes of a principal."""
        left = self._by_principal.get(principal, 0) - size
        self.held -= size
        if left > 0:
            self._by_principal[principal] = left
        else:
            self._by_principal.pop(principal, None)

    def account(self, principal: str | None) -> MemoryAccount:
        """Return a new account of a principal."""
        return MemoryAccount(self, principal)


class MemoryAccount:
    """The bytes that one object, such as a request or a stream, holds of its principal's share; cleared at its end.

    `due`: the bytes to charge when it is certain that the object stays for longer.
    """

    __slots__ = ("_budget", "_has_ended", "_principal", "due", "held")

    def __init__(self, budget: MemoryBudget, principal: str | None) -> None:
        self._budget = budget
        self._principal = principal
        self._has_ended = False
        self.held = self.due = 0

    def charge(self, size: int) -> bool:
        """Charge more bytes; return False if that is too much."""
        if self._has_ended or not self._budget.charge(self._principal, size):
            return False
        self.held += size
        return True

    def admit(self) -> bool:
        """Charge what is due, or leave it due if there is plenty of room; return False if there is no room."""
        if self._budget.held + self.due <= self._budget.plenty:
            return True
        due, self.due = self.due, 0
        return self.charge(due)

    def charge_due(self) -> None:
        """Charge what `admit` has left due."""
        if self.due:
            self._budget.hold(self._principal, self.due)
            self.held += self.due
            self.due = 0

    def release(self, size: int) -> None:
        """Release some of the bytes."""
        size = min(size, self.held)
        self.held -= size
        self._budget.release(self._principal, size)

    def set(self, size: int) -> bool:
        """Change the bytes to a total; return False, and change nothing, if that is too much."""
        if size > self.held:
            return self.charge(size - self.held)
        self.release(self.held - size)
        return True

    def clear(self) -> None:
        """Release all bytes."""
        if self.held:
            self._budget.release(self._principal, self.held)
            self.held = 0

    def end(self) -> None:
        """Release all bytes, and refuse further charges."""
        self._has_ended = True
        self.clear()


def cost_of(body: bytes) -> int:
    """Return the maximum bytes of a message while it is answered: raw, as text, as values, and a copy of the values.

    O(its length), 2 nanoseconds a byte.  Text that is not ASCII, or has escapes, may take four bytes a character.
    """
    size = len(body)
    if size <= SMALL:
        return size * SMALL_FACTOR
    width = 1 if body.isascii() and b"\\u" not in body else WIDE_FACTOR
    return size * (2 + 2 * width) + VALUE_COST * count_structure(body)
