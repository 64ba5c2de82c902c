"""Which framework a program was written for: its generation, its version, and what is known of that version.

A generation is known from the first to the last version that was recorded from its packages; patch releases count as
their minor version.  A program for another version runs with the framework itself.

Five rows, each of at most two lines in a terminal of 80 columns, and only what holds for this program.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import counted
from mcpc.frontends.fastmcp.imports import within
from mcpc.packages import newest_version
from mcpc_runtime.systems.fastmcp.generation import LATEST, SDK_OF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.model.ir import Server
    from mcpc.model.ir.layer import RequestedPackage
    from mcpc.reading import Source

SLIM = "fastmcp-slim"
"""FastMCP without the packages of its extras; it has the same version."""
SDK_1_MODULES = ("mcp.server.fastmcp",)
GENERATION_MODULES = (
    ("sdk1", SDK_1_MODULES),
    ("sdk2", ("mcp.server.mcpserver", "mcp_types")),
)
"""Modules that only one generation of the SDK has."""
SDK_VERSIONS = {"sdk1": "<2", "sdk2": ">=2"}
"""The versions of the SDK's generations."""
SDK_1_MARKS = (b".list_tools()", b".call_tool()", b".list_prompts()", b".list_resources()", b".get_prompt()")
"""Decorators of the low-level server of SDK 1; SDK 2 has arguments of its constructor instead."""
FAMILIES = {"fastmcp": ("fastmcp4", "fastmcp3", "fastmcp2"), "mcp": ("sdk2", "sdk1")}
"""The generations of each framework, the newest first."""
NAMES = {"fastmcp": "FastMCP", "mcp": "the official SDK"}
"""What the framework of each package is called."""


OLDEST = {"fastmcp2": (2, 10), "fastmcp3": (3, 0), "fastmcp4": (4, 0), "sdk1": (1, 9), "sdk2": (2, 0)}
"""The first minor version of each generation whose answers were recorded, or are those of the recorded ones."""


@dataclass(frozen=True, slots=True)
class Framework:
    """The generation that a project was written for, and its version: digits and dots.

    `chosen`: why it is this one, `locked`, `required`, or `newest` of those that the project allows.  `span`: the place
    of the requirement, if there is one.
    """

    generation: str
    version: str
    chosen: str = "newest"
    span: Span | None = field(default=None, repr=False)


def package_of(framework: Framework) -> str:
    """Return the name of a framework's package."""
    return "fastmcp" if framework.generation.startswith("fastmcp") else "mcp"


def is_recorded(framework: Framework) -> bool:
    """Tell whether what a version answers is known: of its minor version, or of a later and an earlier one."""
    numbers = tuple(int(part) for part in framework.version.split(".")[:2] if part.isdecimal())
    # A version such as `3` has no minor number: it is compared by as many as it has.
    return OLDEST[framework.generation][: len(numbers)] <= numbers <= LATEST[framework.generation][:2]


def version_problems(framework: Framework) -> Iterator[Diagnostic]:
    """Yield that a version is not known, or, if nothing says which one it is, which one was taken."""
    package, version = package_of(framework), framework.version
    if not is_recorded(framework):
        yield unknown_version(framework)
    elif framework.chosen == "newest":
        message = f"nothing says which version of `{package}` this is written for: it is compiled for {version}"
        yield diagnose("MCP289", framework.span, message, "", f"require the version that it runs with: `{package}==…`")


def unknown_version(framework: Framework) -> Diagnostic:
    """Return that what a version answers is not known."""
    package, known = package_of(framework), latest(framework.generation)
    oldest = ".".join(map(str, OLDEST[framework.generation]))
    message = f"what {NAMES[package]} {framework.version} answers is not known to the adapter"
    hint = f"leave `--framework adapter` out, or require `{package}<={known}`; the server answers as {known} does"
    return diagnose("MCP299", framework.span, message, f"a version from {oldest} to {known}", hint)


