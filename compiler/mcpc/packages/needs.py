"""Requirements of the server itself: the files of its Python handlers, and whether any of them uses models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.model.ir import PythonFunction

if TYPE_CHECKING:
    from mcpc.model.ir import Server
    from mcpc.reading import Source

MODELS = "models"
"""The row of `mcpc_runtime.handlers.python.bindings.BINDINGS` that makes models of a call's arguments."""


def python_handlers(server: Server) -> list[PythonFunction]:
    """Return the handlers that are Python functions."""
    handlers = [definition.handler for definition in server.definitions]
    return [handler for handler in handlers if isinstance(handler, PythonFunction)]


def handler_files(server: Server) -> tuple[Source, ...]:
    """Return the files of the Python handlers, in the order of their paths."""
    used = {handler.file for handler in python_handlers(server)}
    return tuple(file.source for file in server.files if file.source.path in used)


def needs_models(server: Server) -> bool:
    """Tell whether the project's code uses a model, or a handler's arguments are one; models need pydantic."""
    return bool(server.models) or any(handler.binding[:1] == (MODELS,) for handler in python_handlers(server))
