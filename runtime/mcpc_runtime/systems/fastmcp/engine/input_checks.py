"""Checks of arguments by the schema of their tool, as the SDK did it for earlier versions of FastMCP."""

from __future__ import annotations

from importlib import import_module

from mcpc_runtime.systems.fastmcp.engine import listing
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.errors import ValidationError
from mcpc_runtime.systems.fastmcp.engine.running import plan_of
from mcpc_runtime.systems.fastmcp.engine.tolerated_arguments import is_tolerated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.systems.fastmcp.engine.mounts import Host


async def input_problem(server: Host, name: str, arguments: dict[str, Any]) -> str:
    """Return what is wrong with the arguments of a tool; empty if nothing is, or if the project has no `jsonschema`."""
    if not behaviour().checks_input:
        return ""
    tool = await listing.find(server, "tool", name)
    if tool is None or (tool.function is not None and plan_of(tool).reader.fits(arguments)):
        return ""
    try:
        jsonschema: Any = import_module("jsonschema")
    except ImportError:
        return ""
    try:
        jsonschema.validate(instance=arguments, schema=tool.parameters)
    except jsonschema.ValidationError as problem:
        is_corrected = is_tolerated() and tool.function is not None and can_be_read(tool, arguments)
        return "" if is_corrected else f"Input validation error: {problem.message}"
    return ""


def can_be_read(tool: Any, arguments: dict[str, Any]) -> bool:
    """Tell whether the function of a tool takes the arguments, as they are or corrected."""
    try:
        plan_of(tool).reader.checked(arguments)
    except ValidationError:
        return False
    return True
