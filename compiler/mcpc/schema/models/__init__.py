"""Pydantic models of tools' arguments and results, generated from their schemas: not for validation.

    Schema ─view─▶ ModelSchema ─structures─▶ datamodel-code-generator ─ast_allowlist─▶ templates
                       └───────────────────── values, as literals ───────────────────────┴─▶ class, in a module a tool

The compiled validator decides first; a handler with a model receives it built from accepted arguments.  A server
without models has no cost: the generator is imported for the first structure that is not cached.
"""

from mcpc.schema.models.build_models import (
    Model,
    ModelRequest,
    all_tools_module,
    build_models,
    class_prefixes,
    digest_line,
    model_requests,
    tool_module,
    tool_names,
)
from mcpc.schema.models.names import INPUT, OUTPUT, owning_tool, tool_classes

__all__ = [
    "INPUT",
    "OUTPUT",
    "Model",
    "ModelRequest",
    "all_tools_module",
    "build_models",
    "class_prefixes",
    "digest_line",
    "model_requests",
    "owning_tool",
    "tool_classes",
    "tool_module",
    "tool_names",
]
