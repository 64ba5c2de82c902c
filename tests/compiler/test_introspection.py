"""Which functions are marked is read and not run; what they offer is asked of a process that can do no harm."""

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from mcpc.frontends.introspection import ImportResults, build_inputs, describe_files, find_decorated
from mcpc.frontends.introspection import process as asking
from mcpc.frontends.introspection.describe import parse_docstring
from mcpc.sandbox.confinement import THREAD_LIMITS
from mcpc.sandbox.confinement.model import TIME_LIMIT_MESSAGE
from mcpc_runtime.handlers.python.authoring import PUBLIC
from support.needs import ROOT
from support.processes import running
from support.projects import tree
from support.whole_projects import read_cases

GOLDEN = ROOT / "tests/golden/introspection"


def asked(files: Mapping[str, str]) -> ImportResults:
    project = tree(files)
    found = [file for source in project.files.values() for file in [find_decorated(source, {})] if file]
    answers, problems = describe_files(found, project)
    assert problems == ()
    assert answers is not None
    return answers


def rows(text: str, **files: str) -> list[dict[str, Any]]:
    answer = asked({"tools.py": text, **{path.replace("__", "."): content for path, content in files.items()}})
    assert answer.files["tools.py"].failure is None, answer.files["tools.py"].failure
    return list(answer.files["tools.py"].marks)


def failing(text: str) -> tuple[str, str, int]:
    failure = asked({"tools.py": f"from mcpc import tool\n@tool\ndef a(): ...\n{text}"}).files["tools.py"].failure
    return failure.message, failure.path, failure.line


def test_a_project_without_marks_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {"tools.py": "import os\ndef a(): ...", "README.md": "mcpc"}
    assert all(find_decorated(source, {}) is None for source in tree(plain).files.values())
    assert build_inputs(tree(plain)) == ()
    assert build_inputs(tree({"tools.py": "from mcpc import tool"}))[0].startswith("pydantic ")


def test_what_files_offer(golden: Callable[[Path, str], None]) -> None:
    ((_, project, _),) = read_cases(GOLDEN / "described.cases")
    files = asked({path: source.text for path, source in project.files.items()}).files
    del files["validators.py"].marks[0]["definition"]["inputSchema"]  # which is pydantic's
    rows = {path: [f"    {json.dumps(row, sort_keys=True)}\n" for row in file.marks] for path, file in files.items()}
    golden(GOLDEN / "described.txt", "".join(f"{path}\n{''.join(lines)}" for path, lines in rows.items()))


DOCSTRINGS = [
    ("", "", {}),
    ("Add.", "Add.", {}),
    ("Add.\n\nTwo numbers: a and b.\n\n    code", "Add.\n\nTwo numbers: a and b.\n\n    code", {}),
    (
        "Add.\n\nMore.\n\nArgs:\n    a: First\n    b (int, optional): Second\n\nReturns:\n    Sum\n",
        "Add.\n\nMore.",
        {"a": "First", "b": "Second"},
    ),
    (
        "Add.\n\nParameters\n----------\na : int\n    First\nb, c : int\n    Others\n\nReturns\n-------\nint\n    Sum\n",
        "Add.",
        {"a": "First", "b": "Others", "c": "Others"},
    ),
    ("Add.\n\n:param a: First\n:param int b: Second\n:returns: Sum\n", "Add.", {"a": "First", "b": "Second"}),
    ("Add.\n\n@param a: First\n@return: Sum\n", "Add.", {"a": "First"}),
    ("Add.\n\nArgs:\n    *rest: Others\n", "Add.", {"rest": "Others"}),
    ("Say :this: or that.", "Say :this: or that.", {}),
]


@pytest.mark.parametrize(("text", "description", "parameters"), DOCSTRINGS, ids=range(len(DOCSTRINGS)))
def test_docstrings(text: str, description: str, parameters: dict[str, str]) -> None:
    assert parse_docstring(text) == (description, parameters)
    indented = "\n".join(f"    {line}" if line else line for line in text.split("\n")).strip()
    assert parse_docstring(indented) == (description, parameters)


def test_the_same_sources_are_described_in_the_same_way() -> None:
    text = "from mcpc import tool\n@tool(tags={'a', 'b', 'c', 'd'})\ndef a(x: set[str] = {'q', 'w', 'e', 'r'}): ..."
    assert json.dumps(rows(text)) == json.dumps(rows(text))


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("raise ValueError('no')", "it raises ValueError: no", 4),
        ("\n\ndef f():\n    1 / 0\nf()", "it raises ZeroDivisionError: division by zero", 7),
        ("import nothing_of_this_name", "it raises ModuleNotFoundError: No module named 'nothing_of_this_name'", 4),
        ("import sys\nsys.exit(3)", "it ends the program (SystemExit: 3)", 5),
        ("import os\nos._exit(4)", "it ended the process with status 4", 0),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "it ended the process by signal 11", 5),
        ("raise KeyboardInterrupt", "it raises KeyboardInterrupt", 4),
        ("def deep(): deep()\ndeep()", "it raises RecursionError: maximum recursion depth exceeded", 4),
    ],
)
@pytest.mark.sampled(3)
def test_a_file_that_cannot_be_imported(text: str, message: str, line: int) -> None:
    assert failing(text) == (message, "tools.py", line)


