"""Bindings: how Python functions that need more than plain keywords are called.

Each row names `call(function, arguments, more, *parameters) -> result`: it converts the arguments, which the compiled
validator has accepted, to what the function takes, and calls it; `more`: keywords in addition to the arguments (the
context).  A row's module is imported when it is first used.
"""

from __future__ import annotations


class ArgumentError(ValueError):
    """An argument that its schema accepts and its type does not (an invalid `date-time`): an error of the caller."""


BINDINGS = {
    "hints": "mcpc_runtime.handlers.python.bindings.hints:call_with_hints",
    "models": "mcpc_runtime.handlers.python.bindings.models:call_with_model",
    "named": "mcpc_runtime.handlers.python.bindings.named:call_by_names",
    "toolbox": "mcpc_runtime.systems.toolbox.python_binding:call",
}
FUNCTIONS = {
    "call_tool_handler": "mcpc_runtime.systems.toolbox.python_binding:call_tool_handler",
}
"""The functions of bindings that handlers import from `mcpc`."""
MAIN_THREAD = {
    "fastmcp": "mcpc_runtime.systems.fastmcp.calls:run_in_main_thread",
}
"""The function of a binding that has the worker's main thread, and does not return."""
BEFORE_EXIT = {
    "fastmcp": "mcpc_runtime.systems.fastmcp.calls:leave",
    "fastmcp_original": "mcpc_runtime.systems.fastmcp.original.calls:leave",
    "toolbox": "mcpc_runtime.systems.toolbox.python_binding:destroy",
}
"""The function of a binding that a worker calls before it ends."""
