"""What a self-contained file contains besides its server: facts of the build, components of its SBOM, licences.

The texts are those that the machine of the build has: of Python's installation, and of the packages of a Debian-like
system, one folder a package below DOCUMENTATION, with the common licences that these name.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.pack.archive import MANIFEST, ArchiveEntry, checksum_line, sha256_hex
from mcpc.pack.manifest import FACTS, SBOM, readable_json
from mcpc.pack.sbom import FILES_DIGEST, with_components

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.interpreters.selfcontained.executable import StaticInterpreter
    from mcpc.interpreters.selfcontained.shared_objects import SharedObjects
    from mcpc.reading import Json


if TYPE_CHECKING:
    Object = dict[str, Json]

PYTHON, STANDARD_LIBRARY = "cpython", "python-standard-library"
LICENCE = "PSF-2.0"


@dataclass(frozen=True, slots=True)
class EmbeddedPython:
    """The Python of a self-contained file: its target, its version as far as it is known, and what it consists of.

    `files`: the bytes of the interpreter by path, if it consists of files; `libraries`: the bytes of the libraries that
    it needs, by the name of their package and their file name; `library_place`: where in the file the standard library
    is. `minimal`: only modules that are imported are included.
    """

    target: str
    version: str
    minimal: bool
    library_place: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    libraries: Mapping[tuple[str, str], bytes] = field(default_factory=dict)

    def as_fact(self) -> Object:
        """Return it as a fact of the build, by which the build can be repeated."""
        return {"target": self.target, "python": self.version, "minimal": self.minimal}

    def components(self) -> list[Object]:
        """Return the components: the interpreter, its library, and other libraries."""
        rows = [self._python(PYTHON, "platform"), self._python(STANDARD_LIBRARY, "library")]
        names = sorted({package for package, _ in self.libraries})
        versions = package_versions() if names else {}
        return [*rows, *(self._library(name, versions.get(name, "")) for name in names)]

    def _python(self, name: str, kind: str) -> Object:
        place: Object = {"occurrences": [{"location": self.library_place}]}
        digest: list[Json] = [{"name": FILES_DIGEST, "value": self._digest()}]
        return {
            "type": kind,
            "bom-ref": name,
            "name": name,
            "version": self.version,
            "licenses": [{"expression": LICENCE}],
            "cpe": f"cpe:2.3:a:python:python:{self.version}:*:*:*:*:*:*:*",
            "purl": f"pkg:generic/{name}@{self.version}",
            **({"evidence": place} if name == STANDARD_LIBRARY else {}),
            **({"properties": digest} if name == PYTHON and self.files else {}),
        }

    def _digest(self) -> str:
        rows = sorted((path, hashlib.sha256(data).hexdigest()) for path, data in self.files.items())
        return hashlib.sha256("".join(f"{digest}  {path}\n" for path, digest in rows).encode()).hexdigest()

    def _library(self, package: str, version: str) -> Object:
        """Return a library of the machine of the build, by its package there."""
        files = {file: data for (name, file), data in sorted(self.libraries.items()) if name == package and data}
        hashes: list[Json] = [
            {"alg": "SHA-256", "content": digest}
            for digest in sorted({hashlib.sha256(data).hexdigest() for data in files.values()})
        ]
        return {
            "type": "library",
            "bom-ref": f"library:{package}",
            "name": package,
            **({"version": version} if version else {}),
            **({"hashes": hashes} if hashes else {}),
            **({"evidence": {"occurrences": [{"location": file} for file in files]}} if files else {}),
        }


def server_entries(archive: bytes) -> dict[str, bytes]:
    """Return the entries of an archive."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def with_manifest(entries: dict[str, bytes], python: EmbeddedPython) -> list[ArchiveEntry]:
    """Return entries that name the included Python, with a manifest of all of them."""
    facts = {**json.loads(entries[FACTS]), "selfContained": python.as_fact()}
    bill = with_components(json.loads(entries[SBOM]), python.components())
    entries = {**entries, FACTS: readable_json(facts), SBOM: readable_json(bill)}
    # After the changes of its entries, since the manifest has the digest of each of them.
    lines = sorted((name, sha256_hex(data)) for name, data in entries.items() if name != MANIFEST)
    manifest = "".join(f"{checksum_line(name, digest)}\n" for name, digest in lines)
    return [ArchiveEntry(name, data) for name, data in {**entries, MANIFEST: manifest.encode()}.items()]


FOLDER = "META-INF/licenses/"
DOCUMENTATION = Path("/usr/share/doc")
C_LIBRARY_PACKAGE = "libc6"
INSTALLED = Path("/var/lib/dpkg/status")
# A package and its version in the list of dpkg: between both are only other fields, and lines that continue them.
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
    places = (Path(match[0]) for match in COMMON.finditer(text.decode(errors="replace")))
    return (path for path in places if path.is_file())


def package_names(objects: SharedObjects) -> Iterator[str]:
    """Yield the names of the packages whose libraries are included."""
    yield C_LIBRARY_PACKAGE
    for name in objects.files:
        package = package_of(name)
        if package:
            yield package


def package_of(file: str) -> str:
    """Return the package of a library, an empty text for an extension module: `libssl.so.3` is of `libssl3`."""
    match = re.fullmatch(r"(lib[\w+-]*?)\.so\.(\d+)[\d.]*", file)
    if match is None:
        return ""
    library, version = match.groups()
    # Debian puts a hyphen only behind a name that ends with a digit.
    joined = f"{library}-{version}" if library[-1].isdigit() else library + version
    return OTHER_NAMES.get(library, OTHER_NAMES.get(joined, joined))


def library_files(objects: SharedObjects) -> dict[tuple[str, str], bytes]:
    """Return the bytes of each library that is included, by its package and its name; the C library has no file."""
    by_package = {(package_of(name), name): file.path.read_bytes() for name, file in objects.files.items()}
    return {(C_LIBRARY_PACKAGE, ""): b"", **{row: data for row, data in sorted(by_package.items()) if row[0]}}


def package_versions() -> dict[str, str]:
    """Return the versions of the packages that are installed on a Debian-like system; none on any other."""
    try:
        text = INSTALLED.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return dict(VERSION.findall(text))
