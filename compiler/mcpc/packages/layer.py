"""Layer of an artifact, made of staged packages: built by shiv, and split for a Python without packages.

shiv writes the archive of a staged folder; everything in its `site-packages` is used unchanged.  shiv's own bootstrap,
which would extract it all at the first start, is omitted: `mcpc_runtime.artifact.packages` extracts only native
packages.

Pydantic is required if a handler receives its arguments as a model. Versions that the project does not name are those
installed with the compiler, with which models were generated and tested, on every platform.
"""

from __future__ import annotations

import csv
import hashlib
import io
import tempfile
import zipfile
from collections import ChainMap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import shiv  # type: ignore[import-untyped]
from shiv.bootstrap.environment import Environment  # type: ignore[import-untyped]
from shiv.builder import create_archive  # type: ignore[import-untyped]

from mcpc.diagnostics import diagnose, has_errors
from mcpc.model.ir import Layer, Package
from mcpc.model.ir.layer import RequestedPackage
from mcpc.packages.cached_packages import layer_key, load_layer, store_layer
from mcpc.packages.installed_files import UnfitPackageError
from mcpc.packages.locked_layer import packages_from_lock
from mcpc.packages.module_packages import needs_models
from mcpc.packages.native_packages import archive_namespaces, split_package
from mcpc.packages.package_contents import (
    names_with_imported_tests,
    needed_files,
    own_paths,
    package_contents,
    packages_of_requirements,
)
from mcpc.packages.pep508 import find_closure, installed_package
from mcpc.packages.staged_targets import stage_targets
from mcpc.packages.staging import stage_packages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Server
    from mcpc.packages.model import StagedPackages
    from mcpc.packages.native_packages import SplitPackage, Wheel, WheelVariant
    from mcpc.packages.staged_targets import StagedTargets
    from mcpc.packages.targets import PlatformTargets
    from mcpc.reading import Json, SourceTree

SITE = "site-packages/"
FIXED_TIME = "1980-01-01 00:00:00"
EXTRACTED = ".extracted"
"""The folder of native packages: a name that cannot be imported."""
HOW_TO_SPLIT = "install it from wheels that differ only in native modules, or name one version for all platforms"


def with_layer(
    server: Server, wanted: Sequence[RequestedPackage], groups: Sequence[PlatformTargets], tree: SourceTree
) -> tuple[Server, Diagnostics]:
    """Return the server with a layer of the required packages, and of pydantic if a handler uses models."""
    problems: Diagnostics = ()
    models = (ANY_PYDANTIC,) if needs_models(server) and all(item.name != PYDANTIC for item in wanted) else ()
    locked = packages_from_lock((*wanted, *models), groups, tree)
    installation = locked.installation
    if locked.record is not None:
        wanted = (*wanted, *models)
    elif not has_errors(locked.problems):
        if needs_models(server):
            wanted, problems = with_pydantic(wanted)
        installation = stage_for_targets(wanted, groups)
    staged = installation.folders
    problems += (*installation.problems, *locked.problems)
    if needs_models(server):
        problems += unsupported_versions(staged, wanted)
    if has_errors(problems):
        return replace(server, layer=Layer(complete=False)), problems
    try:
        layer = kept_or_new(staged, wanted, _own_names(server))
    except UnfitPackageError as problem:
        unknown = replace(server, layer=Layer(complete=False))
        return unknown, (*problems, diagnose("MCP407", None, str(problem), "", HOW_TO_SPLIT))
    layer = replace(
        layer,
        lock=locked.record,
        resolved=locked.resolved,
        targets=installation.targets,
        staged=str(staged[0].root) if staged else "",
    )
    return replace(server, layer=layer), problems


def kept_or_new(staged: Sequence[StagedPackages], wanted: Sequence[RequestedPackage], own: frozenset[str]) -> Layer:
    """Return the layer of staged packages, from an earlier build if they were the same; raise UnfitPackageError."""
    name = layer_key(staged, wanted, own)
    layer = load_layer(name, staged, wanted)
    if layer is None:
        parts = split_packages(staged, {item.name for item in wanted if item.extracted})
        layer = replace(
            build_layer(parts, staged, own),
            asked=packages_of_requirements(wanted, staged),
            contents=package_contents(parts, staged),
        )
        store_layer(name, layer, staged)
    return layer


