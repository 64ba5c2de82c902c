"""What a handler's source file offers: its functions, where they are, and how they may be called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Span
    from mcpc.ir import Parameter


@dataclass(frozen=True, slots=True)
class Annotation:
    """The type of a parameter, or of the result under the name `return`, where it is a name.

    `origin`: the module the name is imported from, `.` if it is bound in the file itself, nothing if it is not bound.
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
    parameters: tuple[Parameter, ...] = ()
    accepts_any: bool = False
    annotations: tuple[Annotation, ...] = ()
    context: str = ""


@dataclass(frozen=True, slots=True)
class Module:
    """The functions of one file by name; of two with one name the later counts, as when the file runs.

    `asks_place`: it asks where it lies, to find files beside it.
    """

    functions: Mapping[str, Function]
    asks_place: bool = False
