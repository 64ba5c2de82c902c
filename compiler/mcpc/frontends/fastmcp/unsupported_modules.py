"""Modules of packages that frameworks treat in a special way, and that the adapter does not know.

A tool that returns what such a module makes would answer with something else, so the import is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.frontends.fastmcp.failures import BUNDLE
from mcpc.frontends.fastmcp.frameworks import package_of
from mcpc.frontends.fastmcp.late_imports import reached_files
from mcpc.languages import imports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.frontends.fastmcp.entry_points import EntryPoint
    from mcpc.frontends.fastmcp.packages import ProgramPackages
    from mcpc.reading import SourceTree

MODULES = {("fastmcp", "prefab_ui"): "the adapter does not make results with Prefab UI (`prefab_ui`)"}
"""What is not available, by the framework's package and the module."""


def unsupported_modules(tree: SourceTree, entry: EntryPoint, packages: ProgramPackages) -> Iterator[Diagnostic]:
    """Yield each import of such a module in the files that an entry reaches, unless the framework itself is bundled."""
    package = package_of(packages.framework)
    for source in () if packages.has_framework else reached_files(tree, entry):
        for name, span in imports(source):
            if (package, name) in MODULES:
                yield diagnose("MCP290", span, MODULES[package, name], "", f"remove it; or {BUNDLE}")
