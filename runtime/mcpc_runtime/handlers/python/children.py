"""Python processes that handlers start: they find what the worker finds, by a `sitecustomize` in the server's file.

    worker    PYTHONPATH=server.pyz/mcpc_app/children, and MCPC_CHILDREN with what is to be mounted
    child     sitecustomize (CHILDREN) ─▶ mount: the project's modules, bundled packages, stand-ins of its framework

Only a process that is started as `sys.executable` is a child in this sense: other programs that Python runs have their
own environments.  Worker processes are isolated (`-I`, `-S`), which `multiprocessing` would pass on to its children.  A
child that a handler starts with `-I` stays isolated.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from mcpc_runtime.handlers.python.execution import activate_packages

CHILDREN, VARIABLE = "mcpc_app/children", "MCPC_CHILDREN"
SITES = ("site-packages", "dist-packages")
"""What the folders of packages are called that do not belong to a server."""
UTILITIES, FLAGS = "multiprocessing.util", "_args_from_interpreter_flags"
ISOLATION = ("-I", "-S")


def prepare_children(archive: str, folder: str, paths: Sequence[str] = ("",), framework: Sequence[str] = ()) -> None:
    """Let children of this process find the project's modules, and all that the server's file has.

    `folder`, `paths`: where the modules are, the archive if `folder` is empty; `framework`: generation and version.
    """
    generation, version = framework or ("", "")
    places = [f"{folder}/{path}" if path else folder for path in paths] if folder else [f"{archive}/handlers"]
    earlier = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    ours = f"{archive}/{CHILDREN}"
    # An empty entry would mean the current folder.
    os.environ["PYTHONPATH"] = os.pathsep.join([ours, *(path for path in earlier if path not in ("", ours))])
    os.environ[VARIABLE] = "\n".join([sys.executable or "", generation, version, *places])
    if UTILITIES in sys.modules:
        setattr(sys.modules[UTILITIES], FLAGS, plain_flags)
    elif not any(isinstance(finder, UtilitiesFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, UtilitiesFinder())


def mount(archive: str, index: int, generation: str, version: str, *places: str) -> None:
    """Make importable in a child what its parent finds; `index`: where in `sys.path` the project's modules are."""
    sys.path[index:index] = places
    before = len(sys.path)
    activate_packages(archive)
    added = [archive, *sys.path[before:]]
    del sys.path[before:]
    # Bundled packages hide those of the machine, but not the standard library.
    sites = (number for number, path in enumerate(sys.path) if path.endswith(SITES))
    end = next(sites, len(sys.path))
    sys.path[end:end] = added
    if generation:
        __import__("mcpc_runtime.systems.fastmcp.standins", fromlist=["install"]).install(generation, version)


def plain_flags() -> list[str]:
    """Return the options of this interpreter for children of `multiprocessing`, without those that isolate a worker."""
    flags: list[str] = getattr(sys.modules["subprocess"], FLAGS)()
    # `-I` implies `-P`: without it, the child would import from its current folder.
    return ["-P", *(flag for flag in flags if flag not in ISOLATION)]


class UtilitiesFinder:
    """Waits for the module of `multiprocessing` that makes the options of its children."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of that module, whose function is replaced when it has run; None for all others."""
        if name != UTILITIES:
            return None
        # First, since the search below must not come back here; afterwards nothing is waited for.
        sys.meta_path.remove(self)
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path)
        spec = next(filter(None, specs), None)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            loader.exec_module = replacing(loader.exec_module)
        return spec


def replacing(run: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    """Return what runs a module's code, and then replaces the function in the module that was waited for."""

    def exec_module(module: ModuleType) -> None:
        run(module)
        if module.__name__ == UTILITIES:
            setattr(module, FLAGS, plain_flags)

    return exec_module
