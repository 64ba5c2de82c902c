"""Projects written for FastMCP or the official Python SDK, unchanged.

    files ─find_entry─▶ EntryPoint ─describe_program─▶ ProgramDescription ─▶ Definition
          ─program_packages─▶ its packages, and the framework that it was written for

The program is run once, confined, under stand-ins of its framework (`mcpc_runtime.systems.fastmcp`), up to the moment
at which it serves: what its server offers then is compiled.  A built server runs the same program with its first call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose, has_errors
from mcpc.frontends.causes import line_span
from mcpc.frontends.fastmcp.build_environment import baked_values
from mcpc.frontends.fastmcp.definitions import ProgramDefinitions, program_handler, server_definition
from mcpc.frontends.fastmcp.entry_points import FASTMCP_JSON, find_entry, read_project_settings
from mcpc.frontends.fastmcp.failures import (
    FAILURE_CODES,
    explains,
    failure_diagnostic,
    is_of_stand_in,
    lacking_diagnostic,
    other_faults,
    unsupported_modules,
)
from mcpc.frontends.fastmcp.frameworks import (
    SETTINGS,
    is_recorded,
    package_of,
    summary,
    unknown_version,
    version_problems,
)
from mcpc.frontends.fastmcp.imports import is_beside, program_files, uses_framework
from mcpc.frontends.fastmcp.late_imports import http_uses, missing_late_imports, reached_files
from mcpc.frontends.fastmcp.packages import program_packages, program_scripts, project_information
from mcpc.frontends.fastmcp.program import ProgramDescription, ProgramFailure, entry_row
from mcpc.frontends.fastmcp.read_settings import settings_note, settings_read
from mcpc.frontends.fastmcp.run_time_lists import NOTE as MACHINE_NOTE
from mcpc.frontends.fastmcp.run_time_lists import list_notes, run_time_handler
from mcpc.frontends.fastmcp.runs import ProgramStart, run_with_needs
from mcpc.frontends.static_faults import misspelt_uses
from mcpc.model.definitions import Definition
from mcpc.model.ir import Traits
from mcpc.model.ir.layer import RequestedPackage
from mcpc.options import AUTO, ORIGINAL
from mcpc.packages import with_versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.fastmcp.entry_points import EntryPoint, ProjectSettings
    from mcpc.frontends.fastmcp.frameworks import Framework
    from mcpc.frontends.fastmcp.packages import ProgramPackages
    from mcpc.frontends.fastmcp.program import ProgramNote
    from mcpc.frontends.fastmcp.runs import ProgramRun
    from mcpc.options import Options
    from mcpc.reading import Source, SourceTree

__all__ = ["DIALECT", "FORMAT", "LOOKS_FOR", "parse", "recognises", "summary"]

FORMAT = DIALECT = "fastmcp"
LOOKS_FOR = "Python files that import `fastmcp`, `mcp.server.fastmcp`, `mcp.server.mcpserver` or `mcp.server`"
RUNTIME = "mcpc_runtime.systems.fastmcp"
COMMON_MODULES = ("engine", "generation", "standins.exports", "standins.sdk_parts")
"""The modules that programs of any generation may import."""
CHECKER = "jsonschema"
"""The package that checks arguments of tools of low-level servers."""
WEB, FORMS = "starlette", "python-multipart"
"""The packages of web applications and of their forms, which every framework brings."""
ROUTES = "fastmcp_routes"
"""The key of the index with the paths of the program's own routes."""
NOTE_CODES = {
    "duplicate": ("MCP235", "rename one of them, or remove it"),
    MACHINE_NOTE: (
        "MCP304",
        "it is compiled as it is here: say it in a tool or in a resource",
    ),
}
"""The code of a note of a kind, and what to do; others are MCP287."""
OWN_PATHS = frozenset({"/healthz", "/mcp", "/metrics", "/readyz"})
"""Paths that every built server answers itself."""
RAISED = ("module", "part of a package", "raised")
"""The kinds of failures that are exceptions that its files raise."""
NO_IMPORT = "the definitions of such a project are known only when its program is run"


