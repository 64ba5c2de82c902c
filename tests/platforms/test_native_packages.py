"""Packages with native modules in servers that were built here for Windows, from wheels of its tags."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import machines
from support.artifact import mcpc
from support.files import write_files
from support.wheels import variables, wheel

if TYPE_CHECKING:
    from support.machines import Machine

PROJECT = {
    "server.json": json.dumps({"serverInfo": {"name": "native", "version": "1.0.0"}}),
    "tools.json": json.dumps(
        {
            "tools": [
                {
                    "name": "where",
                    "description": "Use a native module, and return the path of its file.",
                    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
                }
            ]
        }
    ),
    "requirements.txt": "nat==1.0\nonly-here==1.0; sys_platform == 'win32'\n",
    "tools.py": """
import os


def where(text="hello"):
    import only_here
    from nat import _queue

    queue = _queue.SimpleQueue()
    queue.put(text)
    return f"{queue.get()} {only_here.VALUE} {os.path.abspath(_queue.__file__)}"
""",
}


@pytest.fixture(scope="module", params=machines.VERSIONS)
def machine(request: pytest.FixtureRequest) -> Machine:
    return machines.machine(f"wine-{request.param}")


@pytest.fixture(scope="module")
def artifact(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server with a module of that Python itself, in a wheel."""
    folder = tmp_path_factory.mktemp("native")
    minor = machine.version.partition(".")[2]
    module = (Path(machine.python[1]).parent / "_queue.pyd").read_bytes()
    tag = f"cp3{minor}-cp3{minor}-win_amd64"
    files = {"nat/__init__.py": "", f"nat/_queue.cp3{minor}-win_amd64.pyd": module}
    wheel(folder / "shop", "nat", "1.0", files, tag=tag)
    wheel(folder / "shop", "only-here", "1.0", {"only_here.py": "VALUE = 7\n"})
    (folder / "project").mkdir()
    write_files(folder / "project", PROJECT)
    environment = {"MCPC_CACHE_DIR": str(folder / "cache"), **variables(folder / "shop")}
    words = ("-o", folder / "server.pyz", "--platform", f"win_amd64-cp3{minor}", "--no-smoke")
    mcpc("build", folder / "project", *words, environment=environment, status=0)
    return folder / "server.pyz"


def call(machine: Machine, artifact: Path, **more: str) -> tuple[int, str, str]:
    done = subprocess.run(
        machine.command(artifact, "call", "where", "text=hello"),
        input=b"",
        capture_output=True,
        timeout=120,
        check=False,
        env=machine.environment(more),
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_native_module_is_loaded_from_the_profile(machine: Machine, artifact: Path) -> None:
    for _ in range(2):
        status, output, errors = call(machine, artifact)
        assert status == 0, errors
        assert re.match(r"hello 7 C:\\users\\\w+\\AppData\\Local\\mcpc\\native\\[0-9a-f]{64}\\nat\\_queue\.", output)


def test_a_cache_outside_the_profile_is_refused_in_words(machine: Machine, artifact: Path, tmp_path: Path) -> None:
    status, output, errors = call(machine, artifact, MCPC_RUNTIME_CACHE=machine.path(tmp_path / "cache"))
    assert status == 5, errors
    assert "is not below your own folder, so others may write to it" in output + errors
    assert "MCPC_RUNTIME_CACHE" in output + errors


def test_its_facts_name_the_platform(artifact: Path) -> None:
    done = mcpc("inspect", artifact, "--format", "json")
    if done.returncode:
        pytest.fail(done.stderr)
    assert "win_amd64" in json.dumps(json.loads(done.stdout))
