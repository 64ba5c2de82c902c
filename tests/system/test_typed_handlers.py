"""Handlers with models in a built server: what they are given, what they give back, and what they never see."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build, mcpc
from support.stdio import conversation, initialization, numbered

OUTPUT = {
    "type": "object",
    "properties": {
        "kind": {"const": "file"},
        "seen": {"type": "string"},
        "lines": {"type": "array", "items": {"type": "string"}, "default": []},
        "note": {"type": "string"},
        "class": {"type": ["string", "null"]},
    },
    "required": ["kind", "seen"],
    "additionalProperties": False,
}
READ = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "from": {"type": "string"},
        "a b": {"type": "integer"},
        "limit": {"type": "integer", "default": 10},
        "how": {"type": "object", "properties": {"deep": {"type": "boolean"}}},
        "big": {"type": "integer"},
    },
    "required": ["path"],
}
SHAPE = {
    "type": "object",
    "properties": {
        "shape": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
                    "required": ["kind", "radius"],
                },
                {
                    "type": "object",
                    "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
                    "required": ["kind", "side"],
                },
            ]
        }
    },
    "required": ["shape"],
}
TOOLS = [
    {"name": "file_read", "description": "Read.", "inputSchema": READ, "outputSchema": OUTPUT},
    {"name": "class", "description": "A name that is a keyword.", "inputSchema": SHAPE, "outputSchema": SHAPE},
    {"name": "listed", "description": "Models in a list.", "inputSchema": SHAPE},
    {"name": "plain", "description": "By name.", "inputSchema": {"type": "object", "properties": {"x": {}}}},
]
HANDLERS = """
from __future__ import annotations
from typing import TYPE_CHECKING
import models
from models import FileReadInput, FileReadOutput

if TYPE_CHECKING:
    from models import ClassInput

def file_read(args: FileReadInput) -> FileReadOutput:
    out = FileReadOutput(kind="file", seen=f"{args.path} {args.from_} {args.a_b} {args.limit} {args.how and args.how.deep}")
    if args.how is not None:
        out.lines.append("changed in place")
        out.class_ = None
    return out

async def tool_class(args: ClassInput):
    return args

def listed(args: 'models.ListedInput'):
    return [args, {"in": args.shape}]

def plain(x=None): return x
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("typed")
    project = folder / "project"
    project.mkdir()
    (project / "server.json").write_text('{"serverInfo": {"name": "typed", "version": "1.0.0"}}')
    (project / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    mcpc("generate", "models", project, "-o", project / "models.py", status=0)
    (project / "tools.py").write_text(HANDLERS)
    return build(project, folder / "server.pyz")


def call(server: Path, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the results of calls made one after the other, and in `[-1]` what was said on standard error."""
    rows = [("tools/call", {"name": name, "arguments": arguments}) for name, arguments in calls]
    done, said = conversation([sys.executable, server], numbered([("initialize", initialization()), *rows]))
    answers = {answer["id"]: answer.get("result", answer) for answer in said}
    return [*(answers[number] for number in range(1, len(calls) + 1)), {"stderr": done.stderr.decode()}]


def test_a_handler_gets_a_model_and_gives_one_back(server: Path) -> None:
    first, second, _ = call(
        server,
        ("file_read", {"path": "p", "from": "f", "a b": 1.0, "how": {"deep": True, "more": [1]}}),
        ("file_read", {"path": "p"}),
    )
    assert first["structuredContent"] == {
        "kind": "file",
        "seen": "p f 1 10 True",
        "lines": ["changed in place"],
        "class": None,
    }
    assert second["structuredContent"] == {"kind": "file", "seen": "p None None 10 None"}
    assert not first.get("isError")


@pytest.mark.parametrize("shape", [{"kind": "circle", "radius": 1.5}, {"kind": "square", "side": 2, "more": None}])
def test_what_came_goes_back_as_it_was(server: Path, shape: dict[str, Any]) -> None:
    there, listed, _ = call(server, ("class", {"shape": shape}), ("listed", {"shape": shape}))
    assert there["structuredContent"] == {"shape": shape}
    assert json.loads(listed["content"][0]["text"]) == [{"shape": shape}, {"in": shape}]


def test_what_only_the_model_refuses_is_told_in_words(server: Path) -> None:
    refused, told = call(server, ("file_read", {"path": "p", "big": 1e308}))
    assert refused["isError"]
    text = refused["content"][0]["text"]
    assert text.startswith("The arguments match the tool's schema, but FileReadInput rejects them:\n- /big: ")
    assert "Traceback" not in told["stderr"]
