"""Measure the first call of a handler with a pydantic model, from one file that bundles pydantic.

    python bench/typed.py [--rounds N]

Measured in alternation: the first call after the start with and without extracted native modules, the second call, and
a Python that only imports pydantic from a folder. Exits with status 1 if the first call takes longer than its goal, or
if a later start extracts anything again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
from importlib import metadata
from typing import TYPE_CHECKING

import places
import wire

if TYPE_CHECKING:
    from pathlib import Path

GOAL_SECONDS = 0.35
FOLDER = places.CACHE / "typed"
EXTRACTED = FOLDER / "native"
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
HANDLER = """from pydantic import BaseModel


class Echo(BaseModel):
    text: str


def echo(**given):
    return Echo.model_validate(given).text
"""


def project() -> Path:
    """Return a project with one handler that validates with pydantic."""
    tool = {"name": "echo", "description": "Return the text.", "inputSchema": SCHEMA}
    files = {
        "server.json": json.dumps({"serverInfo": {"name": "typed", "version": "1.0.0"}}),
        "tools.json": json.dumps({"tools": [tool]}),
        "tools.py": HANDLER,
        "requirements.txt": f"pydantic=={metadata.version('pydantic')}\n",
    }
    folder = FOLDER / "project"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def calls(path: Path) -> tuple[float, float, float]:
    """Start the server; return the seconds to its first answer, of its first call, and of the next one."""
    environment = {**places.environment(), "MCPC_RUNTIME_CACHE": str(EXTRACTED)}
    server = wire.Server([str(places.clean_python()), str(path)], environment)
    took = server.start(), server.call("echo"), server.call("echo")
    server.close()
    return took


def extracted() -> dict[str, tuple[int, int]]:
    """Return the content of the folder of native modules: inode and time of each file."""
    files = (path for path in EXTRACTED.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


def row(name: str, times: list[float], base: float) -> str:
    """Return a line of the table."""
    middle = statistics.median(times)
    return f"  {name:<52}{middle * 1e3:8.1f} ms, least {min(times) * 1e3:7.1f}   {middle / base:5.2f} x"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    target = FOLDER / "typed.pyz"
    built = places.build(project(), target, FOLDER / "builds")
    first, fresh, start, second, imports = [], [], [], [], []
    changed = False
    for _ in range(rounds):
        shutil.rmtree(EXTRACTED, ignore_errors=True)
        fresh.append(calls(target)[1])
        before = extracted()
        answered, once, again = calls(target)
        changed |= extracted() != before or not before
        start.append(answered)
        first.append(once)
        second.append(again)
        imports.append(wire.lifetime([sys.executable, "-I", "-c", "import pydantic"], dict(os.environ)))
    base = statistics.median(imports)
    print(f"{target.stat().st_size / 1e6:.1f} MB, built in {built:.2f} s; load {os.getloadavg()[0]:.1f}")
    print(row("python -I -c 'import pydantic'", imports, base))
    print(row("start to `initialize`", start, base))
    print(row("first call, native parts extracted already", first, base))
    print(row("first call, native parts extracted by it", fresh, base))
    print(row("second call", second, base))
    slow = statistics.median(first) > GOAL_SECONDS
    print(f"  first call at most {GOAL_SECONDS} s: {'MISSED' if slow else 'met'}")
    print(f"  a second start extracts nothing again: {'MISSED' if changed else 'met'}")
    sys.exit(slow or changed)


if __name__ == "__main__":
    main()
