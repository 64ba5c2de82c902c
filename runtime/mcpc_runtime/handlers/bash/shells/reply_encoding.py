"""Encoding of replies to Bash functions: a status digit and a text.

0: success.  1: another tool failed, or the user declined.  2: the user cancelled.  3: no answer; the text says why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpc_runtime.protocol.jsonrpc import encode

Object = dict[str, Any]


SUCCESS, DECLINED, CANCELLED, UNAVAILABLE = range(4)
ACTIONS = {"accept": SUCCESS, "decline": DECLINED, "cancel": CANCELLED}


def encode_tool_result(result: Object) -> tuple[int, bytes]:
    """Encode the result of another tool: its texts, joined by line breaks."""
    blocks = result.get("content") or ()
    texts = [block["text"] for block in blocks if type(block) is dict and type(block.get("text")) is str]
    return int(result.get("isError") is True), "\n".join(texts).encode("utf-8", "replace")


def encode_answers(response: Object) -> tuple[int, bytes]:
    """Encode the client's answers as JSON: the answer of a single question, else an object of answers."""
    if "error" in response:
        return UNAVAILABLE, str(response["error"].get("message")).encode("utf-8", "replace")
    answers = list(response["answers"].values())
    return SUCCESS, encode(answers[0] if len(answers) == 1 else response["answers"])


def encode_form_answer(response: Object) -> tuple[int, bytes]:
    """Encode the user's action, and the form's fields as JSON."""
    if "error" in response:
        return encode_answers(response)
    (answer,) = response["answers"].values()
    return ACTIONS[answer["action"]], encode(answer.get("content", {})) if answer["action"] == "accept" else b"{}"


ENCODERS: dict[str, Callable[[Object], tuple[int, bytes]]] = {
    "ask": encode_answers,
    "call": encode_tool_result,
    "form": encode_form_answer,
}
