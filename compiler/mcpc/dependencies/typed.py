"""pydantic, which a server carries because a handler asks for its arguments as a model.

What nobody named comes at the very versions that lie beside the compiler, so that models are what they were generated
and tried with, on every platform.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.dependencies.closure import closure
from mcpc.dependencies.model import Requirement
from mcpc.dependencies.staging import installed
from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.dependencies.model import Staged
    from mcpc.diagnostics import Diagnostic, Diagnostics

PYDANTIC, MAJOR = "pydantic", "2"


def with_pydantic(wanted: Sequence[Requirement]) -> tuple[tuple[Requirement, ...], Diagnostics]:
    """Return what is wanted, and pydantic with all that it needs."""
    asked = {one.name for one in wanted}
    if PYDANTIC in asked:
        return tuple(wanted), ()
    hashed = next((one for one in wanted if one.hashes), None)
    if hashed is not None:
        message = "a handler asks for a model, and what is listed with hashes does not list `pydantic`"
        return tuple(wanted), (diagnose("MCP403", hashed.span, message, "", "add `pydantic`, with its hashes"),)
    found = closure((PYDANTIC,), installed, {}).found
    pins = (Requirement(name, f"{name}=={found[name].version}") for name in sorted(found) if name not in asked)
    return (*wanted, *pins), ()


def misfits(staged: Sequence[Staged], wanted: Sequence[Requirement]) -> Diagnostics:
    """Return the problem of a project that has another pydantic than models are made for."""
    versions = sorted({one.version for stage in staged for one in stage.distributions if one.name == PYDANTIC})
    wrong = [version for version in versions if version.partition(".")[0] != MAJOR]
    return tuple(_misfit(version, wanted) for version in wrong)


def _misfit(version: str, wanted: Sequence[Requirement]) -> Diagnostic:
    span = next((one.span for one in wanted if one.name == PYDANTIC), None)
    message = f"a handler asks for a model, which pydantic {version} does not make"
    return diagnose("MCP403", span, message, f"pydantic {MAJOR}")
