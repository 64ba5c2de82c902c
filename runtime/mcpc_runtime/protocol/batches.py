"""JSON-RPC batches, for the revisions that have them: an array of messages, answered together in one array."""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.protocol.constants import INVALID_REQUEST
from mcpc_runtime.protocol.effects import Activity, Effect, SessionState
from mcpc_runtime.protocol.jsonrpc import Json, error_line
from mcpc_runtime.protocol.requests import Batch, SendResponse

Receive = Callable[[Json, Batch | None], list[Effect]]


MAX_MESSAGES = 256
"""Maximum number of messages in a batch; the response to a message can be many times longer than the message."""


def receive_batch(session: SessionState, messages: list[Json], receive: Receive) -> list[Effect]:
    """Return the effects of an array of messages; `receive` handles each of them."""
    reason = batch_refusal(session, messages)
    if reason:
        return [SendResponse(error_line(None, INVALID_REQUEST, f"Invalid request: {reason}"), None, INVALID_REQUEST)]
    batch: Batch = {"open": 0, "replies": []}
    effects: list[Effect] = []
    for message in messages:
        for effect in receive(message, batch):
            # Not `isinstance`: a SendMessage is no reply, and leaves at once.
            if type(effect) is SendResponse:
                batch["replies"].append(effect.data)
            else:
                effects.append(effect)
    return [*effects, *batch_response(batch)]


def batch_refusal(session: SessionState, messages: list[Json]) -> str:
    """Return why an array is refused as a whole, or an empty string."""
    if not messages:
        return "the batch is empty"
    if not session.handshake_wire().batches:
        return "this protocol version does not support batches"
    return f"a batch has at most {MAX_MESSAGES} messages" if len(messages) > MAX_MESSAGES else ""


def close_batch(call: Activity, line: bytes | None) -> list[Effect]:
    """Count a call of a batch as done and add its reply, if it has one; the last call sends the batch's response."""
    batch = call.request.batch
    if batch is None:
        return []
    batch["open"] -= 1
    if line is not None:
        batch["replies"].append(line)
    return batch_response(batch)


def batch_response(batch: Batch) -> list[Effect]:
    """Return the response to a batch once none of its calls is open; a batch of notifications has no response."""
    # No empty array is sent (JSON-RPC 2.0, section 6).
    if batch["open"] or not batch["replies"]:
        return []
    lines = b",".join(line.rstrip(b"\n") for line in batch["replies"])
    batch["replies"] = []
    return [SendResponse(b"[%b]\n" % lines)]
