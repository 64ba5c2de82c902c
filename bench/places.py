"""Subjects of the measurements: a Python without packages, and projects of any size, all in .cache/bench."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache/bench"
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
PYTHON_TOOL = "def {name}(text: str) -> str:\n    return text\n\n\n"
BASH_TOOL = 'tool_{name}() {{\n  local text=${{1#*: \\"}}\n  printf \'%s\\n\' "${{text%\\"*}}"\n}}\n'
PYTHON_ECHO, BASH_ECHO = "echo", "shell_echo"
KEPT_VARIABLES = ("HOME", "LANG", "LC_ALL", "TMPDIR")


def clean_python() -> Path:
    """Return a Python without installed packages, which may slow every start."""
    base = Path(
        getattr(sys, "_base_executable", "") or sys.executable
    )  # the interpreter itself, behind environments and shims
    place = CACHE / f"python-{sys.version_info.major}.{sys.version_info.minor}"
    if not (place / "bin/python3").exists():
        subprocess.run([base, "-m", "venv", "--without-pip", place], check=True)
    return place / "bin/python3"


def environment() -> dict[str, str]:
    """Return a small environment in which `python3` is the clean one, and peers print no banner."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    path = f"{clean_python().parent}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "PATH": path, "FASTMCP_LOG_LEVEL": "ERROR", "FASTMCP_CHECK_FOR_UPDATES": "off"}


def tool_names(count: int) -> list[str]:
    """Return the names of `count` tools."""
    return [f"{PYTHON_ECHO}_{number:05d}" if number else PYTHON_ECHO for number in range(count)]


def write_project(folder: Path, count: int, *, inline: bool | str = False) -> Path:
    """Write a project with `count` echoing Python tools, inline or not, and one in Bash."""
    names = tool_names(count)
    tools = [{"name": name, "description": "Return the text.", "inputSchema": SCHEMA} for name in (*names, BASH_ECHO)]
    if inline:
        said = {"_meta": {"mcpc/handler": {"inline": inline}}}
        tools = [tool if tool["name"] == BASH_ECHO else {**tool, **said} for tool in tools]
    files = {
        "server.json": json.dumps({"serverInfo": {"name": "bench", "version": "1.0.0"}}),
        "tools.json": json.dumps({"tools": tools}, indent=1),
        "tools.py": '"""Tools that return what they were given."""\n\n\n'
        + "".join(PYTHON_TOOL.format(name=name) for name in names),
        "tools.bash": BASH_TOOL.format(name=BASH_ECHO),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def build(project: Path, target: Path, cache: Path, *options: str) -> float:
    """Build a project with `mcpc build`; return the seconds of the command."""
    argv = [sys.executable, "-m", "mcpc", "build", str(project), "-o", str(target), "--quiet", *options]
    sources = os.pathsep.join((str(ROOT / "compiler"), str(ROOT / "runtime")))
    variables = {**os.environ, "PYTHONPATH": sources, "MCPC_CACHE_DIR": str(cache)}
    began = time.perf_counter()
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=variables)
    took = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"mcpc build {project} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
    return took
