"""Bash tools of built servers, over the protocol: arguments, notes, other tools, files beside the library."""

import json
import os
from pathlib import Path

import pytest

from support.artifact import build, built_fixture
from support.files import write_files
from support.needs import ROOT, needs
from support.stdio import exchange, initialization

WAYS = {"forked": "", "no memfd": "memfd", "no proc": "proc"}


server = built_fixture(ROOT / "tests/system/programs/bash", programs=("bash", "sha256sum"))


@pytest.fixture(params=WAYS)
def environment(request: pytest.FixtureRequest) -> dict[str, str]:
    return {**os.environ, "MCPC_WITHOUT": WAYS[request.param]}


def ask(server: Path, environment: dict[str, str], *calls: tuple[str, object], token: object = None) -> list[dict]:
    """Everything the server says to these calls: notifications, and replies."""
    meta = {} if token is None else {"_meta": {"progressToken": token}}
    messages = [
        {"id": 0, "method": "initialize", "params": initialization()},
        {"method": "notifications/initialized"},
        {"id": -1, "method": "logging/setLevel", "params": {"level": "debug"}},
    ]
    messages += [
        {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments, **meta}}
        for number, (name, arguments) in enumerate(calls, 1)
    ]
    return exchange(server, messages, env=environment)[2:]


def result(server: Path, environment: dict[str, str], name: str, arguments: object = None) -> tuple[str, bool]:
    """The text of the answer to one call, and whether it is an error."""
    (reply,) = (said for said in ask(server, environment, (name, arguments or {})) if "id" in said)
    return reply["result"]["content"][0]["text"], reply["result"].get("isError", False)


def test_arguments_as_variables(server: Path, environment: dict[str, str]) -> None:
    arguments = {
        "path": "$(exit 9) 'a' \"b\" \\ é😀\n*",
        "max-size": 1.5,
        "list": ["a b", 2, None, True, ""],
        "nested": {"a": [1, {"b": None}]},
        "flag": False,
        "none": None,
    }
    expected = [
        arguments["path"], "1.5", "5", "a b", "2", "", "true", "", '{"a":[1,{"b":null}]}', "false", "<>", "unset", "",
    ]  # fmt: skip
    assert result(server, environment, "shown", arguments) == ("|".join(expected), False)


def test_a_null_character_is_refused_by_name(server: Path, environment: dict[str, str]) -> None:
    refusal = "the argument `text` has a null character or an unpaired surrogate, which a shell variable cannot hold"
    for text in ("a\0b", "\ud800"):
        assert result(server, environment, "digest", {"text": text}) == (refusal, True)


def test_notes_come_before_the_answer_and_in_order(server: Path, environment: dict[str, str]) -> None:
    said = ask(server, environment, ("says", {}), token="t")
    assert [one.get("method", "reply") for one in said] == [
        "notifications/message",
        "notifications/progress",
        "notifications/progress",
        "reply",
    ]
    assert (said[0]["params"]["level"], said[0]["params"]["data"]) == ("warning", "one two")
    assert said[1]["params"] == {"progressToken": "t", "progress": 1, "total": 2, "message": "half"}
    assert said[3]["result"]["content"][0]["text"] == "said"


def test_a_tool_calls_a_tool(server: Path, environment: dict[str, str]) -> None:
    assert result(server, environment, "calls", {"tool": "alone"}) == ("more\nstatus 0", False)
    text, _ = result(server, environment, "calls", {"tool": "no such tool"})
    assert text.endswith("\nstatus 1")
    text, is_error = result(server, environment, "loops")
    assert is_error


def test_files_beside_the_library_are_found(server: Path, environment: dict[str, str]) -> None:
    (reply,) = ask(server, environment, ("place", {}))
    assert reply["result"]["structuredContent"] == {"got": "more"}
    assert result(server, environment, "alone") == ("more", False)


FAILING = """
%s
step() { echo built; false; echo pushed; }
tool_outer() { step; echo deployed; }
tool_own() { set -e; step; echo deployed; }
tool_subshell() ( set -o errexit; false; echo deployed )
tool_tested() { if step; then echo deployed; fi; step || echo failed; }
tool_status() { return 3; }
tool_fine() { step || :; echo fine; }
tool_trapped() { trap 'echo cleaned' EXIT; set -e; step; }
"""
WHERE_SET = {
    "when it is read": (
        "set -euo pipefail",
        {"outer": ("built", True), "own": ("built", True), "trapped": ("built\ncleaned", True)},
    ),
    "in functions": (
        "",
        {"outer": ("built\npushed\ndeployed", False), "own": ("built", True), "trapped": ("built\ncleaned", True)},
    ),
    "nowhere, in the end": (
        "set -e; set +e",
        {"outer": ("built\npushed\ndeployed", False), "own": ("built", True), "trapped": ("built\ncleaned", True)},
    ),
}
ALWAYS = {
    "subshell": ("ended with status 1 without output", True),
    "tested": ("built\npushed\ndeployed\nbuilt\npushed", False),
    "status": ("ended with status 3 without output", True),
    "fine": ("built\npushed\nfine", False),
}


@pytest.mark.parametrize("where", WHERE_SET)
def test_errexit_holds_where_the_library_sets_it(where: str, tmp_path: Path) -> None:
    """In a fork and in a fresh shell; what is tested goes on, as everywhere in Bash."""
    needs("bash")
    setting, answers = WHERE_SET[where]
    expected = {**answers, **ALWAYS}
    tools = [{"name": name, "description": "d", "inputSchema": {"type": "object"}} for name in expected]
    files = {
        "server.json": '{"serverInfo": {"name": "failing", "version": "1"}}',
        "tools.json": json.dumps({"tools": tools}),
        "tools.bash": FAILING % setting,
    }
    made = build(write_files(tmp_path / "project", files), tmp_path / "x.pyz")
    for way in ("", "proc"):
        said = ask(made, {**os.environ, "MCPC_WITHOUT": way}, *((name, {}) for name in expected))
        found = {message["id"]: message["result"] for message in said if "id" in message}
        texts = [(found[number]["content"][0]["text"], found[number].get("isError", False)) for number in sorted(found)]
        assert dict(zip(expected, texts, strict=True)) == expected
