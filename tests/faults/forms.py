"""The servers under test: the same tools, written once in Bash and once in Python, and each built as a user builds.

A form is how handlers are written and run: `bash`, `python` (in a worker), `inline` (Python in the server itself).
"""

import json
import sys
from pathlib import Path
from typing import Any

from support import artifact
from support.files import write_files
from support.machines import Machine

BASH, PYTHON, INLINE = "bash", "python", "inline"
FORMS = (BASH, PYTHON, INLINE)
APART = (BASH, PYTHON)
"""The forms whose handlers run in processes of their own."""

TEXT = {"text": {"type": "string"}}
SECONDS = {"seconds": {"type": "number"}}
HOW = {"how": {"type": "string"}}
LIMIT = {"timeout": 1}
SECOND = {"timeout": 30}
LONG = {"timeout": 120}

TOOLS: dict[str, tuple[dict[str, Any], dict[str, Any] | None, dict[str, Any]]] = {
    "echo": (TEXT, TEXT, {}), "say": (TEXT, None, {}), "size": (TEXT, None, {}), "digest": (TEXT, None, {}),
    "ignore": (TEXT, None, {}), "sleep": (SECONDS, None, {}), "burn": (SECONDS, None, {}), "hold": (SECONDS, None, {}),
    "spawn": (SECONDS, None, {}),
    "flood": ({"mib": {"type": "integer"}, "to": {"type": "string"}}, None, LONG),
    "lines": ({"count": {"type": "integer"}}, None, SECOND),
    "notes": ({"count": {"type": "integer"}}, None, LONG),
    "fail": (HOW, None, {}), "never": (HOW, None, LIMIT), "broken": ({}, TEXT, {}), "empty": ({}, None, {}),
    "noise": ({}, None, {}), "colours": ({}, None, {}), "change": ({}, None, {}), "input": ({}, None, {}),
    "daemon": ({}, None, {}), "straggler": ({}, None, {}), "stubborn": ({}, None, {}), "child": ({}, None, {}),
    "where": ({}, None, {}), "loop": ({}, None, {}),
}  # fmt: skip
"""Every tool: its parameters, what its output is to be, and how it is to be run."""
NEVER_INLINE = ("child", "daemon", "straggler", "stubborn", "notes", "lines", "flood", "change", "where", "loop")

BASH_LIBRARY = Path(__file__).with_name("library.bash").read_text("utf-8")

PYTHON_LIBRARY = Path(__file__).with_name("library.py.txt").read_text("utf-8")


def definition(name: str, form: str) -> dict[str, Any]:
    parameters, output, running = TOOLS[name]
    handler = {**running, **({"inline": True} if form == INLINE else {})}
    tool: dict[str, Any] = {
        "name": name,
        "description": f"The tool {name}.",
        "inputSchema": {"type": "object", "properties": parameters, "required": list(parameters)},
    }
    if output is not None:
        tool["outputSchema"] = {"type": "object", "properties": output, "required": list(output)}
    if handler:
        tool["_meta"] = {"mcpc/handler": handler}
    return tool


def project(form: str) -> dict[str, str]:
    names = [name for name in TOOLS if form != INLINE or name not in NEVER_INLINE]
    server = {"serverInfo": {"name": f"faults-{form}", "version": "1.0"}, "capabilities": {"tools": {}, "logging": {}}}
    library = ("tools.bash", BASH_LIBRARY) if form == BASH else ("tools.py", PYTHON_LIBRARY)
    return {
        "server.json": json.dumps(server),
        "tools.json": json.dumps({"tools": [definition(name, form) for name in names]}),
        library[0]: library[1],
    }


def build(form: str, folder: Path, *, http: bool = False) -> Path:
    """Build a form's server below `folder`, unless it was built there before; return the artifact."""
    if http:
        return build_project(project(form), folder, f"{form}-http", "--http")
    return build_project(project(form), folder, form)


def build_project(files: dict[str, str], folder: Path, name: str, *options: str) -> Path:
    target = folder / f"{name}.pyz"
    if target.exists():
        return target
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    write_files(place, files)
    return artifact.build(place, target, *options)


def command(artifact: Path, machine: Machine | None = None) -> list[str]:
    """Return how a built server is started: as its own first line does, with this interpreter or that of a machine."""
    if machine is not None:
        return [*machine.python, "-I", "-S", machine.path(artifact)]
    return [sys.executable, "-I", "-S", str(artifact)]
