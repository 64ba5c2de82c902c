"""A self-contained file for Windows, under Wine on a prefix without Python: unpacked once, verified, private."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from functools import cache
from typing import TYPE_CHECKING

import pytest

from mcpc.interpreters.launchers.windows_interpreter import bundled_interpreter, read_embeddable
from mcpc.interpreters.selfcontained import windows
from support import artifact
from support.windows_prefix import Prefix, windows_path
from support.windows_programs import report, reporter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcpc.interpreters.launchers.windows_file import BundledInterpreter

HOUR = 3600
MINOR = f"{sys.version_info[0]}.{sys.version_info[1]}"
TOOLS = '''
"""Tools in a worker, which import what a minimal library must have."""
import subprocess
import sys

from mcpc import tool


@tool
def child(text: str) -> str:
    """Return a text by way of another Python."""
    words = [sys.executable, "-X", "utf8", "-c", "import json, sys; print(json.dumps(sys.argv[1]))", text]
    return subprocess.run(words, capture_output=True, check=True, encoding="utf-8", stdin=subprocess.DEVNULL).stdout


@tool
async def later() -> int:
    """Return a number a moment later."""
    import asyncio

    await asyncio.sleep(0)
    return 7


@tool
def library() -> list[str]:
    """Use modules, and return all modules of the library that were imported."""
    import bz2, ctypes, datetime, decimal, email.message, hashlib, logging, lzma, multiprocessing.connection, sqlite3, zipfile

    assert sqlite3.connect(":memory:").execute("select 7").fetchone() == (7,)
    assert hashlib.sha256(b"x").hexdigest().startswith("2d71")
    assert datetime.datetime.strptime("2026-11-28", "%Y-%m-%d").year + decimal.Decimal(1) == 2027
    return sorted(name for name, module in sys.modules.items() if "python3" in (getattr(module, "__file__", "") or ""))
'''


@cache
def interpreter(folder: Path) -> BundledInterpreter:
    return bundled_interpreter(read_embeddable(folder, "x64"))


@pytest.fixture
def program(prefix: Prefix, tmp_path: Path) -> Path:
    """The program that reports how it was started, with an interpreter."""
    path = tmp_path / "server.exe"
    path.write_bytes(reporter(13, interpreter=interpreter(prefix.pythons["3.13"])))
    path.chmod(0o755)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where interpreters are unpacked; made by the first start."""
    return tmp_path / "root of caches"


def digest(prefix: Prefix) -> str:
    return interpreter(prefix.pythons["3.13"]).digest


def assert_serves(prefix: Prefix, program: Path, root: Path) -> None:
    """Start the program, and find its interpreter in the cache, complete and alone."""
    ended = prefix.run(program, "word", MCPC_RUNTIME_CACHE=windows_path(root))
    assert (ended.status, ended.errors) == (0, "")
    found = report(ended.output)
    folder = root / digest(prefix)
    assert found["python"] == windows_path(folder / "python.exe")
    assert (found["minor"], found["words"], found["data"]) == (13, ["word"], "the archive's data")
    assert [path.name for path in root.iterdir()] == [folder.name]
    expected = interpreter(prefix.pythons["3.13"]).files
    assert {path.name: path.stat().st_size for path in folder.iterdir()} == {file.name: file.size for file in expected}


def test_a_first_start_unpacks_and_later_ones_do_not(prefix: Prefix, program: Path, root: Path) -> None:
    assert_serves(prefix, program, root)
    before = [(path.name, path.stat().st_ino) for path in sorted((root / digest(prefix)).iterdir())]
    assert_serves(prefix, program, root)
    assert [(path.name, path.stat().st_ino) for path in sorted((root / digest(prefix)).iterdir())] == before


def test_it_is_what_the_interpreter_was(prefix: Prefix, program: Path, root: Path) -> None:
    assert_serves(prefix, program, root)
    for path in (root / digest(prefix)).iterdir():
        if path.suffix != "._pth":
            assert path.read_bytes() == (prefix.pythons["3.13"] / path.name).read_bytes()


