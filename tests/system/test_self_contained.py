"""A self-contained file serves where there is neither a Python nor anything else, and is an archive as any built file."""

import importlib.machinery
import importlib.util
import json
import marshal
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from mcpc.interpreters.selfcontained import CannotEmbedError
from mcpc.interpreters.selfcontained.executable import running_interpreter
from mcpc.interpreters.selfcontained.shared_objects import static_symbols
from support.artifact import mcpc
from support.chroots import run_in
from support.needs import lacking
from support.stdio import encoded, initialization

DATA = yaml.safe_load(Path(__file__).with_name("self_contained.yaml").read_text("utf-8"))
TOOLS = DATA["TOOLS"]
EXPECTED = {
    "ctypes": 1, "decimal": "0.125", "hashlib": "ca978112", "sqlite3": 42, "ssl": True, "isolated": 1,
}  # fmt: skip
HELLO = encoded({"id": 1, "method": "initialize", "params": initialization()})
TEXT = 'it\'s "quoted" Ünïcödé 工程 🦆'


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with three tools; the tests are skipped where no interpreter can be linked."""
    if sys.platform != "linux":
        pytest.skip("self-contained files for Linux are built on Linux")
    try:
        static_symbols(running_interpreter())
    except CannotEmbedError as problem:
        lacking(f"{problem} ({problem.diagnostic.hint})")
    folder = tmp_path_factory.mktemp("alone")
    (folder / "tools.py").write_text(TOOLS)
    return folder


@pytest.fixture(scope="module")
def server(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The self-contained file."""
    return built(project, tmp_path_factory.mktemp("built") / "server")


def built(project: Path, target: Path, *options: str) -> Path:
    """Build a self-contained file."""
    mcpc("build", project, "--self-contained", *options, "-o", target, status=0)
    return target


def called(server: Path, tool: str, **arguments: object) -> str:
    """Return what a tool prints when the file's own command calls it."""
    return said([server, "call", tool, "--json", json.dumps(arguments)]).decode().strip()


def said(argv: list[str | Path], environment: Mapping[str, str] | None = None) -> bytes:
    """Return what a program prints, which succeeds."""
    done = subprocess.run(argv, capture_output=True, env=environment or {}, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def test_it_serves_without_a_python(server: Path) -> None:
    done = subprocess.run([server], input=HELLO, capture_output=True, env={}, timeout=60, check=True)
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "alone"
    assert called(server, "echo", text=TEXT) == TEXT


def test_the_whole_library_works_in_workers(server: Path) -> None:
    assert json.loads(called(server, "library")) == EXPECTED


def test_it_is_an_interpreter_for_its_handlers(server: Path) -> None:
    assert json.loads(called(server, "child", text=TEXT)) == [TEXT]
    assert said([server, "-c", "import sys; print(*sys.argv)", "a", "-b"]) == b"-c a -b\n"
    assert b"--metadata-encoding" in said([server, "-m", "zipfile", "-h"])


def test_it_works_in_an_empty_root(server: Path, tmp_path: Path) -> None:
    shutil.copy(server, tmp_path / "server")
    if os.geteuid() != 0 or run_in(tmp_path, ["/server", "--version"], {}).returncode != 0:
        pytest.skip("changing the root folder needs to be root")
    for argv, lines in ((["/server", "call", "library"], b""), (["/server"], HELLO)):
        done = run_in(tmp_path, argv, {}, lines)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["server"]


def test_a_minimal_library_has_all_that_is_needed_to_start_by_itself(
    project: Path, server: Path, tmp_path: Path
) -> None:
    minimal = built(project, tmp_path / "minimal", "--minimal-library")
    assert minimal.stat().st_size < server.stat().st_size
    assert json.loads(called(minimal, "library")) == EXPECTED
    assert json.loads(called(minimal, "child", text=TEXT)) == [TEXT]
    assert called(minimal, "echo", text=TEXT) == TEXT
    with zipfile.ZipFile(minimal) as packed:
        library = packed.read("python/library")
    table = marshal.loads(library[4 : 4 + int.from_bytes(library[:4], "little")])
    in_whole = [name for name in json.loads(called(server, "imported")) if not is_extension(name)]
    assert "asyncio" in in_whole
    assert sorted(set(in_whole) - set(table)) == []
    assert "xmlrpc.client" not in table
    done = subprocess.run([sys.executable, minimal], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (8, "")
    assert done.stderr == f"{minimal} starts by itself: run it without another Python\n"


SMALL = '''"""One tool, whose call runs in a worker."""

import decimal
import json
import pathlib
import subprocess

from mcpc import Server, tool

mcp = Server("small", version="1.0.0")


@tool
def half(number: int) -> str:
    """Return the half of a number."""
    return str(decimal.Decimal(number) / 2)
'''
LARGEST_MINIMAL = 8_000_000


def test_a_minimal_file_is_small(server: Path, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/tools.py").write_text(SMALL)
    small = built(tmp_path / "project", tmp_path / "small", "--minimal-library")
    assert called(small, "half", number=1) == "0.5"
    (tmp_path / "half.yaml").write_text(
        "tests:\n  - tool: half\n    arguments: {number: 1}\n    expect: {text: '0.5'}\n"
    )
    mcpc("test", small, "--cases", tmp_path, status=0)
    assert mcpc("call", small, "half", "number=1").stdout == "0.5\n"
    assert small.stat().st_size <= LARGEST_MINIMAL


DAEMONS = """
import threading, time

def wait_often():
    while True:
        time.sleep(0.0001)

for _ in range(8):
    threading.Thread(target=wait_often, daemon=True).start()
time.sleep(0.01)
"""


def test_threads_end_with_the_interpreter(server: Path) -> None:
    """An interpreter that ends makes its other threads end themselves, for which the C library unwinds their stacks."""
    assert said([server, "-c", DAEMONS]) == b""


def is_extension(name: str) -> bool:
    """Tell whether a module of the library is machine code."""
    found = importlib.util.find_spec(name)
    return found is not None and isinstance(found.loader, importlib.machinery.ExtensionFileLoader)


def test_a_machine_without_a_compiler_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CannotEmbedError) as problem:
        running_interpreter()
    assert problem.value.diagnostic.code == "MCP430"
    assert "`cc`" in problem.value.diagnostic.message


def test_two_builds_are_equal(project: Path, server: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "MCPC_CACHE_DIR": str(tmp_path / "cache")}
    again = tmp_path / "server"
    mcpc("build", project, "--self-contained", "-o", again, python=sys.executable, environment=environment, status=0)
    assert again.read_bytes() == server.read_bytes()
