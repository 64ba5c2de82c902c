"""What a project needs from elsewhere: which packages, where they come from, and how they go into an artifact.

    files ─requirements─▶ Requirement ─stage─▶ Staged, one a platform ─carry─▶ Layer, in the server

A project that asks for nothing pays nothing: what reads and installs packages is imported when there are any.
"""

from __future__ import annotations

from dataclasses import replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from mcpc.dependencies.model import Distribution, Requirement, Staged
from mcpc.dependencies.needs import needs_models, scripts
from mcpc.dependencies.platforms import target
from mcpc.diagnostics import Diagnostic, has_errors
from mcpc.ir import Layer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpc.diagnostics import Diagnostics
    from mcpc.ir import Server
    from mcpc.options import Options
    from mcpc.sources import Source, SourceTree

__all__ = ["Distribution", "Requirement", "Staged", "carry", "provider", "requirements", "stage"]

FILES = ("requirements.txt", "pyproject.toml")
SCRIPT = b"# /// script"
"""How inline metadata begins (https://packaging.python.org/en/latest/specifications/inline-script-metadata/)."""


def requirements(tree: SourceTree, scripts: Sequence[Source] = ()) -> tuple[tuple[Requirement, ...], Diagnostics]:
    """Return what the project asks for, in two files of its own and in its handlers' files (`scripts`)."""
    if not any(map(tree.get, FILES)) and all(SCRIPT not in source.data for source in scripts):
        return (), ()
    found: tuple[tuple[Requirement, ...], Diagnostics] = resolve_name("mcpc.dependencies.asked:asked")(tree, scripts)
    return found


def stage(wanted: Sequence[Requirement], *, platform: str = "", python: str = "") -> tuple[Staged | None, Diagnostics]:
    """Return a folder with what is `wanted` and all that it needs; None, with the reasons, if it cannot be installed.

    `platform`: a wheel's tag of it (this machine by default); `python`: `3.12` (this one by default).
    """
    found: tuple[Staged | None, Diagnostics] = resolve_name("mcpc.dependencies.staging:stage")(wanted, platform, python)
    return found


def carry(server: Server, tree: SourceTree, options: Options) -> tuple[Server, Diagnostics]:
    """Return the server with the packages that its Python handlers need, and with those that serving needs."""
    server, problems = carry_for_handlers(server, tree, options)
    if not options.serving:
        return server, problems
    found: tuple[Server, Diagnostics] = resolve_name("mcpc.dependencies.serving:served")(server, options)
    return found[0], (*problems, *found[1])


def carry_for_handlers(server: Server, tree: SourceTree, options: Options) -> tuple[Server, Diagnostics]:
    """Return the server with the packages that its Python handlers need."""
    wanted, problems = requirements(tree, scripts(server))
    targets = map(target, options.platforms)
    problems += tuple(found for found in targets if isinstance(found, Diagnostic))
    if has_errors(problems):
        return replace(server, layer=Layer(complete=False)), problems
    if not (wanted or needs_models(server)) or not scripts(server):
        return server, problems
    carried: tuple[Server, Diagnostics] = resolve_name("mcpc.dependencies.layer:carried")(server, wanted, options)
    layer = carried[0].layer
    found = {package.name: package.version for package in layer.packages} if layer is not None else {}
    return carried[0], (*with_versions(problems, found), *carried[1])


def with_versions(problems: Diagnostics, found: Mapping[str, str]) -> Diagnostics:
    """Return the problems, those of a requirement without a version with the one that was found for it."""
    hint = resolve_name("mcpc.dependencies.asked:unpinned_hint") if problems else None
    named = {hint(name): hint(name, version) for name, version in found.items()} if hint is not None else {}
    return tuple(replace(problem, hint=named.get(problem.hint, problem.hint)) for problem in problems)


def provider(module: str) -> str:
    """Return the package that is installed here and has `module`, as a requirement; nothing if none has it."""
    found: str = resolve_name("mcpc.dependencies.staging:provider")(module)
    return found
