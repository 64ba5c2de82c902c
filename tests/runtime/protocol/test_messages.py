"""Messages of the protocol core: their answers, completion, what is forwarded, and arguments that are corrected."""

import copy
import json
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers.python.bindings.named import call_by_names
from mcpc_runtime.protocol import tolerance
from mcpc_runtime.protocol.constants import CLIENT_INFO_KEY
from mcpc_runtime.protocol.effects import Failure, Outcome, StartHandler
from mcpc_runtime.protocol.run_time_lists import KEYS, MAX_METHOD, forward_request, is_forwarded
from mcpc_runtime.protocol.session import METHODS, Session
from support.images import MODERN, archive, ask, image_of, project, request, small_archive, small_session, tool

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer", "minimum": 0},
        "share": {"type": "number"},
        "force": {"type": "boolean"},
        "names": {"type": "array", "items": {"type": "integer"}},
        "maybe": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        "filter": {
            "type": "object",
            "properties": {"limit": {"type": "integer"}, "by": {"enum": ["a", "b"]}},
            "additionalProperties": False,
        },
        "level": {"enum": [1, 2]},
        "either": {"type": ["integer", "string"]},
        "a/b~c": {"type": "integer"},
    },
    "required": ["text"],
    "additionalProperties": False,
}
META: dict[str, Any] = {**MODERN}


@cache
def built() -> bytes:
    return archive(project([tool("do", SCHEMA), tool("other", {"type": "object", "properties": {"x": True}})])).data


def session_of(tolerant: str = "1") -> Session:
    image = image_of(built())
    image.tolerant = tolerant
    return Session(image)


def called(session: Session, arguments: Any, **meta: Any) -> Any:
    params = {"name": "do", "arguments": arguments, **({"_meta": meta} if meta else {})}
    return ask(session, json.loads(json.dumps(request("tools/call", params))))


CORRECTED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"sessionId": "s", "toolCallId": 1}, {}),
    ({"count": None, "filter": None, "level": None, "share": None}, {}),
    ({"count": "3"}, {"count": 3}),
    ({"count": "-0", "share": "2.5e1"}, {"count": 0, "share": 25.0}),
    ({"share": " 7 "}, {"share": 7}),
    ({"force": "true"}, {"force": True}),
    ({"force": "False"}, {"force": False}),
    ({"names": "[1, 2]"}, {"names": [1, 2]}),
    ({"names": '["1", "2"]'}, {"names": [1, 2]}),
    ({"names": ["1", 2]}, {"names": [1, 2]}),
    ({"maybe": '["x"]'}, {"maybe": ["x"]}),
    ({"maybe": None}, {"maybe": None}),
    ({"filter": '{"limit": "5", "more": 1}'}, {"filter": {"limit": 5}}),
    ({"filter": {"limit": "5", "by": None}}, {"filter": {"limit": 5}}),
    ({"level": "2"}, {"level": 2}),
    ({"either": "5", "extra": 1}, {"either": "5"}),
    ({"a/b~c": "5"}, {"a/b~c": 5}),
    ({"names": [str(number) for number in range(500)]}, {"names": [*range(500)]}),
]


@pytest.mark.parametrize("meta", [{}, META])
@pytest.mark.parametrize(("given", "expected"), CORRECTED)
def test_arguments_are_corrected_in_both_eras(
    given: dict[str, Any], expected: dict[str, Any], meta: dict[str, Any]
) -> None:
    started = called(session_of(), {"text": "t", **given}, **meta)
    assert isinstance(started, StartHandler)
    assert started.call.arguments == {"text": "t", **expected}
    assert str(started.call.arguments) == str({"text": "t", **expected}), "5 and 5.0 and true differ"


WRONG: list[dict[str, Any]] = [
    {"count": "three"}, {"count": "3x"}, {"count": "1.5"}, {"count": "-1"}, {"count": ""}, {"count": "NaN"}, {"count": []},
    {"share": "1e999"}, {"force": 1}, {"force": "yes"}, {"names": "1"}, {"names": 1}, {"names": [None]}, {"names": "[1"},
    {"names": "[" * 5000}, {"filter": "[]"}, {"filter": {"by": "c"}}, {"level": "3"}, {"text": 5}, {"text": None, "x": 1},
    {"count": "three", "extra": 1}, {"count": "9" * 5000}, {"names": f"[{'1,' * (1 << 19)}1]"},
]  # fmt: skip


@pytest.mark.parametrize("given", WRONG, ids=lambda given: json.dumps(given)[:30])
def test_what_cannot_be_corrected_is_answered_as_without_tolerance(given: dict[str, Any]) -> None:
    arguments = {"text": "t", **given}
    answer = called(session_of(), copy.deepcopy(arguments))
    assert answer == called(session_of(""), arguments)
    assert answer["result"]["isError"]


