"""The licences of what a self-contained file includes besides the server: CPython, the C library, and libraries.

The texts are those that the machine of the build has: of Python's installation, and of the packages of a Debian-like
system, one folder a package below DOCUMENTATION, with the common licences that these name.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.interpreters.selfcontained.interpreter import StaticInterpreter
    from mcpc.interpreters.selfcontained.shared_objects import SharedObjects

FOLDER = "META-INF/licenses/"
DOCUMENTATION = Path("/usr/share/doc")
C_LIBRARY_PACKAGE = "libc6"
INSTALLED = Path("/var/lib/dpkg/status")
VERSION = re.compile(r"^Package: (\S+)\n(?:(?:\S+:| ).*\n)*?Version: (\S+)$", re.MULTILINE)
COMMON = re.compile(r"/usr/share/common-licenses/([A-Z][A-Za-z]*-[\d.]*\d)")
"""How a text of a package names a licence that is a file of its own."""
OTHER_NAMES = {"libbz2": "libbz2-1.0", "libcrypto3": "libssl3", "libz1": "zlib1g"}
"""Packages that are not named after their library and its version."""


def licence_entries(interpreter: StaticInterpreter, objects: SharedObjects) -> dict[str, bytes]:
    """Return the texts as entries."""
    places = {"cpython": interpreter.standard_library / "LICENSE.txt"}
    places.update((name, DOCUMENTATION / name / "copyright") for name in package_names(objects))
    texts = {name: path.read_bytes() for name, path in places.items() if path.is_file()}
    for path in {path for text in texts.values() for path in common_licences(text)}:
        texts[path.name] = path.read_bytes()
    return {f"{FOLDER}{name}.txt": text for name, text in sorted(texts.items())}


def common_licences(text: bytes) -> Iterator[Path]:
    """Yield the files of the common licences that a text names."""
    places = (Path(found[0]) for found in COMMON.finditer(text.decode(errors="replace")))
    return (path for path in places if path.is_file())


def package_names(objects: SharedObjects) -> Iterator[str]:
    """Yield the names of the packages whose libraries are included."""
    yield C_LIBRARY_PACKAGE
    for name in objects.files:
        found = package_of(name)
        if found:
            yield found


def package_of(file: str) -> str:
    """Return the package of a library, an empty text for an extension module: `libssl.so.3` is of `libssl3`."""
    found = re.fullmatch(r"(lib[\w+-]*?)\.so\.(\d+)[\d.]*", file)
    if found is None:
        return ""
    library, version = found.groups()
    joined = f"{library}-{version}" if library[-1].isdigit() else library + version
    return OTHER_NAMES.get(library, OTHER_NAMES.get(joined, joined))


def library_files(objects: SharedObjects) -> dict[tuple[str, str], bytes]:
    """Return the bytes of each library that is included, by its package and its name; the C library has no file."""
    found = {(package_of(name), name): file.path.read_bytes() for name, file in objects.files.items()}
    return {(C_LIBRARY_PACKAGE, ""): b"", **{row: data for row, data in sorted(found.items()) if row[0]}}


def package_versions() -> dict[str, str]:
    """Return the versions of the packages that are installed on a Debian-like system; none on any other."""
    try:
        text = INSTALLED.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return dict(VERSION.findall(text))
