"""What a Bash function is handed of an answer: a digit that says what it means, and a text.

0: it is there.  1: another tool failed, or the user declined.  2: the user did not decide.  3: there is none, and why.
"""

from __future__ import annotations

from mcpc_runtime.protocol.jsonrpc import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Object = dict[str, Any]

THERE, DECLINED, UNDECIDED, NONE = range(4)
ACTIONS = {"accept": THERE, "decline": DECLINED, "cancel": UNDECIDED}


def of_call(result: Object) -> tuple[int, bytes]:
    """Return what another tool answered: its texts, one after the other."""
    blocks = result.get("content") or ()
    texts = [block["text"] for block in blocks if type(block) is dict and type(block.get("text")) is str]
    return int(result.get("isError") is True), "\n".join(texts).encode("utf-8", "replace")


def of_question(given: Object) -> tuple[int, bytes]:
    """Return what the client answered: as JSON, of several questions an object of answers."""
    if "error" in given:
        return NONE, str(given["error"].get("message")).encode("utf-8", "replace")
    answers = list(given["answers"].values())
    return THERE, encode(answers[0] if len(answers) == 1 else given["answers"])


def of_form(given: Object) -> tuple[int, bytes]:
    """Return what the user did, and the form's fields as JSON."""
    if "error" in given:
        return of_question(given)
    (answer,) = given["answers"].values()
    return ACTIONS[answer["action"]], encode(answer.get("content", {})) if answer["action"] == "accept" else b"{}"


WORDS: dict[str, Callable[[Object], tuple[int, bytes]]] = {"ask": of_question, "call": of_call, "form": of_form}
