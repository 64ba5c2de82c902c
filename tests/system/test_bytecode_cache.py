"""A Python that a file has no bytecode for compiles it once, and never runs what another user could have written."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mcpc.emit.interpreters import HERE, cache_tag
from mcpc.pack.prologue import START
from support.artifact import converse, mcpc
from support.files import write_files
from support.interpreters import interpreters
from support.needs import ROOT

OTHERS = {minor: path for minor, path in interpreters().items() if minor != HERE}
pytestmark = pytest.mark.skipif(not OTHERS, reason="needs a second Python")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
VARIABLE = "MCPC_RUNTIME_CACHE"
SERVER = {"serverInfo": {"name": "cached", "version": "1.0.0"}}
TOOLS = '''
from mcpc import tool

@tool
def double(number: int) -> int:
    """Double a number."""
    return {}
'''
CLIENT = {"name": "test", "version": "1"}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
REQUESTS = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "double", "arguments": {"number": 21}}},
)
NO_COMPILER = """
import builtins
def refuse(source, name, *more, **options):
    if "mcpc_" in name or "__start__" in name:
        raise SystemExit(name + " was compiled")
    return compile(source, name, *more, **options)
import zipimport
zipimport._compile_source = lambda path, source: refuse(source, path, "exec", dont_inherit=True)
compile, builtins.compile = builtins.compile, refuse
"""
POISON = """
import marshal, sys
names = {}
exec(open(sys.argv[1]).read(), names)
body = marshal.dumps(compile("raise SystemExit('POISONED')", "poison", "exec"))
sys.stdout.buffer.write(names["content_hash"](body) + body)
"""
READER = ROOT / "runtime/mcpc_runtime/transports/platforms/posix/bytecode_cache.py"


def built(folder: Path, value: str = "2 * number") -> Path:
    """Build a project with one tool, with bytecode for this Python alone."""
    write_files(folder / "project", {"server.json": SERVER, "tools.py": TOOLS.format(value)})
    target = folder / "server.pyz"
    mcpc("build", folder / "project", "--no-smoke", "-o", target, status=0)
    return target


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("cached"))


@pytest.fixture
def other() -> Path:
    return next(iter(OTHERS.values()))


def start(
    server: Path, other: Path, cache: Path | str = "", program: str = START, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Start the server with another Python, and ask it everything."""
    lines = "".join(json.dumps(request) + "\n" for request in REQUESTS).encode()
    chosen = {VARIABLE: str(cache)} if cache else {}
    return converse([other, "-ISc", program, server], lines, env={"PATH": "/usr/bin:/bin", **chosen, **variables})


def assert_answers(done: subprocess.CompletedProcess[bytes]) -> None:
    """Find the right answers, and nothing on standard error."""
    assert (done.returncode, done.stderr) == (0, b"")
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    assert answers[1]["serverInfo"]["name"] == "cached"
    assert answers[2]["structuredContent"] == {"result": 42}


def cached(cache: Path) -> dict[str, bytes]:
    return {path.suffix[1:]: path.read_bytes() for path in (cache / "bytecode").iterdir()}


@pytest.mark.parametrize("minor", OTHERS or [HERE])
def test_the_second_start_compiles_nothing(minor: str, server: Path, tmp_path: Path) -> None:
    assert_answers(start(server, OTHERS[minor], tmp_path))
    first = cached(tmp_path)
    assert sorted(first) == ["modules", "start"]
    assert all(cache_tag(minor) in path.name for path in (tmp_path / "bytecode").iterdir())
    assert_answers(start(server, OTHERS[minor], tmp_path, NO_COMPILER + START))
    assert cached(tmp_path) == first


def test_the_first_start_is_noticed_by_that_test(server: Path, other: Path, tmp_path: Path) -> None:
    assert b"was compiled" in start(server, other, tmp_path, NO_COMPILER + START).stderr


