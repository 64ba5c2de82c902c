"""Staged packages become the layer of an artifact: built with shiv from what was staged, taken apart for a bare Python.

shiv writes the archive of a staged folder; from its `site-packages` everything is taken as it is.  What shiv would put
beside them to extract it all at the first start stays behind: `mcpc_runtime.layer` extracts only parcels.
"""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import shiv  # type: ignore[import-untyped]
from shiv.bootstrap.environment import Environment  # type: ignore[import-untyped]
from shiv.builder import create_archive  # type: ignore[import-untyped]

from mcpc.dependencies.brought import brought, contents
from mcpc.dependencies.needs import needs_models
from mcpc.dependencies.parcels import apart, namespaces
from mcpc.dependencies.staging import stage
from mcpc.dependencies.tree import UnfitError
from mcpc.dependencies.typed import misfits, with_pydantic
from mcpc.diagnostics import diagnose, has_errors
from mcpc.ir import Layer, Package

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpc.dependencies.model import Requirement, Staged
    from mcpc.dependencies.parcels import Parts, Variant, Wheel
    from mcpc.diagnostics import Diagnostics
    from mcpc.ir import Server
    from mcpc.options import Options
    from mcpc.sources import Json

SITE = "site-packages/"
NEVER = "1980-01-01 00:00:00"
EXTRACTED = ".extracted"
"""The folder of parcels: not a name that could be imported."""
IN_ARCHIVES = "install it from wheels that differ in nothing but native modules, or name one version for all platforms"


def carried(server: Server, wanted: Sequence[Requirement], options: Options) -> tuple[Server, Diagnostics]:
    """Return the server with a layer of what is wanted, and of pydantic if a handler asks for models."""
    problems: Diagnostics = ()
    if needs_models(server):
        wanted, problems = with_pydantic(wanted)
    staged: list[Staged] = []
    for platform in dict.fromkeys(options.platforms or ("",)):
        found, more = stage(wanted, platform, "")
        problems += more
        staged += [found] if found is not None else []
    if needs_models(server):
        problems += misfits(staged, wanted)
    if has_errors(problems):
        return replace(server, layer=Layer(complete=False)), problems
    try:
        parts = taken_apart(staged, {one.name for one in wanted if one.extracted})
    except UnfitError as problem:
        unknown = replace(server, layer=Layer(complete=False))
        return unknown, (*problems, diagnose("MCP407", None, str(problem), "", IN_ARCHIVES))
    made = replace(
        layer(parts, staged, _own_names(server)), asked=brought(wanted, staged), contents=contents(parts, staged)
    )
    return replace(server, layer=made), problems


def _own_names(server: Server) -> frozenset[str]:
    """Return the top-level names of the project's own modules, which come first."""
    return frozenset(file.source.path.partition("/")[0].partition(".")[0] for file in server.files)


def taken_apart(staged: Iterable[Staged], extracted: Iterable[str]) -> tuple[Parts, ...]:
    """Return every package of any platform, taken apart, in the order of the names."""
    wheels: dict[str, list[Wheel]] = {}
    for one in staged:
        contents = shiv_contents(one.root)
        for distribution in one.distributions:
            files = {path: contents[path] for path in distribution.files}
            wheels.setdefault(distribution.name, []).append((distribution, files))
    return tuple(apart(wheels[name], extracted=name in extracted) for name in sorted(wheels))


def shiv_contents(root: Path) -> dict[str, bytes]:
    """Return the files that shiv packs of a staged folder, by their paths in it."""
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        target = Path(folder) / "layer.pyz"
        facts = Environment(built_at=NEVER, shiv_version=shiv.__version__, reproducible=True)
        create_archive([root], target, "python3", "site:main", facts, compressed=False)
        with zipfile.ZipFile(target) as archive:
            names = [name for name in archive.namelist() if name.startswith(SITE)]
            return {name.removeprefix(SITE): archive.read(name) for name in names}


def layer(parts: Sequence[Parts], staged: Sequence[Staged], own: frozenset[str]) -> Layer:
    """Return the layer that the packages make together; names in `own` are found elsewhere."""
    files = {path: data for part in parts for path, data in part.plain.items()}
    parcels = [part for part in parts if part.variants]
    everything = (*files, *(path for part in parcels for variant in part.variants for path in variant.files))
    modules = {name: number for number, part in enumerate(parcels) for name in sorted(part.modules)}
    index: dict[str, Json] = {
        "modules": {name: number for name, number in modules.items() if name.partition(".")[0] not in own},
        "namespaces": [*sorted(name for name in namespaces(everything) if name.partition(".")[0] not in own)],
        "metadata": {part.distribution.name: part.distribution.information for part in parts},
        "parcels": [parcel(part) for part in parcels],
    }
    for part in parcels:
        for variant in part.variants:
            files.update((f"{folder(part, variant)}/{path}", data) for path, data in variant.files.items())
    packages = tuple(
        Package(one.name, one.version, one.licence, one.is_spdx, part.tags)
        for part in parts
        for one in (part.distribution,)
    )
    names = frozenset(name for one in staged for name in one.modules)
    return Layer(packages, names, index, dict(sorted(files.items())))


def parcel(part: Parts) -> Json:
    """Return what is known of a parcel."""
    return {"name": part.distribution.name, "variants": [row(part, variant) for variant in part.variants]}


def folder(part: Parts, variant: Variant) -> str:
    """Return where a variant of a parcel lies in the layer."""
    return f"{EXTRACTED}/{part.distribution.name}-{variant.tags[0]}"


def row(part: Parts, variant: Variant) -> Json:
    """Return what is known of a variant: for whom it is, where it lies, and the digest of each file."""
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in sorted(variant.files.items())}
    return {"tags": [*variant.tags], "folder": folder(part, variant), "files": {**digests}}
