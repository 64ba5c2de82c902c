"""No argument holds a server: while it judges the worst of a megabyte, pings and probes are answered.

The bounds are wide, for slow machines; without a guard each row takes from ten seconds to centuries.  `bench/patterns.py`
measures.
"""

import json
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpc.schema import compile as validator
from support.artifact import built_fixture
from support.processes import processor_seconds
from support.serving import Served, served
from support.talking import META, VERSION
from system import mixed
from system.hostile_patterns import ROWS, call, write_project

pytestmark = pytest.mark.sampled(4)

SECONDS = 5.0


artifact = built_fixture(write_project, "--http")


@pytest.fixture(scope="module")
def listening(artifact: Path) -> Iterator[Served]:
    with served(artifact) as server:
        yield server


@pytest.fixture(scope="module")
def piped(artifact: Path) -> Iterator[subprocess.Popen[bytes]]:
    argv = [sys.executable, str(artifact)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        server.stdin.write(mixed.lines(("initialize", mixed.HELLO)))
        server.stdin.flush()
        server.stdout.readline()
        yield server
        server.kill()


@pytest.mark.parametrize("name", ROWS)
def test_a_ping_behind_the_worst_argument_is_answered(name: str, piped: subprocess.Popen[bytes]) -> None:
    before = processor_seconds(piped.pid)
    piped.stdin.write(call(name, 7) + b"\n" + b'{"jsonrpc":"2.0","id":8,"method":"ping"}\n')
    piped.stdin.flush()
    replies = {reply["id"]: reply for reply in (json.loads(piped.stdout.readline()) for _ in range(2))}
    assert processor_seconds(piped.pid) - before < SECONDS
    assert replies[8]["result"] == {}
    expected = validator(ROWS[name][0]).accepts(ROWS[name][1])
    assert replies[7]["result"].get("isError", False) is not expected
    assert len(json.dumps(replies[7])) < 20_000


@pytest.mark.parametrize("name", ROWS)
def test_a_probe_beside_the_worst_argument_is_answered(name: str, listening: Served) -> None:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
    }
    statuses: list[int] = []

    def ask() -> None:
        request = urllib.request.Request(listening.url, call(name, 7, META), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()
            statuses.append(answer.status)

    asking = threading.Thread(target=ask)
    before = processor_seconds(listening.process.pid)
    asking.start()
    while asking.is_alive():
        with urllib.request.urlopen(f"{listening.root}/healthz", timeout=60) as answer:
            assert answer.status == 200
    assert processor_seconds(listening.process.pid) - before < SECONDS
    assert statuses == [200]


def test_a_text_that_is_too_long_is_a_problem_like_any_other(piped: subprocess.Popen[bytes]) -> None:
    piped.stdin.write(call("cubic_read_whole", 9) + b"\n")
    piped.stdin.flush()
    result = json.loads(piped.stdout.readline())["result"]
    assert result["isError"] is True
    assert result["content"][0]["text"] == (
        "Invalid arguments for cubic_read_whole: 1 problem; fix and call again\n"
        "- /x: the text is too long to be matched against its pattern; at most 100000 characters can be"
    )
    (problem,) = result["_meta"]["mcpc/problems"]
    assert (problem["path"], problem["keyword"], problem["expected"]) == ("/x", "patternLength", 100_000)
