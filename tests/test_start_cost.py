"""The start is guarded by a count of instructions, which no load of the machine changes."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from needs import ROOT, needs

if TYPE_CHECKING:
    from pathlib import Path


def test_a_start_costs_hardly_more_than_a_bare_python(files_server: Path) -> None:
    needs("valgrind")
    argv = [sys.executable, ROOT / "bench/startup_instructions.py", files_server, "--limit", "1.3"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_project_of_mcp_bash_costs_no_more() -> None:
    """However many tools it has, and with a list of all of them."""
    needs("bash", "valgrind")
    argv = [sys.executable, ROOT / "bench/mcp_bash_start.py", "--tools", "100", "--rounds", "1"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every tool listed" in done.stdout
