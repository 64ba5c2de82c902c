"""The executable: the launcher, CPython and the C library, linked statically by the machine's C compiler.

A Python without a static library, or a machine without what links one, is reported with what to install.

It depends only on its inputs, not on folders of this machine or the time, so it is cached by their digest.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.emit.bytecode import dump_code
from mcpc.emit.templates import template_text
from mcpc.interpreters.selfcontained.library import library_code
from mcpc.interpreters.selfcontained.request import CannotEmbedError
from mcpc.sandbox import programs
from mcpc.sandbox.cache_dir import load_entry, store_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

EARLY_START = frozenset({(3, 11), (3, 12), (3, 13)})
"""Versions whose private API (`_init_main`, `_Py_InitializeMain`) allows a start before initialization is complete.

Any other version is started by its public API.
"""
TOOLS = {"cc": "a C compiler", "nm": "binutils", "objcopy": "binutils", "readelf": "binutils", "strip": "binutils"}
MISSING_TOOL = "install a C compiler with binutils (Debian: gcc and libc6-dev)"
MISSING_LIBRARY = "use a Python that has one (of pyenv, or built from its sources; Debian: libpython3-dev)"


@dataclass(frozen=True, slots=True)
class StaticInterpreter:
    """A static library of CPython, and what belongs to it."""

    version: tuple[int, int]
    full_version: str
    library: Path
    headers: Path
    standard_library: Path
    extensions: Path
    libraries: tuple[str, ...]
    suffix: str

    @property
    def starts_early(self) -> bool:
        """Tell whether the start path runs before the interpreter is completely initialized."""
        return self.version in EARLY_START


def running_interpreter() -> StaticInterpreter:
    """Return the interpreter that runs this compiler; raise CannotEmbedError if it cannot be linked."""
    for tool, package in TOOLS.items():
        if shutil.which(tool) is None:
            raise CannotEmbedError("MCP430", f"{package} is missing: there is no `{tool}`", MISSING_TOOL)
    settings = sysconfig.get_config_vars()
    library = Path(settings.get("LIBPL") or "", settings.get("LIBRARY") or "")
    headers = Path(sysconfig.get_path("include"))
    if not library.is_file() or not library.name.endswith(".a") or not (headers / "Python.h").is_file():
        version = ".".join(map(str, sys.version_info[:3]))
        message = f"Python {version} at {sys.base_prefix} has no static library with headers"
        raise CannotEmbedError("MCP430", message, MISSING_LIBRARY)
    words = f"{settings.get('MODLIBS') or ''} {settings.get('SYSLIBS') or ''}".split()
    return StaticInterpreter(
        version=sys.version_info[:2],
        full_version=".".join(map(str, sys.version_info[:3])),
        library=library,
        headers=headers,
        standard_library=Path(sysconfig.get_path("stdlib")),
        extensions=Path(settings["DESTSHARED"]),
        libraries=tuple(dict.fromkeys(word for word in words if word.startswith("-l"))),
        suffix=settings["EXT_SUFFIX"],
    )


SOURCES = ("launcher.c", "frozen.c", "images.c", "images.h")
FROZEN = ("encodings", "encodings.aliases", "encodings.utf_8")
"""Modules that every initialization imports, besides those that are frozen in every Python."""
BOOTSTRAP = {
    "_frozen_importlib": "importlib._bootstrap",
    "_frozen_importlib_external": "importlib._bootstrap_external",
    "zipimport": "zipimport",
}
"""The modules by which an interpreter imports any other, with their names in the library."""
FROZEN_LIBRARY = (
    "_collections_abc",
    "abc",
    "codecs",
    "genericpath",
    "importlib.machinery",
    "importlib.util",
    "io",
    "os",
    "posixpath",
    "runpy",
    "stat",
)
"""Modules of the library that are frozen instead: initialization imports some, and every handler the others."""
FROZEN_MODULES = frozenset({*FROZEN, *BOOTSTRAP.values(), *FROZEN_LIBRARY})
"""All of them, by their names in the library, which need not have them."""
FLAGS = (
    "-std=gnu11",
    "-O2",
    "-fno-pie",
    "-fno-asynchronous-unwind-tables",
    "-Wall",
    "-Wno-unused-parameter",
    "-Wno-unused-variable",
)
LINK = ("-static", "-no-pie", "-Wl,--build-id=none", "-Wl,-z,noexecstack", "-Wl,-z,relro")
SMALLER = ("--strip-debug", "--remove-section=.eh_frame")
SECONDS = 300
KIND = "executables"


def build_executable(interpreter: StaticInterpreter, symbols: Iterable[str]) -> bytes:
    """Return the executable, without any server in it."""
    sources = {name: files("mcpc.interpreters.selfcontained").joinpath("native", name).read_bytes() for name in SOURCES}
    sources["data.c"] = generated_source(interpreter, sorted(symbols)).encode()
    name = cache_name(interpreter, sources)
    stored = load_entry(KIND, name)
    if stored is None:
        stored = compile_executable(interpreter, sources)
        store_entry(KIND, name, stored)
    return stored


def cache_name(interpreter: StaticInterpreter, sources: Mapping[str, bytes]) -> str:
    """Return the digest of all that decides an executable."""
    # In the language C, since the text would be another one in each language.
    compiler = programs.run_program("linker", ["cc", "--version"], SECONDS, more={"LC_ALL": "C"}).stdout
    summary = hashlib.sha256(repr((FLAGS, LINK, SMALLER, interpreter, interpreter.starts_early)).encode() + compiler)
    for name, data in (*sources.items(), ("libpython", interpreter.library.read_bytes())):
        summary.update(name.encode() + b"\0" + hashlib.sha256(data).digest())
    return summary.hexdigest()


def compile_executable(interpreter: StaticInterpreter, sources: Mapping[str, bytes]) -> bytes:
    """Compile and link an executable in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        for name, data in sources.items():
            Path(folder, name).write_bytes(data)
        early = ("-DMCPC_EARLY_START",) if interpreter.starts_early else ()
        inputs = [name for name in sources if name.endswith(".c")]
        # Tables for unwinding are a twentieth of the executable, and only C++ and debuggers would read them.
        run_tool(["objcopy", *SMALLER, str(interpreter.library), "libpython.a"], folder)
        libraries = ("libpython.a", *interpreter.libraries, "-lm")
        words = ["cc", *FLAGS, *early, f"-I{interpreter.headers}", *LINK, "-o", "server", *inputs, *libraries]
        run_tool(words, folder)
        run_tool(["strip", "--strip-all", "--remove-section=.comment", "server"], folder)
        return Path(folder, "server").read_bytes()


