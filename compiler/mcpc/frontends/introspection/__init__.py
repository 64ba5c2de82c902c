"""Definitions by Python functions: found in the source, and described by importing it in a separate process.

    Source ─find_decorated─▶ DecoratedFile ─describe_files─▶ FileDescription, one a file

Only `describe_files` runs project code, and only files in which `find_decorated` found a decorator.
"""

from mcpc.frontends.introspection.decorators import find_decorated, server_names
from mcpc.frontends.introspection.model import DecoratedFile, Decorator, ServerObject
from mcpc.frontends.introspection.name_resolution import KEYWORD_KINDS, KINDS
from mcpc.frontends.introspection.process import (
    FileDescription,
    ImportFailure,
    ImportResults,
    build_inputs,
    describe_files,
)

__all__ = [
    "KEYWORD_KINDS",
    "KINDS",
    "DecoratedFile",
    "Decorator",
    "FileDescription",
    "ImportFailure",
    "ImportResults",
    "ServerObject",
    "build_inputs",
    "describe_files",
    "find_decorated",
    "server_names",
]
