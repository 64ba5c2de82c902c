"""Checks the arguments and results of tools of a low-level server by `jsonschema`, if the project has it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mcpc_runtime.systems.fastmcp.generation import selected

FIRST_THAT_CHECKS = (1, 10)
"""The first version of the SDK that checks them."""


def checks_tools() -> bool:
    """Tell whether the selected SDK checks arguments and results."""
    return selected().family != "sdk" or selected().at_least(*FIRST_THAT_CHECKS)


def schema_problem(value: Any, schema: dict[str, Any]) -> str | None:
    """Return what is wrong with a value, None if it is valid, or if the built server alone checks it."""
    try:
        jsonschema = import_module("jsonschema")
    except ImportError:
        return None
    try:
        jsonschema.validate(instance=value, schema=schema)
    except jsonschema.ValidationError as problem:
        return str(problem.message)
    return None