def recognises(tree: SourceTree) -> bool:
    """Tell whether a program of the project uses a framework, or all of its Python files are beside one that does."""
    return bool(program_files(tree)) or (
        any(map(uses_framework, tree.files.values()))
        and all(is_beside(path) for path in tree.files if path.endswith(".py"))
    )


def parse(tree: SourceTree, options: Options) -> tuple[Definition | None, Diagnostics]:
    """Return what the project's program offers."""
    settings = read_project_settings(tree)
    if not options.imports:
        return None, (*settings.problems, diagnose("MCP285", None, NO_IMPORT, "", "build it without `--no-import`"))
    entry, problems = find_entry(tree, settings, options.entry)
    if entry is None or settings.problems:
        misspelt = (*(problem for source in program_files(tree) for problem in misspelt_uses(source)),)
        return None, (*settings.problems, *(misspelt or problems))
    return parse_entry(ProgramProject(tree, options, settings, entry))


@dataclass(frozen=True, slots=True)
class ProgramProject:
    """A project with a program, its settings, and what starts the program."""

    tree: SourceTree
    options: Options
    settings: ProjectSettings
    entry: EntryPoint


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a program offers, or why it cannot be compiled.  `fault`: what the adapter lacks, or does not know."""

    definition: Definition | None
    problems: Diagnostics
    fault: Diagnostic | None = None

    @property
    def has_run(self) -> bool:
        """Whether the program has run, also if it failed: its packages could be installed."""
        return self.definition is not None or any(problem.code in FAILURE_CODES for problem in self.problems)


def parse_entry(project: ProgramProject) -> tuple[Definition | None, Diagnostics]:
    """Return what an entry offers: with the adapter, or the original framework if that is asked for or needed."""
    way = project.options.framework or project.settings.framework or AUTO
    compiled = compile_entry(project, way)
    if way == AUTO and compiled.fault is not None:
        original = compile_entry(project, ORIGINAL, compiled.fault)
        # Where the framework's packages cannot be installed, what the adapter lacks is the better report.
        compiled = original if original.has_run or not has_errors(compiled.problems) else compiled
    return compiled.definition, compiled.problems


def compile_entry(project: ProgramProject, way: str, fault: Diagnostic | None = None) -> Compiled:
    """Return what an entry offers in one way; `fault`: why it is the original framework, if that was not asked for."""
    tree, settings, entry = project.tree, project.settings, project.entry
    scripts = program_scripts(tree, entry.file)
    packages, wrong = program_packages(tree, settings, scripts, entry.file, with_framework=way == ORIGINAL)
    faults = (*unsupported_modules(tree, entry, packages),)
    if has_errors(wrong):
        return Compiled(None, (*wrong, *faults))
    # Who asks for the adapter gets it for an unknown version, too, with a warning.
    if way == AUTO and not (faults or is_recorded(packages.framework)):
        faults = (unknown_version(packages.framework),)
    if faults:
        return Compiled(None, (*wrong, *faults), faults[0])
    sources = (*tree.files.values(), *project_information(tree, settings, entry.paths, packages.replaced))
    environment = {**settings.environment, **dict(project.options.build_environment)}
    served, run = run_with_needs(ProgramStart(entry, packages, sources, environment, tree))
    wrong = (*with_versions(wrong, run.versions), *run.problems, *used_network(served, tree))
    if run.result is None:
        return Compiled(None, wrong)
    if isinstance(run.result, ProgramFailure):
        return failed(run, run.result, served, tree, wrong)
    compiled = described(replace(project, entry=served), run, run.result, sources, fault)
    return replace(compiled, problems=(*wrong, *compiled.problems))


def described(
    project: ProgramProject,
    run: ProgramRun,
    result: ProgramDescription,
    sources: tuple[Source, ...],
    fault: Diagnostic | None,
) -> Compiled:
    """Return what a program offers, from its description."""
    tree, settings, entry = project.tree, project.settings, project.entry
    if result.lacking:
        fault = lacking_diagnostic(result.lacking, entry, tree)
        return Compiled(None, (fault,), fault)
    baked = (*baked_values(result, dict(project.options.build_environment), entry.file),)
    if baked:
        return Compiled(None, baked)
    is_original, framework = run.packages.has_framework, run.packages.framework
    definition, unusable = make_definition(tree, settings, entry, run.packages, result)
    row = entry_row(entry, run.packages)
    read = tuple(settings_read(result.settings, run.needed, result.imported, entry.file, tree))
    definition = replace(definition, beside=sources, runtime_settings=((SETTINGS, row),), imported=result.imported)
    definition = replace(definition, settings_read=read)
    definition = with_routes(with_run_time(definition, result, settings, entry, is_original=is_original), result)
    told = original_framework(framework, fault) if is_original else version_problems(framework)
    lost = without_http(tree, entry) if is_original else ()
    own = settings_note(read, entry.target, tree)
    more = (*list_notes(result, settings, tree), *told, *lost, *hidden_routes(result, entry), *own)
    return Compiled(definition, (*seen(run, result, entry, tree), *unusable, *more))


def failed(
    run: ProgramRun, failure: ProgramFailure, entry: EntryPoint, tree: SourceTree, wrong: Diagnostics
) -> Compiled:
    """Return why a program cannot be compiled; the adapter may be the reason, unless something else is known to be."""
    is_original = run.packages.has_framework
    problem = failure_diagnostic(failure, entry, tree, carried=is_original)
    others = (*other_faults(tree, entry, run.modules),) if failure.kind in RAISED else ()
    is_known = any(explains(other, problem) for other in others)
    problems = (*wrong, *(() if is_known else (problem,)), *others)
    last = run.last or failure
    if is_known or is_original or not is_of_stand_in(last):
        return Compiled(None, problems)
    return Compiled(None, problems, problem if last is failure else failure_diagnostic(last, entry, tree))


def seen(run: ProgramRun, result: ProgramDescription, entry: EntryPoint, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield what the files of a described program, and its run, say about it."""
    yield from missing_late_imports(tree, entry, run.modules)
    yield from notes(result.notes, tree)
    for source in reached_files(tree, entry):
        yield from misspelt_uses(source)


