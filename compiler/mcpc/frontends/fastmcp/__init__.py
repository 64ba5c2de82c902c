"""Projects written for FastMCP or the official Python SDK, unchanged.

    files ─find_entry─▶ EntryPoint ─describe_program─▶ ProgramDescription ─▶ Definition
          ─program_packages─▶ its packages, and the framework that it was written for

The program is run once, confined, under stand-ins of its framework (`mcpc_runtime.systems.fastmcp`), up to the moment
at which it serves: what its server offers then is compiled.  A built server runs the same program with its first call.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.causes import line_span
from mcpc.definitions import Definition
from mcpc.dependencies import with_versions
from mcpc.diagnostics import Span, diagnose, has_errors
from mcpc.frontends.fastmcp.baked_values import baked_values
from mcpc.frontends.fastmcp.definitions import ProgramDefinitions, program_handler, server_definition
from mcpc.frontends.fastmcp.entry_points import find_entry
from mcpc.frontends.fastmcp.failures import FAILURE_CODES, failure_diagnostic, is_of_stand_in
from mcpc.frontends.fastmcp.files import program_scripts, project_information
from mcpc.frontends.fastmcp.frameworks import package_of, version_problems
from mcpc.frontends.fastmcp.imports import is_beside, program_files, uses_framework
from mcpc.frontends.fastmcp.late_imports import missing_late_imports, reached_files
from mcpc.frontends.fastmcp.machine_state import NOTE as MACHINE_NOTE
from mcpc.frontends.fastmcp.other_faults import explains, other_faults
from mcpc.frontends.fastmcp.packages import program_packages
from mcpc.frontends.fastmcp.program import ProgramDescription, ProgramFailure, entry_row
from mcpc.frontends.fastmcp.project_settings import FASTMCP_JSON, read_project_settings
from mcpc.frontends.fastmcp.run_time_lists import list_notes, run_time_handler
from mcpc.frontends.fastmcp.runs import ProgramStart, run_with_needs
from mcpc.frontends.fastmcp.summary import SETTINGS, summary
from mcpc.frontends.fastmcp.unsupported_modules import unsupported_modules
from mcpc.frontends.static_faults import misspelt_uses
from mcpc.ir import Traits
from mcpc.ir.requirements import RequestedPackage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.fastmcp.entry_points import EntryPoint
    from mcpc.frontends.fastmcp.frameworks import Framework
    from mcpc.frontends.fastmcp.packages import ProgramPackages
    from mcpc.frontends.fastmcp.program import ProgramNote
    from mcpc.frontends.fastmcp.project_settings import ProjectSettings
    from mcpc.options import Options
    from mcpc.sources import Source, SourceTree

__all__ = ["DIALECT", "FORMAT", "LOOKS_FOR", "parse", "recognises", "summary"]

FORMAT = DIALECT = "fastmcp"
LOOKS_FOR = "Python files that import `fastmcp`, `mcp.server.fastmcp`, `mcp.server.mcpserver` or `mcp.server`"
RUNTIME = "mcpc_runtime.systems.fastmcp"
COMMON_MODULES = (
    "engine",
    "generation",
    "standins.mcp",
    "standins.mcp_types",
    "standins.placeholders",
    "standins.uvicorn",
)
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
        misspelt = (*(found for source in program_files(tree) for found in misspelt_uses(source)),)
        return None, (*settings.problems, *(misspelt or problems))
    return parse_entry(tree, options, settings, entry)


def parse_entry(
    tree: SourceTree,
    options: Options,
    settings: ProjectSettings,
    entry: EntryPoint,
    lacking: Diagnostic | None = None,
) -> tuple[Definition | None, Diagnostics]:
    """Return what an entry offers; `lacking`: what has no stand-in, so that the framework itself is bundled."""
    carries = options.carry_framework or lacking is not None
    scripts = program_scripts(tree, entry.file)
    packages, wrong = program_packages(tree, settings, scripts, entry.file, with_framework=carries)
    unsupported = (*unsupported_modules(tree, entry, packages),)
    if has_errors(wrong):
        return None, (*wrong, *unsupported)
    if unsupported:
        carried = parse_entry(tree, options, settings, entry, unsupported[0])
        return carried if has_run(carried) else (None, (*wrong, *unsupported))
    sources = (*tree.files.values(), *project_information(tree, settings, entry.paths, packages.replaced))
    environment = {**settings.environment, **dict(options.build_environment)}
    served, run = run_with_needs(ProgramStart(entry, packages, sources, environment, tree))
    wrong = (*with_versions(wrong, run.versions), *run.problems, *used_network(served, tree))
    if isinstance(run.result, ProgramFailure):
        failure = failure_diagnostic(run.result, served, tree, carried=carries)
        others = (*other_faults(tree, served, run.modules),) if run.result.kind in RAISED else ()
        is_known = any(explains(fault, failure) for fault in others)
        if not (is_known or carries) and is_of_stand_in(run.last or run.result):
            carried = parse_entry(tree, options, settings, entry, failure)
            if has_run(carried):
                return carried
        return None, (*wrong, *(() if is_known else (failure,)), *others)
    baked = (*baked_values(run.result, dict(options.build_environment), served.file),)
    if run.result is None or baked:
        return None, (*wrong, *baked)
    definition, unusable = make_definition(tree, settings, served, run.packages, run.result)
    row = entry_row(served, run.packages)
    definition = replace(
        definition, beside=tuple(sources), runtime_settings=((SETTINGS, row),), imported=run.result.imported
    )
    misspelt = (*(found for source in reached_files(tree, served) for found in misspelt_uses(source)),)
    wrong = (*wrong, *missing_late_imports(tree, served, run.modules), *notes(run.result.notes, tree), *misspelt)
    definition = with_run_time(definition, run.result, settings, served, is_original=carries)
    definition = with_routes(definition, run.result)
    framework = run.packages.framework
    told = bundled_framework(framework, lacking) if carries else version_problems(framework)
    more = (*list_notes(run.result, settings, tree), *told, *hidden_routes(run.result, served))
    return definition, (*wrong, *unusable, *more)


def has_run(parsed: tuple[Definition | None, Diagnostics]) -> bool:
    """Tell whether a program has run, also if it failed: its packages could be installed."""
    definition, problems = parsed
    return definition is not None or any(problem.code in FAILURE_CODES for problem in problems)


def with_run_time(
    definition: Definition,
    found: ProgramDescription,
    settings: ProjectSettings,
    entry: EntryPoint,
    *,
    is_original: bool,
) -> Definition:
    """Return a definition with the handler of lists that are made at run time.

    Arguments of tools that are not compiled are checked as the framework does, by the package that it brings.
    """
    handler = program_handler(entry.file, Span(entry.file))
    run_time = run_time_handler(found, settings, definition.beside, handler, is_original=is_original)
    definition = replace(definition, run_time=run_time)
    if found.completes and run_time.kinds & {"prompts", "resources"}:
        definition = replace(definition, serves=definition.serves | {"completions"})
    later = run_time.kinds | run_time.changing
    known = {item.name for item in definition.requirements or ()}
    if "tools" not in later or found.arguments != "schema" or CHECKER in known:
        return definition
    return replace(definition, requirements=(*(definition.requirements or ()), RequestedPackage(CHECKER, CHECKER)))


def make_definition(
    tree: SourceTree,
    settings: ProjectSettings,
    entry: EntryPoint,
    packages: ProgramPackages,
    found: ProgramDescription,
) -> tuple[Definition, Diagnostics]:
    """Return the definition of a described program, and what had to be changed in it."""
    made = ProgramDefinitions(tree, entry, found)
    definition = Definition(
        format=FORMAT,
        server=server_definition(found, settings, packages.framework.version, entry),
        tools=tuple(made.tools()),
        prompts=tuple(made.prompts()),
        resources=tuple(made.resources()),
        templates=tuple(made.templates()),
        completions=tuple(made.completions()),
        sources=tuple(python_sources(tree)),
        requirements=packages.requirements,
        traits=traits_of(packages),
    )
    return definition, tuple(made.problems)


def traits_of(needed: ProgramPackages) -> Traits:
    """Return how servers of a program differ: all modules of the stand-ins are included, or the original framework."""
    if needed.has_framework:
        return Traits(unpacks_as_one_entry=True, takes_arguments=True, notes=(bundled_text(needed.framework),))
    generation = needed.framework.generation
    packages = (*COMMON_MODULES, *(("standins.fastmcp",) if generation.startswith("fastmcp") else ()))
    whole = tuple(f"{RUNTIME}.{name}" for name in packages)
    return Traits(unpacks_as_one_entry=True, whole_packages=whole, takes_arguments=True)


def python_sources(tree: SourceTree) -> Iterator[Source]:
    """Yield the files that places are in."""
    return (source for path, source in tree.files.items() if path.endswith(".py") or path == FASTMCP_JSON)


def bundled_text(framework: Framework) -> str:
    """Return what the bundled framework means for the built file."""
    return f"{package_of(framework)} {framework.version} is bundled, and handles all calls; only the lists are compiled"


def bundled_framework(framework: Framework, lacking: Diagnostic | None) -> Iterator[Diagnostic]:
    """Yield the note that the framework is bundled, what that costs, and what has no stand-in."""
    cost = "the first call takes as long as a start of the original"
    if lacking is None:
        text, hint = bundled_text(framework), f"{cost}; without the option the file is smaller and faster"
        yield diagnose("MCP296", None, text, "", hint)
    else:
        text = f"{bundled_text(framework)}: with stand-ins, {lacking.message}"
        yield diagnose("MCP296", lacking.span, text, "", f"{cost}; without this the file would be smaller and faster")


def used_network(entry: EntryPoint, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield the note that a program could use the network at build."""
    if tree.build_network:
        message = f"the program `{entry.target}` could use the network: what it was answered there may be in the lists"
        yield diagnose("MCP305", Span(entry.file), message, "", "a build at another time may give another file")


