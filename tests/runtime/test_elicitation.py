"""What authors ask through a context: types in, forms out; answers in, values out."""

import enum
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pydantic
import pytest

from mcpc_runtime.handlers.python.context import Context, elicitation, roots, sampling
from mcpc_runtime.handlers.python.errors import AskError, ProtocolError, ToolError, UnsupportedError
from support.messages import valid

REVISIONS = ("2025-11-25", "2026-07-28")


class Port:
    """Answers what is asked, in the order of the answers given."""

    cancelled = False

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: dict[str, Any] = {}
        self.rounds: list[list[str]] = []

    def say(self, note: Any) -> None:
        raise AssertionError(note)

    def ask(self, note: Any, read: Any) -> Any:
        questions = note["ask"]
        self.asked.update(questions)
        self.rounds.append(list(questions))
        for question in questions.values():
            for revision in REVISIONS:
                valid(revision, "ServerRequest" if revision < "2026" else "InputRequest", message(question))
        given = self.answers.pop(0)
        return read(given if "error" in given else {"answers": dict.fromkeys(questions, given)})


def message(question: dict[str, Any]) -> dict[str, Any]:
    made = {"jsonrpc": "2.0", "id": 1, **question}
    if question["params"].get("mode") == "url":
        made["params"] = {**question["params"], "elicitationId": "1"}
    return made


def elicit(content: Any, *given: Any, **more: Any) -> tuple[Any, dict[str, Any]]:
    """What a question for the user gives, and the form that the client is sent."""
    port = Port({"action": "accept", "content": content})
    said = Context(port, "t", {}).elicit("?", *given, **more)
    (question,) = port.asked.values()
    return said, question["params"]["requestedSchema"]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Person:
    name: Annotated[str, "What to call you"]
    colour: Colour = Colour.RED
    height: float | None = None
    tags: list[Literal["a", "b"]] = field(default_factory=list)
    made: str = field(default="here", init=False)


class Model(pydantic.BaseModel):
    name: str = pydantic.Field(description="What to call you", min_length=2)
    colour: Colour = Colour.RED
    age: int | None = None
    kind: Literal["one"] = "one"


VALUES: list[tuple[Any, Any, Any, dict[str, Any]]] = [
    (str, "a", "a", {"type": "string"}),
    (int, 2, 2, {"type": "integer"}),
    (bool, True, True, {"type": "boolean"}),
    (float, 2, 2.0, {"type": "number"}),
    (["a", "b"], "b", "b", {"type": "string", "enum": ["a", "b"]}),
    ([["a", "b"]], ["b"], ["b"], {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
    ({"a": {"title": "A"}}, "a", "a", {"type": "string", "oneOf": [{"const": "a", "title": "A"}]}),
    ([{"a": {"title": "A"}}], ["a"], ["a"], {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}),
    (Literal["a", "b"], "a", "a", {"type": "string", "enum": ["a", "b"]}),
    (Colour, "blue", Colour.BLUE, {"type": "string", "enum": ["red", "blue"]}),
    (list[Colour], ["red"], [Colour.RED], {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}}),
]


@pytest.mark.parametrize("case", VALUES, ids=lambda case: str(case[0]))
def test_one_value(case: Any) -> None:
    wanted, sent, value, shape = case
    for given in ({"schema": wanted}, {"response_type": wanted}):
        said, form = elicit({"value": sent}, **given)
        assert form == {"type": "object", "properties": {"value": shape}, "required": ["value"]}
        assert (said.action, said.data, said.content) == ("accept", value, {"value": sent})
        assert type(said.data) is type(value)


def test_a_value_may_be_described() -> None:
    _, form = elicit({"value": "a"}, str, response_title="Name", response_description="Yours")
    assert form["properties"]["value"] == {"type": "string", "title": "Name", "description": "Yours"}


def test_a_dataclass() -> None:
    said, form = elicit({"name": "Ann", "colour": "blue", "height": 2, "tags": ["a"]}, Person)
    assert said.data == Person("Ann", Colour.BLUE, 2.0, ["a"])
    assert form == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "What to call you"},
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "height": {"type": "number"},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        },
        "required": ["name"],
    }
    assert elicit({"name": "Ann"}, Person)[0].data == Person("Ann")


def test_a_model_of_pydantic() -> None:
    said, form = elicit({"name": "Ann", "colour": "blue"}, Model)
    assert said.data == Model(name="Ann", colour=Colour.BLUE)
    assert form["required"] == ["name"]
    assert "$defs" not in form and "$ref" not in str(form)
    assert form["properties"]["colour"]["enum"] == ["red", "blue"]
    assert form["properties"]["age"]["type"] == "integer"
    with pytest.raises(AskError, match="does not match the request"):
        elicit({"name": "A"}, Model)


def test_a_schema_and_no_schema() -> None:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean", "default": True}}}
    said, form = elicit({"ok": False}, schema)
    assert form == schema and said.data == {"ok": False}
    said, form = elicit({})
    assert form == {"type": "object", "properties": {}} and said.data == {}


