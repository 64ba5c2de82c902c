"""What `mcpc dev` tells a person: changes between two builds, problems that are new, lines that nobody reads."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcpc.dev.building import BuildFacts, BuildProblem, BuildResult
from mcpc.dev.calls import CallLines, CallWatch
from mcpc.dev.reporting import Reporter, describe_changes
from mcpc.dev.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Iterator

GOOD = BuildResult(Path("built.pyz"), seconds=0.4)


def facts(code: str = "", content: str = "", **lists: list[dict[str, Any]]) -> BuildFacts:
    names = tuple(str(tool["name"]) for tool in lists.get("tools", []))
    return BuildFacts("native", {kind: json.dumps(items) for kind, items in lists.items()}, names, code, content)


def tools(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "description": name} for name in names]


def problem(message: str, severity: str = "warning") -> BuildProblem:
    return BuildProblem(
        "MCP103", severity, "server.json", message, f"{severity}: {message}", f"\x1b[1m{message}\x1b[0m"
    )


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


def made(*problems: BuildProblem, more: str = "", fails: bool = False) -> BuildResult:
    return BuildResult(None if fails else GOOD.path, int(fails), problems=problems, more=more, seconds=0.4)


def test_warnings_are_counted_with_their_repetitions(pipe: tuple[int, int]) -> None:
    reporter = Reporter(Screen(False, pipe[1]))
    reporter.first(made(problem("one"), problem("one")))
    assert told(pipe) == "warning: one\n\nwarning: one\nmcpc dev: built in 0.4 s: 0 tools; 2 warnings\n"
    reporter.rebuilt(facts(), made(problem("one"), problem("one"), problem("one")))
    said = "warning: one\nmcpc dev: rebuilt in 0.4 s: nothing changed; 1 new warning; 2 warnings unchanged\n"
    assert told(pipe) == said


def test_errors_are_told_again_and_warnings_beside_them_are_not(pipe: tuple[int, int]) -> None:
    reporter = Reporter(Screen(False, pipe[1]))
    reporter.first(made(problem("old")))
    told(pipe)
    for _ in range(2):
        reporter.failed(made(problem("old"), problem("bad", "error"), fails=True))
        first, last = told(pipe).splitlines()
        assert first == "error: bad"
        assert last.endswith("`; the build failed; the last successful build keeps serving")
        assert last.startswith("mcpc dev: 1 error, 1 warning; ")


def test_a_pipe_that_nobody_reads_is_not_waited_for(pipe: tuple[int, int]) -> None:
    screen = Screen(False, pipe[1])
    calls = CallLines(screen)
    for _ in range(20_000):
        calls.show("tool", "ok", 1)
    screen.write("x" * 1_000_000, 0.01)
    assert told(pipe).splitlines()[0].endswith(" tool ok 1 ms")


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}\n', "ok"),
        (b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}\n', "error"),
        (b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"isError":true}}}\n', "ok"),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"m"}}\n', "error"),
        (b'[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"result":{"isError":true}}]\n', "error"),
    ],
)
def test_how_a_call_ended_is_read_from_its_answer(pipe: tuple[int, int], line: bytes, status: str) -> None:
    watch = CallWatch(CallLines(Screen(False, pipe[1])))
    watch.begin([{"id": 1, "method": "tools/call", "params": {"name": "t"}}, {"id": 3, "method": "tools/list"}])
    watch.finish(b'{"jsonrpc":"2.0","id":3,"result":{"tools":[]}}\n')
    watch.finish(line)
    assert re.fullmatch(rf"t {status} \d+ ms\n", told(pipe).split(" ", 1)[1])
