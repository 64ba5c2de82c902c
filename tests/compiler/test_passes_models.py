"""Handlers that ask for models: what is bound, what is refused and where, and what goes into the artifact."""

import ast
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from mcpc.languages import MODELS_LINE
from mcpc.model.ir import PythonFunction
from mcpc.schema.models import all_tools_module, build_models, composition, digest_line, model_requests, tool_names
from support.images import archive
from support.projects import SERVER_JSON, Files, checked, lowered, marked, places

TOOLS = [
    {
        "name": "file_read",
        "description": "Read.",
        "inputSchema": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "how": {"type": "object", "properties": {"deep": {}}}},
            "required": ["path"],
        },
        "outputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    },
    {"name": "file-write", "description": "Write.", "inputSchema": {"type": "object", "properties": {"x": {}}}},
]
PLAIN = "def file_write(x=0): return x\n"
OTHER = "def file_read(path, how=None): return path\n"
PROMPTS = '{"prompts": [{"name": "hello", "description": "Hello.", "arguments": []}]}'


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "cache"))


def project(code: str, **more: str) -> dict[str, str]:
    named = {name.replace("__", "/").replace("_", "."): text for name, text in more.items()}
    return {"server.json": SERVER_JSON, "tools.json": json.dumps({"tools": TOOLS}), "tools.py": code, **named}


def models_file(**more: Any) -> str:
    server, _ = lowered({**project(PLAIN + OTHER), **more})
    assert server is not None
    return all_tools_module(build_models(server, tool_names(server)))


BOUND = {
    "imported": "from models import FileReadInput\ndef file_read(args: FileReadInput): pass\n",
    "of a module": "import models\ndef file_read(args: models.FileReadInput): pass\n",
    "renamed module": "import models as m\ndef file_read(args: m.FileReadInput): pass\n",
    "a string": "def file_read(args: 'FileReadInput'): pass\n",
    "a dotted string": "def file_read(args: 'models.FileReadInput'): pass\n",
    "for type checkers": "from __future__ import annotations\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
    "    from models import FileReadInput, FileReadOutput\ndef file_read(args: FileReadInput) -> FileReadOutput: pass\n",
    "asynchronous": "async def file_read(args: 'FileReadInput'): pass\n",
    "by position": "def file_read(args: 'FileReadInput', /): pass\n",
    "by keyword": "from somewhere.models import FileReadInput\ndef file_read(*, args: FileReadInput): pass\n",
}


@pytest.mark.parametrize("code", BOUND.values(), ids=BOUND)
def test_a_handler_asks_by_annotation(code: str) -> None:
    server, problems = lowered(project(code + PLAIN, models_py=models_file()))
    assert problems == ()
    handler, other = (tool.handler for tool in server.tools)
    assert isinstance(handler, PythonFunction)
    assert isinstance(other, PythonFunction)
    by_keyword = code.find("*, args") > 0
    assert handler.binding == ("models", "mcpc_app.models", "FileReadInput"), by_keyword
    assert other.binding == ()
    assert server.models == ("file_read",)


NOT_MODELS = {
    "own class": "class FileReadInput: pass\ndef file_read(path: FileReadInput, how: int = 0): pass\n",
    "own module": "from mine import FileReadInput\ndef file_read(path: FileReadInput, how: int = 0): pass\n",
    "builtin": "def file_read(path: str, how: dict = {}): pass\n",
    "standard library": "from io import TextIOBase as FileReadInput\ndef file_read(path: FileReadInput, how=0): pass\n",
    "own input": "from mine import SomeInput\ndef file_read(path: SomeInput, how: 'list[int]' = []): pass\n",
}


@pytest.mark.parametrize("code", NOT_MODELS.values(), ids=NOT_MODELS)
def test_what_is_no_model(code: str) -> None:
    server, problems = checked(project(code + PLAIN, mine_py="class FileReadInput: pass\nclass SomeInput: pass\n"))
    assert server is not None, problems
    assert server.server.tools[0].handler.binding == ()  # type: ignore[union-attr]


