"""The licences of what a self-contained file includes besides the server: CPython, the C library, and libraries.

The texts are those that the machine of the build has: of Python's installation, and of the packages of a Debian-like
system, one folder a package below DOCUMENTATION.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.selfcontained.interpreter import StaticInterpreter
    from mcpc.selfcontained.shared_objects import SharedObjects

FOLDER = "META-INF/licenses/"
DOCUMENTATION = Path("/usr/share/doc")
C_LIBRARY_PACKAGE = "libc6"
OTHER_NAMES = {"libbz2": "libbz2-1.0", "libcrypto3": "libssl3", "libz1": "zlib1g"}
"""Packages that are not named after their library and its version."""


def licence_entries(interpreter: StaticInterpreter, objects: SharedObjects) -> dict[str, bytes]:
    """Return the texts as entries."""
    places = {"cpython": interpreter.standard_library / "LICENSE.txt"}
    places.update((name, DOCUMENTATION / name / "copyright") for name in package_names(objects))
    return {f"{FOLDER}{name}.txt": path.read_bytes() for name, path in sorted(places.items()) if path.is_file()}


def package_names(objects: SharedObjects) -> Iterator[str]:
    """Yield the names of the packages whose libraries are included: `libssl.so.3` is of `libssl3`."""
    yield C_LIBRARY_PACKAGE
    for name in objects.files:
        found = re.fullmatch(r"(lib[\w+-]*?)\.so\.(\d+)[\d.]*", name)
        if found is not None:
            library, version = found.groups()
            joined = f"{library}-{version}" if library[-1].isdigit() else library + version
            yield OTHER_NAMES.get(library, OTHER_NAMES.get(joined, joined))
