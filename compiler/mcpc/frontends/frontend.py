"""A front end: the names of a format, how it is recognised, and how it is read into a `Definition`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.model.ir.project import NO_TRAITS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcpc.diagnostics import Diagnostics
    from mcpc.model.definitions import Definition
    from mcpc.model.ir import Server, Traits
    from mcpc.options import Options
    from mcpc.reading import SourceTree


def no_build_inputs(tree: SourceTree) -> tuple[str, ...]:
    """Return that the build of a project depends on its files only."""
    return ()


def no_summary(server: Server, problems: Diagnostics) -> tuple[str, ...]:
    """Return that there is nothing to say of a server besides its numbers."""
    return ()


def no_owned_files(tree: SourceTree) -> frozenset[str]:
    """Return that no file belongs to one format alone."""
    return frozenset()


@dataclass(frozen=True, slots=True)
class BuildOutcome:
    """The result of a build while a project is served: its output, exit status, and number of tools."""

    succeeded: bool
    output: str
    status: int
    tools: int
    folder: Path


@dataclass(frozen=True, slots=True)
class ReloadTool:
    """A tool that rebuilds its project, which a built server cannot do: its name and the text it returns."""

    name: str
    answer: Callable[[BuildOutcome], str]


@dataclass(frozen=True, slots=True)
class Frontend:
    """One format.  `looks_for` describes for users which files `recognises` looks for.

    `build_inputs`: what the build of such a project depends on besides its files.  `dialect`: the one that is exact for
    its clients, and `dialect_traits` what it changes.  `passes`: checks of servers for this format alone. `reload`: the
    tool of such a project that rebuilds it. `owned`: the files that no other format reads, whatever their names are.
    `summary`: what `mcpc check` says of such a server and of its problems, a line each.
    """

    name: str
    aliases: tuple[str, ...]
    recognises: Callable[[SourceTree], bool]
    parse: Callable[[SourceTree, Options], tuple[Definition | None, Diagnostics]]
    looks_for: str
    build_inputs: Callable[[SourceTree], tuple[str, ...]] = no_build_inputs
    dialect: str = ""
    dialect_traits: Traits = NO_TRAITS
    passes: tuple[Callable[[Server], Diagnostics], ...] = ()
    reload: ReloadTool | None = None
    summary: Callable[[Server, Diagnostics], tuple[str, ...]] = no_summary
    owned: Callable[[SourceTree], frozenset[str]] = no_owned_files
