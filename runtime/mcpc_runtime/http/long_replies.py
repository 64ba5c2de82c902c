"""Answers of more than one piece: sent as the client takes them, and charged until then to the principal that asked."""

from __future__ import annotations

from mcpc_runtime.http.bodies import no_room
from mcpc_runtime.http.replies import respond

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.http.memory_budget import Account
    from mcpc_runtime.http.replies import Pairs, Receive, Reply, Send


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
