"""Contents of a handler's source file: its functions, where they are, and how they may be called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Span
    from mcpc.model.ir import FunctionParameter


@dataclass(frozen=True, slots=True)
class Annotation:
    """The type of a parameter, or of the result under the name `return`, if it is a name.

    `origin`: the module the name is imported from, `.` if it is defined in the file, empty if it is undefined.
    """

    parameter: str
    name: str
    origin: str
    span: Span


@dataclass(frozen=True, slots=True)
class Function:
    """One function.  `parameters` and `accepts_any` (`**kwargs`) only where the language has signatures.

    `context`: the parameter for the call's context, if one is annotated so.
    """

    name: str
    span: Span
    exported: bool = False
    is_async: bool = False
    parameters: tuple[FunctionParameter, ...] = ()
    accepts_any: bool = False
    annotations: tuple[Annotation, ...] = ()
    context: str = ""


@dataclass(frozen=True, slots=True)
class HandlerModule:
    """The functions of one file by name; a later definition replaces an earlier one, as when the file runs.

    `asks_place`: it reads its own path, to find files beside it.
    """

    functions: Mapping[str, Function]
    asks_place: bool = False
