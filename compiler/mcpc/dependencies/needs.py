"""What the server itself says that it needs: the files of its Python handlers, and whether any wants models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.ir import PythonFunction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.ir import Server
    from mcpc.sources import Source

MODELS = "models"
"""The row of `mcpc_runtime.bindings.BINDINGS` that makes models of a call's arguments."""


def python_handlers(server: Server) -> Iterator[PythonFunction]:
    """Yield the handlers that are Python functions."""
    for one in server.definitions:
        if isinstance(one.handler, PythonFunction):
            yield one.handler


def scripts(server: Server) -> tuple[Source, ...]:
    """Return the files of the Python handlers, in the order of their paths."""
    used = {handler.file for handler in python_handlers(server)}
    return tuple(file.source for file in server.files if file.source.path in used)


def needs_models(server: Server) -> bool:
    """Tell whether the project's code mentions a model, or a handler asks for one; models are pydantic's."""
    return bool(server.models) or any(handler.binding[:1] == (MODELS,) for handler in python_handlers(server))
