"""The contracts of ToolBox, in JavaScript and in Python: the request that is passed on, and what becomes of a result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime.handlers.python.contract import FunctionResult
from mcpc_runtime.systems.toolbox import contract, python_contract, results
from support.contracts import GOLDEN, became, call_of, filled

CONTRACTS: dict[str, Any] = {"toolbox": contract, "toolbox_python": python_contract}


@pytest.mark.parametrize("name", CONTRACTS)
def test_invocations_and_endings(
    name: str, golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPC_TOOLBOX_LOG", "/dev/log/ToolBox.log")
    text = became(name, CONTRACTS[name], lambda end: filled(FunctionResult(), end), monkeypatch)
    golden(GOLDEN / f"{name}.txt", text)


@pytest.mark.parametrize(
    ("chain", "caller", "is_logged"), [([], "ai", False), (["toolbox"], "toolbox", True), (["first"], "first", False)]
)
def test_a_call_is_logged_by_a_tool_that_logs(chain: list[str], caller: str, is_logged: bool) -> None:
    call = call_of({"chain": chain})
    assert (results.caller_name(call), results.is_logged(call, call.request.session.image)) == (caller, is_logged)
