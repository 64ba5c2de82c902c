"""Runs of a project's program at build: with its packages, with what it needs to start, as a demonstration.

The commands of the frameworks (`fastmcp run FILE`) import such a file, and serve the server that they find in it; so
does a built server.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.fastmcp.build_environment import (
    MAX_RUNS,
    StartNeeds,
    baked_values,
    declared_needs,
    more_needs,
    needs_note,
)
from mcpc.frontends.fastmcp.failures import place_of
from mcpc.frontends.fastmcp.frameworks import package_of
from mcpc.frontends.fastmcp.late_imports import framework_names
from mcpc.frontends.fastmcp.packages import program_scripts, with_brought_packages, with_late_packages
from mcpc.frontends.fastmcp.program import ProgramDescription, ProgramFailure, describe_program, entry_row
from mcpc.frontends.fastmcp.run_time_lists import ROW as ELSEWHERE
from mcpc.frontends.fastmcp.run_time_lists import VARIABLES, may_depend_on_machine, with_machine_state
from mcpc.packages import stage_project_packages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.fastmcp.entry_points import EntryPoint
    from mcpc.frontends.fastmcp.packages import ProgramPackages
    from mcpc.reading import Source, SourceTree

if TYPE_CHECKING:
    Result = ProgramDescription | ProgramFailure | None


LACKING = ("ModuleNotFoundError", "ImportError")
"""The exceptions of a program that lacks a module."""


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """A run of a program: what it offers, or why not; None if its packages cannot be installed, which is a problem.

    `packages`: those that it needs; `versions`: of all that were installed, by name; `modules`: theirs.  `last`: how it
    failed when it had what it seems to need to start; `needed`: variables without which it does not start.
    """

    result: ProgramDescription | ProgramFailure | None
    packages: ProgramPackages
    problems: Diagnostics = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    modules: frozenset[str] = frozenset()
    last: ProgramFailure | None = None
    needed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ProgramStart:
    """What a run starts: an entry with its packages, the program's files, and its variables."""

    entry: EntryPoint
    packages: ProgramPackages
    sources: Sequence[Source]
    environment: Mapping[str, str]
    tree: SourceTree


def run_with_needs(start: ProgramStart) -> tuple[EntryPoint, ProgramRun]:
    """Run a program, again with what it needs to start; if that is not enough, return its first failure."""
    entry = start.entry
    served, first = run_to_serve(start)
    failure = first.result
    if not isinstance(failure, ProgramFailure):
        return served, replace(first, needed=needed_reads(first.result, start.environment))
    declared = declared_needs(start.tree)
    run, needs = first, more_needs(failure, declared) or (declared if declared.variables else None)
    for _ in range(MAX_RUNS):
        if needs is None:
            break
        # A value that the user gives counts more than one that the build makes up.
        variables = {**needs.variables, **start.environment}
        served_again, run = run_to_serve(replace(start, entry=needs.started(entry), environment=variables))
        if isinstance(run.result, ProgramDescription) and not (*baked_values(run.result, needs.variables, entry.file),):
            place = place_of(failure, entry, start.tree)
            problems = (*run.problems, *needs_note(needs, declared, entry, place))
            needed = required_variables(replace(start, entry=needs.started(entry)), needs, run.result)
            return replace(served_again, arguments=entry.arguments), replace(run, problems=problems, needed=needed)
        needs = more_needs(run.result, needs)
    return served, replace(first, last=run.result if isinstance(run.result, ProgramFailure) else None)


def needed_reads(result: Result, given: Mapping[str, str]) -> frozenset[str]:
    """Return the variables among those that a run was given which the program reads as if they were always there."""
    rows = result.settings if isinstance(result, ProgramDescription) else ()
    return frozenset(str(row["name"]) for row in rows if row.get("needed") is True and row.get("name") in given)


