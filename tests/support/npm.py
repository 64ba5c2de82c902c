"""Packages of npm for tests, installed as a lock says, once for all test processes."""

import fcntl
import shutil
import subprocess
from pathlib import Path

from support.needs import ROOT, lacking, needs

CACHE = ROOT / ".cache/npm"
STAMP = "node_modules/.from-lock"
SECONDS = 600


def installed_packages(sources: Path) -> Path:
    """Return a copy of a folder with `package.json` and `package-lock.json`, and the packages beside them.

    The test is skipped where they cannot be installed.
    """
    needs("node", "npm")
    folder = CACHE / sources.relative_to(ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        install(sources, folder)
    return folder


def install(sources: Path, folder: Path) -> None:
    """Copy the folder, and install the packages unless they are there."""
    stamp, wanted = folder / STAMP, (sources / "package-lock.json").read_bytes()
    shutil.copytree(sources, folder, dirs_exist_ok=True)
    if stamp.exists() and stamp.read_bytes() == wanted:
        return
    argv = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        lacking(f"the packages of {sources.name} could not be installed: {done.stderr.strip()[-300:]}")
    stamp.write_bytes(wanted)
