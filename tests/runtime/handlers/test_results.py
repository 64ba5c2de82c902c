"""The contracts of handlers: what each call gives its runner, and the checks before a handler's value is passed on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime.handlers import results
from mcpc_runtime.handlers.bash import contract as bash_contract
from mcpc_runtime.handlers.executable import command_line
from mcpc_runtime.handlers.executable import contract as executable_contract
from mcpc_runtime.handlers.files import contract as file_contract
from mcpc_runtime.handlers.invocations import FileResult
from mcpc_runtime.handlers.python import contract as python_contract
from mcpc_runtime.handlers.static import contract as static_contract
from mcpc_runtime.protocol.effects import Outcome, PromptOutcome
from mcpc_runtime.transports.platforms import system
from support.contracts import GOLDEN, became, call_of, filled, process_result

TEXT = {"type": "text", "text": "t"}
IMAGE = {"type": "image", "data": "AA==", "mimeType": "image/png"}
AUDIO = {**IMAGE, "type": "audio"}
LINK = {"type": "resource_link", "uri": "test://x", "name": "x"}
HELD = {"type": "resource", "resource": {"uri": "test://x", "text": "t"}}


def without(value: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: part for key, part in value.items() if key != name}


def held(**resource: Any) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": "test://x", **resource}}


BLOCKS: list[Any] = [
    TEXT, IMAGE, AUDIO, LINK, HELD, {**TEXT, "other": 5}, {**TEXT, "text": ""},
    held(blob="AA=="), held(text="t", mimeType="a/b", _meta={}, other=1),
    {**LINK, "title": "", "description": "d", "mimeType": "a/b", "size": 0, "_meta": {}, "annotations": {}, "icons": []},
    {**TEXT, "annotations": {"audience": ["user", "assistant"], "priority": 1, "lastModified": "x"}},
    {**TEXT, "annotations": {"audience": [], "priority": 0, "other": 5}}, {**TEXT, "annotations": {"priority": 0.5}},
    {**LINK, "icons": [{"src": "a"}, {"src": "b", "sizes": 5}]},
]  # fmt: skip
NO_BLOCKS: list[Any] = [
    None, "text", [TEXT], {}, {"text": "t"}, {"type": 5, "text": "t"}, {"type": []}, {"type": "odd", "text": "t"}, {"type": "text"},
    {**TEXT, "text": 5}, {**IMAGE, "data": b""}, {**IMAGE, "mimeType": None}, {**LINK, "uri": 5}, {**LINK, "name": 5},
    *(without(block, name) for block in (IMAGE, AUDIO) for name in ("data", "mimeType")), without(HELD, "resource"),
    without(LINK, "uri"), without(LINK, "name"), held(), held(text="t", blob=""), held(blob="A"), held(text=5),
    held(text="t", _meta=5), held(text="t", mimeType=5), {"type": "resource", "resource": {"text": "t"}},
    {"type": "resource", "resource": {"uri": 5, "text": "t"}}, {"type": "resource", "resource": "test://x"},
    {**LINK, "title": 5}, {**LINK, "description": 5}, {**LINK, "mimeType": 5}, {**LINK, "size": "1"}, {**LINK, "size": True},
    {**LINK, "_meta": []}, {**TEXT, "annotations": []}, {**TEXT, "annotations": {"audience": "user"}},
    {**TEXT, "annotations": {"audience": ["user", "other"]}}, {**TEXT, "annotations": {"priority": 1.01}},
    {**TEXT, "annotations": {"priority": -0.01}}, {**TEXT, "annotations": {"priority": "1"}},
    {**TEXT, "annotations": {"priority": True}}, {**TEXT, "annotations": {"lastModified": 5}},
    {**LINK, "icons": {}}, {**LINK, "icons": [{"src": 5}]}, {**LINK, "icons": [{"src": "a"}, {}]}, {**LINK, "icons": ["a"]},
]  # fmt: skip


def test_a_block_has_a_known_type_and_its_fields() -> None:
    assert [value for value in BLOCKS if results.is_block(value) is not True] == []
    assert [value for value in NO_BLOCKS if results.is_block(value) is not False] == []


@pytest.mark.parametrize(
    ("check", "valid", "invalid"),
    [
        (results.is_content, [[TEXT], [TEXT, IMAGE]], [[], TEXT, [TEXT, 5], None]),
        (results.is_result, [{"content": []}, {"content": [TEXT], "structuredContent": 5, "isError": 5, "_meta": 5}],
         [{}, [TEXT], {"content": TEXT}, {"content": [5]}, {"content": [], "other": 1}, {"isError": True}]),
        (results.is_blob, [{results.BLOB: "AA=="}], [{}, "AA==", {results.BLOB: "AA==", "other": 1}]),
        (results.is_base64, ["", "AA==", "AAA="], ["A", "AA", "AA=", "AA==A", "A A=", 5]),
        (results.is_contents, [{"text": ""}, {"blob": ""}, {"text": "t", "uri": "u", "mimeType": "m", "_meta": {}}],
         [{}, "text", {"text": "t", "other": 1}, {"text": "", "blob": ""}, {"uri": "u"}, {"text": "t", "uri": 5}]),
    ],
)  # fmt: skip
def test_a_value_is_taken_for_what_it_is(check: Any, valid: list[Any], invalid: list[Any]) -> None:
    assert [value for value in valid if check(value) is not True] == []
    assert [value for value in invalid if check(value) is not False] == []


CONTRACTS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "command": (command_line, process_result),
    "executable": (executable_contract, process_result),
    "file": (file_contract, lambda end: filled(FileResult(), end)),
    "mcbox": (bash_contract, process_result),
    "python": (python_contract, lambda end: filled(python_contract.FunctionResult(), end)),
}


@pytest.mark.parametrize("name", CONTRACTS)
def test_invocations_and_endings(
    name: str, golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executable_contract, "extracted_folder", lambda image: "/extracted")
    monkeypatch.setattr(command_line, "extracted_folder", lambda image: "/extracted")
    golden(GOLDEN / f"{name}.txt", became(name, *CONTRACTS[name], monkeypatch))


@pytest.mark.parametrize(("length", "refused"), [(120_000, False), (120_001, True)])
def test_answers_are_as_long_as_a_variable_may_be(length: int, refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executable_contract, "extracted_folder", lambda image: "/extracted")
    call = call_of({"call": {"handler": ["x", []], "asks": [["k", 1, 2]]}, "answers": {"k": "x" * (length - 8)}})
    command = executable_contract.build_invocation(call, call.request.session.image)
    assert len(command.extra[b"mcpc_answers"]) == length
    assert (str(length) in command.refusal, bool(command.refusal)) == (refused, refused)


@pytest.mark.parametrize(("length", "refused"), [(120_000, False), (120_001, True)])
def test_a_word_is_as_long_as_every_system_takes_it(length: int, refused: bool) -> None:
    call = call_of({"call": {"handler": ["", "p", [["argument", "v", "", False, None, True]], [], "text"]}})
    call.arguments = {"v": "x" * length}
    assert bool(command_line.build_invocation(call, call.request.session.image).refusal) is refused


@pytest.mark.parametrize(("loud", "words"), [(b"true", ["p", "si", "-l"]), (b"false", ["p", "si"])])
def test_a_command_is_given_settings(loud: bytes, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ((b"UNITS", b"si"), (b"LOUD", loud), (b"TOKEN", b"secret")):
        monkeypatch.setitem(system.environ, name, value)
    places = ["setting", "UNITS", "", False, None, True], ["switch", "LOUD", "-l", False, None, True]
    absent = ["setting", "ABSENT", "-a", False, None, True]
    call = call_of({"call": {"handler": ["", "p", [*places, absent], ["setting", "TOKEN"], "text"]}})
    command = command_line.build_invocation(call, call.request.session.image)
    assert (command.argv, command.stdin) == (words, b"secret")


def test_static_content_is_read_where_it_is_stored() -> None:
    stored = b'xx[{"type":"text","text":"t"}]{"a":1}'

    class Stored:
        def read(self, offset: int, length: int) -> bytes:
            return stored[offset : offset + length]

    image: Any = Stored()
    built = [
        static_contract.build_invocation(call_of({"call": {"handler": ["known", ["r", *place]]}}), image)
        for place in ((2, 28), (30, 7))
    ]
    assert built == [[{"type": "text", "text": "t"}], []]
    tool, prompt = (
        static_contract.parse_result(call_of({"method": name}), built[0]) for name in ("tools/call", "prompts/get")
    )
    assert isinstance(tool, Outcome) and tool.content == built[0]
    assert isinstance(prompt, PromptOutcome) and prompt.messages == built[0]