def with_routes(definition: Definition, found: ProgramDescription) -> Definition:
    """Return a definition whose server serves the program's own HTTP routes, with the package that they are made of."""
    if not found.routes:
        return definition
    known = {item.name for item in definition.requirements or ()}
    known |= {WEB} if "fastapi" in known else set()
    more = tuple(RequestedPackage(name, name) for name in (WEB, FORMS) if name not in known)
    hooks = Traits(
        hooks=(("http_routes", f"{RUNTIME}.routes:http_routes"), ("route_paths", f"{RUNTIME}.routes:route_paths"))
    )
    return replace(
        definition,
        runtime_settings=(*definition.runtime_settings, (ROUTES, {"paths": [*found.routes]})),
        requirements=(*(definition.requirements or ()), *more),
        traits=definition.traits | hooks,
    )


def hidden_routes(found: ProgramDescription, entry: EntryPoint) -> Iterator[Diagnostic]:
    """Yield the program's own HTTP routes that the built server answers itself."""
    for path in found.routes:
        if path in OWN_PATHS:
            message = f"the route `{path}` of the program is not served: the built server has its own"
            yield diagnose("MCP287", Span(entry.file), message)


def notes(found: Iterable[ProgramNote], tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield what has no effect in a built server, or another one."""
    for item in found:
        source = tree.get(item.path) if item.path else None
        span = line_span(source, item.line) if source is not None else Span(item.path) if item.path else None
        code, hint = NOTE_CODES.get(item.kind, ("MCP287", ""))
        yield diagnose(code, span, item.text, "", hint)
