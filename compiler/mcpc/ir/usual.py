"""How a handler is run of which a project says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.ir.nodes import BashFunction, Environment, Running

if TYPE_CHECKING:
    from mcpc.ir.nodes import Handler

USUAL = Running()
INHERITING = frozenset({"mcbox"})
"""The contracts whose handlers have always found the server's whole environment."""


def usual_environment(handler: Handler) -> Environment:
    """Return what a handler finds of the environment if nobody says."""
    return Environment(inherit=isinstance(handler, BashFunction) and handler.contract in INHERITING)
