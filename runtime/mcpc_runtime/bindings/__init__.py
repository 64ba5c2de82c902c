"""How a Python function that wants more than plain keywords is given its arguments; a row's module is imported with it.

Each row is `call(function, arguments, more, *parameters) -> result`: it makes of the arguments, which the compiled
validator has accepted, what the function takes, and calls it; `more` are keywords that are no arguments (the context).
"""

from __future__ import annotations


class ArgumentError(ValueError):
    """An argument that its schema admits and its type does not (a `date-time` that is none): the caller's to mend."""


BINDINGS = {
    "hints": "mcpc_runtime.bindings.hints:call",
    "models": "mcpc_runtime.bindings.models:call",
    "named": "mcpc_runtime.bindings.named:call",
    "toolbox": "mcpc_runtime.bindings.toolbox:call",
}
