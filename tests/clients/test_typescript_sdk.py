"""The official TypeScript SDK's clients: version 1, and version 2 in each of its modes."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from clients import conversation
from clients.conversation import CALLS, HANDSHAKE, INCOMPLETE_PROMPT, PROMPTS, STATELESS, UNKNOWN_TOOL
from needs import ROOT, lacking, needs

if TYPE_CHECKING:
    from pathlib import Path

SOURCES = ROOT / "tests/clients/typescript"
CACHE = ROOT / ".cache/clients"
MODES = {"v1": HANDSHAKE, "legacy": HANDSHAKE, "auto": STATELESS, STATELESS: STATELESS}


@pytest.fixture(scope="session")
def script() -> Path:
    """The client's script beside its packages, which are installed as its lock says."""
    needs("node", "npm")
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        return install(CACHE / "typescript")


def install(folder: Path) -> Path:
    installed = folder / "node_modules/.from-lock"
    wanted = (SOURCES / "package-lock.json").read_bytes()
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
    if not installed.exists() or installed.read_bytes() != wanted:
        argv = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            lacking(f"the TypeScript SDKs could not be installed: {done.stderr.strip()[-300:]}")
        installed.write_bytes(wanted)
    return folder / "transcript.mjs"


@pytest.mark.parametrize("mode", MODES)
def test_it_understands_the_server(mode: str, script: Path, files_server: Path, tmp_path: Path) -> None:
    place = conversation.place(files_server, tmp_path)
    asked = {
        "calls": CALLS,
        "prompts": PROMPTS,
        "unknown_tool": UNKNOWN_TOOL,
        "incomplete_prompt": INCOMPLETE_PROMPT,
    }
    done = subprocess.run(
        ["node", script, mode, place.server, json.dumps(asked)],
        cwd=place.folder,
        env=place.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    conversation.check(json.loads(done.stdout), MODES[mode])
