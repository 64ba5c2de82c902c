"""ToolBox's tool that rebuilds a project: its name, and its answer.

A built server cannot rebuild itself: there, the tool returns an error.  `mcpc dev` returns the answer of the original.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcpc.frontends.frontend import BuildOutcome

RELOAD = "buildReload_tool"


def reload_answer(outcome: BuildOutcome) -> str:
    """Return the result of a build in the form of ToolBox's tool."""
    if outcome.succeeded:
        build = {"success": True, "output": outcome.output, "directory": str(outcome.folder)}
        value: dict[str, Any] = {"build": build, "reload": {"success": True, "tools": outcome.tools}}
    else:
        told = {"stack": "", "directory": str(outcome.folder), "system": sys.platform, "exitCode": outcome.status}
        details = {"message": "the project cannot be built", **told, "stdout": "", "stderr": outcome.output}
        value = {"error": "BuildReload_FAILED", "details": details}
    return json.dumps(value, indent=2, ensure_ascii=False)
