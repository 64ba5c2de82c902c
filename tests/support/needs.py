"""What a test wants of the machine; without it the test is skipped by name, and fails where nothing may be skipped."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

from support.interpreters import interpreters

ROOT = Path(__file__).resolve().parents[2]
REQUIRE_ALL = "TESTS_REQUIRE_ALL"
"""Set to 1, a missing command is a failure: continuous integration installs them all."""


def needs(*commands: str) -> None:
    """Skip the test, naming the first of `commands` that is not on PATH."""
    for command in commands:
        if shutil.which(command) is None:
            lacking(f"{command} is not installed (`make deps` says how to get it)")


@cache
def node_version() -> str:
    done = subprocess.run(["node", "--version"], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip().removeprefix("v")


def needs_node(oldest: int = 20) -> None:
    """Skip the test without npm, and without a Node that runs what is bundled."""
    needs("node", "npm")
    if int(node_version().partition(".")[0]) < oldest:
        lacking(f"Node {node_version()} is too old: {oldest} or newer is needed")


def lacking(reason: str) -> NoReturn:
    """Skip the test for something that could have been installed; fail it where everything has to be."""
    if os.environ.get(REQUIRE_ALL) == "1":
        pytest.fail(f"{reason}, and {REQUIRE_ALL} is set", pytrace=False)
    pytest.skip(reason)


def python(version: str) -> Path:
    """Return an interpreter of a supported version; skip the test if this machine has none."""
    found = interpreters().get(version)
    if found is None:
        pytest.skip(f"Python {version} is not here")
    return found
