"""Finds the modules of the stand-ins `fastmcp` and `mcp` that are rows of a table, and their names.

A row is a module below the package (or itself) with the parts that its names come from: modules in `parts`, of the
engine (`e:`), or of the protocol's types (`t:`; `types` for those of the selected version).  A name `a=b` is exported
as `a`; `Name@sdk1` and `Name@sdk2` are names of one version of the SDK; `*` stands for all names of a part.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.engine.errors import UnsupportedFeatureError
from mcpc_runtime.systems.fastmcp.engine.server import running_place, touched
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.standins import fastmcp_modules, mcp_modules


class PlaceholderMeta(type):
    """The class of placeholders: subclassing and annotations work; calls and other attributes raise an exception."""

    feature: str

    def __call__(cls, *_: object, **__: object) -> NoReturn:
        """Refuse to make an instance."""
        raise UnsupportedFeatureError(cls.feature)

    def __getattr__(cls, name: str) -> object:
        """Return a placeholder for a nested name, so that a module body that only mentions it works."""
        if name.startswith("__"):
            raise AttributeError(name)
        return placeholder(f"{cls.feature}.{name}")

    def __getitem__(cls, _: object) -> type:
        return cls


def placeholder(feature: str) -> type:
    """Return a class that stands for a name without a stand-in."""
    touched.setdefault(feature, running_place())
    return PlaceholderMeta(feature.rpartition(".")[2], (), {"feature": feature})


class PlaceholderModule(ModuleType):
    """A module without a stand-in: every public name in it is a placeholder."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        touched.setdefault(name, running_place())

    def __getattr__(self, name: str) -> object:
        """Return a placeholder, the same one each time."""
        if name.startswith("__"):
            raise AttributeError(name)
        made = placeholder(f"{self.__name__}.{name}")
        setattr(self, name, made)
        return made


ROOT = "mcpc_runtime.systems.fastmcp.standins"
TABLES = {"fastmcp": fastmcp_modules.MODULES, "mcp": mcp_modules.MODULES}
"""The tables by the package that a project imports."""
PLACES = {"e": "mcpc_runtime.systems.fastmcp.engine", "t": f"{ROOT}.mcp_types"}
"""Where the parts with a prefix are."""
TYPES = "types"


def row_of(package: str, module: str) -> dict[str, str] | None:
    """Return the row of a module below a package, None if there is none."""
    return TABLES[package].get(module)


def names_of(row: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return the names that a row exports, each with its part and its name there; `*` is a name, too."""
    found: dict[str, tuple[str, str]] = {}
    for part, names in row.items():
        for each in names.split():
            name, _, inner = each.partition("=")
            found[name] = (part, inner or name.partition("@")[0])
    return found


def exported(package: str, module: str, name: str) -> Any:
    """Return a name of a module below a package: what its row says, a module, or a placeholder."""
    inner = f"{module}.{name}" if module else name
    names = names_of(row_of(package, module) or {})
    place = names.get(name) or names.get(f"{name}@{selected().sdk}")
    if place is not None:
        return found_in(package, *place)
    whole = names.get("*")
    if name.startswith("_") and not (name == "__all__" and whole):
        raise AttributeError(f"module '{package}.{module}' has no attribute {name!r}")
    if row_of(package, inner) is not None:
        return import_module(f"{ROOT}.{package}.{inner}")
    return placeholder(f"{package}.{inner}") if whole is None else found_in(package, whole[0], name)


def found_in(package: str, part: str, name: str) -> object:
    """Return a name of a part, of the engine, or of the SDK's types."""
    if part == TYPES:
        definitions = resolve(f"{ROOT}.mcp_types.definitions:selected_definitions")()
        return resolve(f"{ROOT}.mcp_types.definitions:find_in")(f"{package}.{part}", name, definitions)
    prefix, _, module = part.rpartition(":")
    return getattr(import_module(f"{PLACES[prefix] if prefix else f'{ROOT}.{package}.parts'}.{module}"), name)


class ExportingModule(ModuleType):
    """A module whose names are found when they are used; a module in it never takes the place of a name."""

    def __getattr__(self, name: str) -> Any:
        found = exported(*place_of(self.__name__), name)
        super().__setattr__(name, found)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute: a submodule was imported, or a project changes something."""
        row = row_of(*place_of(self.__name__)) or {}
        if not isinstance(value, ModuleType) or name not in names_of(row):
            super().__setattr__(name, value)


def place_of(name: str) -> tuple[str, str]:
    """Return the package and the module below it of a stand-in's full name."""
    package, _, module = name[len(ROOT) + 1 :].partition(".")
    return package, module


class TableLoader:
    """Loads modules of the tables."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return ExportingModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: its names are found when they are used."""


class TableFinder:
    """Finds the modules of the tables."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module of a table, None for others."""
        if not name.startswith(f"{ROOT}."):
            return None
        package, module = place_of(name)
        if not module or package not in TABLES or row_of(package, module) is None:
            return None
        loader: Any = TableLoader()
        return ModuleSpec(name, loader, is_package=True)


def install(package: str) -> None:
    """Let the modules of the tables be found, and a package's own names be those of its row."""
    if not any(isinstance(finder, TableFinder) for finder in sys.meta_path):
        finder: Any = TableFinder()
        sys.meta_path.insert(0, finder)  # before that of paths: a folder of an earlier version would be a package
    sys.modules[f"{ROOT}.{package}"].__class__ = ExportingModule
