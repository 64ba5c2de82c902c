"""How a Python function that wants more than plain keywords is given its arguments; a row's module is imported with it.

Each row is `call(function, arguments, more, *parameters) -> result`: it makes of the arguments, which the compiled
validator has accepted, what the function takes, and calls it; `more` are keywords that are no arguments (the context).
"""

from __future__ import annotations


class ArgumentError(ValueError):
    """An argument that its schema admits and its type does not (a `date-time` that is none): the caller's to mend."""


BINDINGS = {
    "hints": "mcpc_runtime.handlers.python.bindings.hints:call",
    "models": "mcpc_runtime.handlers.python.bindings.models:call",
    "named": "mcpc_runtime.handlers.python.bindings.named:call",
    "toolbox": "mcpc_runtime.systems.toolbox.python_binding:call",
}
CALL_TOOL = {
    "toolbox": "mcpc_runtime.systems.toolbox.python_binding:call_tool_handler",
}
"""What calls another tool for a function with this binding: `call(request, caller) -> result`."""
BEFORE_EXIT = {
    "toolbox": "mcpc_runtime.systems.toolbox.python_binding:destroy",
}
"""What a worker calls before it ends, for functions with this binding."""
