"""Handlers in Python."""

from models import ModelInput, ModelOutput

import pkg.text
from mcpc import Context


def model(args: ModelInput) -> ModelOutput:
    return ModelOutput(text=pkg.text.upper(args.city))


def tool_class(x: float = 0, context: Context | None = None) -> str:
    return str(x)
