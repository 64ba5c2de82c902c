"""The stand-ins: packages that a project imports as `fastmcp`, `mcp`, `mcp_types` and `uvicorn`.

A finder before all others maps these names to the modules of this package with the same path, so that a framework that
is installed is never imported.  A module that has no stand-in is a placeholder (`exports.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

from mcpc_runtime.systems.fastmcp.generation import Generation, select, selected
from mcpc_runtime.systems.fastmcp.standins.exports import PlaceholderModule
from mcpc_runtime.systems.fastmcp.standins.exports import install as install_tables

PACKAGES = ("fastmcp", "mcp", "mcp_types", "uvicorn")
"""The packages with stand-ins, by their names in a project."""
ABSENT = {
    "sdk1": ("fastmcp", "mcp_types", "mcp.server.mcpserver"),
    "sdk2": ("fastmcp", "mcp.server.fastmcp"),
    "fastmcp2": ("mcp_types", "mcp.server.mcpserver"),
    "fastmcp3": ("mcp_types", "mcp.server.mcpserver"),
    "fastmcp4": ("mcp.server.fastmcp",),
}
"""The modules that a generation does not have: importing them fails, as projects expect that try several."""


class StandInLoader:
    """Loads a module of a project's framework as a second name of its stand-in."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        stand_in = f"{__name__}.{spec.name}"
        if not has_module(stand_in):
            return PlaceholderModule(spec.name)
        module = import_module(stand_in)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Leave the stand-in as it is: it was run when it was imported under its own name."""
        if not isinstance(module, PlaceholderModule):
            # The import has given it that of its second name.
            module.__spec__ = self._spec


def has_module(name: str) -> bool:
    """Tell whether there is a module; its parents are imported."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


class StandInFinder:
    """Finds the modules of the packages with stand-ins."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a stand-in, None for other packages; raise what an absent module raises."""
        if name.partition(".")[0] not in PACKAGES:
            return None
        if any(name == absent or name.startswith(f"{absent}.") for absent in ABSENT[selected().name]):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        # Whether it has modules in it is not known before they are asked for, so each may have some.
        return ModuleSpec(name, StandInLoader(), is_package=True)  # type: ignore[arg-type]


def install(name: str, version: str = "") -> Generation:
    """Select a generation, and put its stand-ins before all other packages."""
    generation = select(name, version)
    install_tables()
    if not any(isinstance(finder, StandInFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, StandInFinder())
    return generation
