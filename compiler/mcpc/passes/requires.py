"""Check that the programs that handlers need are declared, and installed on this machine.

A missing program is a warning, because the server may be built for another machine. So is a program that a Bash library
calls and no definition declares. No program is started, because a definition must not make the compiler run one.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.languages.bash.programs import undeclared_programs

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.model.ir import Server


def check_requirements(server: Server) -> Diagnostics:
    """Report each required program that is not installed."""
    wanted = [item for each in server.definitions for item in each.running.requires]
    here = {command: shutil.which(command) is not None for command in {item.command for item in wanted}}
    missing = tuple(
        diagnose(
            "MCP241", item.span, f"`{item.command}` is not on PATH", "", "it must be installed where the server runs"
        )
        for item in dict.fromkeys(wanted)
        if not here[item.command]
    )
    return (*missing, *(_undeclared(name, span) for name, span in undeclared_programs(server).items()))


def _undeclared(name: str, span: Span) -> Diagnostic:
    message = f"the program `{name}` is not declared, and not installed on every machine"
    hint = (
        f'add `"requires": ["{name}"]` to `"_meta": {{"mcpc/handlers": {{…}}}}` of `server.json`, or in'
        f' `"_meta": {{"mcpc/handler": {{…}}}}` of the definition; a check with `command -v {name}` makes it optional'
    )
    return diagnose("MCP247", span, message, "", hint)