def run_tool(words: list[str], folder: str) -> None:
    """Run the compiler or one of its programs in a folder; raise CannotEmbedError with what it prints if it fails."""
    done = programs.run_program("linker", words, SECONDS, cwd=folder, more={"LC_ALL": "C"})
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        problem = next((line for line in lines if "error" in line or "undefined" in line), lines[-1] if lines else "?")
        hint = "check that the C compiler links static programs with this Python"
        raise CannotEmbedError("MCP431", f"the executable cannot be linked: {problem}", hint)


def generated_source(interpreter: StaticInterpreter, symbols: list[str]) -> str:
    """Return the C source of the tables: frozen modules, code of the start, and exported symbols."""
    # Without the `__future__` imports of this module, which would change the bytecode.
    start = dump_code(
        compile(template_text("self_contained.py"), "server/start.py", "exec", dont_inherit=True, optimize=2)
    )
    lines = ['#include <Python.h>\n#include "images.h"']
    lines += frozen_table(interpreter, "FROZEN", {name: name for name in (*FROZEN, *FROZEN_LIBRARY)})
    lines += frozen_table(interpreter, "BOOTSTRAP", BOOTSTRAP)
    lines += [
        f"const unsigned char START_CODE[] = {{{c_bytes(start)}}};",
        "const size_t START_CODE_SIZE = sizeof START_CODE;",
    ]
    # Names of functions that the compiler knows would clash with its own declarations, so these have other ones here.
    lines += [f'extern const char s{number}[] __asm__("{name}");' for number, name in enumerate(symbols)]
    lines += ["const struct export EXPORTS[] = {"]
    lines += [f'{{"{name}", s{number}}},' for number, name in enumerate(symbols)]
    lines += ["};", "const size_t EXPORT_COUNT = sizeof EXPORTS / sizeof *EXPORTS;", ""]
    return "\n".join(lines)


def frozen_table(interpreter: StaticInterpreter, table: str, names: Mapping[str, str]) -> list[str]:
    """Return the C source of a table of frozen modules, by their names here and in the library."""
    lines, rows = [], []
    for number, (name, module) in enumerate(names.items()):
        data, is_package = frozen_module(interpreter, module)
        lines.append(f"static const unsigned char {table}_{number}[] = {{{c_bytes(data)}}};")
        place = f".code = {table}_{number}, .size = sizeof {table}_{number}"
        rows.append(f'{{.name = "{name}", {place}, .is_package = {is_package:d}}},')
    return [*lines, f"const struct _frozen {table}[] = {{", *rows, "{0}};"]


def frozen_module(interpreter: StaticInterpreter, name: str) -> tuple[bytes, bool]:
    """Return the bytecode of a module of the library, and whether it is a package."""
    path = interpreter.standard_library.joinpath(*name.split("."))
    is_package = path.is_dir()
    file = path / "__init__.py" if is_package else path.with_suffix(".py")
    return dump_code(library_code(f"<frozen {name}>", file)), is_package


def c_bytes(data: bytes) -> str:
    """Return bytes as the values of a C array."""
    return ",".join(map(str, data))
