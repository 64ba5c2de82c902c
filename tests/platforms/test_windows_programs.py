"""Servers as programs for Windows, under Wine: `server.exe` with the machine's Python, and self-contained."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from mcpc.interpreters.launchers.windows_file import PythonChoice, windows_file
from mcpc.interpreters.launchers.windows_interpreter import bundled_interpreter, read_embeddable
from platforms import projects
from support import machines
from support.pipe_client import HANDSHAKE, STATELESS, PipeClient
from support.windows_prefix import windows_path
from support.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from support.windows_prefix import Prefix

    Start = Callable[..., AbstractContextManager[PipeClient]]

FORMS = ("finds Python", "self-contained")
FAMILY = 3
"""The worker, its child, and the child of another child."""
SECONDS = 0.5
"""What a process may outlive its server."""


@pytest.fixture(scope="module", params=FORMS)
def program(request: pytest.FixtureRequest, prefix: Prefix, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("a folder with spaces")
    archive = projects.built("mixed", folder).read_bytes()
    python = prefix.pythons["3.13"]
    interpreter = bundled_interpreter(read_embeddable(python, "x64")) if request.param == "self-contained" else None
    path = folder / "server.exe"
    path.write_bytes(windows_file(archive, "x64", PythonChoice((13,)), interpreter))
    path.chmod(0o755)
    return path


@pytest.fixture
def start(program: Path, prefix: Prefix, tmp_path: Path) -> Start:
    """Start the server and greet it; it ends with the block. Python is on PATH; the self-contained one ignores it."""

    @contextmanager
    def started(revision: str = HANDSHAKE) -> Iterator[PipeClient]:
        cache = windows_path(program.parent / "cache")
        path = [windows_path(prefix.pythons["3.13"])] if program.stat().st_size < 10_000_000 else []
        environment = prefix.environment({"MCPC_RUNTIME_CACHE": cache, "MCPC_TASKS": "memory:"}, path)
        with PipeClient([machines.WINE, str(program)], environment, revision=revision, cwd=tmp_path) as client:
            client.greet()
            yield client

    return started


@pytest.mark.parametrize("revision", [HANDSHAKE, STATELESS])
def test_it_serves(revision: str, start: Start) -> None:
    with start(revision) as client:
        assert client.text("fast", text="Grüße") == "Grüße"
        assert client.text("slow", text="in a worker") == "in a worker"
        assert client.text("later", text="on its loop") == "on its loop"
        client.close_input()
        assert client.ends() == 0


def test_nothing_is_left_after_a_kill(start: Start) -> None:
    """The client knows of the launcher only."""
    with Witness() as witness, start() as client:
        assert client.text("family", port=witness.port) == "started"
        assert witness.has_seen(FAMILY)
        client.process.kill()
        assert witness.left(SECONDS) == 0
