"""Packages that the server itself needs for HTTP and other options, at the versions that mcpc names.

For `http` the versions are those installed with the compiler, for which its metadata has a range; for other options
they are those of its extras, installed with the compiler or by uv.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata
from typing import TYPE_CHECKING

from packaging.requirements import Requirement as Pin

from mcpc import DISTRIBUTION
from mcpc.diagnostics import diagnose, has_errors
from mcpc.model.ir.layer import RequestedPackage
from mcpc.packages import with_origins
from mcpc.packages.installed_files import UnfitPackageError
from mcpc.packages.layer import HOW_TO_SPLIT, build_layer, split_packages, stage_for_targets
from mcpc.packages.pep508 import normalised_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.diagnostics import Diagnostics
    from mcpc.model.ir import Server
    from mcpc.options import Options
    from mcpc.packages.model import StagedPackages
    from mcpc.packages.targets import PlatformTargets

HTTP = ("h11", "uvicorn")
UNUSED = frozenset({"click"})
"""Modules that only a package's command line imports: its server runs without it (`http.embedded.uvicorn_import`)."""
REINSTALL = "reinstall mcpc from its wheel or its sources, so that its metadata lists the requirements"


def with_serving_packages(
    server: Server, options: Options, groups: Sequence[PlatformTargets]
) -> tuple[Server, Diagnostics]:
    """Return the server with the packages that the options require."""
    wanted = tuple(
        with_origins(RequestedPackage(normalised_name(requirement.name), pinned_requirement(requirement)), options)
        for requirement in option_requirements(options.serving)
    )
    absent = [name for name in options.serving if not any(True for _ in option_requirements((name,)))]
    if absent:
        return server, (
            diagnose("MCP405", None, f"the metadata of mcpc lacks the requirements of `--{absent[0]}`", "", REINSTALL),
        )
    installation = stage_for_targets(wanted, groups)
    problems = installation.problems
    if has_errors(problems):
        return server, problems
    staged = [without_unused(packages) for packages in installation.folders]
    try:
        parts = split_packages(staged, ())
    except UnfitPackageError as problem:
        return server, (*problems, diagnose("MCP407", None, str(problem), "", HOW_TO_SPLIT))
    layer = replace(build_layer(parts, staged, frozenset()), targets=installation.targets)
    return replace(server, serving=layer), problems


def option_requirements(chosen: Iterable[str]) -> Iterator[Pin]:
    """Yield the requirements in mcpc's metadata for each option."""
    named = [Pin(text) for text in metadata.requires(DISTRIBUTION) or ()]
    for choice in chosen:
        for item in named:
            if normalised_name(item.name) in HTTP if choice == "http" else _is_of_extra(item, choice):
                yield item


def pinned_requirement(requirement: Pin) -> str:
    """Return a requirement with one version: its own, or the one installed with the compiler."""
    is_exact = any(specifier.operator == "==" for specifier in requirement.specifier)
    version = requirement.specifier if is_exact else f"=={metadata.version(requirement.name)}"
    return f"{requirement.name}{version}"


def _is_of_extra(requirement: Pin, extra: str) -> bool:
    """Tell whether a requirement belongs only to an extra."""
    marker = requirement.marker
    return marker is not None and marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""})


def without_unused(staged: StagedPackages) -> StagedPackages:
    """Return staged packages without those that are not imported."""
    return replace(
        staged,
        distributions=tuple(distribution for distribution in staged.distributions if distribution.name not in UNUSED),
    )
