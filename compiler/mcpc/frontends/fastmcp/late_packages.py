"""Packages that a framework brings, and that other packages of a program import only where they are installed.

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
from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.frontends.fastmcp.imports import imported_modules
from mcpc.frontends.fastmcp.packages import ALWAYS, BROUGHT, REPLACED
from mcpc.model.ir.layer import RequestedPackage
from mcpc.packages import earliest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mcpc.frontends.fastmcp.packages import ProgramPackages
    from mcpc.packages import StagedPackages
    from mcpc.reading import Source

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
