"""A built file serves under every Python it supports, however it was started, wherever it lies, whatever is missing."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.artifact import built_fixture, converse
from support.interpreters import VERSIONS, answering
from support.needs import python
from support.scale import under_pythons
from system import mixed

Json = Any

pytestmark = pytest.mark.slow

TOO_OLD = ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10")
BASICS = "/usr/bin:/bin"
REQUESTS: tuple[tuple[str, dict[str, Json]], ...] = (
    ("initialize", mixed.HELLO),
    ("tools/list", {}),
    ("tools/call", {"name": "count", "arguments": {"text": "zwei Wörter"}}),
    ("tools/call", {"name": "shout", "arguments": {"text": "hey 🦆"}}),
    ("tools/call", {"name": "count", "arguments": {"text": 1}}),
    ("tools/call", {"name": "measure", "arguments": {"text": "größe", "unit": "bytes"}}),
    ("tools/call", {"name": "last-word", "arguments": {"text": "the last"}}),
    ("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}}),
    ("tools/call", {"name": "nothing", "arguments": {}}),
    ("server/discover", {"_meta": mixed.STATELESS}),
)
CONSOLE: dict[str, tuple[tuple[str, ...], int]] = {
    "info": (("info",), 0), "info for programs": (("info", "--json"), 0), "check": (("check",), 0),
    "check for programs": (("check", "--json"), 0), "list": (("list",), 0),
    "list for programs": (("list", "--json"), 0),
    "call in Python": (("call", "count", "text=zwei Wörter"), 0),
    "call in Bash": (("call", "shout", "text=hey"), 0),
    "call with JSON": (("call", "measure", "--json", '{"text": "größe"}'), 0),
    "a refused call": (("call", "count", "--json", '{"text": 1}'), 5),
    "a call of nothing": (("call", "nothing"), 5), "help": (("--help",), 0), "no command": (("dance",), 2),
}  # fmt: skip


server = built_fixture(mixed.write, programs=("bash",))


@pytest.fixture(scope="module")
def expected(server: Path) -> dict[int, Json]:
    """What it answers under the Python that built it."""
    return answers(sys.executable, server)


def answers(*argv: str | Path, **how: Any) -> dict[int, Json]:
    """Return the replies to the requests by their ids, from a server that says nothing else and ends well."""
    done = converse(argv, mixed.lines(*REQUESTS), **how)
    assert (done.returncode, own_words(done.stderr)) == (0, "")
    replies = {(reply := json.loads(line))["id"]: reply for line in done.stdout.splitlines()}
    assert sorted(replies) == list(range(len(REQUESTS)))
    return replies


def finding(interpreter: Path, folder: Path) -> dict[str, str]:
    """Return an environment of nothing but a PATH on which every Python is this interpreter."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    for name in ("python3", *(f"python{version}" for version in VERSIONS)):
        (programs / name).symlink_to(interpreter)
    return {"PATH": f"{programs}:{BASICS}"}


def text_of(reply: Json) -> str:
    (block,) = reply["result"]["content"]
    return str(block["text"])


