"""What the tests of TypeScript clients share: their packages, installed as the lock says."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from support.needs import ROOT, lacking, needs

if TYPE_CHECKING:
    from pathlib import Path

SOURCES = ROOT / "tests/clients/typescript"
CACHE = ROOT / ".cache/clients"


@pytest.fixture(scope="session")
def typescript() -> Path:
    """The folder of the clients' scripts, beside the packages they import."""
    return typescript_packages()


def typescript_packages() -> Path:
    """Return the folder of the clients' scripts, with their packages installed there."""
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
    return folder
