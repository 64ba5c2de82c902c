"""Bytecode of several minor versions of Python, each compiled by an interpreter of that version.

The interpreter of mcpc compiles its own version. Any other one is found on this machine, and runs `bytecode.py` alone,
isolated and without site packages, so that the bytes depend on its version and the sources only.

The code of the runtime's modules is cached: it is the same in every build, and compiling it takes most of one.  One
entry of the cache folder has the modules that builds needed, for one interpreter and one `bytecode.py`; a module is
found by its name and the digest of its source.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import platform
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.emit import bytecode
from mcpc.sandbox import cache_dir, programs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mcpc.emit.bytecode import BundleRow, Module

    Arguments = tuple[tuple[Module, ...], tuple[BundleRow, ...], int, dict[Module, bytes]]
    from collections.abc import Iterable

    from mcpc.emit.bytecode import Module

    Stored = dict[tuple[str, bool], tuple[bytes, bytes]]
    """By the file name of a module and whether it is stripped: the digest of its source, and its code."""


KIND = "runtime"


class BytecodeCache:
    """What is stored for one interpreter, which `interpreter` names with all that decides its bytecode."""

    def __init__(self, interpreter: str) -> None:
        source = Path(bytecode.__file__).read_bytes()
        # Not the name of the bytecode of packages (`mcpc.emit.packages`), which begins with the interpreter.
        self._name = hashlib.sha256(b"runtime\0" + interpreter.encode() + b"\0" + source).hexdigest()
        self._stored = load(self._name)

    def stored_code(self, modules: Iterable[Module]) -> dict[Module, bytes]:
        """Return the code of those of some modules that are stored."""
        stored = ((module, *self._stored.get(module[1:], (b"", b""))) for module in modules)
        return {module: code for module, digest, code in stored if digest == hashlib.sha256(module[0]).digest()}

    def add(self, compiled: Mapping[Module, bytes]) -> None:
        """Store more modules."""
        if compiled:
            more = {module[1:]: (hashlib.sha256(module[0]).digest(), code) for module, code in compiled.items()}
            # Read again, since another build may have stored modules in between, which would be lost.
            self._stored |= load(self._name) | more
            cache_dir.store_entry(KIND, self._name, marshal.dumps(self._stored, 2))


def load(name: str) -> Stored:
    """Return what is stored under a name, nothing if it is missing or damaged."""
    data = cache_dir.load_entry(KIND, name)
    with suppress(ValueError, EOFError, TypeError):
        stored: Stored = marshal.loads(data or b"")
        return stored
    return {}


HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
SECONDS = 300.0
LEAST_AT_ONCE = 200
"""Modules for which another process pays."""
VERSION = "import sys; sys.stdout.write('%s %d.%d' % (sys.implementation.name, *sys.version_info[:2]))"
FULL_VERSION = "import platform, sys; sys.stdout.write(platform.python_version())"
PROGRAM = """\
import marshal, sys
source, arguments = marshal.loads(sys.stdin.buffer.read())
names = {"__name__": "bytecode"}
exec(compile(source, "bytecode.py", "exec"), names)
sys.stdout.buffer.write(marshal.dumps(names["compile_modules"](*arguments), 2))
"""
INSTALLED = (
    ("PYENV_ROOT", ".pyenv", "versions/{minor}.*/bin/python{minor}"),
    ("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python", "cpython-{minor}.*/bin/python{minor}"),
    ("UV_PYTHON_INSTALL_DIR", "AppData/Roaming/uv/python", "cpython-{minor}.*/python.exe"),
)
"""Folders of installed Pythons: the variable that names one, its default in the home folder, and the programs there."""


class MissingPythonError(Exception):
    """No interpreter of a requested version is on this machine."""

    def __init__(self, minor: str) -> None:
        super().__init__(
            f"bytecode for Python {minor} needs a Python {minor} on this machine; "
            f"install one (`uv python install {minor}`, `pyenv install {minor}`) or put `python{minor}` on PATH"
        )


def cache_tag(minor: str) -> str:
    """Return the tag of a version's bytecode, as Python names its files."""
    return f"cpython-{minor.replace('.', '')}"


def tag_suffix(minor: str, minors: Sequence[str]) -> str:
    """Return what the names of a version's entries end in: nothing for the first of a file's versions."""
    return "" if minor == minors[0] else f".{cache_tag(minor)}"


