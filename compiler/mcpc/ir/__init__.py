"""The typed intermediate representation: complete, every default applied, every handler bound."""

from mcpc.ir.nodes import (
    BashFunction,
    CheckedServer,
    Handler,
    HandlerFile,
    Parameter,
    Prompt,
    PromptArgument,
    PythonFunction,
    Remotes,
    Schema,
    Server,
    Tool,
)

__all__ = [
    "BashFunction",
    "CheckedServer",
    "Handler",
    "HandlerFile",
    "Parameter",
    "Prompt",
    "PromptArgument",
    "PythonFunction",
    "Remotes",
    "Schema",
    "Server",
    "Tool",
]
