"""How a handler's source file is read: one row a language, a function from a file to its functions and its mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.languages.bash import read as read_bash
from mcpc.languages.module import Annotation, Function, Module
from mcpc.languages.python import MODELS_LINE, imports, is_models_file, loads, mentions
from mcpc.languages.python import read as read_python

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.diagnostics import Diagnostics
    from mcpc.sources import Source

LANGUAGES: dict[str, Callable[[Source], tuple[Module, Diagnostics]]] = {
    "bash": read_bash,
    "python": read_python,
}

__all__ = [
    "LANGUAGES",
    "MODELS_LINE",
    "Annotation",
    "Function",
    "Module",
    "imports",
    "is_models_file",
    "loads",
    "mentions",
]
