"""Tests of `mcpc test --jobs`: reading calls are made at a time, others alone, and a run finds what it finds one by one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.artifact import built_fixture, mcpc
from support.files import write_files

SERVER = '''
import os
import threading
import time

from mcpc import Server

mcp = Server("crowd", version="1.0.0")
pairs = threading.Barrier(2)
lock = threading.Lock()
counts = {"inside": 0}


@mcp.tool(readOnlyHint=True)
def meet() -> str:
    """Wait until another call is made at the same time."""
    pairs.wait(120)
    return "met"


@mcp.tool
def write() -> int:
    """Return how many calls are in this function now."""
    with lock:
        counts["inside"] += 1
    time.sleep(0.02)
    with lock:
        inside = counts["inside"]
        counts["inside"] -= 1
    return inside


@mcp.tool(readOnlyHint=True)
def echo(text: str) -> str:
    """Return a text."""
    return text


@mcp.tool(readOnlyHint=True, inline=True)
def leave() -> str:
    """End the server."""
    os._exit(3)
'''
MIXED = """\
tests:
- {name: a, tool: echo, arguments: {text: a}, expect: {text: a}}
- {name: b, tool: echo, arguments: {text: b}, expect: {text: x}}
- {name: c, tool: leave}
- {name: d, tool: echo, arguments: {text: d}, expect: {text: d}}
- {name: e, tool: write, expect: {text: x}}
- {name: f, tool: echo, arguments: {text: f}, expect: {contains: x}}
"""


built = built_fixture({"server.py": SERVER})


def run(built: Path, folder: Path, cases: str, *words: str) -> tuple[int, str]:
    write_files(folder, {"cases/a.yaml": cases})
    done = mcpc("test", built, "--cases", folder / "cases", *words)
    return done.returncode, re.sub(
        r" in [0-9.]+ s\n|note: the file was built without HTTP.*\n", "\n", done.stdout
    ).lstrip()


def listed(*cases: str) -> str:
    return "tests:\n" + "".join(f"- {{name: c{number}, {case}}}\n" for number, case in enumerate(cases))


def test_reading_calls_are_made_at_a_time(built: Path, tmp_path: Path) -> None:
    status, found = run(built, tmp_path, listed("tool: meet", "tool: meet"), "-j", "2")
    assert (status, found) == (0, "2 cases, 4 calls: all passed\n")


@pytest.mark.parametrize("words", [("--format", "json"), ("-x",)], ids=["all", "first"])
def test_a_run_finds_what_it_finds_one_by_one(built: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    reports = []
    for jobs in ("1", "8"):
        junit = tmp_path / f"{jobs}.xml"
        found = run(built, tmp_path, MIXED, "-j", jobs, "--junit", str(junit), *words)
        reports.append((found, re.sub(r'time="[0-9.]+"', "", junit.read_text())))
    assert reports[0] == reports[1]
    assert reports[0][0][0] == 1
