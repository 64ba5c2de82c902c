"""Answers of more than one piece: sent as the client takes them, and charged until then to the principal that asked."""

from __future__ import annotations

from mcpc_runtime.http.bodies import no_room
from mcpc_runtime.http.replies import PIECE, respond

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.http.memory_budget import Account, MemoryBudget
    from mcpc_runtime.http.replies import Pairs, Receive, Reply, Send


def in_pieces(made: Any, budget: MemoryBudget, principal: str) -> Any:
    """Return what a request came to; instead of a reply that is long, what sends it."""
    if type(made) is tuple and len(made[2]) > PIECE:
        return LongReply(made, budget.account(principal))
    return made


class LongReply:
    """A long answer that is there."""

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
