"""Tests of `mcpc test`: cases in every era over every transport, at a time and one by one, and every report says what failed."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from support.artifact import SOURCES, build, built_fixture, mcpc
from support.files import write_files
from support.needs import ROOT, needs
from support.processes import run_program

DATA = yaml.safe_load(Path(__file__).with_name("testing.yaml").read_text("utf-8"))
SERVER = DATA["SERVER"]
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


EXAMPLES = ("bash-sdk", "blueprints", "bx-mcp", "everything", "fastmcp", "files", "mcp-bash", "openapi", "toolbox")
OVER_BOTH = ("bx-mcp", "everything", "files", "mcp-bash")
"""Examples whose cases also run over HTTP here; `mcpc test` without options runs all of them so."""
COMMANDS = {"bash-sdk": ("bash", "jq"), "files": ("bash", "jq"), "mcp-bash": ("bash",), "everything": ("bash",)}


@pytest.mark.parametrize(
    "name", [each if each == "files" else pytest.param(each, marks=pytest.mark.slow) for each in EXAMPLES]
)
def test_the_cases_of_an_example_pass(name: str) -> None:
    needs(*COMMANDS.get(name, ()))
    done = mcpc("test", ROOT / "examples" / name, *(() if name in OVER_BOTH else ("--transport", "stdio")), status=0)
    assert "all passed" in done.stdout


def test_every_example_has_cases() -> None:
    assert tuple(sorted(each.name for each in (ROOT / "examples").iterdir() if each.is_dir())) == EXAMPLES


def test_what_fails_is_reported_in_every_format(project: Path, tmp_path: Path) -> None:
    done = mcpc("test", project, "--junit", tmp_path / "junit.xml", status=1)
    assert "greet.yaml:6 greets in a hurry\n  text\n    expected" in done.stdout
    assert "3 cases, 12 calls: 1 failed" in done.stdout
    assert all(len(line) < 80 for line in done.stdout.splitlines() if "FAIL" not in line)
    suites = ET.parse(tmp_path / "junit.xml").getroot()
    (suite,) = suites
    assert (suites.tag, suites.get("tests"), suites.get("failures")) == ("testsuites", "3", "1")
    assert [len(case) for case in suite] == [0, 1, 0]
    assert suite[1][0].tag == "failure" and "Hi, Bob!" in (suite[1][0].text or "")


def test_case_files_are_not_packed(project: Path) -> None:
    assert "greet.yaml" not in mcpc("inspect", project, "--files").stdout


def test_a_call_log_becomes_cases(built: Path, tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    variables = {"MCPC_CALL_LOG": str(log), "MCPC_CALL_LOG_VALUES": "1"}
    mcpc("call", built, "greet", "name=Bearer abcdefghijklmnop", environment=variables)
    mcpc("call", built, "greet", environment=variables)
    mcpc("test", built, "--record", log, "-o", tmp_path / "cases/new.yaml", status=0)
    assert mcpc("test", built, "--cases", tmp_path / "cases").returncode == 0
    assert "abcdefghijklmnop" not in (tmp_path / "cases/new.yaml").read_text()
    assert mcpc("test", built, "--record", project_file(tmp_path)).returncode == 2


def project_file(folder: Path) -> Path:
    return write_files(folder, {"empty.jsonl": "{}\n"}) / "empty.jsonl"


PYTEST = """
def test_greets(mcp_server):
    assert mcp_server.tools == ["greet", "leave"]
    assert mcp_server.call("greet", name="Ada").text == "Hello, Ada!"
    assert mcp_server.call("greet").problems[0]["keyword"] == "required"
    assert mcp_server.era("handshake").call("greet", name="Ada").structured == {"result": "Hello, Ada!"}
    assert mcp_server.with_environment(WORD="Hi").call("greet", name="Ada").text == "Hi, Ada!"
    assert mcp_server.prompt("nothing").code == -32602
    assert mcp_server.complete("travel", "city", "P", country="FR").values == ["Paris", "Pau"]
