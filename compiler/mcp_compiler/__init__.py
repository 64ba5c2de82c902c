"""The command `mcpc`: before anything of the package `mcpc` is imported, make sure that it is this project's.

On PyPI the name `mcpc` belongs to another project, and this one is `mcp-compiler`.  Both have a package `mcpc`: where
both are installed, files of one have replaced files of the other.
"""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path

PLACE = Path(__file__).absolute().parents[1]
"""Where this project's packages lie."""
CANNOT_RUN = 8
REPAIR = (
    "Remove both and install this one, or install it apart with `pipx install mcp-compiler`:\n"
    "    python -m pip uninstall --yes mcpc mcp-compiler\n"
    "    python -m pip install mcp-compiler\n"
)


def main() -> None:
    """Run the command line, unless the package `mcpc` is another project's."""
    problem = other_project()
    if problem:
        sys.stderr.write(f"mcpc: {problem}.\n{REPAIR}")
        sys.exit(CANNOT_RUN)
    importlib.import_module("mcpc.cli").main()


def other_project() -> str:
    """Return how another project's package `mcpc` is in the way, or nothing."""
    spec = find_spec("mcpc")
    origin = Path(spec.origin) if spec is not None and spec.origin else None
    if origin != PLACE / "mcpc" / "__init__.py":
        return f"the package `mcpc` is imported from {origin or 'nowhere'}, which is not part of `mcp-compiler`"
    for metadata in sorted(PLACE.glob("mcpc-*.dist-info")):
        version = metadata.name.removeprefix("mcpc-").removesuffix(".dist-info")
        return (
            f"`mcpc` {version}, another project of PyPI, is installed over `mcp-compiler`: both have a package `mcpc`"
        )
    return ""
