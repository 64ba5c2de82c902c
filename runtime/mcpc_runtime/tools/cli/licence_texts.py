"""The licences in a built file: their names by its SBOM, and the texts that it contains.

The texts of a package are those that its distribution has. A self-contained file has those of Python and of the
libraries that are linked or included, too.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

OWN_TEXT = re.compile(r"META-INF/licenses/(.+)")
PACKAGES = re.compile(r"(?:site|serving)/(?:sources|extracted)\.zip")
# A name in a `.dist-info` folder that begins so, also below `licenses/` (PEP 639).
PACKAGE_TEXT = re.compile(
    r"(?:.*/)?([^/]+)\.dist-info/(?:.*/)?(?:LICEN[CS]E|COPYING|NOTICE|COPYRIGHT)[^/]*", re.IGNORECASE
)


def licence_name(licence: dict[str, Any]) -> str:
    """Return the name of a licence in an SBOM."""
    named = licence.get("license", {})
    return str(licence.get("expression") or named.get("id") or named.get("name") or "no licence is declared")


def licence_texts(path: str) -> Iterator[tuple[str, str]]:
    """Yield the texts in a built file: what each is for, and the text."""
    with zipfile.ZipFile(path) as packed:
        for name in sorted(packed.namelist()):
            match = OWN_TEXT.fullmatch(name)
            if match is not None:
                yield match[1], packed.read(name).decode("utf-8", "replace")
            elif PACKAGES.fullmatch(name):
                with zipfile.ZipFile(io.BytesIO(packed.read(name))) as nested:
                    yield from package_texts(nested)


def package_texts(nested: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Yield the texts of packages."""
    for name in sorted(nested.namelist()):
        match = PACKAGE_TEXT.fullmatch(name)
        if match is not None:
            yield f"{match[1]}: {name.rpartition('/')[2]}", nested.read(name).decode("utf-8", "replace")
