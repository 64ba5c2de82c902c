"""Tests of `mcpc test`: a project's cases run in every era over every transport, and every report says what failed."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

from support.artifact import build, mcpc
from support.files import write_files
from support.needs import ROOT, needs

if TYPE_CHECKING:
    from pathlib import Path

SERVER = '''
import os
from mcpc import Context, Server

mcp = Server("demo", version="1.0.0", environment=["WORD"])


@mcp.tool(readOnlyHint=True)
def greet(name: str) -> str:
    """Greet somebody."""
    return f"{os.environ.get('WORD', 'Hello')}, {name}!"


@mcp.tool(inline=True)
def leave() -> str:
    """End the server."""
    os._exit(3)
'''
CASES = """\
tests:
- name: greets
  tool: greet
  arguments: {name: Ada}
  expect: {text: "Hello, Ada!"}
- name: greets in a hurry
  tool: greet
  arguments: {name: Ada}
  env: {WORD: Hi}
  expect:
    text: "Hi, Bob!"
- name: nobody
  tool: greet
  expect: {error: true, problems: [""]}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("tested") / "demo", {"server.py": SERVER, "tests/greet.yaml": CASES})


@pytest.fixture(scope="module")
def built(project: Path) -> Path:
    return build(project, project.parent / "server.pyz")


EXAMPLES = ("bash-sdk", "blueprints", "bx-mcp", "everything", "fastmcp", "files", "mcp-bash", "toolbox")
OVER_BOTH = ("files", "everything", "mcp-bash")
"""Examples whose cases also run over HTTP here; `mcpc test` without options runs all of them so."""
COMMANDS = {"bash-sdk": ("bash", "jq"), "files": ("bash", "jq"), "mcp-bash": ("bash",), "everything": ("bash",)}


@pytest.mark.parametrize(
    "name", [each if each == "files" else pytest.param(each, marks=pytest.mark.slow) for each in EXAMPLES]
)
def test_the_cases_of_an_example_pass(name: str) -> None:
    needs(*COMMANDS.get(name, ()))
    done = mcpc("test", ROOT / "examples" / name, *(() if name in OVER_BOTH else ("--transport", "stdio")))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all passed" in done.stdout


def test_every_example_has_cases() -> None:
    assert tuple(sorted(each.name for each in (ROOT / "examples").iterdir() if each.is_dir())) == EXAMPLES


def test_what_fails_is_reported_in_every_format(project: Path, tmp_path: Path) -> None:
    done = mcpc("test", project, "--junit", tmp_path / "junit.xml")
    assert done.returncode == 1
    assert "greet.yaml:6 greets in a hurry\n  text\n    expected" in done.stdout
    assert "3 cases, 12 calls: 1 failed" in done.stdout
    assert all(len(line) < 80 for line in done.stdout.splitlines() if "FAIL" not in line)
    suites = ET.parse(tmp_path / "junit.xml").getroot()
    (suite,) = suites
    assert (suites.tag, suites.get("tests"), suites.get("failures")) == ("testsuites", "3", "1")
    assert [len(case) for case in suite] == [0, 1, 0]
    assert suite[1][0].tag == "failure" and "Hi, Bob!" in (suite[1][0].text or "")


def test_reports_for_programs(built: Path, project: Path) -> None:
    words = ("test", built, "--cases", project / "tests", "--filter", "hurry")
    done = mcpc(*words, "--format", "json")
    (result,) = json.loads(done.stdout)["results"]
    assert (done.returncode, result["line"], result["passed"]) == (1, 6, False)
    assert result["failures"][0]["found"] == "Hi, Ada!"
    assert {each["transport"] for each in result["calls"]} == {"stdio"}  # the file was built without HTTP
    line = mcpc(*words, "--format", "github", "--era", "stateless").stdout.splitlines()[0]
    assert line.startswith("::error file=") and "greet.yaml,line=11,col=11," in line


def test_the_first_failure_ends_a_run(built: Path, tmp_path: Path) -> None:
    case = "- {name: %s, tool: greet, expect: {text: x}}\n"
    write_files(tmp_path, {"cases/a.yaml": "tests:\n" + case % "a" + case % "b"})
    done = mcpc("test", built, "--cases", tmp_path / "cases", "-x")
    assert (done.returncode, "1 case, 1 call: 1 failed" in done.stdout) == (1, True)


def test_a_server_that_ends_is_started_again(built: Path, tmp_path: Path) -> None:
    cases = "tests:\n- {name: a, tool: leave}\n- {name: b, tool: greet, arguments: {name: Ada}}\n"
    write_files(tmp_path, {"cases/a.yaml": cases})
    done = mcpc("test", built, "--cases", tmp_path / "cases", "--era", "handshake")
    assert (done.returncode, "2 cases, 2 calls: 1 failed" in done.stdout) == (1, True)
    assert "it ended with status 3" in done.stdout


WRONG = {
    "tests:\n- {name: a, tool: gret}\n": "MCP605",
    "tests:\n- {name: a, tol: greet}\n": "MCP602",
    "tests: [": "MCP601",
}


@pytest.mark.parametrize("text", WRONG)
def test_cases_with_errors_are_reported(built: Path, tmp_path: Path, text: str) -> None:
    write_files(tmp_path, {"cases/a.yaml": text})
    done = mcpc("test", built, "--cases", tmp_path / "cases")
    assert (done.returncode, WRONG[text] in done.stderr) == (1, True)


def test_a_newcomer_is_told_what_to_write(built: Path, tmp_path: Path) -> None:
    for words in (
        ("--cases", tmp_path),
        ("--cases", ROOT / "examples/files/tests", "--filter", "zzz"),
        ("--filter", "("),
    ):
        done = mcpc("test", built, *words)
        assert (done.returncode, done.stderr.count("Error:")) == (2, 1)
    assert "tool: greet" in mcpc("test", built, "--cases", tmp_path).stderr


def test_case_files_are_not_packed(project: Path) -> None:
    assert "greet.yaml" not in mcpc("inspect", project, "--files").stdout
