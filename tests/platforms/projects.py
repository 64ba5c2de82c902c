"""The servers of these tests: each a project as texts, which names no program and no path of one operating system.

Run as a program (`python -m platforms.projects FOLDER`, in `tests`) it builds all of them into a folder: a machine on which
mcpc itself cannot run tests these files, if TESTS_BUILT names the folder.
"""

import importlib
import json
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from support import machines
from support.needs import ROOT

BUILT = "TESTS_BUILT"
"""The variable that names a folder of files that were built elsewhere."""
ANSWERS = "answers.json"
"""The file beside them that has what this machine answers to the corpus."""
OVERLAYS = Path(__file__).parent / "overlays"
SERVER = json.dumps({"serverInfo": {"name": "mixed", "version": "1.0.0"}, "capabilities": {"logging": {}}})
MIXED_TOOLS = '''
import asyncio
import os
import pkgutil
import socket
import subprocess
import sys
import time

from mcpc import ToolError, tool

WAIT = "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); s.recv(1)"
BRANCH = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[2], *sys.argv[1:2]]).wait()"
opened = []


@tool(inline=True)
def fast(text: str) -> str:
    """Return a text, in the server's own process."""
    return text


@tool
def slow(text: str, seconds: float = 0) -> str:
    """Return a text, in a thread of the worker."""
    time.sleep(seconds)
    return text


@tool
async def later(text: str, seconds: float = 0) -> str:
    """Return a text, on the event loop of the worker."""
    await asyncio.sleep(seconds)
    return text


@tool
def fail() -> str:
    """Fail as tools do."""
    raise ToolError("it failed on purpose")


@tool
def big(size: int) -> str:
    """Return so many characters."""
    return "x" * size


@tool(inline=True)
def big_inline(size: int) -> str:
    """Return so many characters, from the server's own process."""
    return "x" * size


@tool(timeout=1)
def never() -> str:
    """Run longer than it may."""
    time.sleep(3600)
    return "too late"


@tool(timeout=1)
async def never_async() -> str:
    """Wait longer than it may."""
    await asyncio.sleep(3600)
    return "too late"


@tool
def family(port: int, wait: bool = False) -> str:
    """Start a process and a process of a process; each of them and the worker connect to a port until they end."""
    opened.append(socket.create_connection(("127.0.0.1", port)))
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    quiet = {name: subprocess.PIPE for name in quiet}
    subprocess.Popen([sys.executable, "-c", WAIT, str(port)], **quiet)
    subprocess.Popen([sys.executable, "-c", BRANCH, str(port), WAIT], **quiet)
    if wait:
        time.sleep(3600)
    return "started"


@tool(inline=True)
def processor_time() -> float:
    """Return the processor's seconds that the server has used."""
    return time.process_time()


@tool
def processor_time_of_worker() -> float:
    """Return the processor's seconds that the worker has used."""
    return time.process_time()


@tool
def noise() -> str:
    """Write to standard output in every way."""
    print("printed")
    sys.stdout.write("written")
    sys.stderr.write("complained")
    os.write(1, b"raw")
    return "quiet"


@tool
def read_input() -> str:
    """Return how much there is on standard input."""
    return str(len(os.read(0, 100)))


@tool(environment=["GIVEN"])
def variables() -> dict[str, str]:
    """Return the variables of the worker."""
    return dict(os.environ)


@tool
def size_of(path: str) -> int:
    """Return the size of a file of the project."""
    return len(pkgutil.get_data(__name__, path) or b"")


@tool(task=True)
async def job(seconds: float) -> str:
    """Take a while; a task where the client knows tasks."""
    await asyncio.sleep(seconds)
    return "the job is done"
'''
MIXED_RESOURCES = '''
from mcpc import resource, completion, prompt


@resource("note://static", mime_type="text/plain")
def static() -> str:
    """A text with characters of three alphabets."""
    return "grün, зелёный, 緑"


@resource("note://{name}/text")
def note(name: str) -> str | None:
    """A text by name."""
    return None if name == "none" else f"the note {name}"


@completion("note://{name}/text", "name")
def names(value: str) -> list[str]:
    """Complete a name."""
    return [name for name in ("anna", "anton", "berta") if name.startswith(value)]


@prompt
def introduce(name: str) -> str:
    """Introduce somebody."""
    return f"Introduce {name}."
'''
EXECUTABLE = '''#!/usr/bin/env python3
"""Return the text of a call in capitals, and the names of the project's data files."""

import json
import os
import sys

arguments = json.load(sys.stdin)
if arguments["text"] == "fail":
    sys.stderr.write("it failed on purpose")
    sys.exit(3)
files = os.listdir(os.path.join(os.environ["MCPC_FILES"], "data"))
print(json.dumps({"text": arguments["text"].upper(), "files": files}))
'''
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
EXECUTABLES = [
    {
        "name": "convert",
        "description": "Return a text in capitals, from a program.",
        "inputSchema": TEXT,
        "_meta": {"mcpc/handler": {"command": "bin/convert.py"}},
    }
]
MIXED = {
    "server.json": SERVER, "server.py": MIXED_RESOURCES, "tools.py": MIXED_TOOLS,
    "tools.json": json.dumps({"tools": EXECUTABLES}), "bin/convert.py": EXECUTABLE, "data/grün 緑.txt": "four",
}  # fmt: skip
SOURCES = {"files": ROOT / "examples/files", "everything": ROOT / "examples/everything"}
NAMES = ("mixed", *SOURCES)


def write(name: str, folder: Path) -> Path:
    """Write a project into a folder: `mixed`, or an example whose Bash is replaced by the Python of its overlay."""
    if name in SOURCES:
        shutil.copytree(SOURCES[name], folder, ignore=shutil.ignore_patterns("*.bash", "__pycache__"))
        for path in sorted(folder.rglob("*.json")):
            path.write_text(without_requirements(path.read_text("utf-8")), "utf-8")
        for path in sorted(path for path in (OVERLAYS / name).rglob("*") if path.is_file()):
            target = folder / path.relative_to(OVERLAYS / name)
            before = target.read_text("utf-8") if target.exists() and target.suffix == ".py" else ""
            target.write_text(before + path.read_text("utf-8"), "utf-8")
    else:
        for path, text in MIXED.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
    for path in folder.glob("bin/*"):
        path.chmod(0o755)
    return folder


def without_requirements(text: str) -> str:
    """Return definitions that name no program of one operating system."""

    def cut(value: object) -> object:
        if isinstance(value, dict):
            return {key: cut(item) for key, item in value.items() if key not in ("requires", "mcpc/handlers")}
        return [cut(item) for item in value] if isinstance(value, list) else value

    return json.dumps(cut(json.loads(text)), ensure_ascii=False)


@cache
def built(name: str, folder: Path) -> Path:
    """Return a server's file: one that was built elsewhere if TESTS_BUILT says so, else it is built into the folder."""
    elsewhere = os.environ.get(BUILT)
    if elsewhere:
        return Path(elsewhere) / f"{name}.pyz"
    artifact = importlib.import_module("support.artifact")  # needs what Windows does not have
    with tempfile.TemporaryDirectory(prefix="mcpc-platforms-") as temporary:
        file: Path = artifact.build(write(name, Path(temporary) / name), folder / f"{name}.pyz", "--http")
    return file


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    for name in NAMES:
        sys.stdout.write(f"{built(name, folder)}\n")
    answers = importlib.import_module("platforms.answers").over_pipes(
        machines.machine(machines.NATIVE), folder / "everything.pyz"
    )
    (folder / ANSWERS).write_text(json.dumps(answers, indent=1), "utf-8")
