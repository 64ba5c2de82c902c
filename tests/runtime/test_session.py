"""The protocol core: every message has exactly the answer its own envelope asks for."""

import json

import pytest

from mcpc_runtime.protocol.effects import Failure, Outcome, StartHandler
from mcpc_runtime.protocol.session import Session
from support.images import ask, image_of, request, small_archive, small_session

ECHO = {"name": "echo", "arguments": {"text": "x"}}


def test_source_validators_decide_as_the_bytecode_does() -> None:
    for same in (True, False):
        session = Session(image_of(small_archive().data, same_python=same))
        assert isinstance(ask(session, request("tools/call", ECHO)), StartHandler)
        assert ask(session, request("tools/call", {"name": "echo", "arguments": {}}, 2))["result"]["isError"] is True


def test_a_call_whose_answer_cannot_be_made_can_still_be_answered() -> None:
    session = small_session()
    start = ask(session, request("tools/call", ECHO))
    with pytest.raises(ValueError):
        session.finish(start.call, Outcome([{"type": "text", "text": float("nan")}]))
    (answer,) = session.finish(start.call, Failure(-32603, "broken"))
    assert json.loads(answer.data)["error"]["code"] == -32603
    assert session.finish(start.call, Failure(-32603, "twice")) == []
