"""What a self-contained file contains besides its server, as facts of the build and as components of its SBOM."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.interpreters.selfcontained.licences import package_versions
from mcpc.pack.sbom import FILES_DIGEST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.reading import Json

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
        found = [self._python(PYTHON, "platform"), self._python(STANDARD_LIBRARY, "library")]
        names = sorted({package for package, _ in self.libraries})
        versions = package_versions() if names else {}
        return [*found, *(self._library(name, versions.get(name, "")) for name in names)]

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
