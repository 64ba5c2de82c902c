"""Which packages a program needs without its framework, or with it.

The framework's packages are replaced by stand-ins.  What they bring and the project imports itself is added: a project
that requires `mcp` may import `httpx` without requiring it.

    try:
        from python_multipart.multipart import parse_options_header
    except ModuleNotFoundError:
        parse_options_header = None

In the project's environment they are installed, as its framework requires them.  The modules of packages that the
program imports are read, and those that these import at once; what they lack and the framework brings is added.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from mcpc.frontends.fastmcp.frameworks import SDK_VERSIONS, SLIM, asked_framework, latest, package_of, pinned_in
from mcpc.frontends.fastmcp.imports import SIDE_FILE, SIDE_FOLDERS, imported_modules
from mcpc.frontends.installed_metadata import (
    ASKS_METADATA,
    InstalledPackage,
    installed_files,
    metadata_files,
    project_entry_points,
)
from mcpc.model.ir.layer import RequestedPackage
from mcpc.packages import earliest, locked_sources, locked_versions, newest_date, read_requirements
from mcpc.packages.pep508 import STANDARD, normalised_name
from mcpc.reading.source import is_named
from mcpc_runtime.systems.fastmcp.generation import SDK_OF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from mcpc.diagnostics import Diagnostics
    from mcpc.frontends.fastmcp.entry_points import ProjectSettings
    from mcpc.frontends.fastmcp.frameworks import Framework
    from mcpc.packages import StagedPackages
    from mcpc.reading import Source, SourceTree

REPLACED = frozenset({"fastmcp", "fastmcp-slim", "mcp", "mcp-types", "uvicorn"})
"""Packages that have stand-ins."""
UNUSED = STANDARD | {"datetime"}
"""Packages that a project requires by mistake, for a module of the standard library."""
BROUGHT = {
    "anyio": "anyio",
    "authlib": "authlib",
    "click": "click",
    "cryptography": "cryptography",
    "cyclopts": "cyclopts",
    "docstring_parser": "docstring-parser",
    "dotenv": "python-dotenv",
    "email_validator": "email-validator",
    "exceptiongroup": "exceptiongroup",
    "griffe": "griffelib",
    "httpx": "httpx",
    "httpx2": "httpx2",
    "httpx_sse": "httpx-sse",
    "jsonref": "jsonref",
    "jsonschema": "jsonschema",
    "jsonschema_path": "jsonschema-path",
    "jwt": "pyjwt",
    "multipart": "python-multipart",
    "openapi_pydantic": "openapi-pydantic",
    "opentelemetry": "opentelemetry-api",
    "packaging": "packaging",
    "platformdirs": "platformdirs",
    "pydantic_settings": "pydantic-settings",
    "pyperclip": "pyperclip",
    "python_multipart": "python-multipart",
    "requests": "requests",
    "rich": "rich",
    "sse_starlette": "sse-starlette",
    "starlette": "starlette",
    "typer": "typer",
    "typing_extensions": "typing-extensions",
    "watchfiles": "watchfiles",
    "websockets": "websockets",
    "yaml": "pyyaml",
}
"""Packages that the frameworks bring, by the module that a project imports."""
ASKED_BY_NAME = frozenset(BROUGHT.values())
QUOTED = re.compile(rb"[\"']([A-Za-z0-9][\w.-]*)[\"']")
WEB_SERVER = "uvicorn"
ALWAYS = ("pydantic", "typing-extensions")
"""Packages of the frameworks that their stand-ins need: arguments are validated by the project's pydantic."""
BROUGHT_BY_ALL = ("anyio", "email-validator", "httpx", "jsonschema", "pydantic-settings", "python-dotenv", "starlette")
"""Packages that every framework brings; packages of a project may import them without requiring them."""


@dataclass(frozen=True, slots=True)
class ProgramPackages:
    """What a program needs: its framework (replaced by stand-ins), and all other packages.

    `has_framework`: the framework itself is one of them, and the program runs with it.  `web`: the project imports a
    web server.  `replaced`: the versions of the packages that have stand-ins, as the project would have them.
    """

    framework: Framework
    requirements: tuple[RequestedPackage, ...]
    has_framework: bool = False
    web: bool = False
    replaced: Mapping[str, str] = field(default_factory=dict, hash=False)


