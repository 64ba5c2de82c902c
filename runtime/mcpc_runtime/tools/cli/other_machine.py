"""Refusal to start where no bundled machine code fits this machine and this Python.

Where another Python of this machine fits, the file says how uv starts it with that; a setting lets the file do so.
"""

from __future__ import annotations

import sys
from shlex import join

from mcpc_runtime.artifact.wheel_tags import describe_platform, fits, has_lzma
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.tools.cli.artifact_info import build_info
from mcpc_runtime.tools.cli.printing import NOT_RUNNABLE
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.program_search import find_program

MINORS = range(11, 15)
"""Pythons 3.x to start with instead."""
CONSENT, STARTED = b"MCPC_USE_UV", b"MCPC_STARTED_BY_UV"
"""A variable by which the file starts itself with a Python that uv finds or installs, and its mark that it has."""


def refuse_machine(image: Image, archive: str, arguments: list[str]) -> int:
    """Say on standard error that the file does not run here, and return the exit status; or start it with uv."""
    targets = (*image.index["natives"], *image.index["compressed"])
    lacks = ", which lacks the module lzma" if fits(targets) and not has_lzma() else ""
    minors = [minor for minor in MINORS if fits(targets, f"cp3{minor}")]
    pythons = f">=3.{minors[0]},<3.{minors[-1] + 1}" if minors else ""
    words = ["uv", "run", "--no-project", "--quiet", "--python", pythons, "python", "-I", archive]
    uv = find_program("uv", system.environ) if minors and hasattr(system, "execve") else ""
    if uv and system.environ.get(CONSENT) == b"1" and STARTED not in system.environ:
        system.execve(uv, [*words, *arguments], {**system.environ, STARTED: b"1"})
    advice = f"; `{join(words)}` starts it, as it does itself with MCPC_USE_UV=1" if uv else ""
    build = build_info(image)
    sys.stderr.write(f"{build['name']} runs on {build['runsOn']}; this is {describe_platform()}{lacks}{advice}\n")
    return NOT_RUNNABLE
