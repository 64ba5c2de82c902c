"""How a module is loaded from a parcel: out of the folder it was extracted to, or from memory if no folder will do."""

from __future__ import annotations

import hashlib
import os
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder

from mcpc_runtime.layer.folders import VARIABLE, folder, in_memory, private, roots
from mcpc_runtime.ownership import UnusableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Variant = dict[str, Any]
    """What a parcel has for one wheel's platforms: its tags, its folder in the archive, the digest of each file."""
    Read = Callable[[str], bytes]
    """Reads an entry of the layer."""

VERIFIED: dict[str, str] = {}
"""Where a parcel lies, by its folder in the archive: this process has seen that it is whole."""


def spec_of(name: str, variant: Variant, read: Read) -> ModuleSpec | None:
    """Return how a module of a parcel is loaded; raise ImportError, with what can be done, if it cannot be."""
    try:
        place = VERIFIED.get(variant["folder"]) or extracted(name, variant, read)
    except UnusableError as problem:
        return from_memory(name, variant, read, str(problem))
    return PathFinder.find_spec(name, [os.path.join(place, *name.split(".")[:-1])])


def extracted(name: str, variant: Variant, read: Read) -> str:
    """Return the folder of a parcel, in the first place that can be used; raise UnusableError if there is none."""
    reasons = []
    for base, names in roots():
        try:
            place = folder(private(base, names), variant["files"], lambda path: intact(path, variant, read))
        except UnusableError as problem:
            reasons.append(str(problem))
            continue
        if reasons:
            tell(name, f"extracted to {os.path.realpath(place)}", reasons)
        VERIFIED[variant["folder"]] = place
        return place
    raise UnusableError("; ".join(reasons))


def intact(path: str, variant: Variant, read: Read) -> bytes:
    """Return a file of a parcel as it was built; raise ImportError if the archive has something else there."""
    entry = f"{variant['folder']}/{path}"
    data = read(entry)
    if hashlib.sha256(data).hexdigest() != variant["files"][path]:
        raise ImportError(f"site/{entry} is not what was built: get the server's file again")
    return data


def from_memory(name: str, variant: Variant, read: Read, reason: str) -> ModuleSpec:
    """Return how a module is loaded that needs nothing beside it, without a folder, by each process again."""
    advice = f"set {VARIABLE} to a folder of your own in which programs may run"
    if len(variant["files"]) != 1:
        raise ImportError(f"{name} cannot be extracted: {reason}; {advice}", name=name)
    (path,) = variant["files"]
    try:
        place = in_memory(intact(path, variant, read), name)
    except (UnusableError, OSError) as problem:
        raise ImportError(f"{name} cannot be extracted: {reason}; {problem}; {advice}", name=name) from None
    tell(name, f"loaded from memory; {advice}", [reason])
    spec = ModuleSpec(name, ExtensionFileLoader(name, place), origin=place)
    spec.has_location = True
    return spec


def tell(name: str, instead: str, reasons: list[str]) -> None:
    """Say on standard error what was done instead of the usual."""
    sys.stderr.write(f"{name} is {instead} ({'; '.join(reasons)})\n")
    sys.stderr.flush()