def program_packages(
    tree: SourceTree,
    settings: ProjectSettings,
    sources: Sequence[Source],
    entry_file: str,
    *,
    with_framework: bool = False,
) -> tuple[ProgramPackages, Diagnostics]:
    """Return the packages of a program; `sources`: its Python files; `entry_file`: the one that is run.

    A block of requirements counts in the file that is run: other scripts of the project have their own.
    `with_framework`: also the packages of its framework.

    The lock gives the versions of all packages, also of those that others bring, unless they have no wheel.
    """
    replaced = frozenset() if with_framework else REPLACED
    declared, problems = read_requirements(tree, [source for source in sources if source.path == entry_file])
    locked, _ = locked_versions(tree)
    imported = frozenset(name for source in sources for name in imported_modules(source))
    date = newest_date(tree)
    framework = asked_framework(declared, locked, imported, sources, "" if tree.options.offline else date)
    own = normalised_name(settings.name) if settings.name else ""
    kept = [item for item in declared if item.name not in replaced and item.name not in UNUSED and item.name != own]
    known = {item.name for item in kept}
    wanted = {*asked_versions(sources)} & ASKED_BY_NAME
    wanted |= {BROUGHT[top] for top in {name.partition(".")[0] for name in imported} if top in BROUGHT} | {*ALWAYS}
    if with_framework and SLIM not in known:
        wanted.add(package_of(framework))
    names = sorted(locked.keys() - replaced - {own} - locked_sources(tree))
    constraints = tuple(f"{name}=={locked[name]}" for name in names)
    if with_framework and "mcp" not in locked:
        constraints += (f"mcp{SDK_VERSIONS[SDK_OF[framework.generation]]}",)
    added = [
        RequestedPackage(name, f"{name}=={locked[name]}" if name in locked else name, exclude_newer=date)
        for name in sorted(wanted - known)
    ]
    needless = {unpinned_message(item) for item in declared if item not in kept}
    problems = tuple(problem for problem in problems if problem.code != "MCP404" or problem.message not in needless)
    requirements = sorted((*kept, *added), key=lambda item: item.text)
    # Constraints bind all packages of the environment, so that one requirement is enough to have them.
    requirements = [
        replace(item, constraints=(*item.constraints, *constraints)) for item in requirements[:1]
    ] + requirements[1:]
    versions = {} if with_framework else replaced_versions(framework, declared, locked)
    return ProgramPackages(framework, tuple(requirements), with_framework, WEB_SERVER in imported, versions), problems


def replaced_versions(
    framework: Framework, declared: Iterable[RequestedPackage], locked: Mapping[str, str]
) -> dict[str, str]:
    """Return the versions of the packages with stand-ins: locked, required, or those that came with the framework."""
    pins = {item.name: pinned_in(Requirement(item.text).specifier) for item in declared if item.name in REPLACED}
    package, sdk = package_of(framework), SDK_OF[framework.generation]
    versions = {"mcp": latest(sdk), package: framework.version}
    if framework.generation == "fastmcp4":
        versions["fastmcp-slim"] = framework.version
    chosen = {**versions, **{name: version for name, version in pins.items() if version}}
    chosen |= {name: locked[name] for name in sorted(REPLACED & locked.keys())}
    return chosen | {package: framework.version} | ({"mcp-types": chosen["mcp"]} if sdk == "sdk2" else {})


def asked_versions(sources: Sequence[Source]) -> frozenset[str]:
    """Return the names in files of a program that ask for the metadata of packages by name."""
    asking = [source.data for source in sources if ASKS_METADATA.search(source.data)]
    return frozenset(normalised_name(name.decode()) for data in asking for name in QUOTED.findall(data))


def with_brought_packages(packages: ProgramPackages) -> ProgramPackages:
    """Return packages with those that every framework brings."""
    known = {item.name for item in packages.requirements}
    date = earliest(item.exclude_newer for item in packages.requirements)
    added = [RequestedPackage(name, name, exclude_newer=date) for name in BROUGHT_BY_ALL if name not in known]
    return replace(packages, requirements=(*packages.requirements, *added))


def unpinned_message(item: RequestedPackage) -> str:
    """Return the message about a requirement without a version, which does not matter for one that is not packed."""
    return f"`{item.text}` has no exact version, so two builds may differ"


NAMED = {
    "email-validator": re.compile(rb"\b(?:EmailStr|NameEmail|validate_email)\b"),
    "pyyaml": re.compile(rb"\bYamlConfigSettingsSource\b"),
}
"""Packages that pydantic imports in functions, with the names of a program that lead there."""
MAX_MODULES = 2000


