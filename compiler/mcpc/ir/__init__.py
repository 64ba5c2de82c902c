"""The typed intermediate representation: complete, every default applied, every handler bound."""

from mcpc.ir.layer import Layer, Package
from mcpc.ir.nodes import (
    BashFunction,
    CheckedServer,
    Environment,
    Executable,
    Handler,
    HandlerFile,
    Parameter,
    Prompt,
    PromptArgument,
    PythonFunction,
    Requirement,
    Running,
    Schema,
    Server,
    Tool,
)

__all__ = [
    "BashFunction",
    "CheckedServer",
    "Environment",
    "Executable",
    "Handler",
    "HandlerFile",
    "Layer",
    "Package",
    "Parameter",
    "Prompt",
    "PromptArgument",
    "PythonFunction",
    "Requirement",
    "Running",
    "Schema",
    "Server",
    "Tool",
]