def _own_names(server: Server) -> frozenset[str]:
    """Return the top-level names of the project's modules, which take precedence."""
    return frozenset(file.source.path.partition("/")[0].partition(".")[0] for file in server.files)


def stage_for_targets(wanted: Sequence[RequestedPackage], groups: Sequence[PlatformTargets]) -> StagedTargets:
    """Return the packages staged for each target."""
    return stage_targets(groups, wanted, lambda asked, goal: stage_packages(asked, goal.platform, goal.python))


def split_packages(staged: Iterable[StagedPackages], extracted: Iterable[str]) -> tuple[SplitPackage, ...]:
    """Return every package of any platform, split, ordered by name, without the files that no run needs."""
    extracted = frozenset(extracted)
    wheels: dict[str, dict[int, Wheel]] = {}
    staged = [*staged]
    installed = [shiv_contents(item.root) for item in staged]
    tested = names_with_imported_tests(ChainMap(*installed))
    for number, (item, contents) in enumerate(zip(staged, installed, strict=True)):
        for distribution in item.distributions:
            files = {path: contents[path] for path in distribution.files}
            if distribution.name not in extracted:
                files = needed_files(distribution, files, tested)
            wheels.setdefault(distribution.name, {})[number] = distribution, files
    moves: set[tuple[str, str, str]] = set()
    while True:
        parts = tuple(split_package([*wheels[name].values()], extracted=name in extracted) for name in sorted(wheels))
        # What was moved once is not moved again, so the loop ends.
        more = {*hidden_folders(parts)} - moves
        if not more:
            return parts
        for folder, source, target in sorted(more):
            move_files(wheels, folder, source, target)
        moves |= more


def hidden_folders(parts: Sequence[SplitPackage]) -> Iterator[tuple[str, str, str]]:
    """Yield each package folder that is extracted while another package has modules in it: the folder, and both names.

    An import that has found the folder looks for what is below it there only.
    """
    folders = {f"{name.replace('.', '/')}/": part for part in parts for name in part.modules}
    for other in parts:
        for path in other.files():
            steps = path.split("/")[:-1] if path.endswith(".py") else []
            for folder in ("/".join(steps[: depth + 1]) + "/" for depth in range(len(steps))):
                if folders.get(folder, other) is not other:
                    yield folder, other.distribution.name, folders[folder].distribution.name


def move_files(wheels: Mapping[str, MutableMapping[int, Wheel]], folder: str, source: str, target: str) -> None:
    """Let a package have the files of a folder that are another package's, on each platform that has both."""
    for number, (distribution, files) in wheels[source].items():
        if number in wheels[target]:
            other, others = wheels[target][number]
            moved = {path: data for path, data in files.items() if path.startswith(folder)}
            wheels[target][number] = other, {**moved, **others}
            wheels[source][number] = distribution, {path: data for path, data in files.items() if path not in moved}


def shiv_contents(root: Path) -> dict[str, bytes]:
    """Return the files of a staged folder that shiv packs, by path."""
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        target = Path(folder) / "layer.pyz"
        facts = Environment(built_at=FIXED_TIME, shiv_version=shiv.__version__, reproducible=True)
        # shiv wants an entry point; nothing calls this one.
        create_archive([root], target, "python3", "site:main", facts, compressed=False)
        with zipfile.ZipFile(target) as archive:
            names = [name for name in archive.namelist() if name.startswith(SITE)]
            return {name.removeprefix(SITE): archive.read(name) for name in names}


