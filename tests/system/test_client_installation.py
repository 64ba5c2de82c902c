"""Built files and mcpc in the configuration of clients, by their commands."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from support.artifact import CACHE, build, store
from support.needs import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def home_environment(home: Path) -> dict[str, str]:
    """Return variables of a user who has an empty home, and no client but those that have a folder in it."""
    return {"HOME": str(home), "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", CACHE: str(store() / "cache")}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT / "examples/files", tmp_path_factory.mktemp("built") / "server.pyz")


def test_a_built_file_installs_and_removes_itself_without_mcpc(tmp_path: Path, built: Path) -> None:
    environment = {**os.environ, **home_environment(tmp_path)}
    (tmp_path / ".codex").mkdir()
    config = tmp_path / ".codex/config.toml"
    config.write_bytes(b'model = "x" # mine\r\n')

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [str(built), *words]
        return subprocess.run(
            argv, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False
        )

    done = run("install", "--client", "all", "--json")
    assert (done.returncode, [row["result"] for row in json.loads(done.stdout)]) == (0, ["added"]), done.stderr
    assert config.read_bytes().startswith(b'model = "x" # mine\r\n\r\n[mcp_servers.')
    assert run("install", "--client", "codex").stdout.startswith("Codex: unchanged")
    assert str(built) in run("config", "--client", "zed").stdout
    assert "[OPTIONS]" in run("install", "--help").stdout
    assert run("install", "--client", "nothing").returncode == 2
    assert run("uninstall", "--client", "all").returncode == 0
    assert config.read_bytes() == b'model = "x" # mine\r\n'
