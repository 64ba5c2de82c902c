"""Requirement of pydantic, which is bundled if a handler receives its arguments as a model.

Versions that the project does not name are those installed with the compiler, with which models were generated and
tested, on every platform.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.dependencies.closure import find_closure
from mcpc.dependencies.model import RequestedPackage
from mcpc.dependencies.staging import installed_package
from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.dependencies.model import StagedPackages
    from mcpc.diagnostics import Diagnostic, Diagnostics

PYDANTIC, SUPPORTED_MAJOR = "pydantic", "2"


def with_pydantic(wanted: Sequence[RequestedPackage]) -> tuple[tuple[RequestedPackage, ...], Diagnostics]:
    """Return the requirements, with pydantic and its requirements."""
    asked = {item.name for item in wanted}
    if PYDANTIC in asked:
        return tuple(wanted), ()
    hashed = next((item for item in wanted if item.hashes), None)
    if hashed is not None:
        message = "a handler uses a model, but the requirements with hashes do not contain `pydantic`"
        return tuple(wanted), (diagnose("MCP403", hashed.span, message, "", "add `pydantic`, with its hashes"),)
    found = find_closure((PYDANTIC,), installed_package, {}).found
    pins = (RequestedPackage(name, f"{name}=={found[name].version}") for name in sorted(found) if name not in asked)
    return (*wanted, *pins), ()


def unsupported_versions(staged: Sequence[StagedPackages], wanted: Sequence[RequestedPackage]) -> Diagnostics:
    """Return the problem of a project with another version of pydantic than models are generated for."""
    versions = sorted(
        {
            distribution.version
            for stage in staged
            for distribution in stage.distributions
            if distribution.name == PYDANTIC
        }
    )
    wrong = [version for version in versions if version.partition(".")[0] != SUPPORTED_MAJOR]
    return tuple(_unsupported_version(version, wanted) for version in wrong)


def _unsupported_version(version: str, wanted: Sequence[RequestedPackage]) -> Diagnostic:
    span = next((item.span for item in wanted if item.name == PYDANTIC), None)
    message = f"a handler uses a model, which pydantic {version} does not support"
    return diagnose("MCP403", span, message, f"pydantic {SUPPORTED_MAJOR}")
