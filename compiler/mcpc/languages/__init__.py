"""Readers of handlers' source files: one row a language, a function from a file to its functions and its mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.languages.bash.library import read_library as read_bash
from mcpc.languages.module import Annotation, Function, HandlerModule
from mcpc.languages.python import MODELS_LINE, imports, is_models_file, loads, mentions
from mcpc.languages.python import read as read_python

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.diagnostics import Diagnostics
    from mcpc.reading import Source

LANGUAGES: dict[str, Callable[[Source], tuple[HandlerModule, Diagnostics]]] = {
    "bash": read_bash,
    "python": read_python,
}

__all__ = [
    "LANGUAGES",
    "MODELS_LINE",
    "Annotation",
    "Function",
    "HandlerModule",
    "imports",
    "is_models_file",
    "loads",
    "mentions",
]
