"""The whole compiler, in the order it happens: every stage is a function from one frozen value to the next.

    path ─read─▶ SourceTree ─parse─▶ Definition ─lower─▶ Server ─carry─▶ Server ─check─▶ CheckedServer
         ─emit─▶ Modules ─pack─▶ Archive

Problems are collected on the way; a stage that cannot go on ends it, with everything found so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.dependencies import carry
from mcpc.diagnostics import has_errors, in_order
from mcpc.emit import emit
from mcpc.frontends import understand
from mcpc.lower import lower
from mcpc.pack import pack
from mcpc.passes import check
from mcpc.sources import read_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mcpc.diagnostics import Diagnostics
    from mcpc.ir import CheckedServer, Server
    from mcpc.options import Options
    from mcpc.pack import Archive
    from mcpc.sources import Source, SourceTree

    Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of a project: its server as far as it could be understood, and every problem, in order."""

    sources: Mapping[str, Source]
    diagnostics: Diagnostics
    server: Server | None = None
    checked: CheckedServer | None = None


def silent(stage: str) -> None:
    """Report no progress."""


def read(root: Path) -> tuple[SourceTree, Diagnostics]:
    """Read a project once; nothing after this touches the file system."""
    return read_tree(root)


def analyse(tree: SourceTree, found: Diagnostics, options: Options, progress: Progress = silent) -> Checked:
    """Understand and check a project that was read."""
    progress("parsing")
    definition, problems = understand(tree, options)
    found += problems
    if definition is None:
        return Checked(tree.files, in_order(found))
    server, problems = lower(definition, options)
    found += problems
    if server is None:
        return Checked(tree.files, in_order(found))
    progress("carrying packages")
    server, problems = carry(server, tree, options)
    found += problems
    progress("checking")
    checked, problems = check(server)
    found += problems
    refused = has_errors(found, strict=options.strict)
    return Checked(tree.files, in_order(found), server, None if refused else checked)


def compile_server(checked: CheckedServer, options: Options, progress: Progress = silent) -> Archive:
    """Make the artifact of a server in which no problem was found."""
    progress("generating")
    modules = emit(checked)
    progress("packing")
    return pack(checked, modules, options.python)