def test_arguments_as_text_are_an_object() -> None:
    started = called(session_of(), '{"text": "t", "count": "1"}')
    assert started.call.arguments == {"text": "t", "count": 1}
    for given in ("t", "[]", 5, [], "null"):
        assert called(session_of(), given) == called(session_of(""), given)
        assert called(session_of(), given)["error"]["code"] == -32602


def test_a_missing_property_with_an_empty_name_is_not_the_whole_object() -> None:
    assert tolerance.Correction({"": None}).correct("", "required", "x") is False


def test_valid_arguments_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tolerance, "corrected", None)
    assert called(session_of(), {"text": "t"}).call.arguments == {"text": "t"}


KNOWN = sorted(tolerance.KNOWN_CLIENTS)


@pytest.mark.parametrize(("name", "is_known"), [*((name, True) for name in KNOWN), ("claude", False), (None, False)])
def test_known_clients_are_tolerated_by_what_they_say_of_themselves(name: object, is_known: bool) -> None:
    session = session_of("auto")
    information = {"name": name, "version": "1"}
    initialize = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": information}
    ask(session, request("initialize", initialize))
    wrong = {"text": "t", "extra": 1}
    assert isinstance(called(session, wrong), StartHandler) is is_known
    assert (
        isinstance(called(session_of("auto"), wrong, **META, **{CLIENT_INFO_KEY: information}), StartHandler)
        is is_known
    )
    assert isinstance(called(session_of("auto"), wrong), StartHandler) is False
    assert isinstance(called(session_of("auto"), wrong, **META, **{CLIENT_INFO_KEY: name}), StartHandler) is False
    ask(session_of(""), request("initialize", initialize))
    assert isinstance(called(session_of(""), wrong, **META, **{CLIENT_INFO_KEY: information}), StartHandler) is False


def test_a_client_that_begins_anew_is_another_one() -> None:
    session = session_of("auto")
    for name, is_known in ((KNOWN[0], True), ("other", False)):
        information = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name}}
        ask(session, request("initialize", information))
        assert session.is_tolerated is is_known


EXTENSIONS = ("skills/", "tasks/")
CORE = [*(name for name in METHODS if not name.startswith(EXTENSIONS)), *KEYS, "ping", "server/discover"]


def session(*, forwards: bool = True, choice: object = None, allows: object = None) -> Any:
    image = SimpleNamespace(run_time={"forwards": True} if forwards else {}, choice=choice)
    return SimpleNamespace(image=image, allows=allows)


@pytest.mark.parametrize("method", ["skills/list", "skills/get", "tasks/get", "x", "com.example/ask", "m" * MAX_METHOD])
def test_a_method_of_an_extension_is_forwarded(method: str) -> None:
    assert is_forwarded(session(), method)


@pytest.mark.parametrize("method", [*CORE, "tools/nothing", "m" * (MAX_METHOD + 1)])
def test_a_method_of_the_protocol_or_a_very_long_one_is_not(method: str) -> None:
    assert not is_forwarded(session(), method)


def test_nothing_is_forwarded_where_tools_are_narrowed_or_no_program_answers() -> None:
    assert not is_forwarded(session(forwards=False), "skills/list")
    assert not is_forwarded(session(choice=object()), "skills/list")
    assert not is_forwarded(session(allows=lambda _: True), "skills/list")


def test_the_program_gets_the_parameters_without_what_describes_the_client() -> None:
    definition = SimpleNamespace(name="skills/list", seconds=5.0)
    image = SimpleNamespace(run_time_definition=lambda _: definition)
    request: Any = SimpleNamespace(method="skills/list", params={"cursor": "c", "_meta": {"x": 1}})
    call = forward_request(SimpleNamespace(image=image), request)  # type: ignore[arg-type]
    assert (call.arguments, call.definition, call.request, call.is_tool) == (
        {"cursor": "c"},
        definition,
        request,
        False,
    )


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


def test_functions_take_as_much_as_they_name() -> None:
    def one(value: str) -> list[str]:
        return [value]

    def both(context_arguments: dict, *, value: str) -> list[str]:
        return [value, *context_arguments]

    def every(**given: Any) -> list[str]:
        return list(given)

    def none() -> list[str]:
        return []

    def wrapped(*words: Any, **given: Any) -> list[str]:
        return one(*words, **given)

    wrapped.__wrapped__ = one  # type: ignore[attr-defined]
    given = {"value": "x", "context_arguments": {"a": "b"}}
    found = [call_by_names(function, given, {}) for function in (one, both, every, none, wrapped)]
    assert found == [["x"], ["x", "a"], ["value", "context_arguments"], [], ["x"]]
