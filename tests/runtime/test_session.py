"""The protocol core: every message has exactly the answer its own envelope asks for."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpc_runtime.protocol.effects import Failure, Outcome, StartHandler
from mcpc_runtime.protocol.session import Session
from support.images import MODERN, ask, image_of, request, small_archive, small_session


def initialize(version: object) -> dict:
    return request(
        "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    )


def modern(method: str, meta: dict = MODERN, **params: object) -> dict:
    return request(method, {**params, "_meta": meta})


def test_eras_mix_freely_on_one_connection() -> None:
    session = small_session()
    for _ in range(2):
        assert "resultType" not in ask(session, request("tools/list"))["result"]
        assert ask(session, modern("tools/list"))["result"]["resultType"] == "complete"
        assert ask(session, initialize("2024-11-05"))["result"]["protocolVersion"] == "2024-11-05"
        assert ask(session, modern("server/discover"))["result"]["supportedVersions"] == ["2026-07-28"]


ECHO = {"name": "echo", "arguments": {"text": "x"}}


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda c: (
            st.lists(c)
            | st.dictionaries(
                st.sampled_from(["jsonrpc", "id", "method", "params", "name", "_meta", "arguments", "cursor"]), c
            )
        ),
    )
)
def test_any_json_has_at_most_one_answer(message: object) -> None:
    effects = small_session().receive(json.dumps(message).encode())
    assert len(effects) <= 1


@given(
    st.sampled_from(
        [
            "initialize",
            "ping",
            "tools/list",
            "tools/call",
            "prompts/list",
            "prompts/get",
            "logging/setLevel",
            "server/discover",
        ]
    ),
    st.dictionaries(
        st.sampled_from(["name", "arguments", "cursor", "protocolVersion", "level", "_meta"]),
        st.none() | st.text(max_size=3) | st.just({}) | st.just(MODERN) | st.just("echo") | st.integers(),
    ),
)
def test_any_request_has_exactly_one_answer(method: str, params: dict) -> None:
    effects = small_session().receive(json.dumps(request(method, params)).encode())
    assert len(effects) == 1


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
