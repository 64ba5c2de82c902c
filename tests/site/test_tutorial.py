"""The tutorial, followed: its commands run, its program is the server, and what it shows is what is printed."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.artifact import CACHE, SOURCES, store
from support.needs import ROOT

PAGE = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
ELSEWHERE = ("pipx", "mcpc dev")
"""Commands that are run elsewhere: README's installation, and a server that ends with its client."""


REFUSED = "unit=kelvin"
"""What the tutorial has refused."""


def run(command: str, folder: Path) -> str:
    """Run a command of the page; return what it prints, and fail if it is not understood."""
    environment = {
        "HOME": str(folder / "home"),
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": SOURCES,
        CACHE: str(store() / "cache"),
    }
    done = subprocess.run(
        shlex.split(command), cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False,
        executable=shutil.which(command.split()[0], path=environment["PATH"]),
    )  # fmt: skip
    assert done.returncode == (5 if REFUSED in command else 0), f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@pytest.mark.slow
def test_the_tutorial_is_true(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/mcpc"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mcpc "$@"\n')
    program.chmod(0o755)
    printed = ""
    for language, text in BLOCKS:
        if language == "python":
            (tmp_path / "weather/server.py").write_text(text, encoding="utf-8")
        elif language == "yaml":
            (tmp_path / "weather/tests/tools.yaml").write_text(text, encoding="utf-8")
        elif language == "text":
            assert text in printed
        else:
            commands = [line.removeprefix("$ ") for line in text.splitlines()]
            printed = "".join(run(each, tmp_path) for each in commands if not each.startswith(ELSEWHERE))
            if "unit=fahrenheit" in text:
                assert printed.startswith("87.8 °F\n")
    assert "weather.pyz" in (tmp_path / "home/.cursor/mcp.json").read_text()
