"""The complete compiler as a sequence of stages: each is a function from one frozen value to the next.

    path ─read─▶ SourceTree ─parse─▶ Definition ─lower─▶ Server ─bundle─▶ Server ─check─▶ CheckedServer
         ─emit─▶ Modules ─pack─▶ Archive

Each stage returns its diagnostics; a stage that cannot continue ends the pipeline with all diagnostics so far.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose, has_errors, in_order
from mcpc.emit import emit
from mcpc.emit.interpreters import HERE
from mcpc.frontends import frontends_of, parse_project
from mcpc.frontends.installed_metadata import with_version_files
from mcpc.frontends.project import unknown_settings
from mcpc.frontends.project_metadata import read_project_metadata
from mcpc.lower import lower
from mcpc.pack.packing import pack_server
from mcpc.pack.runtime import with_options
from mcpc.packages import include_packages
from mcpc.passes import PASSES, check_server
from mcpc.passes.files_beside_code import missing_files
from mcpc.passes.unused import packed_files
from mcpc.reading import read_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from mcpc.diagnostics import Diagnostics
    from mcpc.model.ir import CheckedServer, Server
    from mcpc.options import Options
    from mcpc.pack.packing import BuiltArchive
    from mcpc.reading import Source, SourceTree

    Progress = Callable[[str], None]
    Bundle = Callable[[Server, SourceTree, Options], tuple[Server, Diagnostics]]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of checking a project: its server as far as it was understood, and all diagnostics, sorted."""

    sources: Mapping[str, Source]
    diagnostics: Diagnostics
    server: Server | None = None
    checked: CheckedServer | None = None


def no_progress(stage: str) -> None:
    """Report no progress."""


def read_project(root: Path) -> tuple[SourceTree, Diagnostics]:
    """Read a project once; later stages do not access the file system."""
    tree, problems = read_tree(root)
    tree, unknown = with_version_files(tree)
    return tree, (*problems, *unknown)


def analyse(
    tree: SourceTree,
    known: Diagnostics,
    options: Options,
    progress: Progress = no_progress,
    bundle: Bundle = include_packages,
) -> CheckResult:
    """Parse, lower and check a project that was read; `bundle`: how its packages are found."""
    tree = replace(tree, options=options)
    progress("parsing")
    known += tuple(unknown_settings(tree))
    definition, problems = parse_project(tree, options)
    known += problems
    if definition is None:
        return CheckResult(tree.files, in_order(known))
    server, problems = lower(definition, options)
    known += problems
    if server is None:
        return CheckResult(tree.files, in_order(known))
    project, problems = read_project_metadata(tree)
    known += problems
    progress("bundling packages")
    server = with_options(replace(server, project=project), options)
    server, problems = bundle(server, tree, options)
    known += problems
    progress("checking")
    own = (each for frontend in frontends_of(server.format) for each in frontend.passes)
    checked, problems = check_server(server, passes=(*PASSES, *own))
    known += (*problems, *packed_files(server, tree), *missing_files(server, tree))
    if server.offers_nothing and not (options.allow_empty or options.live or has_errors(known)):
        hint = "`mcpc inspect` lists what was found; if it is meant, build with `--allow-empty`"
        message = f"the server `{server.name}` offers nothing: it has no tools, prompts or resources"
        known = (*known, diagnose("MCP303", server.node.span, message, "", hint))
    refused = has_errors(known, strict=options.strict)
    return CheckResult(tree.files, in_order(known), server, None if refused else checked)


def compile_server(
    checked: CheckedServer, options: Options, progress: Progress = no_progress, minors: Sequence[str] = ()
) -> BuiltArchive:
    """Build the artifact of a checked server; `minors`: compile for these Pythons if the options name none."""
    progress("generating")
    minors = options.minors or minors or (HERE,)
    modules = emit(checked, minors)
    progress("packing")
    return pack_server(checked, modules, options, minors)
