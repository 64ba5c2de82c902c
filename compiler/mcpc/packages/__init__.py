"""Packages that a project needs: which they are, where they come from, and how they are added to an artifact.

    files ─requirements─▶ RequestedPackage ─stage_packages─▶ StagedPackages, one a platform ─include_packages─▶ Layer

A project without requirements costs nothing: what reads and installs packages is imported only when needed.
"""

from __future__ import annotations

from dataclasses import replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from mcpc.diagnostics import has_errors
from mcpc.diagnostics.model import nearest
from mcpc.model.ir import Layer
from mcpc.model.ir.layer import Origins, RequestedPackage
from mcpc.packages.downloads import earliest
from mcpc.packages.model import Distribution, StagedPackages
from mcpc.packages.module_packages import COMMON, NEAR, OWN_MODULES, PACKAGES, handler_files, needs_models

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from packaging.specifiers import SpecifierSet

    from mcpc.diagnostics import Diagnostics
    from mcpc.model.ir import Server
    from mcpc.options import Options
    from mcpc.packages.targets import PlatformTargets
    from mcpc.reading import Source, SourceTree

__all__ = [
    "NEAR",
    "OWN_MODULES",
    "Distribution",
    "RequestedPackage",
    "StagedPackages",
    "declare_packages",
    "earliest",
    "include_packages",
    "locked_sources",
    "locked_versions",
    "newest_date",
    "newest_version",
    "provider",
    "read_requirements",
    "stage_packages",
    "stage_project_packages",
    "with_versions",
]

REQUIREMENT_FILES = ("requirements.txt", "pyproject.toml", "setup.cfg", "setup.py", "requirements.in")
REQUIREMENT_NAMES = ("requirements/", "requirements-")
"""Beginnings of other files that may list requirements."""
SCRIPT_BLOCK = b"# /// script"
"""How inline metadata begins (https://packaging.python.org/en/latest/specifications/inline-script-metadata/)."""


def read_requirements(
    tree: SourceTree, scripts: Sequence[Source] = ()
) -> tuple[tuple[RequestedPackage, ...], Diagnostics]:
    """Return the packages that a project requires, in its own files and in its handlers' files (`scripts`)."""
    has_files = any(map(tree.get, REQUIREMENT_FILES)) or any(path.startswith(REQUIREMENT_NAMES) for path in tree.files)
    has_choices = bool(tree.options.extras or tree.options.groups)
    if not has_files and not has_choices and all(SCRIPT_BLOCK not in source.data for source in scripts):
        return (), ()
    found: tuple[tuple[RequestedPackage, ...], Diagnostics] = resolve_name(
        "mcpc.packages.declared:declared_requirements"
    )(tree, scripts)
    return found


def locked_versions(tree: SourceTree) -> tuple[Mapping[str, str], Diagnostics]:
    """Return the version of each package of the project's lock, by normalised name."""
    found: tuple[Mapping[str, str], Diagnostics] = resolve_name("mcpc.packages.declared:locked_versions")(tree)
    return found


def locked_sources(tree: SourceTree) -> frozenset[str]:
    """Return the packages of which the project's lock has only sources, by normalised name."""
    found: frozenset[str] = resolve_name("mcpc.packages.declared:locked_sources")(tree)
    return found


def newest_date(tree: SourceTree) -> str:
    """Return the date up to which versions of a project's packages count, an empty text if there is none."""
    found: str = resolve_name("mcpc.packages.declarations:newest_date")(tree)
    return found


def newest_version(name: str, specifier: SpecifierSet, date: str) -> str:
    """Return the newest version of a package that is allowed, up to a date; empty if the registry has none."""
    found: str = resolve_name("mcpc.packages.choosing:newest_version")(name, specifier, date, Origins())
    return found


def stage_project_packages(
    wanted: Sequence[RequestedPackage], tree: SourceTree
) -> tuple[StagedPackages | None, Diagnostics]:
    """Return a folder with packages for this machine, from the project's lock if that fits; None if that fails."""
    found: tuple[StagedPackages | None, Diagnostics] = resolve_name(
        "mcpc.packages.locked_layer:stage_project_packages"
    )(tuple(with_origins(item, tree.options) for item in wanted), tree)
    return found