@pytest.mark.parametrize("wanted", [bytes, list, dict[str, int], object(), tuple[str]])
def test_what_no_form_can_ask_for(wanted: Any) -> None:
    with pytest.raises(TypeError, match="cannot build a form for"):
        elicitation("?", wanted)
    with pytest.raises(TypeError, match="unknown options of elicit: colour"):
        Context(Port(), "t", {}).elicit("?", colour="red")


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_what_is_not_accepted_has_no_data(action: str) -> None:
    said = Context(Port({"action": action, "content": {"value": 1}}), "t", {}).elicit("?", str)
    assert (said.action, said.data, said.content) == (action, None, None)
    assert repr(said) == f"<Elicited {action}>"


def test_an_address() -> None:
    port = Port({"action": "accept"})
    said = Context(port, "t", {}).elicit("Go", url="https://x/")
    assert (said.action, said.data) == ("accept", None)
    assert port.asked["elicitation-1"]["params"] == {"mode": "url", "message": "Go", "url": "https://x/"}


def test_a_model() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    raw = {"role": "assistant", "model": "m", "content": content, "stopReason": "endTurn"}
    port = Port(raw, raw)
    context = Context(port, "t", {})
    said = context.sample("Hi")
    assert (said.text, said.content, said.model, said.raw, said.stop_reason) == ("a\nb", content, "m", raw, "endTurn")
    image = {"role": "assistant", "content": {"type": "image", "data": "", "mimeType": "image/png"}}
    options = {"max_tokens": 9, "system_prompt": "s", "temperature": 0.5, "model_preferences": "opus", "key": "k"}
    context.sample(["Hi", image, {"role": "user", "content": "there"}], **options)
    assert port.asked["sampling-1"]["params"] == {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}],
        "maxTokens": 512,
    }
    asked = port.asked["k"]["params"]
    assert [turn["content"]["type"] for turn in asked["messages"]] == ["text", "image", "text"]
    assert (asked["maxTokens"], asked["systemPrompt"], asked["temperature"]) == (9, "s", 0.5)
    assert asked["modelPreferences"] == {"hints": [{"name": "opus"}]}


def test_places() -> None:
    (found,) = Context(Port({"roots": [{"uri": "file:///a"}]}), "t", {}).list_roots()
    assert (found, found.uri, found.name) == ({"uri": "file:///a"}, "file:///a", None)


def test_several_at_once_by_keys_of_one_s_own() -> None:
    raw = {"action": "accept", "content": {}, "roots": []}
    port = Port(raw)
    assert Context(port, "t", {}).ask({"a": elicitation("?"), "b": roots()}) == {"a": raw, "b": raw}
    assert port.rounds == [["a", "b"]]
    assert sampling("Hi", max_tokens=1)["params"]["maxTokens"] == 1


def test_keys_count_what_is_asked_of_a_kind() -> None:
    raw = {"action": "accept", "content": {}, "roots": [], "role": "assistant", "model": "m"}
    port = Port(*[{**raw, "content": {"type": "text", "text": ""}}] * 6)
    context = Context(port, "t", {})
    context.elicit("?")
    context.sample("?")
    context.elicit("?", key="mine")
    context.elicit("?")
    context.list_roots()
    context.sample("?")
    keys = [key for (key,) in port.rounds]
    assert keys == ["elicitation-1", "sampling-1", "mine", "elicitation-2", "roots-1", "sampling-2"]


def test_errors() -> None:
    refused = {"error": {"code": -1, "message": "no", "data": {"a": 1}}}
    with pytest.raises(AskError) as raised:
        Context(Port(refused), "t", {}).elicit("?")
    assert (str(raised.value), raised.value.code, raised.value.data) == ("no", -1, {"a": 1})
    assert isinstance(raised.value, ToolError) and not isinstance(raised.value, ProtocolError)
    missing = {"error": {"code": -32021, "message": "cannot"}}
    with pytest.raises(UnsupportedError) as raised:
        Context(Port(missing), "t", {}).sample("?")
    assert isinstance(raised.value, (AskError, ProtocolError)) and raised.value.code == -32021
    with pytest.raises(ValueError, match="unknown list cats"):
        Context(Port(), "t", {}).list_changed("cats")


CAPABILITIES = {
    "elicitation": {"url": {}},
    "sampling": {"tools": {}, "context": None},
    "roots": {"listChanged": True},
    "extensions": {"io.example/x": {}, "io.example/y": None},
}
SUPPORTED = {
    "elicitation": False, "elicitation.form": False, "elicitation.url": True, "sampling": True, "sampling.tools": True,
    "sampling.context": False, "roots": True, "io.example/x": True, "io.example/y": False, "io.example/z": False,
    "other": False, "": False,
}  # fmt: skip


def test_what_the_client_can() -> None:
    context = Context(Port(), "t", {}, {"client": CAPABILITIES, "answers": {"k": 1}})
    assert {name: context.supports(name) for name in SUPPORTED} == SUPPORTED
    assert context.answers == {"k": 1}
    assert Context(Port(), "t", {}, {"client": {"elicitation": {}}}).supports("elicitation")
    assert not Context(Port(), "t", {}).supports("elicitation")
    assert Context(Port(), "t", {}).answers == {}
