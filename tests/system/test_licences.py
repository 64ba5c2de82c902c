"""A built file prints the licences of the packages that it contains."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from support import wheels
from support.artifact import build

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = '''"""Tools."""

from pure import value

from mcpc import Server, tool

mcp = Server("licensed", version="1.0.0")


@tool
def use() -> int:
    """Return a value of a package."""
    return value
'''
FILES = {
    "pure/__init__.py": "value = 1\n",
    "pure-1.0.dist-info/licenses/LICENSE.md": "You may do anything with pure. ⚖\n",
    "pure-1.0.dist-info/licenses/third/NOTICE": "It contains nothing else.\n",
}


def test_names_and_texts_of_packages_are_printed(tmp_path: Path) -> None:
    wheel = wheels.wheel(tmp_path / "wheels", "pure", "1.0", FILES)
    files = {"tools.py": TOOLS, "requirements.txt": f"pure @ ./{wheel.name}\n", wheel.name: wheel.read_bytes()}
    project = tmp_path / "project"
    project.mkdir()
    for name, data in files.items():
        (project / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    server = build(project, tmp_path / "server.pyz")
    argv = [sys.executable, server, "licenses"]
    done = subprocess.run(argv, capture_output=True, timeout=120, check=True)
    output = done.stdout.decode()
    assert "\npure 1.0: MIT\n" in output
    assert "=== pure-1.0: LICENSE.md\n\nYou may do anything with pure. ⚖\n" in output
    assert "=== pure-1.0: NOTICE\n\nIt contains nothing else.\n" in output
    wrong = subprocess.run([*argv, "all"], capture_output=True, text=True, timeout=120, check=False)
    assert (wrong.returncode, wrong.stdout) == (2, "")