def test_only_this_user_may_read_it(prefix: Prefix, program: Path, root: Path) -> None:
    """Wine makes modes of access lists: nothing for others."""
    assert_serves(prefix, program, root)
    assert [path.stat().st_mode & 0o007 for path in (root, root / digest(prefix))] == [0, 0]


def test_it_is_in_the_folder_of_local_data(prefix: Prefix, program: Path) -> None:
    ended = prefix.run(program)
    assert ended.status == 0, ended
    assert (prefix.local_data / "mcpc" / digest(prefix) / "python.exe").exists()


def test_several_first_starts_at_once_share_one_folder(prefix: Prefix, program: Path, root: Path) -> None:
    started = [prefix.start(program, "copy", MCPC_RUNTIME_CACHE=windows_path(root)) for _ in range(4)]
    for process in started:
        output, errors = process.communicate(b"told", 240)
        assert (process.returncode, output, errors) == (0, b"told", b"copying")
    assert [path.name for path in root.iterdir()] == [digest(prefix)]


def remove_file(folder: Path) -> None:
    (folder / "_ssl.pyd").unlink()


def cut_file(folder: Path) -> None:
    with (folder / "python313.zip").open("r+b") as file:
        file.truncate(1000)


def add_file(folder: Path) -> None:
    (folder / "json.pyd").write_bytes(b"another")


def add_folder(folder: Path) -> None:
    (folder / "encodings").mkdir()


