"""Which functions are marked is read and not run; what they offer is asked of a process that can do no harm."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any

import pytest

from mcpc.frontends.introspection import ImportResults, build_inputs, describe_files, find_decorated
from mcpc.frontends.introspection import process as asking
from mcpc.frontends.introspection.describe import parse_docstring
from mcpc.sandbox.confinement import THREAD_LIMITS
from mcpc.sandbox.import_time_limit import TIME_LIMIT_MESSAGE
from mcpc_runtime.handlers.python.authoring import PUBLIC
from support.processes import running
from support.projects import tree


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


DESCRIBED = '''
from typing import Annotated
from mcpc import Field, tool

@tool(title="T", readOnlyHint=True, annotations={"open_world_hint": False}, meta={"k": 1}, tags={"b", "a"}, icons=[{"src": "https://x/i.png"}])
def full(a: int, b: Annotated[str, "the text"] = "x", c: Annotated[int, Field(ge=1, description="from the field")] = 3, *, d: float = Field(0.5, lt=1)) -> None:
    """Do it.

    Args:
        a: first
        b: not this
        d: fourth
    """
'''


CONTEXTS = [
    "from mcpc import Context, tool\n@tool\ndef a(x: int, ctx: Context): ...",
    "from mcpc import Context, tool\n@tool\nasync def a(ctx: Context, x: int) -> None: ...",
    "from mcpc import Context, tool\n@tool\ndef a(x: int, *, ctx: Context | None = None): ...",
    "import mcpc\n@mcpc.tool\ndef a(x: int, ctx: 'mcpc.Context'): ...",
    "from __future__ import annotations\nimport typing\nfrom mcpc import Context as C, tool\n@tool\ndef a(x: int, ctx: typing.Optional[C] = None): ...",
    "from typing import Annotated\nfrom mcpc import Context, tool\n@tool\ndef a(x: int, ctx: Annotated[Context, 'c']): ...",
]


@pytest.mark.parametrize("text", CONTEXTS)
@pytest.mark.sampled(3)
def test_a_context_is_no_argument(text: str) -> None:
    (row,) = rows(text)
    assert row["problems"] == []
    assert (row["context"], list(row["definition"]["inputSchema"]["properties"])) == ("ctx", ["x"])


def test_another_class_of_that_name_is_an_argument() -> None:
    text = "import dataclasses\nfrom mcpc import tool\n@dataclasses.dataclass\nclass Context:\n    x: int\n"
    (row,) = rows(f"{text}@tool\ndef a(ctx: Context): ...")
    assert (row["context"], row["problems"]) == ("", [])


def test_a_context_of_another_library_is_one() -> None:
    library = "class Context: ...\n"
    (row,) = rows(
        "from fastmcp import Context\nfrom mcpc import tool\n@tool\ndef a(ctx: Context): ...", fastmcp__py=library
    )
    assert row["context"] == "ctx"


def test_how_a_function_is_run_stands_in_its_meta() -> None:
    first, second = rows(
        "from mcpc import prompt, tool\n"
        "@tool(timeout=3, inline=True, environment=['A', 'B_*'], requires=('jq >= 1.6',), meta={'mcpc/handler': {'isolated': False}})\n"
        "def a(): ...\n"
        "@prompt(timeout=0.5, environment='inherit')\ndef b(): ...\n"
    )
    running = {"isolated": False, "timeout": 3, "inline": True, "environment": ["A", "B_*"], "requires": ["jq >= 1.6"]}
    assert first["definition"]["_meta"] == {"mcpc/handler": running}
    assert second["definition"]["_meta"] == {"mcpc/handler": {"timeout": 0.5, "environment": "inherit"}}


def test_a_definition_with_everything() -> None:
    (full,) = rows(DESCRIBED)
    assert full["problems"] == []
    assert full["definition"] == {
        "name": "full",
        "title": "T",
        "description": "Do it.",
        "icons": [{"src": "https://x/i.png"}],
        "annotations": {"openWorldHint": False, "readOnlyHint": True},
        "_meta": {"k": 1, "fastmcp": {"tags": ["a", "b"]}},
        "inputSchema": {
            "type": "object",
            "properties": {
                "a": {"type": "integer", "description": "first"},
                "b": {"type": "string", "description": "the text", "default": "x"},
                "c": {"type": "integer", "description": "from the field", "default": 3, "minimum": 1},
                "d": {"type": "number", "description": "fourth", "default": 0.5, "exclusiveMaximum": 1},
            },
            "required": ["a"],
            "additionalProperties": False,
        },
    }
    assert full["binding"] == ["hints"]


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
    monkeypatch.setattr(asking, "SECONDS", 1)
    started = time.monotonic()
    message, path, line = failing("while True:\n    pass")
    assert (message, path) == ("the import took longer than 1 seconds", "tools.py")
    assert line in (4, 5)
    caught = "import time\nwhile True:\n    try:\n        time.sleep(9)\n    except BaseException:\n        pass"
    assert failing(caught) == (TIME_LIMIT_MESSAGE, "tools.py", 7)  # Python itself tells where it is
    assert time.monotonic() - started < 300


def test_an_answer_too_large_ends_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcpc.sandbox.confinement.limits.ANSWER_BYTES", 1 << 20)
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


def test_models_of_pydantic() -> None:
    text = """
