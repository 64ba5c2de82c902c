"""Contracts in tests: calls and results from JSON, and invocations and endings as JSON, compared with golden files.

A case is a call with `end`, its result, or without, which shows the invocation.  Texts of programs are bytes in
Latin-1.  The golden file of a contract has each case and what became of it.
"""

import json
from collections.abc import Callable, Mapping
from types import FunctionType, SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers.invocations import ProcessResult
from mcpc_runtime.protocol.effects import ABSENT, Call
from mcpc_runtime.protocol.requests import Request
from support.needs import ROOT

CASES: dict[str, list[dict[str, Any]]] = json.loads((ROOT / "tests/runtime/handlers/contracts.json").read_text("utf-8"))
GOLDEN = ROOT / "tests" / "golden" / "contracts"


def filled(result: Any, values: dict[str, Any]) -> Any:
    for name, value in values.items():
        setattr(result, name, value.encode("latin-1") if isinstance(getattr(result, name), bytes) else value)
    return result


def process_result(end: dict[str, Any]) -> ProcessResult:
    result: ProcessResult = filled(ProcessResult(), {"status": 0, **end})
    result.output = result.printed + result.errors
    result.sizes = len(result.printed), len(result.errors)
    return result


def call_of(case: dict[str, Any]) -> Any:
    """Return the call of a case, in the newest revision before the stateless era unless it says otherwise."""
    tools = {"toolbox": SimpleNamespace(contract="toolbox"), "first": SimpleNamespace(contract="python")}
    index = {"mcp_bash": {"server": {"name": "s"}, "allow": ["*"], "dialect": case.get("dialect", "mcp")}}
    image: Any = ImageOf(index, case.get("refusals", {}), tools.get)
    session: Any = SimpleNamespace(image=image, capabilities=case.get("capabilities", {}), roots=case.get("roots"))
    wire: Any = SimpleNamespace(
        stateless=case.get("stateless", False), version="2025-11-25", content=("text", "image", "resource")
    )
    usual = {
        "name": "named", "seconds": 30.0, "environment": 0, "output": None, "mime": "", "asks": (), "isolated": False,
    }  # fmt: skip
    usual["handler"] = ("x", (("metadata", "{}"), ("output", False)), "", "")
    definition: Any = SimpleNamespace(**{**usual, **case.get("call", {})})
    params = case.get("params", {})
    request = Request(session, 1, case.get("method", "tools/call"), params, wire)
    call = Call(request, definition, case.get("arguments", {}), tuple(case.get("chain", ())))
    call.answers, call.is_task = case.get("answers", {}), case.get("task", False)
    return call


class ImageOf:
    """As much of an image as contracts look at."""

    archive = "/archive"

    def __init__(self, index: dict[str, Any], refusals: dict[str, Any], tool: Callable[[str], Any]) -> None:
        self.index, self.refusals, self.tool, self.any_tool = index, refusals, tool, tool


def described(value: Any) -> Any:
    """Return a value as JSON: bytes as text after a `b`, objects by their names and members."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes):
        return repr(value)
    if isinstance(value, Mapping):
        return {name if isinstance(name, str) else repr(name): described(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [described(each) for each in value]
    if value is ABSENT or isinstance(value, FunctionType):
        return "absent" if value is ABSENT else "function"
    names = getattr(type(value), "__slots__", ())
    return {type(value).__name__: {name: described(getattr(value, name)) for name in names}}


def became(name: str, contract: Any, result_of: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> str:
    lines = []
    for case in CASES[name]:
        call = call_of(case)
        with monkeypatch.context() as patch:
            for variable, value in case.get("environ", {}).items():
                patch.setenv(variable, value)
            if "end" in case:
                end = case["end"]
                ending = contract.parse_result(call, result_of(dict(end) if isinstance(end, dict) else end))
            else:
                ending = contract.build_invocation(call, call.request.session.image)
        lines += [json.dumps(case), f"    {json.dumps(described(ending))}"]
    return "\n".join(lines) + "\n"
