"""Ask whether the programs that handlers need are declared, and on this machine.

A missing one is a warning: the server may be built for another machine.  So is one that a Bash library calls and no
definition declares.  Nothing is started to learn more, for a
definition must not make the compiler run a program.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.languages.bash_programs import undeclared_programs

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.ir import Server


def requires(server: Server) -> Diagnostics:
    """Report each requirement of a program that is not here."""
    wanted = [one for each in server.definitions for one in each.running.requires]
    here = {command: shutil.which(command) is not None for command in {one.command for one in wanted}}
    missing = tuple(
        diagnose("MCP241", one.span, f"`{one.command}` is not on PATH here", "", "it has to be where the server runs")
        for one in dict.fromkeys(wanted)
        if not here[one.command]
    )
    return (*missing, *(_undeclared(name, span) for name, span in undeclared_programs(server).items()))


def _undeclared(name: str, span: Span) -> Diagnostic:
    message = f"no definition declares the program `{name}`, which is not on every machine"
    hint = (
        f'say `"requires": ["{name}"]` in `"_meta": {{"mcpc/handlers": {{…}}}}` of `server.json`, or in'
        f' `"_meta": {{"mcpc/handler": {{…}}}}` of what needs it; `command -v {name}` says that it may be missing'
    )
    return diagnose("MCP247", span, message, "", hint)
