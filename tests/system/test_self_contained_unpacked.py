"""A self-contained file with a relocatable Python unpacks it once, verified, and serves packages with machine code."""

import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
import tarfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mcpc.interpreters.selfcontained.executable import running_interpreter
from mcpc.interpreters.selfcontained.relocatable import LEFT_OUT_FOLDERS, ProgramFacts, read_program, relocatable_python
from mcpc.interpreters.selfcontained.request import CannotEmbedError
from support import wheels
from support.artifact import mcpc
from support.needs import ROOT, lacking, needs
from support.stdio import encoded, initialization

NAME = f"python3.{sys.version_info.minor}"
HERE = f"linux_{os.uname().machine}"
PROGRAM = f"bin/{NAME}"
CACHE = "MCPC_RUNTIME_CACHE"
HELLO = encoded({"id": 1, "method": "initialize", "params": initialization()})
TOOLS = '''"""Tools."""

import sys

import native_sum

from mcpc import Server, tool

mcp = Server("own", version="1.0.0")


@tool
def add(left: int, right: int) -> dict[str, object]:
    """Add by machine code."""
    return {"sum": native_sum.add(left, right), "program": sys.executable, "path": sys.path}
'''
EXTENSION = """
#include <Python.h>
static PyObject *add(PyObject *self, PyObject *arguments) {
    long left, right;
    return PyArg_ParseTuple(arguments, "ll", &left, &right) ? PyLong_FromLong(left + right) : NULL;
}
static PyMethodDef METHODS[] = {{"add", add, METH_VARARGS, ""}, {0}};
static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "native_sum", "", -1, METHODS};
PyMODINIT_FUNC PyInit_native_sum(void) { return PyModule_Create(&MODULE); }
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A relocatable Python: the program of this one linked with its static library, and its library."""
    if sys.platform != "linux":
        pytest.skip("the tree is made of a Python for Linux")
    try:
        interpreter = running_interpreter()
    except CannotEmbedError as problem:
        lacking(f"{problem} ({problem.diagnostic.hint})")
    root = tmp_path_factory.mktemp("tree") / "python"
    (root / "bin").mkdir(parents=True)
    main = interpreter.library.with_name("python.o")
    words = ["cc", "-s", "-o", root / PROGRAM, main, interpreter.library, "-Wl,-E"]
    subprocess.run([*words, "-ldl", "-lutil", "-lpthread", "-lm", *interpreter.libraries], check=True, timeout=300)
    ignored = shutil.ignore_patterns(*(LEFT_OUT_FOLDERS - {"lib-dynload"}), "config-*", "*.pyc")
    shutil.copytree(interpreter.standard_library, root / "lib" / NAME, ignore=ignored, symlinks=True)
    return root


