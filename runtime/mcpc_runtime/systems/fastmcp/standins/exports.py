"""Finds the modules of the stand-ins, which are rows of tables (`modules.py`), and their names.

A row is a module below a package (or itself) with the parts that its names come from: modules of the package's parts,
of the engine (`e:`), or `types`, the protocol's types of the selected version.  A name `a=b` is exported
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
from mcpc_runtime.systems.fastmcp.engine.server import UnsupportedFeatureError, running_place, touched
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.standins.modules import TABLES


class PlaceholderMeta(type):
    """The class of placeholders: subclassing and annotations work; calls and other attributes raise an exception."""

    feature: str

    def __call__(cls, *_: object, **__: object) -> NoReturn:
        """Refuse to make an instance."""
        raise UnsupportedFeatureError(cls.feature)

    def __getattr__(cls, name: str) -> object:
        """Return a placeholder for a nested name, so that a module body that only mentions it works."""
        # Python itself asks for special names, and takes what it gets for their meaning.
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
ENGINE = "mcpc_runtime.systems.fastmcp.engine"
PARTS = {"fastmcp": f"{ROOT}.fastmcp_parts", "mcp": f"{ROOT}.sdk_parts", "mcp_types": f"{ROOT}.sdk_parts"}
"""Where the parts of a package are."""
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


def exported(package: str, module: str, name: str) -> object:
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
        return resolve(f"{ROOT}.sdk_parts.definitions:find_type")(name)
    return getattr(import_module(module_of(package, part)), name)


def module_of(package: str, part: str) -> str:
    """Return the name of the module of a part."""
    return f"{ENGINE}.{part[2:]}" if part.startswith("e:") else f"{PARTS[package]}.{part}"


class ExportingModule(ModuleType):
    """A module whose names are found when they are used; a module in it never takes the place of a name."""

    def __getattr__(self, name: str) -> object:
        found = exported(*place_of(self.__name__), name)
        # Found once: from then on `__getattr__` is not called for it.
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
        if package not in TABLES or row_of(package, module) is None:
            return None
        loader: Any = TableLoader()
        return ModuleSpec(name, loader, is_package=True)


def install() -> None:
    """Let the modules of the tables be found."""
    if not any(isinstance(finder, TableFinder) for finder in sys.meta_path):
        finder: Any = TableFinder()
        sys.meta_path.insert(0, finder)  # before that of paths: a folder of an earlier version would be a package
