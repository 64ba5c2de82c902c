"""Program that asks a build backend (PEP 517) for a wheel: run as a script, confined, with the backend on its path.

The command line: a folder of sources, the folder for the wheel, and what to answer, `requires` or `wheel`.  The answer
is one line of JSON on descriptor 3: what the backend requires besides, or the name of the wheel.  It needs the standard
library only.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from importlib import import_module
from pathlib import Path

REPLIES = 3
LEGACY = "setuptools.build_meta:__legacy__"


def main(sources: str, target: str, asked: str) -> None:
    """Answer what was asked for."""
    os.chdir(sources)
    path = Path("pyproject.toml")
    table = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    system = table.get("build-system", {})
    module, _, name = str(system.get("build-backend", LEGACY)).partition(":")
    sys.path[:0] = [str(Path(sources, folder)) for folder in system.get("backend-path", ())]
    backend: object = import_module(module)
    for part in filter(None, name.split(".")):
        backend = getattr(backend, part)
    if asked == "requires":
        hook = getattr(backend, "get_requires_for_build_wheel", None)
        answer = [] if hook is None else list(hook(None))
    else:
        answer = backend.build_wheel(target)  # type: ignore[attr-defined]
    os.write(REPLIES, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:4])
