"""The lines behind a `$` in the `console` blocks of `docs/` run, and say what stands below them.

Each page runs in a folder of its own with a copy of the examples.  What else pages say is checked by `make lint`.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lint.pages import Page, read
from support.artifact import SOURCES, build, with_bytecode
from support.needs import ROOT, needs, needs_node

WAYS = ("bash", "from-fastmcp", "production", "release", "sent-a-file")
"""The pages on which new users begin: each leads to a called tool, with an empty home, in 80 columns.

Who begins with README and the tutorial is followed by tests/system/test_readme.py and tests/site/test_pages.py.
"""
PAGES = [page for page in map(read, sorted((ROOT / "docs").rglob("*.md"))) if "```console" in page.text]


def sessions(page: Page) -> list[tuple[str, list[str]]]:
    said: list[tuple[str, list[str]]] = []
    for line in "".join(text for language, text in page.blocks if language == "console").splitlines():
        if line.startswith("$ "):
            said.append((line.removeprefix("$ "), []))
        else:
            said[-1][1].append(line)
    return said


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path.stem)
@pytest.mark.sampled(3)
def test_commands_run_as_they_are_written(page: Page, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    needs("bash", "jq")
    if "examples/toolbox" in page.text:
        needs_node()
    place = tmp_path / "here"
    shutil.copytree(ROOT / "examples", place / "examples")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "mcpc").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mcpc "$@"\n')
    (programs / "mcpc").chmod(0o755)
    (programs / "python3").symlink_to(sys.executable)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("MCPBASH_", "MCPC_"))},
        "PYTHONPATH": SOURCES,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "MCPC_CACHE_DIR": str(with_bytecode(tmp_path_factory.getbasetemp() / "cache-of-docs")),
        "MCPC_TOOLBOX_HOME": str(tmp_path / "home"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    if page.path.stem in WAYS:
        (tmp_path / "user").mkdir()
        environment.setdefault("UV_CACHE_DIR", str(Path.home() / ".cache/uv"))
        environment.update(HOME=str(tmp_path / "user"), COLUMNS="80")
        assert any(re.match(r"(mcpc|\./.+\.pyz|python3 .+\.pyz) call ", command) for command, _ in sessions(page))
    lines = 0
    if page.path.stem == "sent-a-file":
        build(ROOT / "examples/files", place / "server.pyz")
    for command, expected in sessions(page):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=place, env=environment, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        lines += len((done.stdout + done.stderr).splitlines())
        printed = iter((done.stdout + done.stderr).splitlines())
        missing = [line for line in expected if line not in printed]
        assert not missing, f"{command} does not say {missing}:\n{done.stdout}{done.stderr}"
    sys.stdout.write(f"\n{page.path.stem}: {len(sessions(page))} commands, {lines} lines of output\n")