def with_run_time(
    definition: Definition,
    description: ProgramDescription,
    settings: ProjectSettings,
    entry: EntryPoint,
    *,
    is_original: bool,
) -> Definition:
    """Return a definition with the handler of lists that are made at run time.

    Arguments of tools that are not compiled are checked as the framework does, by the package that it brings.
    """
    handler = program_handler(entry.file, Span(entry.file))
    run_time = run_time_handler(description, settings, definition.beside, handler, is_original=is_original)
    definition = replace(definition, run_time=run_time)
    if description.completes and run_time.kinds & {"prompts", "resources"}:
        definition = replace(definition, serves=definition.serves | {"completions"})
    later = run_time.kinds | run_time.changing
    known = {item.name for item in definition.requirements or ()}
    if "tools" not in later or description.arguments != "schema" or CHECKER in known:
        return definition
    return replace(definition, requirements=(*(definition.requirements or ()), RequestedPackage(CHECKER, CHECKER)))


def make_definition(
    tree: SourceTree,
    settings: ProjectSettings,
    entry: EntryPoint,
    packages: ProgramPackages,
    description: ProgramDescription,
) -> tuple[Definition, Diagnostics]:
    """Return the definition of a described program, and what had to be changed in it."""
    made = ProgramDefinitions(tree, entry, description)
    definition = Definition(
        format=FORMAT,
        server=server_definition(description, settings, packages.framework.version, entry),
        tools=tuple(made.tools()),
        prompts=tuple(made.prompts()),
        resources=tuple(made.resources()),
        templates=tuple(made.templates()),
        completions=tuple(made.completions()),
        sources=tuple(source for path, source in tree.files.items() if path.endswith(".py") or path == FASTMCP_JSON),
        requirements=packages.requirements,
        traits=traits_of(packages),
    )
    return definition, tuple(made.problems)