import pydantic
from mcpc import tool
class Model(pydantic.BaseModel):
    n: int = pydantic.Field(ge=1, alias="N")
@tool
def a(m: Model, many: list[Model] = []) -> Model: ...
"""
    (row,) = rows(text)
    assert row["problems"] == []
    schema = row["definition"]["inputSchema"]
    assert schema["properties"]["m"]["properties"] == {"N": {"type": "integer", "minimum": 1}}
    assert schema["properties"]["many"]["items"] == schema["properties"]["m"]
    assert list(row["definition"]["outputSchema"]["properties"]) == ["n"]


def test_values_for_validators_of_the_author_are_not_checked_before() -> None:
    """Of mode before, plain and wrap, however deep; those of mode after and pydantic's own change nothing."""
    text = """
import dataclasses
from collections import deque
from pathlib import Path
from re import Pattern
from typing import Annotated
from pydantic import (AfterValidator, AnyUrl, BaseModel, BeforeValidator, Field, Json, JsonValue, PlainValidator,
                      SecretStr, WrapValidator, field_validator, model_validator)
from mcpc import tool

class Whole(BaseModel):
    n: int
    @model_validator(mode="before")
    @classmethod
    def read(cls, value): return value
class Part(BaseModel):
    n: int
    @field_validator("n", mode="before")
    @classmethod
    def read(cls, value): return value
class After(BaseModel):
    n: int
    @model_validator(mode="after")
    def read(self): return self
@dataclasses.dataclass
class Data:
    n: Annotated[int, BeforeValidator(int)]
@tool
def a(
    before: Annotated[int, BeforeValidator(int)], plain: Annotated[int, PlainValidator(int)],
    wrap: Annotated[int, WrapValidator(lambda value, go: go(value))], whole: list[Whole], part: Part, data: Data | None,
    after: After, later: Annotated[int, AfterValidator(abs)], url: AnyUrl, path: Path, value: JsonValue, json: Json,
    secret: SecretStr, items: deque[int], pattern: Pattern[str], number: Annotated[int, Field(ge=1)], plainly: int = 0,
): ...
"""
    (row,) = rows(text)
    assert row["problems"] == []
    assert row["binding"] == [
        "hints",
        *(f"unchecked:{name}" for name in ("before", "plain", "wrap", "whole", "part", "data")),
    ]


def test_what_only_pydantic_describes_may_be_returned() -> None:
    text = "from mcpc import tool\n@tool\ndef a() -> complex: return 1j\n@tool\ndef b(x: complex): ...\n"
    found = [row["problems"] for row in rows(text)]
    assert [[problem["where"] for problem in problems] for problems in found] == [[], ["parameter x"]]


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


def test_a_file_that_reads_its_command_line_sees_an_empty_one() -> None:
    text = (
        "import argparse\nfrom mcpc import tool\n"
        "parser = argparse.ArgumentParser()\nparser.add_argument('--limit', type=int, default=7)\n"
        "LIMIT = parser.parse_args().limit\n\n@tool(description=f'at most {LIMIT}')\ndef a(): ...\n"
    )
    assert rows(text)[0]["definition"]["description"] == "at most 7"
