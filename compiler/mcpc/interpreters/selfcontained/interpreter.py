"""The Python that becomes part of the executable: the one that runs this compiler, by its static library.

A Python without a static library, or a machine without what links one, is reported with what to install.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from mcpc.interpreters.selfcontained.request import CannotEmbedError

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
