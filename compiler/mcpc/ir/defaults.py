"""Default options of a handler."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.ir.handlers import BashFunction, Environment, HandlerOptions

if TYPE_CHECKING:
    from mcpc.ir.handlers import Handler

DEFAULT = HandlerOptions()


def default_options(handler: Handler) -> HandlerOptions:
    """Return the options of a handler for which nothing is set."""
    inherits = isinstance(handler, BashFunction) and handler.inherits
    return replace(DEFAULT, environment=Environment(inherit=inherits))