@pytest.fixture(scope="module")
def project(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a package of machine code, compiled for this Python."""
    folder = tmp_path_factory.mktemp("native")
    (folder / "sum.c").write_text(EXTENSION)
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    module = f"native_sum{suffix}"
    words = ["cc", "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}", "-o", folder / module, folder / "sum.c"]
    subprocess.run(words, check=True, timeout=300)
    minor = f"cp3{sys.version_info.minor}"
    tag = f"{minor}-{minor}-{HERE}"
    wheel = wheels.wheel(folder / "wheels", "native-sum", "1.0", {module: (folder / module).read_bytes()}, tag=tag)
    project = folder / "project"
    project.mkdir()
    (project / "tools.py").write_text(TOOLS)
    shutil.copy(wheel, project)
    (project / "requirements.txt").write_text(f"native-sum @ ./{wheel.name}\n")
    return project


@pytest.fixture(scope="module")
def server(project: Path, tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The self-contained file."""
    return built(project, tmp_path_factory.mktemp("built") / "server", "--interpreter", tree)


def built(project: Path, target: Path, *options: str | Path) -> Path:
    """Build a self-contained file, for this machine unless the options name another target."""
    mcpc("build", project, "--self-contained", *options, "-o", target, status=0)
    return target


def started(
    server: Path, cache: Path, *words: str, told: bytes = b"", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    variables = {"PATH": "/usr/bin:/bin", CACHE: str(cache), **(environment or {})}
    return subprocess.run([server, *words], input=told, capture_output=True, env=variables, timeout=300, check=False)


def refusal(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return the one line of a file that cannot start."""
    assert (done.returncode, done.stdout) == (8, b"")
    lines = done.stderr.decode().splitlines()
    assert lines[-1].startswith("this server cannot start: ")
    return lines[-1]


def test_it_serves_machine_code_of_packages_with_its_own_python(server: Path, tmp_path: Path) -> None:
    done = started(server, tmp_path / "cache", "call", "add", "left=2", "right=40")
    assert (done.returncode, done.stderr) == (0, b"")
    reply = json.loads(done.stdout)
    assert reply["sum"] == 42
    assert reply["program"].startswith(f"{tmp_path}/cache/")
    assert reply["program"].endswith(f"/{PROGRAM}")
    done = started(server, tmp_path / "cache", told=HELLO)
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "own"


def test_starts_at_once_unpack_one_python(server: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor() as threads:
        done = list(threads.map(lambda _: started(server, tmp_path / "cache", told=HELLO), range(4)))
    assert [(each.returncode, each.stderr) for each in done] == [(0, b"")] * 4
    assert [path.name for path in (tmp_path / "cache").iterdir() if re.fullmatch(r"\.new.*", path.name)] == []
    assert len(list((tmp_path / "cache").glob("*/bin"))) == 1


def test_a_folder_that_others_can_write_to_is_refused(server: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    for cache in (shared, shared / "below"):
        line = refusal(started(server, cache))
        assert f"other users can change {cache}" in line
        assert CACHE in line
    assert list(shared.glob("*/bin")) == []


@pytest.mark.parametrize("umask", [0, 0o002])
def test_what_is_unpacked_is_private_whatever_the_umask(umask: int, server: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    words = ["sh", "-c", f"umask {umask:o}; exec {server} --version"]
    variables = {"PATH": "/usr/bin:/bin", CACHE: str(cache)}
    assert subprocess.run(words, env=variables, capture_output=True, timeout=300, check=False).returncode == 0
    (folder,) = cache.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert started(server, cache, "--version").returncode == 0


@pytest.mark.parametrize("how", ["mode", "owner"])
def test_a_python_that_others_can_change_is_unpacked_anew(how: str, server: Path, tmp_path: Path) -> None:
    if how == "owner" and os.geteuid() != 0:
        pytest.skip("giving a folder to another user needs to be root")
    cache = tmp_path / "cache"
    assert started(server, cache, "--version").returncode == 0
    (folder,) = cache.iterdir()
    (folder / "bin/theirs").write_text("")
    if how == "mode":
        folder.chmod(0o777)
    else:
        os.chown(folder, 12345, 12345)
    assert started(server, cache, "--version").returncode == 0
    assert [*cache.iterdir()] == [folder]
    assert (folder.stat().st_mode & 0o777, folder.stat().st_uid) == (0o700, os.geteuid())
    assert not (folder / "bin/theirs").exists()


def test_what_a_killed_start_left_is_removed_and_what_another_makes_stays(server: Path, tmp_path: Path) -> None:
    """A process of another container has the same number, and its folder need not be an old one."""
    cache = tmp_path / "cache"
    for name, age in ((".new-1", 0), (".new-abcdef", 3660)):
        (cache / name / "bin").mkdir(parents=True)
        os.utime(cache / name, (time.time() - age,) * 2)
    cache.chmod(0o700)
    assert started(server, cache, "--version").returncode == 0
    assert sorted(path.name for path in cache.iterdir() if path.name.startswith(".new")) == [".new-1"]


def test_a_damaged_python_is_refused_and_nothing_is_left(server: Path, tmp_path: Path) -> None:
    data = bytearray(server.read_bytes())
    place = int(re.search(rb"tail -c \+(\d+)", data)[1])  # type: ignore[index]
    data[place + 500_000] ^= 0xFF
    damaged = tmp_path / "damaged"
    damaged.write_bytes(data)
    damaged.chmod(0o755)
    assert "copy or download" in refusal(started(damaged, tmp_path / "cache"))
    assert list((tmp_path / "cache").iterdir()) == []


def test_what_is_missing_to_unpack_is_named(server: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in ("id", "ls", "mkdir", "uname", "rm", "head", "mktemp", "tail", "tar"):
        (folder / program).symlink_to(str(shutil.which(program)))
    assert "there is no `gzip`" in refusal(started(server, tmp_path / "c", environment={"PATH": str(folder)}))
    assert "there is no `id`" in refusal(started(server, tmp_path / "c", environment={"PATH": "/nowhere"}))


@pytest.mark.parametrize("shell", ["dash", "bash --posix", "busybox sh"])
def test_every_shell_unpacks_it(shell: str, server: Path, tmp_path: Path) -> None:
    needs(shell.split()[0])
    variables = {"PATH": "/usr/bin:/bin", "HOME": f"{tmp_path}/it's ünï"}
    Path(variables["HOME"]).mkdir()
    argv = [*shell.split(), server, "--version"]
    done = subprocess.run(argv, capture_output=True, env=variables, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(Path(variables["HOME"]).glob(f".cache/mcpc/python/*/{PROGRAM}"))


def test_a_minimal_library_serves(project: Path, tree: Path, server: Path, tmp_path: Path) -> None:
    small = built(project, tmp_path / "small", "--interpreter", tree, "--minimal-library")
    assert small.stat().st_size < server.stat().st_size * 0.75
    done = started(small, tmp_path / "cache", "call", "add", "left=2", "right=40")
    assert (done.returncode, done.stderr, json.loads(done.stdout)["sum"]) == (0, b"", 42)


def problem_of(place: Path) -> tuple[str, str]:
    """Return the code and the message of a place that has no usable interpreter."""
    with pytest.raises(CannotEmbedError) as problem, relocatable_python(place):
        pass
    return problem.value.diagnostic.code, problem.value.diagnostic.message


def packed_python(data: bytes) -> bytes:
    """Return the packed interpreter of a built file."""
    start, length = map(int, re.search(rb'tail -c \+(\d+) "\$0" \| head -c (\d+)', data).groups())  # type: ignore[union-attr]
    return data[start - 1 : start - 1 + length]


def mach_o(machine: int, *libraries: str) -> bytes:
    """Return the headers of a program for macOS."""
    commands = b""
    for library in libraries:
        text = library.encode() + b"\0" * (8 - len(library) % 8)
        commands += struct.pack("<6I", 0xC, 24 + len(text), 24, 0, 0, 0) + text
    return struct.pack("<8I", 0xFEEDFACF, machine, 0, 2, len(libraries), len(commands), 0, 0) + commands


def test_a_file_for_macos_has_the_interpreter_that_is_named(tree: Path, tmp_path: Path) -> None:
    """The structure only: there is no macOS here."""
    place = tmp_path / "mac"
    shutil.copytree(tree, place, symlinks=True, ignore=shutil.ignore_patterns("lib-dynload"))
    dylib = f"lib{NAME}.dylib"
    program = mach_o(0x0100000C, "/usr/lib/libSystem.B.dylib", f"@executable_path/../lib/{dylib}")
    assert read_program(program) == ProgramFacts(
        "macosx_arm64", ("/usr/lib/libSystem.B.dylib", f"@executable_path/../lib/{dylib}"), ()
    )
    (place / PROGRAM).write_bytes(program)
    (place / "lib" / dylib).write_bytes(mach_o(0x0100000C, "/usr/lib/libSystem.B.dylib"))
    options = ("macosx_arm64", "--interpreter", place, "--no-smoke")
    server = built(ROOT / "examples/files", tmp_path / "server", *options)
    with tarfile.open(fileobj=io.BytesIO(packed_python(server.read_bytes()))) as packed:
        names = {member.name: member.mode for member in packed}
    assert names[PROGRAM] == 0o755
    assert {f"lib/{dylib}", f"lib/{NAME}/os.py", "verify.py", "files.sha256"} <= names.keys()
    assert "is for macosx_arm64" in refusal(started(server, tmp_path / "cache"))
    (place / PROGRAM).write_bytes(mach_o(0x0100000C, "/opt/homebrew/lib/libintl.8.dylib"))
    assert "is not relocatable" in problem_of(place)[1]
