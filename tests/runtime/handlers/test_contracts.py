"""The contracts of handlers: what each call gives its runner, and what each of its results becomes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime.handlers.bash import contract as bash_contract
from mcpc_runtime.handlers.executable import contract as executable_contract
from mcpc_runtime.handlers.files import contract as file_contract
from mcpc_runtime.handlers.invocations import FileResult
from mcpc_runtime.handlers.python import contract as python_contract
from mcpc_runtime.handlers.static import contract as static_contract
from mcpc_runtime.protocol.effects import Outcome, PromptOutcome
from support.contracts import GOLDEN, became, call_of, filled, process_result

CONTRACTS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
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
    golden(GOLDEN / f"{name}.txt", became(name, *CONTRACTS[name], monkeypatch))


@pytest.mark.parametrize(("length", "refused"), [(120_000, False), (120_001, True)])
def test_answers_are_as_long_as_a_variable_may_be(length: int, refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executable_contract, "extracted_folder", lambda image: "/extracted")
    call = call_of({"call": {"handler": ["x", []], "asks": [["k", 1, 2]]}, "answers": {"k": "x" * (length - 8)}})
    command = executable_contract.build_invocation(call, call.request.session.image)
    assert len(command.extra[b"mcpc_answers"]) == length
    assert (str(length) in command.refusal, bool(command.refusal)) == (refused, refused)


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
