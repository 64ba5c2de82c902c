"""Ask whether the programs that handlers need are on this machine.

A missing one is a warning: the server may be built for another machine.  Nothing is started to learn more, for a
definition must not make the compiler run a program.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostics
    from mcpc.ir import Server


def requires(server: Server) -> Diagnostics:
    """Report each requirement of a program that is not here."""
    wanted = [one for each in server.definitions for one in each.running.requires]
    here = {command: shutil.which(command) is not None for command in {one.command for one in wanted}}
    return tuple(
        diagnose("MCP241", one.span, f"`{one.command}` is not on PATH here", "", "it has to be where the server runs")
        for one in dict.fromkeys(wanted)
        if not here[one.command]
    )
