"""JSON-RPC batches, for the revisions that have them: an array of messages, answered together in one array."""

from __future__ import annotations

from mcpc_runtime.protocol.effects import Batch, Send
from mcpc_runtime.protocol.facts import INVALID_REQUEST
from mcpc_runtime.protocol.jsonrpc import error_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.effects import Call, Effect
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.session_state import SessionState

    Receive = Callable[[Json, Batch | None], list[Effect]]

MOST = 256
"""So many messages may a batch have: what is answered to one can be many times as long as the message."""


def receive_batch(session: SessionState, messages: list[Json], receive: Receive) -> list[Effect]:
    """Return the effects of an array of messages, each of which `receive` takes."""
    reason = refusal(session, messages)
    if reason:
        return [Send(error_line(None, INVALID_REQUEST, f"Invalid request: {reason}"), None, INVALID_REQUEST)]
    batch = Batch()
    effects: list[Effect] = []
    for message in messages:
        for effect in receive(message, batch):
            if type(effect) is Send:
                batch.replies.append(effect.data)
            else:
                effects.append(effect)
    return [*effects, *answers(batch)]


def refusal(session: SessionState, messages: list[Json]) -> str:
    """Return why an array is not taken as a whole, or nothing."""
    if not messages:
        return "the batch is empty"
    if not session.handshake_wire().batches:
        return "this protocol version has no batches"
    return f"a batch has at most {MOST} messages" if len(messages) > MOST else ""


def close_batch(call: Call, line: bytes | None) -> list[Effect]:
    """Count a call of a batch as done, with its reply if it has one; the last one done answers the batch."""
    batch = call.request.batch
    if batch is None:
        return []
    batch.open -= 1
    if line is not None:
        batch.replies.append(line)
    return answers(batch)


def answers(batch: Batch) -> list[Effect]:
    """Return the answer to a batch once nothing of it is open; a batch of notifications has none."""
    if batch.open or not batch.replies:
        return []
    lines = b",".join(line.rstrip(b"\n") for line in batch.replies)
    batch.replies = []
    return [Send(b"[%b]\n" % lines)]
