"""Pydantic models of what tools take and return, generated from their schemas: for types and comfort, never the gate.

    Schema ─view─▶ View ─structures─▶ datamodel-code-generator ─vetting─▶ templates
                    └────────────────── values, as literals ───────────────┴─▶ Class, in a module a tool

The compiled validator decides first; a handler that asks for a model gets it made of arguments that were accepted.  A
server that asks for none costs none: the generator is imported by the first structure that was never seen before.
"""

from mcpc.models.making import Model, Wanted, bases, every_tool, made, wanted
from mcpc.models.names import INPUT, OUTPUT, owner, tool_classes
from mcpc.models.text import summary, tool_module, whole_module

__all__ = [
    "INPUT",
    "OUTPUT",
    "Model",
    "Wanted",
    "bases",
    "every_tool",
    "made",
    "owner",
    "summary",
    "tool_classes",
    "tool_module",
    "wanted",
    "whole_module",
]