def test_the_answers_are_right(expected: dict[int, Json]) -> None:
    assert expected[0]["result"]["serverInfo"]["title"] == "Gemischt — 混合"
    assert [tool["name"] for tool in expected[1]["result"]["tools"]] == ["count", "shout", "measure", "last-word"]
    assert text_of(expected[2]) == "2 words"
    assert text_of(expected[3]) == "HEY 🦆!"
    assert expected[4]["result"]["isError"] is True
    assert expected[5]["result"]["structuredContent"] == {"length": 7}
    assert text_of(expected[6]) == "last"
    assert expected[7]["result"]["messages"][0]["content"]["text"] == "Hello, Ada."
    assert "nothing" in expected[8]["error"]["message"]
    assert expected[9]["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "mixed"


@pytest.mark.parametrize("version", VERSIONS)
def test_every_python_serves(version: str, server: Path, expected: dict[int, Json]) -> None:
    assert answers(python(version), server) == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_the_first_line_finds_every_python(
    version: str, server: Path, expected: dict[int, Json], tmp_path: Path
) -> None:
    shutil.copy(server, tmp_path / "server.pyz")
    environment = finding(python(version), tmp_path)
    assert answers("./server.pyz", cwd=tmp_path, env=environment) == expected


@pytest.mark.parametrize(("name", "version"), under_pythons(CONSOLE))
def test_the_console_is_the_same_under_every_python(name: str, version: str, server: Path, tmp_path: Path) -> None:
    words, status = CONSOLE[name]
    said = []
    for argv, environment in (
        ([python(version), server], {"PATH": BASICS}),
        ([server], finding(python(version), tmp_path)),
    ):
        done = converse([*argv, *words], b"", env=environment)
        assert done.returncode == status, done.stderr.decode()
        assert b"Traceback" not in done.stderr
        assert bool(done.stdout) == (status == 0 or name == "a refused call")
        assert bool(done.stderr) == (status == 2 or name == "a call of nothing")
        said.append(done.stdout if name != "help" else b"")
    assert said[0] == said[1]
    if words[-1] == "--json":
        json.loads(said[0])


@pytest.mark.parametrize("version", TOO_OLD)
def test_a_python_that_is_too_old_is_told_so(version: str, server: Path, tmp_path: Path) -> None:
    old = answering(version)
    if old is None:
        pytest.skip(f"Python {version} is not here")
    ways: list[tuple[list[str | Path], dict[str, str]]] = [([old, server], {"PATH": BASICS})]
    if version != "2.7":  # which does not know the options of the prologue
        ways.append(([server], finding(old, tmp_path)))  # and has the name of one that is not asked for its version
    for argv, environment in ways:
        for words in ([], ["info"], ["call", "count"]):
            done = converse([*argv, *words], mixed.lines(*REQUESTS), env=environment)
            assert (done.returncode, done.stdout) == (8, b"")
            said = done.stderr.decode()
            assert said.count("\n") == 1
            assert said.startswith("this server needs Python 3.11 or newer; ")
            assert said.endswith(f" is Python {version}\n")


ENVIRONMENTS: dict[str, dict[str, str]] = {
    "only PATH": {},
    "a home that is not there": {"HOME": "/nonexistent"},
    "no place for temporary files": {"TMPDIR": "/nonexistent", "TMP": "/nonexistent", "TEMP": "/nonexistent"},
    "the C locale": {"LC_ALL": "C"},
    "the C locale, taken literally": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "a locale that is not there": {"LC_ALL": "xx_YY.UTF-8"},
    "an unreadable Python path": {"PYTHONPATH": "/nonexistent:\udcff", "PYTHONHOME": ""},
    "an optimizing Python": {"PYTHONOPTIMIZE": "2"},
    "a Python that warns": {"PYTHONWARNINGS": "error"},
    "values that are not text": {"LATIN": "\udce4\udcff", "EMPTY": ""},
    "a Bash that reads a file first": {"BASH_ENV": "/nonexistent/bash", "ENV": "/nonexistent/sh"},
    "Bash options": {"SHELLOPTS": "noglob", "BASHOPTS": "nullglob", "CDPATH": "/", "IFS": "x"},
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_it_serves_in_any_environment(name: str, server: Path, expected: dict[int, Json], tmp_path: Path) -> None:
    environment = {**finding(Path(sys.executable), tmp_path), **ENVIRONMENTS[name]}
    assert answers(server, env=environment) == expected
    assert answers(sys.executable, server, env=environment) == expected
    done = converse([server, "call", "shout", "text=hey 🦆"], b"", env=environment)
    assert (done.returncode, done.stdout.decode()) == (0, "HEY 🦆!\n")


def own_words(stderr: bytes) -> str:
    """Return what was said, less what Bash itself says to the person of a locale that is not there."""
    lines = stderr.decode().splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("bash: warning: setlocale:"))


def test_nobody_reading_is_no_traceback(server: Path) -> None:
    for words in ([], ["info"], ["list", "--json"], ["check"], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [sys.executable, server, *words],
            input=mixed.lines(*REQUESTS),
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
        os.close(writing)
        assert done.stderr.decode() == "", words


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path: Path, entries: Sequence[tuple[str, bytes]], method: int, *, prefix: bytes = b"") -> Path:
    """Write an archive as some other program would."""
    path.write_bytes(prefix)
    with zipfile.ZipFile(path, "a", method) as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name, (2024, 2, 29, 12, 30, 2)), data, method)
        archive.comment = b"packed again"
    return path


def with_folders(entries: dict[str, bytes]) -> list[tuple[str, bytes]]:
    """Return the entries, each folder before what lies in it."""
    folders = {f"{parent}/": b"" for name in entries for parent in list(Path(name).parents)[:-1]}
    return sorted({**folders, **entries}.items())


REPACKED: dict[str, Callable[[Path, dict[str, bytes]], Path]] = {
    "stored": lambda path, entries: packed(path, list(entries.items()), zipfile.ZIP_STORED),
    "deflated": lambda path, entries: packed(path, list(entries.items()), zipfile.ZIP_DEFLATED),
    "backwards": lambda path, entries: packed(path, list(entries.items())[::-1], zipfile.ZIP_STORED),
    "backwards and deflated": lambda path, entries: packed(path, list(entries.items())[::-1], zipfile.ZIP_DEFLATED),
    "with folders": lambda path, entries: packed(path, with_folders(entries), zipfile.ZIP_DEFLATED),
    "another first line": lambda path, entries: packed(
        path, list(entries.items()), zipfile.ZIP_STORED, prefix=b"#!/usr/bin/env python3\n"
    ),
    "a long beginning": lambda path, entries: packed(
        path, list(entries.items()), zipfile.ZIP_STORED, prefix=b"MZ" + b"\0" * 99_999
    ),
    "sources only": lambda path, entries: packed(
        path, [(name, data) for name, data in entries.items() if not name.endswith(".pyc")], zipfile.ZIP_DEFLATED
    ),
}


@pytest.mark.parametrize(("way", "version"), under_pythons(REPACKED))
def test_packed_again_it_serves(
    way: str, version: str, server: Path, expected: dict[int, Json], tmp_path: Path
) -> None:
    again = REPACKED[way](tmp_path / "again.pyz", contents(server))
    assert answers(python(version), again) == expected
    done = converse([python(version), again, "check"], b"")
    missing = way == "sources only"
    assert done.returncode == missing, done.stdout.decode()
    assert (b"is missing" in done.stdout) == missing