def stage_packages(
    wanted: Sequence[RequestedPackage], *, platform: str = "", python: str = ""
) -> tuple[StagedPackages | None, Diagnostics]:
    """Return a folder with the `wanted` packages and all their requirements; None, with reasons, if that fails.

    `platform`: a wheel's tag of it (default: this machine); `python`: `3.12` (default: this one).
    """
    found: tuple[StagedPackages | None, Diagnostics] = resolve_name("mcpc.packages.staging:stage_packages")(
        wanted, platform, python
    )
    return found


def include_packages(server: Server, tree: SourceTree, options: Options) -> tuple[Server, Diagnostics]:
    """Return the server with the packages of its Python handlers, and those for its transports."""
    known = resolve_name("mcpc.packages.targets:allowed_pythons")(tree)
    groups, problems = resolve_name("mcpc.packages.targets:build_targets")(options, known)
    if has_errors(problems):
        return replace(server, layer=Layer(complete=False)), problems
    server, problems = include_handler_packages(server, tree, groups)
    if options.serving:
        server, more = resolve_name("mcpc.packages.serving:with_serving_packages")(server, options, groups)
        problems += more
    layers = [layer for layer in (server.layer, server.serving) if layer is not None]
    return replace(server, runs_on=resolve_name("mcpc.packages.targets:runs_on")(layers, known)), problems


def declare_packages(server: Server, tree: SourceTree, _options: Options) -> tuple[Server, Diagnostics]:
    """Return the problems of a project's requirements, and the server without packages: nothing is installed."""
    wanted, problems = read_requirements(tree, handler_files(server))
    if wanted or server.requirements or needs_models(server):
        return replace(server, layer=Layer(complete=False)), problems
    return server, problems


def include_handler_packages(
    server: Server, tree: SourceTree, groups: Sequence[PlatformTargets]
) -> tuple[Server, Diagnostics]:
    """Return the server with the packages that its Python handlers need."""
    wanted, problems = read_requirements(tree, handler_files(server))
    if server.requirements is not None:
        wanted, problems = server.requirements, ()
    if has_errors(problems):
        return replace(server, layer=Layer(complete=False)), problems
    # Nothing imports packages but Python handlers, and the programs of some formats.
    if not (wanted or needs_models(server)) or not (handler_files(server) or server.requirements):
        return server, problems
    wanted = tuple(with_origins(item, tree.options) for item in wanted)
    carried: tuple[Server, Diagnostics] = resolve_name("mcpc.packages.layer:with_layer")(server, wanted, groups, tree)
    layer = carried[0].layer
    found = {package.name: package.version for package in layer.packages} if layer is not None else {}
    return carried[0], (*with_versions(problems, found), *carried[1])


def with_origins(item: RequestedPackage, options: Options) -> RequestedPackage:
    """Return a requirement with what the build options say about where packages come from."""
    origins = replace(item.origins, find_links=options.find_links, offline=options.offline)
    return replace(item, origins=origins)


def with_versions(problems: Diagnostics, found: Mapping[str, str]) -> Diagnostics:
    """Return the problems, with the found version in those of a requirement without one."""
    hint = resolve_name("mcpc.packages.declared:unpinned_hint") if problems else None
    # By its hint a problem is known to be that of a requirement without a version, and of which package.
    named = {hint(name): hint(name, version) for name, version in found.items()} if hint is not None else {}
    return tuple(replace(problem, hint=named.get(problem.hint, problem.hint)) for problem in problems)


def provider(module: str) -> str:
    """Return the installed package that contains `module`, as a requirement, or an empty string."""
    found: str = resolve_name("mcpc.packages.staging:provider")(module)
    return found


FRAMEWORKS = ("fastmcp", "mcp")
"""The libraries of servers whose imports were only renamed."""
USE_MCPC = "`mcpc` has what servers use of it (`Context`, `Field`, `ToolError`): import that from there; or "


def missing_module_hint(name: str, known: Sequence[str]) -> str:
    """Return what to do about a missing module: its correct spelling, or the package that contains it."""
    package = provider(name) or PACKAGES.get(name) or (name.replace("_", "-") if name in COMMON else "")
    near = nearest(name, (*known, *OWN_MODULES, *COMMON), NEAR)
    if near and not package and name not in FRAMEWORKS:
        return f"did you mean `{near}`?" + (" Its package belongs in `requirements.txt`" if near in COMMON else "")
    hint = f"add `{package}` to `requirements.txt` to bundle it with the server"
    if not package:
        hint = (
            f"add its package (`{name}`, if that is its name) to `requirements.txt`, or put the module `{name}.py` "
            "beside the handlers"
        )
    return USE_MCPC + hint if name in FRAMEWORKS else hint
