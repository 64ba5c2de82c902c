"""What `mcpc dev` tells a person: changes between two builds, problems that are new, lines that nobody reads."""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from mcpc.workbench.dev.building import BuildFacts
from mcpc.workbench.dev.page import MAX_NAME, CaseError, case_of
from mcpc.workbench.dev.reporting import CallLines, Screen, describe_changes


def facts(code: str = "", content: str = "", **lists: list[dict[str, Any]]) -> BuildFacts:
    names = tuple(str(tool["name"]) for tool in lists.get("tools", []))
    return BuildFacts("native", {kind: json.dumps(items) for kind, items in lists.items()}, names, code, content)


def tools(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "description": name} for name in names]


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        (facts(tools=tools("a")), facts(tools=tools("a", "b")), "+b"),
        (facts(tools=tools("a", "b")), facts(tools=tools("a")), "-b"),
        (facts(tools=tools("a")), facts(tools=[{"name": "a", "description": "other"}]), "~a"),
        (facts(tools=tools("a", "b")), facts(tools=tools("b", "a")), "order changed"),
        (facts(), facts(prompts=tools("p"), resources=[{"uri": "a://b"}]), "+prompt p, +resource a://b"),
        (facts(), facts(resourceTemplates=[{"uriTemplate": "a://{b}"}]), "+resource a://{b}"),
        (
            facts(tools=tools("a"), code="1", content="1"),
            facts(tools=tools("a"), code="2", content="2"),
            "handlers changed",
        ),
        (facts(content="1"), facts(content="2"), "contents changed"),
        (facts(), facts(), "nothing changed"),
        (facts(tools=tools("a\x1b[2J")), facts(tools=[]), "-a<U+001B>[2J"),
    ],
)
def test_changes_are_named(earlier: BuildFacts, later: BuildFacts, expected: str) -> None:
    assert describe_changes(earlier, later) == expected


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def told(pipe: tuple[int, int]) -> str:
    return os.read(pipe[0], 1 << 16).decode()


def test_a_pipe_that_nobody_reads_is_not_waited_for(pipe: tuple[int, int]) -> None:
    screen = Screen(False, pipe[1])
    calls = CallLines(screen)
    for _ in range(20_000):
        calls.show("tool", "ok", 1)
    screen.write("x" * 1_000_000, 0.01)
    assert told(pipe).splitlines()[0].endswith(" tool ok 1 ms")


EXPECT = {"text": "x"}


@pytest.mark.parametrize(
    ("sent", "saved"),
    [
        ({"tool": "a", "arguments": {"n": 1}, "era": "handshake"}, {"tool": "a", "arguments": {"n": 1}, "era": "handshake"}),
        ({"prompt": "a", "arguments": {"n": "1"}}, {"prompt": "a", "arguments": {"n": "1"}}),
        ({"resource": "a://b", "arguments": {"n": 1}, "expect": EXPECT}, {"resource": "a://b", "expect": EXPECT}),
        ({"tool": "a", "arguments": {}, "expect": None, "more": 1}, {"tool": "a"}),
    ],
)  # fmt: skip
def test_what_a_case_has_is_saved(sent: dict[str, Any], saved: dict[str, Any]) -> None:
    assert case_of({"name": "one", **sent}) == {"name": "one", **saved}
    assert case_of({"name": "n" * MAX_NAME, **sent})["name"] == "n" * MAX_NAME


@pytest.mark.parametrize(
    "wrong",
    [
        {"tool": 1}, {"name": ""}, {"name": "a\nb"}, {"name": "n" * (MAX_NAME + 1)}, {"arguments": [1]}, {"expect": "x"},
        {"era": "another"},
    ],
)  # fmt: skip
def test_what_is_no_case_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(CaseError):
        case_of({"name": "one", "tool": "a", **wrong})