def required_variables(start: ProgramStart, needs: StartNeeds, result: Result) -> frozenset[str]:
    """Return the variables that a program needs to start: of alternatives (a token, or a name and a password) none."""
    certain = needed_reads(result, {**needs.variables, **start.environment})
    doubtful = [name for name in needs.variables if name not in certain]
    if len(needs.variables) == 1:
        return certain | {*doubtful}
    for name in doubtful[:MAX_RUNS]:
        others = {known: value for known, value in needs.variables.items() if known != name}
        # One run without each: a program that starts by a token, or else by a name and a password, needs none for sure.
        without = run_to_serve(replace(start, environment={**others, **start.environment}))[1]
        if isinstance(without.result, ProgramFailure):
            certain |= {name}
    return certain


def run_to_serve(start: ProgramStart) -> tuple[EntryPoint, ProgramRun]:
    """Run a program; return its entry, which is another one for a demonstration, and what it offers."""
    run = run_with_packages(start)
    imported = imported_entry(start.entry, run.result)
    if imported is None:
        return start.entry, run
    second = run_once(replace(start, entry=imported, packages=run.packages))
    if not is_same_server(run.result, second.result):
        return start.entry, run
    return imported, replace(second, problems=(*second.problems, unserved_warning(start.entry, imported)))


def run_with_packages(start: ProgramStart) -> ProgramRun:
    """Install a program's packages, and run it.

    A package of the project may import what its framework brings without requiring it: a program that lacks a module
    is run once more with all of that.
    """
    first = run_once(start)
    is_described = not isinstance(first.result, ProgramFailure) or first.result.type not in LACKING
    if is_described or start.packages.has_framework:
        return first
    second = run_once(replace(start, packages=with_brought_packages(start.packages)))
    return second if isinstance(second.result, ProgramDescription) else first


def run_once(start: ProgramStart) -> ProgramRun:
    """Install a program's packages, and run it."""
    packages, tree = start.packages, start.tree
    staged, problems = stage_project_packages(packages.requirements, tree)
    if staged is None:
        return ProgramRun(None, packages, problems)
    if not packages.has_framework:
        whole = with_late_packages(packages, program_scripts(tree, start.entry.file), staged)
        # Ends: each time a package is added, of a table of some dozens.
        if whole is not packages:
            return run_once(replace(start, packages=whole))
    versions = {package.name: package.version for package in staged.distributions}
    if packages.has_framework:
        version = versions.get(package_of(packages.framework), packages.framework.version)
        packages = replace(packages, framework=replace(packages.framework, version=version))
    describe = partial(
        describe_program, sources=start.sources, packages=str(staged.root), network=tree.options.build_network
    )
    row = {**entry_row(start.entry, packages), "names": framework_names(tree, start.entry)}
    result = describe(row, environment=start.environment)
    if isinstance(result, ProgramDescription) and may_depend_on_machine(result, start.sources):
        elsewhere = describe({**row, **ELSEWHERE}, environment={**VARIABLES, **start.environment})
        result = with_machine_state(result, elsewhere)
    if isinstance(result, ProgramFailure) and result.missing.partition(".")[0] in staged.modules:
        result = replace(result, kind="part of a package")
    return ProgramRun(result, packages, problems, versions, staged.modules)


def imported_entry(entry: EntryPoint, result: Result) -> EntryPoint | None:
    """Return the entry that only imports a demonstration; None for other programs."""
    if result is None or not result.demonstrates or entry.kind != "file":
        return None
    return replace(entry, kind="object", target=f"{entry.target}:{result.demonstrates}")


def is_same_server(run: Result, imported: Result) -> bool:
    """Tell whether a demonstration that is only imported has a server, with the same lists if it had any before."""
    if not isinstance(imported, ProgramDescription):
        return False
    return not isinstance(run, ProgramDescription) or run.lists == imported.lists


def unserved_warning(entry: EntryPoint, imported: EntryPoint) -> Diagnostic:
    """Return the warning that a file is imported, and not run."""
    name = imported.target.rpartition(":")[2]
    message = f"`{entry.target}` asks its server `{name}` itself and does not serve it: it is imported and not run"
    hint = f"`--entry {imported.target}` says so; a file that calls `{name}.run()` is run"
    return diagnose("MCP298", Span(entry.file), message, "", hint)
