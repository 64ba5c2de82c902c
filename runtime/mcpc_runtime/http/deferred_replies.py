"""Replies that are not sent at once: those of requests that wait for their turn, and long ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcpc_runtime.http.bodies import no_room
from mcpc_runtime.http.memory_budget import WAITING_COST, MemoryAccount
from mcpc_runtime.http.replies import Answer, Pairs, Receive, Reply, Send, respond


class DeferredRequest:
    """A request that waits for its turn, or for the result of its authentication.

    `admit`: waits for both, and returns the refusal of a request that is not allowed.  `answer`: then handles the body.
    `account`: charged for the body meanwhile.
    """

    def __init__(
        self,
        admit: Callable[[], Awaitable[Reply | None]],
        answer: Callable[[], Answer],
        account: MemoryAccount,
        size: int,
    ) -> None:
        self._admit = admit
        self._answer = answer
        self._account = account
        self._size = WAITING_COST + size

    async def serve(self, receive: Receive, send: Send, more: Pairs) -> Reply | None:
        """Answer when the request may begin; refuse it if the memory budget has no room for it to wait."""
        has_room = self._account.charge(self._size)
        try:
            refused = await self._admit()  # in any case: introspection may have begun
        finally:
            self._account.clear()
        answer = refused or (self._answer() if has_room else no_room())
        return answer if isinstance(answer, tuple) else await answer.serve(receive, send, more)


class LongReply:
    """A reply that is sent in chunks; `account`: charged until it is sent."""

    __slots__ = ("_account", "reply")

    def __init__(self, reply: Reply, account: MemoryAccount) -> None:
        self.reply = reply
        self._account = account

    async def serve(self, _: Receive, send: Send, more: Pairs) -> Reply | None:
        """Send it; return a refusal if there is no room for it."""
        status, headers, body = self.reply
        try:
            if not self._account.charge(len(body)):
                return no_room()
            await respond(send, (status, headers + more, body))
        finally:
            self._account.clear()
        return None