def compile_for(
    minor: str,
    modules: Sequence[Module],
    bundle: Sequence[BundleRow] = (),
    start: int = -1,
    lasting: Collection[Module] = (),
) -> tuple[bytes, list[bytes | None]]:
    """Return the magic number of a version and its marshalled code of modules (see `compile_modules`).

    `lasting`: those that are the same in other builds, whose code is stored; never the one with the number `start`.
    """
    if not lasting:
        return compile_by(minor, modules, bundle, start, {})
    stored = BytecodeCache(sys.version if minor == HERE else full_version(minor))
    known = stored.stored_code(lasting)
    magic, codes = compile_by(minor, modules, bundle, start, known)
    made = {module: code for module, code in zip(modules, codes, strict=True) if code and module in lasting}
    stored.add({module: code for module, code in made.items() if module not in known})
    return magic, codes


def compile_by(
    minor: str, modules: Sequence[Module], bundle: Sequence[BundleRow], start: int, known: Mapping[Module, bytes]
) -> tuple[bytes, list[bytes | None]]:
    """Compile modules with an interpreter of a version: this one, or another one in a separate process."""
    if minor == HERE:
        return bytecode.compile_modules(modules, bundle, start, known)
    return compile_apart(interpreter(minor), minor, (tuple(modules), tuple(bundle), start, dict(known)))


def compile_at_once(minor: str, modules: Sequence[Module]) -> tuple[bytes, list[bytes | None]]:
    """Return the same as `compile_for` of many modules, by as many interpreters as there are processors."""
    count = min(os.cpu_count() or 1, len(modules) // LEAST_AT_ONCE)
    if count < 2:
        return compile_for(minor, modules)
    python = sys.executable if minor == HERE else interpreter(minor)
    # Every `count`-th module: neighbours are of one package and alike in size, so each process gets some of all.
    parts: list[Arguments] = [(tuple(modules[number::count]), (), -1, {}) for number in range(count)]
    with ThreadPoolExecutor(count) as pool:
        made = [*pool.map(partial(compile_apart, python, minor), parts)]
    codes = [made[number % count][1][number // count] for number in range(len(modules))]
    return made[0][0], codes


def compile_apart(python: str, minor: str, arguments: Arguments) -> tuple[bytes, list[bytes | None]]:
    """Return what `compile_modules` returns in a process of an interpreter."""
    source = Path(bytecode.__file__).read_bytes()
    request = marshal.dumps((source, arguments), 2)
    done = programs.run_program("compiling Python", [python, "-I", "-S", "-c", PROGRAM], SECONDS, told=request)
    if done.returncode != 0:
        raise OSError(f"Python {minor} did not compile the server: {done.stderr.decode('utf-8', 'replace')}")
    magic, codes = marshal.loads(done.stdout)
    return magic, codes


@cache
def interpreter(minor: str) -> str:
    """Return the path of an interpreter of a version; raise MissingPythonError if there is none."""
    for path in candidates(minor):
        try:
            done = programs.run_program("compiling Python", [path, "-I", "-S", "-c", VERSION], SECONDS)
        except OSError:  # a file that is not a program of this machine; TimeoutError is one of these
            continue
        # PyPy and others have bytecode of their own.
        if done.returncode == 0 and done.stdout == f"cpython {minor}".encode():
            return path
    raise MissingPythonError(minor)


@cache
def full_version(minor: str) -> str:
    """Return the version of the interpreter that compiles for a minor version."""
    if minor == HERE:
        return platform.python_version()
    done = programs.run_program("compiling Python", [interpreter(minor), "-I", "-S", "-c", FULL_VERSION], SECONDS)
    return done.stdout.decode("ascii", "replace")


def candidates(minor: str) -> Iterator[str]:
    """Yield paths that may be an interpreter of a version: on PATH first, then in the folders of installers."""
    for name in (f"python{minor}", "python3", "python"):
        path = shutil.which(name)
        if path is not None:
            yield path
    for variable, default, pattern in INSTALLED:
        folder = Path(os.environ.get(variable) or Path.home() / default)
        # Roughly the newest first: as texts, 3.12.9 comes before 3.12.10. The bytecode of both is the same.
        yield from map(str, sorted(folder.glob(pattern.format(minor=minor)), reverse=True))
