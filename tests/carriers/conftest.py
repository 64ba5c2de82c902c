"""What the tests of carriers share: one built server, and the program of the owner of bundles."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpc.cli.carrier_files import read_built_server
from mcpc.release.carriers import BuiltServer
from support.artifact import built_fixture
from support.carriers import write_project
from support.needs import ROOT
from support.npm import installed_packages

SOURCES = ROOT / "tests/carriers/mcpb"


artifact = built_fixture(write_project, "--http", scope="session")


@pytest.fixture(scope="session")
def server(artifact: Path) -> BuiltServer:
    return read_built_server(artifact)


@pytest.fixture(scope="session")
def mcpb() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the owner's program for bundles, installed as its lock says."""
    program = installed_packages(SOURCES) / "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js"

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        argv = ["node", str(program), *map(str, words)]
        return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)

    return run