def asked_framework(
    declared: Sequence[RequestedPackage],
    locked: Mapping[str, str],
    imported: frozenset[str],
    sources: Sequence[Source],
    date: str = "",
) -> Framework:
    """Return the framework's generation and version: the locked version, else the newest that is allowed.

    `date`: that up to which versions count; the registry knows which was the newest then.
    """
    named = {item.name for item in declared} | locked.keys()
    if SLIM in named and "fastmcp" not in named:
        declared = [replace(item, name="fastmcp") if item.name == SLIM else item for item in declared]
        locked = {**locked, **({"fastmcp": locked[SLIM]} if SLIM in locked else {})}
    framework = _asked_framework(declared, locked, imported, sources, date)
    package = package_of(framework)
    pinned = {pinned_in(Requirement(item.text).specifier) for item in declared if item.name == package}
    reasons = {
        "locked": locked.get(package) == framework.version,
        "required": framework.version in pinned,
        "newest": True,
    }
    span = next((item.span for item in declared if item.name == package), None)
    return replace(framework, chosen=next(reason for reason, holds in reasons.items() if holds), span=span)


def _asked_framework(
    declared: Iterable[RequestedPackage],
    locked: Mapping[str, str],
    imported: frozenset[str],
    sources: Sequence[Source],
    date: str,
) -> Framework:
    specifiers = {item.name: Requirement(item.text).specifier for item in declared}
    package = "fastmcp" if any(within(name, ("fastmcp",)) for name in imported) else "mcp"
    version = locked.get(package, "") or pinned_in(specifiers.get(package))
    if date and not version:
        version = newest_allowed(package, specifiers.get(package, SpecifierSet()), date, imported)
    # What is imported decides before what is required: only one generation has such a module.
    for generation, modules in GENERATION_MODULES if package == "mcp" else ():
        if any(within(name, modules) for name in imported):
            return Framework(
                generation, version if version and generation_of(package, version) == generation else latest(generation)
            )
    if version:
        return Framework(generation_of(package, version), version)
    if package == "mcp" and any(mark in source.data for source in sources for mark in SDK_1_MARKS):
        return Framework("sdk1", latest("sdk1"))
    allowed = specifiers.get(package, SpecifierSet())
    older = any(within(name, SDK_1_MODULES) for name in imported)
    newest_first = [name for name in FAMILIES[package] if not (older and SDK_OF[name] == "sdk2")]
    named = bound_of(package, allowed)
    return next(
        (Framework(name, latest(name)) for name in newest_first if allowed.contains(latest(name))),
        Framework(generation_of(package, named), named),
    )


def newest_allowed(package: str, allowed: SpecifierSet, date: str, imported: frozenset[str]) -> str:
    """Return the newest allowed version of a framework on a date, of the generation whose modules are imported."""
    own = next((name for name, modules in GENERATION_MODULES if any(within(item, modules) for item in imported)), "")
    bound = SDK_VERSIONS[own] if own and package == "mcp" else ""
    return newest_version(package, allowed & SpecifierSet(bound), date)


def generation_of(package: str, version: str) -> str:
    """Return the generation of a framework's version: the newest that is not newer, or the oldest that there is."""
    major = version.partition(".")[0]
    numbers = (int(major) if major.isdecimal() else 0,)
    return next((name for name in FAMILIES[package] if LATEST[name][:1] <= numbers), FAMILIES[package][-1])


def latest(generation: str) -> str:
    """Return the version that stands for a generation."""
    return ".".join(map(str, LATEST[generation]))


def pinned_in(specifier: SpecifierSet | None) -> str:
    """Return the version that a specifier names exactly, or by a prefix or a compatible release."""
    if specifier is None:
        return ""
    exact = [item.version for item in specifier if item.operator in ("==", "===", "~=")]
    return exact[0].removesuffix(".*") if exact else ""


def bound_of(package: str, allowed: SpecifierSet) -> str:
    """Return a version that a specifier names which excludes all that are known: the first newer one, else the last."""
    named = sorted({item.version.removesuffix(".*") for item in allowed}, key=Version)
    newer = (version for version in named if Version(version).release[:2] > LATEST[FAMILIES[package][0]][:2])
    return next(newer, named[-1] if named else "")


