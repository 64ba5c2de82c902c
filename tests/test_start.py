"""A built file starts wherever it is put, in every way it can be started, under every Python it supports."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build, converse
from support.interpreters import VERSIONS, answering, interpreters
from support.needs import ROOT, python

STATELESS = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
REQUESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
    ("tools/list", {}),
    ("tools/call", {"name": "count_words", "arguments": {"text": "zwei Wörter"}}),
    ("tools/call", {"name": "count_words", "arguments": {"text": 1}}),
    ("prompts/get", {"name": "introduce", "arguments": {"name": "Ada"}}),
    ("server/discover", {"_meta": STATELESS}),
)
TOO_OLD = ("3.10", "3.9", "3.8", "3.7", "2.7")


def lines(*requests: tuple[str, dict[str, Any]]) -> bytes:
    """Return requests as lines, their ids their places."""
    messages = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(requests)
    ]
    return "".join(json.dumps(message) + "\n" for message in messages).encode()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The artifact of the Python project that `mcpc new` makes."""
    return build(ROOT / "templates/new/python", tmp_path_factory.mktemp("start") / "server.pyz")


@pytest.fixture(scope="session")
def expected(server: Path) -> dict[int, bytes]:
    """What the artifact answers under the Python that built it."""
    return answers(sys.executable, server)


def answers(*argv: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> dict[int, bytes]:
    """Return the replies to the requests by their ids, from a server that says nothing else and ends well."""
    done = converse(argv, lines(*REQUESTS), cwd=cwd, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    replies = {json.loads(line)["id"]: line for line in done.stdout.splitlines()}
    assert sorted(replies) == list(range(len(REQUESTS)))
    return replies


def first_word_finds(interpreter: Path, folder: Path) -> dict[str, str]:
    """Return an environment in which every Python on PATH is this interpreter, and nothing else is set."""
    programs = folder / "bin"
    programs.mkdir()
    for name in ("python3", *(f"python{version}" for version in VERSIONS)):
        (programs / name).symlink_to(interpreter)
    return {"PATH": f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin"}


def test_the_answers_are_right(expected: dict[int, bytes]) -> None:
    results = {number: json.loads(line).get("result") for number, line in expected.items()}
    assert results[0]["serverInfo"]["name"] == "my-server"
    assert [tool["name"] for tool in results[1]["tools"]] == ["greet", "count_words"]
    assert results[2]["structuredContent"] == {"words": 2, "characters": 11}
    assert results[3]["isError"]
    assert "Ada" in results[4]["messages"][0]["content"]["text"]
    assert "2026-07-28" in results[5]["supportedVersions"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_supported_python_answers_the_same(version: str, server: Path, expected: dict[int, bytes]) -> None:
    assert answers(python(version), server) == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_its_own_first_line_starts_it(version: str, server: Path, expected: dict[int, bytes], tmp_path: Path) -> None:
    environment = first_word_finds(python(version), tmp_path)
    assert answers(server, env=environment) == expected


def test_an_old_python_is_told_so(server: Path) -> None:
    found = {version: path for version in TOO_OLD if (path := answering(version))}
    if not found:
        pytest.skip("no Python that is too old is here")
    for version, old in found.items():
        done = converse([old, server], b"")
        assert done.returncode == 8, version
        assert f"needs Python 3.11 or newer; {old} is Python {version}\n" in done.stderr.decode(), version
        assert b"Traceback" not in done.stderr, version


@pytest.mark.parametrize("name", ["with space.pyz", "no-suffix", "Ünïcödé.pyz", "-dash.pyz", "a'quote\".pyz"])
def test_its_name_does_not_matter(name: str, server: Path, expected: dict[int, bytes], tmp_path: Path) -> None:
    copy = tmp_path / name
    shutil.copy(server, copy)
    assert answers(sys.executable, copy) == expected
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    assert answers(copy, env={**os.environ, "PATH": path}) == expected


def test_it_is_found_through_a_link_and_a_relative_path(
    server: Path, expected: dict[int, bytes], tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(server)
    assert answers(sys.executable, "link", cwd=tmp_path) == expected
    assert answers(sys.executable, "./link", cwd=tmp_path) == expected


def test_it_writes_nothing_where_it_lies(server: Path, tmp_path: Path) -> None:
    copy = tmp_path / "server.pyz"
    shutil.copy(server, copy)
    before = copy.stat()
    answers(sys.executable, copy, cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["server.pyz"]
    assert copy.stat().st_mtime_ns == before.st_mtime_ns


def test_files_beside_it_are_not_imported(server: Path, expected: dict[int, bytes], tmp_path: Path) -> None:
    for name in ("json.py", "mcpc_runtime.py", "tools.py", "sitecustomize.py", "mcpc_app.py"):
        (tmp_path / name).write_text("raise SystemExit('a file of the folder was imported')\n")
    copy = tmp_path / "server.pyz"
    shutil.copy(server, copy)
    environment = first_word_finds(interpreters()[f"{sys.version_info.major}.{sys.version_info.minor}"], tmp_path)
    assert answers(copy, cwd=tmp_path, env=environment | {"PYTHONPATH": str(tmp_path)}) == expected


def test_without_input_it_ends_at_once(server: Path) -> None:
    done = converse([sys.executable, server], b"")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
