"""What a tool says to the client, and asks of it: what it wrote as the protocol has it, and the answer as it reads it.

The questions of a call are numbered in their order, so that a call that is run again asks by the same keys.
"""

from __future__ import annotations

from mcpc_runtime.protocol.jsonrpc import ParseError, encode, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.jsonrpc import Json

ROOTS_KEY = "roots"
EMPTY_FORM: Json = {"type": "object", "properties": {}}
NOT_DECLARED = -32021
"""The code with which a question ends that the client has not said that it can answer."""


def roots_question() -> dict[str, Json]:
    """Return the note that asks for the client's roots."""
    return {"ask": {ROOTS_KEY: {"method": "roots/list", "params": {}}}, "reply": 0}


def key_of(number: int) -> str:
    """Return the key of a call's question."""
    return f"elicit-{number}"


def question_of(data: bytes, number: int) -> dict[str, Json] | None:
    """Return the note that asks what a script wrote; None if that is no question."""
    try:
        said = parse(data)
    except ParseError:
        return None
    if type(said) is not dict or type(said.get("message")) is not str:
        return None
    params: dict[str, Json] = {"mode": "form", "message": said["message"]}
    if said.get("mode") == "url":
        params.update(mode="url", url=said.get("url"))
    else:
        params["requestedSchema"] = said.get("schema") or EMPTY_FORM
    return {"ask": {key_of(number): {"method": "elicitation/create", "params": params}}, "reply": number}


def answer_to(given: dict[str, Json], number: int) -> bytes:
    """Return what a script reads of an answer: what the user did, and what they said."""
    answers, error = given.get("answers"), given.get("error")
    answer = answers.get(key_of(number)) if type(answers) is dict else None
    if type(answer) is dict:
        return encode({"action": answer.get("action"), "content": answer.get("content")})
    is_unable = type(error) is dict and error.get("code") == NOT_DECLARED
    return encode({"action": "decline" if is_unable else "error", "content": None})


def note_of(said: dict[str, Json]) -> dict[str, Json] | None:
    """Return the note that a line of the stream is, None if it is none."""
    row, params = NOTES.get(str(said.get("method"))), said.get("params")
    return None if row is None or type(params) is not dict else row(params)


def progress_of(params: dict[str, Json]) -> dict[str, Json]:
    """Return the note that a notification of progress is."""
    return {"progress": params.get("progress"), "total": params.get("total"), "message": params.get("message")}


def log_of(params: dict[str, Json]) -> dict[str, Json]:
    """Return the note that a message to the log is."""
    return {"log": params.get("level"), "logger": params.get("logger"), "data": params.get("data")}


NOTES: dict[str, Callable[[dict[str, Json]], dict[str, Json]]] = {
    "notifications/progress": progress_of,
    "notifications/message": log_of,
}
"""What scripts write, by its method."""
