"""Import uvicorn without its command line: `import uvicorn` would import click, which is not bundled."""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType

PACKAGE = "uvicorn"


def prepare() -> ModuleType:
    """Register the package `uvicorn` without running its `__init__`, and return it."""
    loaded = sys.modules.get(PACKAGE)
    if loaded is not None:
        return loaded
    spec = find_spec(PACKAGE)
    if spec is None:
        raise ModuleNotFoundError(PACKAGE)
    package = sys.modules[PACKAGE] = module_from_spec(spec)
    package.Config = __import__("uvicorn.config", fromlist=["Config"]).Config  # type: ignore[attr-defined]
    return package