"""


def test_the_plugin_of_pytest(built: Path, tmp_path: Path) -> None:
    files = {
        "pytest.ini": f"[pytest]\nmcp_project = {built}\nmcp_cases = true\nfilterwarnings = error\n",
        "test_it.py": PYTEST,
        "tests/greet.yaml": CASES.replace("tests:\n", "tests:\n", 1).replace(
            "- name: greets\n", "- name: first\n  transport: stdio\n"
        ),
        "tests/wrong.yml": "tests:\n- tol: x\n",
        "tests/data.json": "[]",
    }
    words = [sys.executable, "-m", "pytest", "-q", "-p", "mcp_compiler.pytest_plugin", "-p", "no:cacheprovider"]
    variables = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": SOURCES, "PYTEST_ADDOPTS": ""}
    words += ["--continue-on-collection-errors", "--strict-config", "-rA"]
    done = run_program(words, cwd=write_files(tmp_path, files), env=variables, status=1)
    assert "PASSED test_it.py::test_greets" in done.stdout
    assert "has no HTTP support; build it with `mcpc build --http`" in done.stdout
    assert "2 failed, 5 passed, 4 skipped, 1 error" in done.stdout
    assert "MCP602" in done.stdout
    assert 'expected "Hi, Bob!"' in done.stdout
    assert "tests/greet.yaml::greets in a hurry[stdio-stateless]" in done.stdout
    assert "1 error" in done.stdout


def test_the_plugin_imports_nothing_of_mcpc() -> None:
    code = "import sys, mcp_compiler.pytest_plugin; print([name for name in sys.modules if name.partition('.')[0] == 'mcpc'])"
    variables = {**os.environ, "PYTHONPATH": SOURCES}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


PARALLEL_CASES_SERVER = DATA["PARALLEL_CASES_SERVER"]
MIXED = """\
tests:
- {name: a, tool: echo, arguments: {text: a}, expect: {text: a}}
- {name: b, tool: echo, arguments: {text: b}, expect: {text: x}}
- {name: c, tool: leave}
- {name: d, tool: echo, arguments: {text: d}, expect: {text: d}}
- {name: e, tool: write, expect: {text: x}}
- {name: f, tool: echo, arguments: {text: f}, expect: {contains: x}}
"""


built_parallel_cases = built_fixture({"server.py": PARALLEL_CASES_SERVER})


def run(built_parallel_cases: Path, folder: Path, cases: str, *words: str) -> tuple[int, str]:
    write_files(folder, {"cases/a.yaml": cases})
    done = mcpc("test", built_parallel_cases, "--cases", folder / "cases", *words)
    return done.returncode, re.sub(
        r" in [0-9.]+ s\n|note: the file was built without HTTP.*\n", "\n", done.stdout
    ).lstrip()


def listed(*cases: str) -> str:
    return "tests:\n" + "".join(f"- {{name: c{number}, {case}}}\n" for number, case in enumerate(cases))


def test_reading_calls_are_made_at_a_time(built_parallel_cases: Path, tmp_path: Path) -> None:
    status, found = run(built_parallel_cases, tmp_path, listed("tool: meet", "tool: meet"), "-j", "2")
    assert (status, found) == (0, "2 cases, 4 calls: all passed\n")


@pytest.mark.parametrize("words", [("--format", "json"), ("-x",)], ids=["all", "first"])
def test_a_run_finds_what_it_finds_one_by_one(
    built_parallel_cases: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    reports = []
    for jobs in ("1", "8"):
        junit = tmp_path / f"{jobs}.xml"
        found = run(built_parallel_cases, tmp_path, MIXED, "-j", jobs, "--junit", str(junit), *words)
        reports.append((found, re.sub(r'time="[0-9.]+"', "", junit.read_text())))
    assert reports[0] == reports[1]
    assert reports[0][0][0] == 1
