"""Conversion of a script's requests to the client into notes, and of the client's answers into the script's format.

The requests of a call are numbered in order, so that a repeated call uses the same keys.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.protocol.constants import MISSING_CAPABILITY
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, encode, parse

ROOTS_KEY = "roots"
EMPTY_FORM: Json = {"type": "object", "properties": {}}


def roots_request() -> dict[str, Json]:
    """Return the note that requests the client's roots."""
    return {"ask": {ROOTS_KEY: {"method": "roots/list", "params": {}}}, "reply": 0}


def request_key(number: int) -> str:
    """Return the key of a call's elicitation."""
    return f"elicit-{number}"


def parse_elicitation(data: bytes, number: int) -> dict[str, Json] | None:
    """Return the note for the elicitation that a script wrote; None if it is invalid."""
    try:
        question = parse(data)
    except ParseError:
        return None
    if type(question) is not dict or type(question.get("message")) is not str:
        return None
    params: dict[str, Json] = {"mode": "form", "message": question["message"]}
    if question.get("mode") == "url":
        params.update(mode="url", url=question.get("url"))
    else:
        params["requestedSchema"] = question.get("schema") or EMPTY_FORM
    return {"ask": {request_key(number): {"method": "elicitation/create", "params": params}}, "reply": number}


def encode_answer(reply: dict[str, Json], number: int) -> bytes:
    """Return an answer for a script: the user's action and content, as JSON."""
    answers, error = reply.get("answers"), reply.get("error")
    answer = answers.get(request_key(number)) if type(answers) is dict else None
    if type(answer) is dict:
        return encode({"action": answer.get("action"), "content": answer.get("content")})
    is_unable = type(error) is dict and error.get("code") == MISSING_CAPABILITY
    return encode({"action": "decline" if is_unable else "error", "content": None})


def parse_notification(message: dict[str, Json]) -> dict[str, Json] | None:
    """Return the note for a line of the stream, None if it is not a notification."""
    row, params = NOTIFICATIONS.get(str(message.get("method"))), message.get("params")
    return None if row is None or type(params) is not dict else row(params)


def progress_note(params: dict[str, Json]) -> dict[str, Json]:
    """Return the note for a progress notification."""
    return {"progress": params.get("progress"), "total": params.get("total"), "message": params.get("message")}


def log_note(params: dict[str, Json]) -> dict[str, Json]:
    """Return the note for a log message."""
    return {"log": params.get("level"), "logger": params.get("logger"), "data": params.get("data")}


NOTIFICATIONS: dict[str, Callable[[dict[str, Json]], dict[str, Json]]] = {
    "notifications/progress": progress_note,
    "notifications/message": log_note,
}
"""The conversion of each notification that scripts write, by method."""
