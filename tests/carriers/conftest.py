"""What the tests of carriers share: one built server, and the program of the owner of bundles."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from mcpc.cli.carrier_files import read_built_server
from support.artifact import build
from support.carriers import write_project
from support.needs import ROOT, lacking, needs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcpc.carriers import BuiltServer

SOURCES = ROOT / "tests/carriers/mcpb"
CACHE = ROOT / ".cache/mcpb"


@pytest.fixture(scope="session")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built file with all facts, which serves over HTTP, too."""
    folder = tmp_path_factory.mktemp("weather")
    return build(write_project(folder / "project"), folder / "server.pyz", "--http")


@pytest.fixture(scope="session")
def server(artifact: Path) -> BuiltServer:
    """The built file as a value."""
    return read_built_server(artifact)


@pytest.fixture(scope="session")
def mcpb() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the owner's program for bundles, installed as its lock says."""
    needs("node", "npm")
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        program = installed(CACHE / "installed") / "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js"

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        argv = ["node", str(program), *map(str, words)]
        return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)

    return run


def installed(folder: Path) -> Path:
    """Install the packages of the lock, unless they are there."""
    stamp = folder / "node_modules/.from-lock"
    wanted = (SOURCES / "package-lock.json").read_bytes()
    if not stamp.exists() or stamp.read_bytes() != wanted:
        shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
        argv = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            lacking(f"the program for bundles could not be installed: {done.stderr.strip()[-300:]}")
        stamp.write_bytes(wanted)
    return folder