def test_only_this_user_can_change_what_is_cached(server: Path, other: Path, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert_answers(start(server, other, tmp_path / "a/b"))
    finally:
        os.umask(before)
    for path in (tmp_path / "a").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
    assert [path.name for path in (tmp_path / "a/b/bytecode").iterdir() if path.name.startswith(".")] == []


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "only a hash": lambda data: data[:8],
    "half": lambda data: data[: len(data) // 2],
    "one bit": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "zeros behind": lambda data: data[:4096] + bytes(len(data) - 4096),
    "other content": lambda data: b"#!/bin/sh\n" * 100,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_compiled_again(damage: str, server: Path, other: Path, tmp_path: Path) -> None:
    assert_answers(start(server, other, tmp_path))
    intact = cached(tmp_path)
    for path in (tmp_path / "bytecode").iterdir():
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert_answers(start(server, other, tmp_path))
    assert {part: len(data) for part, data in cached(tmp_path).items()} == {
        part: len(data) for part, data in intact.items()
    }
    assert_answers(start(server, other, tmp_path, NO_COMPILER + START))


def poisoned(server: Path, other: Path, cache: Path) -> Path:
    """Put code that ends the server in the place of the cached start, as if it had been compiled from it."""
    assert_answers(start(server, other, cache))
    path = next((cache / "bytecode").glob("*.start"))
    done = subprocess.run([other, "-ISc", POISON, READER], capture_output=True, check=True)
    path.write_bytes(done.stdout)
    return path


def redirect(path: Path) -> None:
    """Put a symlink in the place of a file or folder."""
    path.rename(path.with_name("moved"))
    path.symlink_to(path.with_name("moved"))


UNTRUSTED: dict[str, Callable[[Path], None]] = {
    "a file that others may write to": lambda path: path.chmod(0o666),
    "a file that the group may write to": lambda path: path.chmod(0o660),
    "a link": redirect,
    "a folder that others may write to": lambda path: path.parent.chmod(0o777),
    "a shared folder": lambda path: path.parent.chmod(0o1777),
    "a folder that is a link": lambda path: redirect(path.parent),
    "a folder above that others may write to": lambda path: path.parents[1].chmod(0o777),
    "a folder far above that the group may write to": lambda path: path.parents[2].chmod(0o770),
}
FOREIGN: dict[str, Callable[[Path], None]] = {
    "a file": lambda path: os.chown(path, 12345, -1),
    "a folder": lambda path: os.chown(path.parent, 12345, -1),
    "a folder above": lambda path: os.chown(path.parents[1], 12345, -1),
}


def test_what_is_cached_is_run(server: Path, other: Path, tmp_path: Path) -> None:
    """The next two tests show something only because of this one."""
    poisoned(server, other, tmp_path / "above/cache")
    assert b"POISONED" in start(server, other, tmp_path / "above/cache").stderr


@pytest.mark.parametrize("case", UNTRUSTED)
def test_what_others_could_have_written_is_not_run(case: str, server: Path, other: Path, tmp_path: Path) -> None:
    UNTRUSTED[case](poisoned(server, other, tmp_path / "above/cache"))
    assert_answers(start(server, other, tmp_path / "above/cache"))


@as_root
@pytest.mark.parametrize("case", FOREIGN)
def test_what_another_user_owns_is_not_run(case: str, server: Path, other: Path, tmp_path: Path) -> None:
    FOREIGN[case](poisoned(server, other, tmp_path / "above/cache"))
    assert_answers(start(server, other, tmp_path / "above/cache"))


def test_a_link_of_this_user_above_the_folder_is_followed(server: Path, other: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "home")
    assert_answers(start(server, other, tmp_path / "link/cache"))
    assert sorted(cached(tmp_path / "home/cache")) == ["modules", "start"]
    assert_answers(start(server, other, tmp_path / "link/cache", NO_COMPILER + START))


@pytest.mark.parametrize("cache", ["/dev/null", "/proc/mcpc", "/dev/null/below", "a" * 300])
def test_without_a_usable_folder_it_works_and_is_silent(cache: str, server: Path, other: Path) -> None:
    for _ in range(2):
        assert_answers(start(server, other, cache))


def test_a_folder_that_the_server_may_not_make_is_not_made(server: Path, other: Path, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    assert_answers(start(server, other, tmp_path / "shared/cache"))
    assert list((tmp_path / "shared").iterdir()) == []


def test_python_that_is_to_write_no_bytecode_writes_none(server: Path, other: Path, tmp_path: Path) -> None:
    done = converse(
        [other, "-B", "-I", server], json.dumps(REQUESTS[0]).encode() + b"\n", env={VARIABLE: str(tmp_path)}
    )
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, b"", 1)
    assert list(tmp_path.iterdir()) == []


LOCATIONS = {
    "home": ({"HOME": "{}/home"}, "home/.cache/mcpc/bytecode"),
    "cache": ({"HOME": "{}/home", "XDG_CACHE_HOME": "{}/cache"}, "cache/mcpc/bytecode"),
    "relative": ({"HOME": "{}/home", "XDG_CACHE_HOME": "cache"}, "home/.cache/mcpc/bytecode"),
    "configured": ({"HOME": "{}/home", VARIABLE: "{}/chosen"}, "chosen/bytecode"),
    "temporary": ({"HOME": "/dev/null", "TMPDIR": "{}"}, f"mcpc-{os.geteuid() if os.name == 'posix' else 0}/bytecode"),
    "relative home": ({"HOME": "home", "TMPDIR": "{}"}, f"mcpc-{os.geteuid() if os.name == 'posix' else 0}/bytecode"),
    "no home": ({"TMPDIR": "{}"}, f"mcpc-{os.geteuid() if os.name == 'posix' else 0}/bytecode"),
}


@pytest.mark.parametrize("case", LOCATIONS)
def test_where_it_is(case: str, server: Path, other: Path, tmp_path: Path) -> None:
    variables, expected = LOCATIONS[case]
    assert_answers(start(server, other, **{name: value.format(tmp_path) for name, value in variables.items()}))
    assert len(list((tmp_path / expected).iterdir())) == 2


def test_a_relative_folder_is_below_the_current_one(server: Path, other: Path, tmp_path: Path) -> None:
    lines = json.dumps(REQUESTS[0]).encode() + b"\n"
    done = converse([other, "-ISc", START, server], lines, cwd=tmp_path, env={VARIABLE: "some/cache"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(cached(tmp_path / "some/cache")) == ["start"]


def test_another_server_has_its_own(server: Path, other: Path, tmp_path: Path) -> None:
    assert_answers(start(server, other, tmp_path))
    changed = built(tmp_path, "42")
    assert_answers(start(changed, other, tmp_path))
    assert_answers(start(server, other, tmp_path))
    digests = {path.name.partition("-")[0] for path in (tmp_path / "bytecode").iterdir()}
    assert len(digests) == 1  # handlers are not in it, so both have the same
    renamed = write_files(tmp_path / "project", {"server.json": {"serverInfo": {"name": "b", "version": "1"}}})
    assert mcpc("build", renamed, "--no-smoke", "-o", tmp_path / "b.pyz").returncode == 0
    done = start(tmp_path / "b.pyz", other, tmp_path)
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "b"
    assert len({path.name.partition("-")[0] for path in (tmp_path / "bytecode").iterdir()}) == 2


def test_first_starts_at_the_same_time_do_not_disturb_each_other(server: Path, other: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(6) as pool:
        for done in pool.map(lambda _: start(server, other, tmp_path), range(6)):
            assert_answers(done)
    assert sorted(cached(tmp_path)) == ["modules", "start"]
    assert_answers(start(server, other, tmp_path, NO_COMPILER + START))


def test_the_console_uses_it_too(server: Path, other: Path, tmp_path: Path) -> None:
    for _ in range(2):
        done = converse([other, server, "call", "double", "number=21"], b"", env={VARIABLE: str(tmp_path)})
        assert (done.returncode, done.stdout.decode().split()) == (0, ["42"]), done.stderr


def test_this_python_has_bytecode_and_caches_nothing(server: Path, tmp_path: Path) -> None:
    done = converse([sys.executable, "-ISc", START, server], b"", env={VARIABLE: str(tmp_path)})
    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == []
