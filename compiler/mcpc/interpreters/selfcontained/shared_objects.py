"""The extension modules of the standard library and the libraries they need, as data of the executable.

The executable loads them without the system's dynamic loader (`native/images.c`), so every symbol that they use and
none of them defines has to be linked into it: `SharedObjects.symbols`. One that needs a symbol that no static library
has, or that has thread-local data, is left out, as is what needs it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.interpreters.selfcontained.request import CannotEmbedError
from mcpc.sandbox import programs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from mcpc.interpreters.selfcontained.executable import StaticInterpreter

SECONDS = 120
LEFT_OUT = re.compile(r"_test\w*|xx\w*|_xxtest\w*|_tkinter|_curses\w*|readline|nis|ossaudiodev|_dbm|_gdbm|_ctypes_test")
"""Modules of tests, terminals and windows, and those of removed systems."""
C_LIBRARY = re.compile(
    r"(?:libc|libm|libdl|libpthread|librt|libutil|ld-linux[\w-]*)\.so\.\d+|libpython3\.\d+\.so\.1\.0"
)
"""Shared objects whose functions are linked into the executable."""
STATIC_LIBRARIES = ("libc.a", "libm.a", "libpthread.a", "libdl.a", "librt.a", "libutil.a")


@dataclass(frozen=True, slots=True)
class SharedObject:
    """A shared object: its file name, bytes, the libraries it needs, and the symbols it uses and defines."""

    name: str
    path: Path
    needed: tuple[str, ...]
    undefined: frozenset[str]
    defined: frozenset[str]
    has_thread_data: bool


@dataclass(frozen=True)
class SharedObjects:
    """All that are included: `modules` names the shared object of each extension module."""

    modules: Mapping[str, str]
    files: Mapping[str, SharedObject]
    left_out: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def symbols(self) -> frozenset[str]:
        """The symbols that the executable has to provide."""
        return frozenset(name for file in self.files.values() for name in missing_symbols(file, self.files))

    @property
    def extensions(self) -> dict[str, bool]:
        """The extension modules, and whether each needs other libraries."""
        return {name: bool(all_needed(self.files[file], self.files)) for name, file in self.modules.items()}

    def only(self, names: Collection[str]) -> SharedObjects:
        """Return the shared objects of these modules."""
        modules = {name: file for name, file in self.modules.items() if name in names}
        libraries = (name for file in modules.values() for name in all_needed(self.files[file], self.files))
        needed = {*modules.values(), *libraries}
        return SharedObjects(modules, {name: file for name, file in self.files.items() if name in needed})


def tool_output(tool: str, *words: str) -> str:
    """Return what one of the linker's programs prints."""
    done = programs.run_program("linker", [tool, *words], SECONDS, more={"LC_ALL": "C"})
    if done.returncode:
        problem = done.stderr.decode(errors="replace").strip()
        raise CannotEmbedError("MCP431", f"`{tool}` failed: {problem}", "check the installation of binutils")
    return done.stdout.decode(errors="replace")


def read_shared_object(path: Path) -> SharedObject:
    """Read what a shared object needs and defines."""
    facts = tool_output("readelf", "-dlW", str(path))
    defined, undefined = set(), set()
    for line in tool_output("nm", "-D", "-P", str(path)).splitlines():
        name, kind = line.split()[:2]
        # A symbol may have a version: `memcpy@GLIBC_2.14`.
        name = name.partition("@")[0]
        if kind == "U":
            undefined.add(name)
        # `w` and `v` are weak symbols without a definition, which may stay without one.
        elif kind not in "wv":
            defined.add(name)
    needed = tuple(re.findall(r"\(NEEDED\).*\[(.+)\]", facts))
    names = frozenset(undefined - defined), frozenset(defined)
    return SharedObject(path.name, path, needed, *names, re.search(r"^\s*TLS\s", facts, re.MULTILINE) is not None)


def missing_symbols(file: SharedObject, files: Mapping[str, SharedObject]) -> frozenset[str]:
    """Return the symbols that neither a shared object nor those that it needs define."""
    provided = (files[name].defined for name in all_needed(file, files))
    return file.undefined.difference(*provided)


def all_needed(file: SharedObject, files: Mapping[str, SharedObject]) -> tuple[str, ...]:
    """Return the included shared objects that one needs, also indirectly."""
    names: dict[str, None] = {}
    waiting = list(file.needed)
    while waiting:
        name = waiting.pop()
        if name in files and name not in names:
            names[name] = None
            waiting += files[name].needed
    return tuple(names)