def traits_of(needed: ProgramPackages) -> Traits:
    """Return how servers of a program differ: all modules of the stand-ins are included, or the original framework."""
    hooks = (("after_list", f"{RUNTIME}.early_start:start_when_idle"),)
    if needed.has_framework:
        notes = (original_text(needed.framework),)
        return Traits(unpacks_as_one_entry=True, takes_arguments=True, notes=notes, hooks=hooks)
    generation = needed.framework.generation
    packages = (*COMMON_MODULES, *(("standins.fastmcp_parts",) if generation.startswith("fastmcp") else ()))
    whole = tuple(f"{RUNTIME}.{name}" for name in packages)
    return Traits(unpacks_as_one_entry=True, whole_packages=whole, takes_arguments=True, hooks=hooks)


def original_text(framework: Framework, reason: str = "") -> str:
    """Return that the original framework is in the built file, and why."""
    because = f", because {reason}" if reason else ""
    return f"{package_of(framework)} {framework.version} itself handles calls{because}; only the lists are compiled"


def original_framework(framework: Framework, fault: Diagnostic | None) -> Iterator[Diagnostic]:
    """Yield the note that the original framework handles calls, why, and what that costs."""
    reason = "" if fault is None else fault.message
    span = None if fault is None else fault.span
    cost = "about 40 MB, and about 2 seconds before the first call, unless the client waits that long"
    yield diagnose("MCP296", span, original_text(framework, reason), "", f"this costs {cost}")


def used_network(entry: EntryPoint, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield the note that a program could use the network at build."""
    if tree.options.build_network:
        message = f"the program `{entry.target}` could use the network: what it was answered there may be in the lists"
        yield diagnose("MCP305", Span(entry.file), message, "", "a build at another time may give another file")


def with_routes(definition: Definition, description: ProgramDescription) -> Definition:
    """Return a definition whose server serves the program's own HTTP routes, with the package that they are made of."""
    if not description.routes:
        return definition
    known = {item.name for item in definition.requirements or ()}
    # FastAPI brings Starlette, in a version that it supports.
    known |= {WEB} if "fastapi" in known else set()
    more = tuple(RequestedPackage(name, name) for name in (WEB, FORMS) if name not in known)
    hooks = Traits(
        hooks=(("http_routes", f"{RUNTIME}.routes:http_routes"), ("route_paths", f"{RUNTIME}.routes:route_paths"))
    )
    return replace(
        definition,
        runtime_settings=(*definition.runtime_settings, (ROUTES, {"paths": [*description.routes]})),
        requirements=(*(definition.requirements or ()), *more),
        traits=definition.traits | hooks,
    )


def without_http(tree: SourceTree, entry: EntryPoint) -> Iterator[Diagnostic]:
    """Yield what a program gets of HTTP, and has not with the framework itself: that speaks MCP over pipes."""
    for name, source, line in http_uses(tree, entry):
        message = f"`{name}` has no effect: the framework itself speaks MCP over pipes, and sees no request of HTTP"
        yield diagnose("MCP287", line_span(source, line), message)


def hidden_routes(description: ProgramDescription, entry: EntryPoint) -> Iterator[Diagnostic]:
    """Yield the program's own HTTP routes that the built server answers itself."""
    for path in description.routes:
        if path in OWN_PATHS:
            message = f"the route `{path}` of the program is not served: the built server has its own"
            yield diagnose("MCP287", Span(entry.file), message)


def notes(dynamic: Iterable[ProgramNote], tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield what has no effect in a built server, or another one."""
    for item in dynamic:
        source = tree.get(item.path) if item.path else None
        span = line_span(source, item.line) if source is not None else Span(item.path) if item.path else None
        code, hint = NOTE_CODES.get(item.kind, ("MCP287", ""))
        yield diagnose(code, span, item.text, "", hint)