@pytest.mark.slow
def test_a_file_that_does_not_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "IMPORT_SECONDS", 1)
    started = time.monotonic()
    message, path, line = failing("while True:\n    pass")
    assert (message, path) == ("the import took longer than 1 seconds", "tools.py")
    assert line in (4, 5)
    caught = "import time\nwhile True:\n    try:\n        time.sleep(9)\n    except BaseException:\n        pass"
    assert failing(caught) == (TIME_LIMIT_MESSAGE, "tools.py", 7)  # Python itself tells where it is
    assert time.monotonic() - started < 300


def test_an_answer_too_large_ends_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcpc.sandbox.confinement.model.ANSWER_BYTES", 1 << 20)
    text = "from mcpc import tool\n@tool(description='x' * (9 << 20))\ndef a(): ..."
    failure = asked({"tools.py": text}).files["tools.py"].failure
    assert "1 MiB" in failure.message


def test_a_file_has_no_hand_in_what_the_next_process_is_asked() -> None:
    text = """
import os, pathlib
from mcpc import tool
@tool
def a(): ...
for place in pathlib.Path("..").resolve().rglob("questions*"):
    place.unlink()
pathlib.Path("../questions.json").mkdir()
os._exit(4)
"""
    answers = asked({"prompts.py": text, "tools.py": "from mcpc import tool\n@tool\ndef b(): ..."}).files
    failure = answers["prompts.py"].failure
    assert failure is not None and failure.message.endswith(" status 4")
    assert answers["tools.py"].failure is None and len(answers["tools.py"].marks) == 1


def test_what_a_file_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no input, no secrets of the caller's, no descriptors; what it prints goes nowhere near the answer."""
    monkeypatch.setenv("A_SECRET", "secret")
    text = """
import os, sys
from mcpc import tool
import mcpc
print("noise" * 1000, flush=True); sys.stderr.write("noise"); os.write(1, b"noise")
seen = [sys.stdin.read(), sorted(os.environ), "A_SECRET" in os.environ, os.getcwd() == os.path.dirname(__file__),
        mcpc.__dict__.get("__file__"), sorted(name for name in vars(mcpc) if name[0] != "_"), sys.path[0] == os.getcwd()]
@tool(meta={"seen": seen})
def a(): ...
"""
    (row,) = rows(text)
    nothing, variables, secret, here, file, names, first = row["definition"]["_meta"]["seen"]
    assert (nothing, secret, here, file, first) == ("", False, True, None, True)
    own = {"HOME", "LANG", "PATH", "PYTHONHASHSEED", "TMPDIR", "TZ", *THREAD_LIMITS}
    assert {*variables} - {"LC_CTYPE"} == own  # which Python itself sets
    assert names == sorted(PUBLIC)


def test_what_it_started_ends_with_it() -> None:
    text = """
import subprocess
from mcpc import tool
child = subprocess.Popen(["sleep", "60.125"])
assert child.poll() is None
@tool
def a(): ...
"""
    assert len(rows(text)) == 1
    assert not running("sleep", "60.125")


def test_the_copy_of_the_project_is_removed(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rows("from mcpc import tool\n@tool\ndef a(): ...")
    assert os.listdir(tmp_path) == []


HOSTILE = {
    "a long sum": "@tool\ndef a(x: {sum} = 1): ...",
    "a long chain": "@tool\n@a{chain}\ndef a(): ...",
    "a condition": "if {sum}:\n    @tool\n    def a(): ...",
    "a call": "tool(a{chain})",
    "a deep value": "v = []\nfor i in range(5000): v = [v]\n@tool(meta={{'v': v}})\ndef a(): ...",
    "a rather deep value": "v = []\nfor i in range(300): v = [v]\n@tool(meta={{'v': v}}, name=v)\ndef a(): ...",
    "names that are none": "@tool(name=object(), title=b'\\xff')\ndef a(): ...",
    "a strange docstring": "@tool\ndef a():\n    'A.\\n\\nArgs:\\n  : x\\n  (y): :\\n\\n:param\\n:param :\\n@param'",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.sampled(4)
def test_hostile_files_are_answered(name: str) -> None:
    text = HOSTILE[name].format(sum="+".join(["1"] * 900), chain=".b" * 900)
    file = find_decorated(tree({"tools.py": f"from mcpc import tool\n{text}\n"}).files["tools.py"], {})
    if file.runs:
        for row in asked({"tools.py": f"from mcpc import tool\n{text}\n"}).files["tools.py"].marks:
            assert row["problems"] or row["definition"]


def test_a_call_of_a_marked_function_marks_nothing() -> None:
    file = find_decorated(
        tree({"tools.py": "from mcpc import tool\ndef a(x): ...\nb = 1\ntool(a)(b)\n"}).files["tools.py"], {}
    )
    assert ([mark.function for mark in file.marks], file.problems) == (["a"], ())