def build_layer(parts: Sequence[SplitPackage], staged: Sequence[StagedPackages], own: frozenset[str]) -> Layer:
    """Return the layer of these packages; names in `own` are found in the project."""
    files = {path: data for part in parts for path, data in part.plain.items()}
    files |= {f"{part.distribution.information}/{RECORD}": installed_files(part) for part in parts}
    parcels = [part for part in parts if part.variants]
    extracted = {path for part in parcels for variant in part.variants for path in variant.files}
    modules = {name: number for number, part in enumerate(parcels) for name in sorted(part.modules)}
    namespaces = archive_namespaces(files, extracted, modules)
    index: dict[str, Json] = {
        "modules": {name: number for name, number in modules.items() if name.partition(".")[0] not in own},
        "namespaces": [*sorted(name for name in namespaces if name.partition(".")[0] not in own)],
        "metadata": {part.distribution.name: part.distribution.information for part in parts},
        "parcels": [native_package_entry(part) for part in parcels],
    }
    for part in parcels:
        for variant in part.variants:
            files.update((f"{variant_folder(part, variant)}/{path}", data) for path, data in variant.files.items())
    paths = own_paths({part.distribution.name: [*part.files()] for part in parts})
    packages = tuple(
        Package(item.name, item.version, item.licence, item.is_spdx, part.tags, paths[item.name])
        for part in parts
        for item in (part.distribution,)
    )
    names = frozenset(name for item in staged for name in item.modules)
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in sorted(files.items())}
    return Layer(packages, names, index, {path: files[path] for path in digests}, digests)


def installed_files(part: SplitPackage) -> bytes:
    """Return the list of a package's files, as an installer leaves it; no digests, which the layer has."""
    rows = io.StringIO()
    names = sorted({*part.files(), f"{part.distribution.information}/{RECORD}"})
    csv.writer(rows, lineterminator="\n").writerows((name, "", "") for name in names)
    return rows.getvalue().encode("utf-8", "surrogateescape")


def native_package_entry(part: SplitPackage) -> Json:
    """Return the index entry of a native package."""
    return {"name": part.distribution.name, "variants": [variant_entry(part, variant) for variant in part.variants]}


def variant_folder(part: SplitPackage, variant: WheelVariant) -> str:
    """Return the folder of a variant of a native package in the layer."""
    return f"{EXTRACTED}/{part.distribution.name}-{variant.tags[0]}"


def variant_entry(part: SplitPackage, variant: WheelVariant) -> Json:
    """Return the index entry of a variant: its tags, its folder, and the digest of each file."""
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in sorted(variant.files.items())}
    return {"tags": [*variant.tags], "folder": variant_folder(part, variant), "files": {**digests}}


RECORD = "RECORD"
PYDANTIC, SUPPORTED_MAJOR = "pydantic", "2"
ANY_PYDANTIC = RequestedPackage(PYDANTIC, f"{PYDANTIC}=={SUPPORTED_MAJOR}.*")
"""What models need of a lock."""


def with_pydantic(wanted: Sequence[RequestedPackage]) -> tuple[tuple[RequestedPackage, ...], Diagnostics]:
    """Return the requirements, with pydantic and its requirements."""
    asked = {item.name for item in wanted}
    if PYDANTIC in asked:
        return tuple(wanted), ()
    # Where one requirement has hashes, installers want them for all.
    hashed = next((item for item in wanted if item.hashes), None)
    if hashed is not None:
        message = "a handler uses a model, but the requirements with hashes do not contain `pydantic`"
        return tuple(wanted), (diagnose("MCP403", hashed.span, message, "", "add `pydantic`, with its hashes"),)
    found = find_closure((PYDANTIC,), installed_package, {}).found
    pins = (RequestedPackage(name, f"{name}=={found[name].version}") for name in sorted(found) if name not in asked)
    return (*wanted, *pins), ()


def unsupported_versions(staged: Sequence[StagedPackages], wanted: Sequence[RequestedPackage]) -> Diagnostics:
    """Return the problem of a project with another version of pydantic than models are generated for."""
    versions = sorted(
        {
            distribution.version
            for stage in staged
            for distribution in stage.distributions
            if distribution.name == PYDANTIC
        }
    )
    wrong = [version for version in versions if version.partition(".")[0] != SUPPORTED_MAJOR]
    return tuple(_unsupported_version(version, wanted) for version in wrong)


def _unsupported_version(version: str, wanted: Sequence[RequestedPackage]) -> Diagnostic:
    span = next((item.span for item in wanted if item.name == PYDANTIC), None)
    message = f"a handler uses a model, which pydantic {version} does not support"
    return diagnose("MCP403", span, message, f"pydantic {SUPPORTED_MAJOR}")
