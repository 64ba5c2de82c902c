"""Replies that are not sent at once: of requests that wait for their turn, and those that are sent in pieces."""

from __future__ import annotations

from mcpc_runtime.http.bodies import no_room
from mcpc_runtime.http.memory_budget import WAITING_COST
from mcpc_runtime.http.replies import PROTECTED, respond

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from mcpc_runtime.http.memory_budget import Account
    from mcpc_runtime.http.replies import Pairs, Receive, Reply, Send


class Unauthorized:
    """Somebody who is not let in; `refusal`: the answer."""

    def __init__(self, refusal: Any) -> None:
        self.refusal: Reply = (refusal.status, [*PROTECTED, *refusal.headers], refusal.body)


class DeferredRequest:
    """A request that waits for its turn, or for an answer about who sends it.

    `found` says who that is when it may begin, and `post` takes its body then; until then `account` is charged for it.
    """

    def __init__(
        self, post: Callable[[Any], Any], found: Callable[[], Awaitable[Any]], account: Account, size: int
    ) -> None:
        self._post = post
        self._found = found
        self._account = account
        self._size = WAITING_COST + size

    async def serve(self, receive: Receive, send: Send, more: Pairs) -> None:
        """Answer when it may begin; at once if there is no room for it to wait."""
        has_room = self._account.charge(self._size)
        try:
            found = await self._found()  # it is asked in any case: somebody may be answering already
        finally:
            self._account.clear()
        refused = Unauthorized(found).refusal if hasattr(found, "status") else None
        made: Any = refused or (self._post(found) if has_room else no_room())
        if type(made) is tuple:
            status, headers, body = made
            await respond(send, (status, headers + more, body))
        else:
            await made.serve(receive, send, more)


class LongReply:
    """A long answer that is there; `account`: that of the principal."""

    __slots__ = ("_account", "_reply")

    def __init__(self, reply: Reply, account: Account) -> None:
        self._reply = reply
        self._account = account

    async def serve(self, _: Receive, send: Send, more: Pairs) -> None:
        """Send it, or say that there is no room for it."""
        status, headers, body = self._reply
        try:
            has_room = self._account.charge(len(body))
            await respond(send, (status, headers + more, body) if has_room else no_room())
        finally:
            self._account.clear()
