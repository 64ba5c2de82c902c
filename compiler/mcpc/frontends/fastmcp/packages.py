"""Which packages a program needs without its framework, or with it.

The framework's packages are replaced by stand-ins.  What they bring and the project imports itself is added: a project
that requires `mcp` may import `httpx` without requiring it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from mcpc.frontends.fastmcp.frameworks import SDK_VERSIONS, SLIM, asked_framework, latest, package_of, pinned_in
from mcpc.frontends.fastmcp.imports import imported_modules
from mcpc.frontends.installed_metadata import ASKS_METADATA
from mcpc.model.ir.layer import RequestedPackage
from mcpc.packages import earliest, locked_sources, locked_versions, newest_date, read_requirements
from mcpc.packages.pep508 import STANDARD, normalised_name
from mcpc_runtime.systems.fastmcp.generation import SDK_OF

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcpc.diagnostics import Diagnostics
    from mcpc.frontends.fastmcp.frameworks import Framework
    from mcpc.frontends.fastmcp.project_settings import ProjectSettings
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
    framework = asked_framework(declared, locked, imported, sources, "" if tree.offline else date)
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
    found = sorted((*kept, *added), key=lambda item: item.text)
    found = [replace(item, constraints=(*item.constraints, *constraints)) for item in found[:1]] + found[1:]
    versions = {} if with_framework else replaced_versions(framework, declared, locked)
    return ProgramPackages(framework, tuple(found), with_framework, WEB_SERVER in imported, versions), problems


def replaced_versions(
    framework: Framework, declared: Iterable[RequestedPackage], locked: Mapping[str, str]
) -> dict[str, str]:
    """Return the versions of the packages with stand-ins: locked, required, or those that came with the framework."""
    pins = {item.name: pinned_in(Requirement(item.text).specifier) for item in declared if item.name in REPLACED}
    package, sdk = package_of(framework), SDK_OF[framework.generation]
    found = {"mcp": latest(sdk), package: framework.version}
    if framework.generation == "fastmcp4":
        found["fastmcp-slim"] = framework.version
    chosen = {**found, **{name: version for name, version in pins.items() if version}}
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
