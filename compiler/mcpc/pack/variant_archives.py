"""Machine code for other Pythons and platforms than the first: compressed together, because its files are alike.

There is an archive for each package and platform: all files of its variants one behind the other, each content once.
The index of packages has the place of each file, so that the runtime reads the variant of its machine only.
"""

from __future__ import annotations

import hashlib
import lzma
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from mcpc.pack.archive import EXTRACTED_FOLDER, archive_of_variants, sha256_hex
from mcpc.packages.platforms import Target, wheel_tags

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpc.model.ir import Layer

FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 25}]
"""The fastest preset, with a dictionary for a library of several Pythons: each takes a third of what it does alone."""
VERSION = re.compile(r"3\d+")

Variants = dict[str, list["Mapping[str, Any]"]]


def other_variants(layer: Layer, minors: Sequence[str]) -> Variants:
    """Return the variants of packages that none of these Pythons uses on the first platform, by their archives."""
    first = layer.targets[0].platform if layer.targets else ""
    accepted = {str(tag) for minor in minors for tag in wheel_tags(Target(first, minor))}
    archives: Variants = {}
    for package in layer.index["parcels"]:
        for variant in package["variants"]:
            if accepted.isdisjoint(variant["tags"]):
                platform = variant["tags"][0].rpartition("-")[2]
                archives.setdefault(EXTRACTED_FOLDER + archive_of_variants(package["name"], platform), []).append(
                    variant
                )
    return archives


class VariantArchive(NamedTuple):
    """Files compressed together: the bytes, the digest of what they contain, and the offset and length of each file."""

    data: bytes
    digest: str
    places: Mapping[str, tuple[int, int]]


def variant_archive(files: Mapping[str, bytes]) -> VariantArchive:
    """Return files compressed together; like files are neighbours."""
    places: dict[str, tuple[int, int]] = {}
    offsets: dict[bytes, int] = {}
    contents: list[bytes] = []
    end = 0
    for path in sorted(files, key=lambda path: (VERSION.sub("", path.partition("/")[2]), path)):
        data = files[path]
        digest = hashlib.sha256(data).digest()
        if digest not in offsets:
            offsets[digest] = end
            contents.append(data)
            end += len(data)
        places[path] = (offsets[digest], len(data))
    content = b"".join(contents)
    return VariantArchive(lzma.compress(content, lzma.FORMAT_XZ, filters=FILTERS), sha256_hex(content), places)