def empty_folder(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir(mode=0o700)


@pytest.mark.parametrize("damage", [remove_file, cut_file, add_file, empty_folder], ids=lambda each: each.__name__)
def test_a_damaged_folder_is_replaced(
    damage: Callable[[Path], None], prefix: Prefix, program: Path, root: Path
) -> None:
    assert_serves(prefix, program, root)
    damage(root / digest(prefix))
    assert_serves(prefix, program, root)


def flip(program: Path, name: str, prefix: Prefix) -> None:
    """Change a byte of a stored file in the program."""
    stored = next(file.stored for file in interpreter(prefix.pythons["3.13"]).files if file.name == name)
    data = bytearray(program.read_bytes())
    data[data.index(stored) + len(stored) // 2] ^= 1
    program.write_bytes(data)


@pytest.mark.parametrize("name", ["python313.zip", "vcruntime140_1.dll", "_ssl.pyd", "LICENSE.txt"])
def test_a_damaged_program_unpacks_nothing(name: str, prefix: Prefix, program: Path, root: Path) -> None:
    """Where the damage does not keep Python from verifying, it is found by digest or by the decompression."""
    flip(program, name, prefix)
    ended = prefix.run(program, MCPC_RUNTIME_CACHE=windows_path(root))
    assert (ended.status, ended.output) == (8, b"")
    assert ended.errors.count("\n") == 1, ended.errors
    assert ended.errors.startswith("cannot unpack Python: ")
    assert ended.errors.rstrip().endswith("again")
    assert list(root.iterdir()) == []


def test_a_program_whose_python_does_not_start_says_so(prefix: Prefix, program: Path, root: Path) -> None:
    stored = next(file.stored for file in interpreter(prefix.pythons["3.13"]).files if file.name == "python313.dll")
    data = program.read_bytes()
    program.write_bytes(data.replace(stored, b"x" * len(stored)))
    ended = prefix.run(program, MCPC_RUNTIME_CACHE=windows_path(root))
    assert (ended.status, ended.output) == (8, b"")
    assert ended.errors.splitlines()[-1].startswith("cannot unpack Python: ")
    assert list(root.iterdir()) == []


def test_a_folder_that_others_may_write_to_is_refused(prefix: Prefix, program: Path, root: Path) -> None:
    root.mkdir()
    root.chmod(0o777)
    ended = prefix.run(program, MCPC_RUNTIME_CACHE=windows_path(root))
    assert ended.status == 8
    assert ended.errors == (
        f"cannot unpack Python: {windows_path(root)} is a link, or other users may write to it; "
        "set MCPC_RUNTIME_CACHE to another folder that only you can write to\n"
    )


def test_an_interpreter_that_others_may_write_to_is_refused(prefix: Prefix, program: Path, root: Path) -> None:
    assert_serves(prefix, program, root)
    (root / digest(prefix)).chmod(0o777)
    ended = prefix.run(program, MCPC_RUNTIME_CACHE=windows_path(root))
    assert ended.status == 8
    assert "other users may write to it" in ended.errors


def test_a_folder_of_another_user_is_refused(prefix: Prefix, program: Path, root: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    root.mkdir(mode=0o755)
    os.chown(root, 12345, -1)
    ended = prefix.run(program, MCPC_RUNTIME_CACHE=windows_path(root))
    assert ended.status == 8
    assert "other users may write to it" in ended.errors


def test_a_place_that_cannot_be_written_says_so(prefix: Prefix, program: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    ended = prefix.run(program, MCPC_RUNTIME_CACHE=windows_path(tmp_path / "file" / "below"))
    assert (ended.status, ended.errors.count("\n")) == (8, 1)
    assert "cannot be written (error" in ended.errors


def test_what_killed_first_starts_left_is_removed(prefix: Prefix, program: Path, root: Path) -> None:
    root.mkdir(mode=0o700)
    for name, age in {".new-1-1": 2 * HOUR, ".new-2-2": 0}.items():
        (root / name).mkdir()
        (root / name / "python.exe").write_bytes(b"begun")
        os.utime(root / name, (time.time() - age, time.time() - age))
    ended = prefix.run(program, MCPC_RUNTIME_CACHE=windows_path(root))
    assert ended.status == 0, ended
    assert sorted(path.name for path in root.iterdir()) == sorted([".new-2-2", digest(prefix)])


@pytest.mark.parametrize("name", ["Größe 日本", "it's a 'cache'"])
def test_the_cache_may_be_anywhere(name: str, prefix: Prefix, program: Path, tmp_path: Path) -> None:
    assert_serves(prefix, program, tmp_path / name)


def test_the_minimal_library_has_all_that_is_imported(prefix: Prefix, root: Path, tmp_path: Path) -> None:
    if MINOR not in prefix.pythons:
        pytest.skip(f"Wine has no Python {MINOR}, whose library this Python could reduce")
    (tmp_path / "project").mkdir()
    (tmp_path / "project/server.json").write_text('{"serverInfo": {"name": "small", "version": "1"}}')
    (tmp_path / "project/tools.py").write_text(TOOLS, "utf-8")
    embedding = ("--self-contained", "win_amd64", "--interpreter", str(prefix.pythons[MINOR]))
    whole, minimal = tmp_path / "whole.exe", tmp_path / "minimal.exe"
    for file, words in ((whole, ()), (minimal, ("--minimal-library",))):
        done = artifact.mcpc("build", tmp_path / "project", "-o", file, *embedding, *words)
        assert done.returncode == 0, done.stderr
    variables = {"MCPC_RUNTIME_CACHE": windows_path(root)}
    for words, expected in ((("child", "text=Grüße 緑"), "Grüße 緑"), (("later",), 7)):
        ended = prefix.run(minimal, "call", *words, **variables)
        assert json.loads(ended.output) == expected, ended
    found = [set(json.loads(prefix.run(file, "call", "library", **variables).output)) for file in (whole, minimal)]
    assert found[0] == found[1]
    assert {"sqlite3", "multiprocessing.connection", "email.message"} <= found[0]
    (folder,) = (path for path in root.iterdir() if not (path / "_ssl.pyd").exists())
    assert (folder / "_sqlite3.pyd").exists() and (folder / "sqlite3.dll").exists()
    assert not (folder / "libcrypto-3.dll").exists()
    library = windows.module_paths((folder / f"python{MINOR.replace('.', '')}.zip").read_bytes())
    assert "mailbox" not in library
    assert minimal.stat().st_size < whole.stat().st_size - 4_000_000