def collect_shared_objects(interpreter: StaticInterpreter, builtin: Iterable[str]) -> SharedObjects:
    """Return the shared objects of the standard library that can be included."""
    modules = {
        path.name.removesuffix(interpreter.suffix): read_shared_object(path)
        for path in sorted(interpreter.extensions.glob(f"*{interpreter.suffix}"))
        if not LEFT_OUT.fullmatch(path.name.removesuffix(interpreter.suffix))
    }
    modules = {name: file for name, file in modules.items() if name not in builtin}
    libraries = find_libraries(modules.values())
    files = {file.name: file for file in (*modules.values(), *libraries.values())}
    available = static_symbols(interpreter)
    left_out = unusable(files, available)
    return SharedObjects(
        {name: file.name for name, file in modules.items() if file.name not in left_out},
        {name: file for name, file in sorted(files.items()) if name not in left_out},
        {name: left_out[file.name] for name, file in modules.items() if file.name in left_out},
    )


def find_libraries(modules: Iterable[SharedObject]) -> dict[str, SharedObject]:
    """Return the libraries that modules need, by the names under which they are needed."""
    libraries: dict[str, SharedObject] = {}
    for module in modules:
        wanted = [name for name in module.needed if not C_LIBRARY.fullmatch(name) and name not in libraries]
        if not wanted:
            continue
        # The dynamic loader knows where libraries are; `ldd` prints `NAME => PATH (ADDRESS)`.
        for name, path in re.findall(r"^\s*(\S+) => (/\S+) \(", tool_output("ldd", str(module.path)), re.MULTILINE):
            if not C_LIBRARY.fullmatch(name) and name not in libraries:
                read = read_shared_object(Path(path))
                libraries[name] = SharedObject(
                    name, Path(path).resolve(), read.needed, read.undefined, read.defined, read.has_thread_data
                )
    return libraries


def unusable(files: Mapping[str, SharedObject], available: frozenset[str]) -> dict[str, str]:
    """Return the shared objects that cannot be included, with the reason."""
    reasons: dict[str, str] = {}
    while True:
        # Who is left out takes along those that need it, which the next round finds.
        missing = {
            name: reason
            for name, file in files.items()
            if name not in reasons and (reason := reason_against(file, files, available, reasons))
        }
        if not missing:
            return reasons
        reasons.update(missing)


def reason_against(
    file: SharedObject, files: Mapping[str, SharedObject], available: frozenset[str], reasons: Mapping[str, str]
) -> str:
    """Return why a shared object cannot be included; an empty text if it can."""
    if file.has_thread_data:
        return f"{file.name} has thread-local data"
    for name in file.needed:
        if not C_LIBRARY.fullmatch(name) and (name not in files or name in reasons):
            return reasons.get(name, f"{name} is missing")
    missing = sorted(missing_symbols(file, files) - available)
    return f"{file.name} needs {missing[0]}, which no static library has" if missing else ""


def static_symbols(interpreter: StaticInterpreter) -> frozenset[str]:
    """Return the symbols that can be linked into the executable."""
    paths = [str(interpreter.library)]
    for name in STATIC_LIBRARIES:
        path = tool_output("cc", f"-print-file-name={name}").strip()
        # The compiler prints the name alone if it has no such library.
        if Path(path).is_file() and path != name:
            paths.append(path)
        elif name == "libc.a":
            hint = "install the static C library (Debian: libc6-dev, Fedora: glibc-static)"
            raise CannotEmbedError("MCP430", "the static C library (libc.a) is missing", hint)
    archives = (archive for path in paths for archive in linked_archives(path))
    return frozenset(name for archive in archives for name in defined_symbols(archive))


def linked_archives(path: str) -> list[str]:
    """Return the archives of a static library, which may be a script of the linker that names others."""
    data = Path(path).read_bytes()
    # The `libm.a` of glibc may be such a script.
    return [path] if data.startswith(b"!<arch>") else re.findall(r"/\S+\.a\b", data.decode(errors="replace"))


def defined_symbols(path: str) -> frozenset[str]:
    """Return the symbols that a static library defines."""
    lines = tool_output("nm", "-g", "-P", "--defined-only", path).splitlines()
    return frozenset(line.split()[0] for line in lines if len(line.split()) > 1)


def interpreter_functions(interpreter: StaticInterpreter) -> frozenset[str]:
    """Return the functions and data of CPython's API, which `ctypes.pythonapi` finds."""
    return frozenset(name for name in defined_symbols(str(interpreter.library)) if name.startswith("Py"))
