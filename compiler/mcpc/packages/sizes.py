"""What is a package's part of a built file: its paths, and its approximate size, for notes before it is packed.

Of files of one kind a few are deflated to learn how much smaller they become; bytecode is stored.
"""

from __future__ import annotations

import zlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpc.packages.native_packages import SplitPackage

BYTECODE_RATIO = 1.1
"""Bytes of bytecode per byte of source, an average of many packages."""
ENTRY_BYTES = 140
"""Bytes of an archive entry besides its data and three times its name: headers, and a line of the manifest."""
SAMPLED_FILES, SAMPLED_BYTES = 8, 1 << 16


def approximate_size(part: SplitPackage) -> int:
    """Return the approximate bytes of a package in the artifact: its files, and bytecode of what is not extracted."""
    files = [*part.plain.items(), *(row for variant in part.variants for row in variant.files.items())]
    by_kind: dict[str, list[bytes]] = {}
    for path, data in files:
        by_kind.setdefault(PurePosixPath(path).suffix, []).append(data)
    stored = sum(deflated_size(group) for group in by_kind.values())
    stored += sum(ENTRY_BYTES + 3 * len(path) for path, _ in files)
    return stored + int(BYTECODE_RATIO * sum(len(data) for path, data in part.plain.items() if path.endswith(".py")))


def deflated_size(files: Sequence[bytes]) -> int:
    """Return the approximate size of some files of one kind after they were deflated."""
    step = max(len(files) // SAMPLED_FILES, 1)
    samples = [data[:SAMPLED_BYTES] for data in files[::step]]
    whole = sum(map(len, samples))
    return int(sum(map(len, files)) * sum(len(zlib.compress(data)) for data in samples) / whole) if whole else 0


def own_paths(files: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the highest folders (`name/`) and the files that only one package has, by package; `files`: its paths."""
    owners: dict[str, str | None] = {}
    for package, paths in files.items():
        for place in {above for path in paths for above in _lineage(path)}:
            owners[place] = package if owners.get(place, package) == package else None
    return {
        package: tuple(
            sorted({next(place for place in _lineage(path) if owners[place] or place == path) for path in paths})
        )
        for package, paths in files.items()
    }


def _lineage(path: str) -> list[str]:
    """Return the folders that contain a file, the highest first, and the file."""
    parts = path.split("/")
    return [*("/".join(parts[:number]) + "/" for number in range(1, len(parts))), path]