def with_late_packages(packages: ProgramPackages, scripts: Sequence[Source], staged: StagedPackages) -> ProgramPackages:
    """Return packages with those that others use only if they are there; `staged`: all that are installed now."""
    known = {item.name for item in packages.requirements} | {item.name for item in staged.distributions}
    tops = {name.partition(".")[0] for source in scripts for name in imported_modules(source)} & BROUGHT.keys()
    started = [name for source in scripts for name in imported_modules(source) if name.partition(".")[0] in tops]
    missing = {BROUGHT[top] for top in _missing_modules(started, staged.root)}
    missing |= {name for name, used in NAMED.items() if any(used.search(source.data) for source in scripts)}
    date = earliest(item.exclude_newer for item in packages.requirements)
    names = sorted(missing - known - REPLACED - {*ALWAYS})
    added = tuple(RequestedPackage(name, name, exclude_newer=date) for name in names)
    return replace(packages, requirements=(*packages.requirements, *added)) if added else packages


def _missing_modules(started: Sequence[str], root: Path) -> frozenset[str]:
    """Return the top-level modules that a framework brings, are not installed, and are imported by reached modules."""
    waiting, seen, missing = [*started], set[str](), set[str]()
    while waiting and len(seen) < MAX_MODULES:
        name = waiting.pop()
        top = name.partition(".")[0]
        if name in seen or top not in BROUGHT or top in ALWAYS:
            continue
        seen.add(name)
        if not (root / top).is_dir() and not (root / f"{top}.py").is_file():
            missing.add(top)
        waiting += _imports_of(name, root)
    return frozenset(missing - sys.stdlib_module_names)


def _imports_of(name: str, root: Path) -> Iterator[str]:
    """Yield what a module imports while it is imported; its own package's modules only if it needs them."""
    path = root.joinpath(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if "." in name:
        yield name.rpartition(".")[0]
    if not file.is_file():
        return
    try:
        parsed = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return
    package = name if path.is_dir() else name.rpartition(".")[0]
    for node, is_guarded in _run(parsed.body, is_guarded=False):
        for imported in _names(node, package):
            if not is_guarded or imported.partition(".")[0] != name.partition(".")[0]:
                yield imported


def _run(body: Sequence[ast.stmt], *, is_guarded: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements that run when a module is imported, each with whether it is ready to fail."""
    for node in body:
        yield node, is_guarded
        if isinstance(node, ast.If):
            # Also as `typing.TYPE_CHECKING`, or in a longer condition.
            typing = "TYPE_CHECKING" in ast.dump(node.test)
            yield from _run((*(() if typing else node.body), *node.orelse), is_guarded=is_guarded)
        elif isinstance(node, ast.Try):
            yield from _run(node.body, is_guarded=bool(node.handlers) or is_guarded)
            others = (statement for handler in node.handlers for statement in handler.body)
            yield from _run((*others, *node.orelse, *node.finalbody), is_guarded=is_guarded)


def _names(node: ast.stmt, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parents = package.split(".")
        base = ".".join(parents[: len(parents) - node.level + 1]) if node.level else ""
        module = ".".join(filter(None, (base, node.module)))
        yield module
        yield from (f"{module}.{alias.name}" for alias in node.names)


TESTS = frozenset({"test", "tests"})


def program_scripts(tree: SourceTree, entry_file: str) -> list[Source]:
    """Return the Python files whose imports say which packages a program needs.

    Those of tests, examples and tools beside it do only if it is one of them, or if the program names their folder.
    """
    scripts = [source for path, source in tree.files.items() if path.endswith(".py")]
    folders = {source.path: source.path.partition("/")[0] for source in scripts}
    program = {source.path: source for source in scripts if folders[source.path] not in SIDE_FOLDERS}
    packages = {path.removesuffix("/__init__.py") for path in tree.files}
    named = {
        folder
        for folder in {*folders.values()} & SIDE_FOLDERS - TESTS
        if folder in packages or is_named(folder, program.values())
    }
    known = named | {entry_file.partition("/")[0]}
    return [
        source
        for source in scripts
        if (source.path in program or folders[source.path] in known)
        and not SIDE_FILE.fullmatch(source.path.rpartition("/")[2])
    ]


def project_information(
    tree: SourceTree, settings: ProjectSettings, paths: tuple[str, ...], replaced: Mapping[str, str]
) -> Iterator[Source]:
    """Yield the metadata of the project and of packages that have stand-ins, beside the project's packages.

    `replaced`: the versions of these packages, by name.
    """
    folder = f"{paths[0]}/" if paths and paths[0] else ""
    packages = [InstalledPackage(name, version) for name, version in sorted(replaced.items())]
    if settings.name:
        files = installed_files(tree.files, folder)
        points = project_entry_points(tree)
        packages.append(InstalledPackage(settings.name, settings.version, settings.description, points, files))
    for package in packages:
        yield from metadata_files(package, folder)