WRONG = {
    "misspelt": "def file_read(args: »'FileReadInptuInput'): pass\n",
    "misspelt at the end": "def file_read(args: »'FileReadInptu'): pass\n",
    "misspelt, imported": "from models import FileRaedInput\ndef file_read(args: »FileRaedInput): pass\n",
    "another tool's": "from models import FileWriteInput\ndef file_read(args: »FileWriteInput): pass\n",
    "output for input": "def file_read(args: »'FileReadOutput'): pass\n",
    "a part": "from models import FileReadInputHow\ndef file_read(args: »FileReadInputHow): pass\n",
    "result of another": "def file_read(path, how=0) -> »'FileWriteInput': pass\n",
    "no output": "from models import FileWriteOutput\ndef file_read(args: 'FileReadInput') -> »FileWriteOutput: pass\n",
    "parameters beside it": "def file_read(args: »'FileReadInput', how=0): pass\n",
    "keywords beside it": "def file_read(args: »'FileReadInput', **others): pass\n",
    "both wrong": "def file_read(args: »'FileReadOutput') -> »'FileReadInput': pass\n",
}


@pytest.mark.parametrize("code", WRONG.values(), ids=WRONG)
def test_a_model_that_a_function_cannot_have(code: str) -> None:
    files, marks = marked(project(code + PLAIN, models_py=models_file()))
    _, problems = checked(files)
    assert [place for place in places(problems, files) if place[0] == "MCP214"] == [("MCP214", *mark) for mark in marks]


def test_a_prompt_has_no_model() -> None:
    files = project(OTHER + PLAIN, prompts_json=PROMPTS, prompts_py="def hello(args: 'FileReadInput'): pass\n")
    _, problems = checked(files)
    assert ("MCP214", "prompts.py", 1, 17) in places(problems, files)


MENTIONED = {
    "annotation": ("def file_read(args: 'FileReadInput'): pass\n", True),
    "result": ("def file_read(path, how=0) -> 'FileReadOutput': pass\n", True),
    "body": ("import models\ndef file_read(path, how=0): return models.FileReadOutput(text=path)\n", True),
    "part": ("from models import FileReadInputHow\ndef file_read(path, how=0): pass\n", True),
    "comment": ("# FileReadInput\ndef file_read(path, how=0): pass\n", False),
    "own class": ("class FileReadInput: pass\ndef file_read(path, how=0): return FileReadInput\n", False),
    "nothing": (OTHER, False),
}


@pytest.mark.parametrize(("code", "found"), MENTIONED.values(), ids=MENTIONED)
def test_models_are_made_of_tools_that_are_mentioned(code: str, found: bool) -> None:
    files: Files = {**project(code + PLAIN, models_py=models_file())}
    server, _ = lowered(files)
    assert server.models == (("file_read",) if found else ())


def entries(files: Files) -> dict[str, bytes]:
    packed = zipfile.ZipFile(io.BytesIO(archive(files).data))
    return {name: packed.read(name) for name in packed.namelist()}


def test_each_schema_has_its_classes() -> None:
    classes = [node for node in ast.parse(models_file()).body if isinstance(node, ast.ClassDef)]
    assert {each.name: "path" in ast.dump(each) for each in classes} == {
        "FileReadInput": True, "FileReadInputHow": False, "FileReadOutput": False, "FileWriteInput": False,
    }  # fmt: skip


def test_a_server_without_models_has_nothing_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composition, "resolve_name", None)
    names = entries({**project(OTHER + PLAIN)})
    assert not [name for name in names if "models" in name or name.startswith("site/")]
    with_file = entries({**project(OTHER + PLAIN, models_py=models_file_text())})
    assert with_file["handlers/models.py"].startswith(MODELS_LINE.encode())
    assert b"import" not in with_file["handlers/models.py"]
    assert not [name for name in with_file if name.startswith(("mcpc_app/models", "site/"))]


def models_file_text() -> str:
    return f"{MODELS_LINE}\n# Of the schemas with the digest 0.\n"


def test_a_description_that_no_model_shows_does_not_make_a_file_out_of_date() -> None:
    server, _ = lowered(project(PLAIN + OTHER))
    other, _ = lowered(
        {**project(PLAIN + OTHER), "tools.json": json.dumps({"tools": TOOLS}).replace("Read.", "Reads.")}
    )
    assert server is not None
    assert other is not None
    assert digest_line(model_requests(server, tool_names(server))) == digest_line(
        model_requests(other, tool_names(other))
    )