SETTINGS = "fastmcp"
"""The key of the index with the program's entry."""
NAMES_OF_PACKAGES = {"sdk": "the official SDK", "fastmcp": "FastMCP"}
CHOSEN = {
    "locked": "locked",
    "required": "required",
    "newest": "nothing pins it",
}
"""Why a version was taken (`Framework.chosen`)."""
SAME = "schemas, results and errors of that version, lifespan, environment"
SAME_PATCH = "schemas, results and errors of {known}, the last patch that was recorded; lifespan, environment"
SAME_UNKNOWN = "schemas, results and errors of {known}; {version} is not known; lifespan, environment"
SAME_ORIGINAL = "all that the framework does in a call: it is bundled, and handles it"
DIFFERENT = "lists are made at build; the first call starts the program;"
DIFFERENT_ORIGINAL = "lists are made at build; the first call starts the original;"
LOW_LEVEL = "arguments are refused by the compiled schemas;"
TRANSPORTS = {
    True: "pipes or `serve --http` instead of its transport, host and port",
    False: "pipes instead of its transport, host and port (HTTP: `--http`)",
}
WIDTH, LABEL = 78, 11
MAX_PACKAGES = 3
NOTE, MISSING = "MCP287", "MCP297"


def summary(server: Server, problems: Diagnostics) -> tuple[str, ...]:
    """Return the lines; `problems`: what was found in the project."""
    return tuple(line for label, text in rows(server, problems) for line in lines_of(label, text))


def rows(server: Server, problems: Diagnostics) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of each row."""
    row: Any = dict(server.runtime_settings)[SETTINGS]
    words = " ".join([str(row["target"]), *map(str, row["arguments"])])
    is_original = bool(server.traits.notes)
    yield (
        "program",
        # `sdk2` and `fastmcp3` without their numbers.
        f"{words}, for {NAMES_OF_PACKAGES[row['generation'][:-1]]} {row['version']} ({CHOSEN[row['chosen']]})",
    )
    yield "the same", SAME_ORIGINAL if is_original else same(row["generation"], row["version"])
    low_level = {getattr(tool.handler, "arguments", "handler") for tool in server.tools} == {"schema"}
    has_http = server.serving is not None and "uvicorn" in server.serving.modules
    different = [made_lists(server, is_original=is_original), *([LOW_LEVEL] if low_level else []), TRANSPORTS[has_http]]
    yield "different", " ".join(different)
    yield "noted", noted(problems)
    yield "packages", packages(server, is_original=is_original)


def same(generation: str, version: str) -> str:
    """Return what is the same as with a version of a framework, or as with the last one that is known."""
    known = latest(generation)
    if not is_recorded(Framework(generation, version)):
        return SAME_UNKNOWN.format(known=known, version=version)
    return SAME_PATCH.format(known=known) if Version(version) > Version(known) else SAME


def made_lists(server: Server, *, is_original: bool) -> str:
    """Return when lists are made, and what the first call starts."""
    kinds = sorted(server.run_time.kinds) if server.run_time is not None else []
    if kinds:
        return f"lists of {', '.join(kinds)} are made at run time; the first of them starts the program;"
    return DIFFERENT_ORIGINAL if is_original else DIFFERENT


def noted(problems: Diagnostics) -> str:
    """Return how many parts of the program have no effect or may fail."""
    notes, missing = (sum(problem.code == code for problem in problems) for code in (NOTE, MISSING))
    parts = [
        *([f"{counted(notes, 'part')} with another effect or none ({NOTE} above)"] if notes else []),
        *([f"{counted(missing, 'import')} that will fail ({MISSING} above)"] if missing else []),
    ]
    return "; ".join(parts) or "nothing that the program uses is left out"


def packages(server: Server, *, is_original: bool) -> str:
    """Return which packages the built file has: first those that the project requires itself."""
    layer = server.layer
    asked = {item.name for item in server.requirements or () if item.span is not None}
    rows = [] if layer is None else sorted((item.name not in asked, item.name) for item in layer.packages)
    names = [name for _, name in rows]
    more = f" and {len(names) - MAX_PACKAGES} more" if names[MAX_PACKAGES:] else ""
    framework = "with the framework" if is_original else "without the framework"
    return f"{', '.join(names[:MAX_PACKAGES]) or 'none'}{more}, {framework}"


def lines_of(label: str, text: str) -> list[str]:
    """Return the lines of a row."""
    return textwrap.wrap(
        f"{label:<{LABEL}}{text}", WIDTH, subsequent_indent=" " * LABEL, break_long_words=False, break_on_hyphens=False
    )
