"""Clients and proxies of the stand-ins, in every generation."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "fastmcp_clients"


@pytest.mark.parametrize(
    ("script", "generation"),
    [
        ("clients.py", "fastmcp2"),
        ("clients.py", "fastmcp3"),
        ("clients.py", "fastmcp4"),
        ("web.py", "fastmcp4"),
        ("code_mode.py", "fastmcp3"),
        ("code_mode.py", "fastmcp4"),
        ("sessions.py", "sdk1"),
        ("sessions.py", "sdk2"),
    ],
)
def test_clients(script, generation):
    command = [sys.executable, str(FOLDER / script), generation]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
