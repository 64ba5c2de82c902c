"""Parser of requirements in PEP 508 form; one that cannot be bundled is refused with a reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Parsed
from packaging.utils import canonicalize_name

from mcpc.dependencies.model import RequestedPackage
from mcpc.diagnostics import Diagnostic, diagnose

if TYPE_CHECKING:
    from mcpc.diagnostics import Span

NOT_A_NAME = re.compile(r"\S+://|git@|file:|\.{0,2}/|\.{1,2}$|\S+\.(?:whl|zip|tar\.\w+)$", re.IGNORECASE)
"""The beginning of an address, a path or a file that pip would accept in place of a requirement."""
FROM_REGISTRY = "name a package and its version: other sources may change before the next build"


def parse_requirement(text: str, span: Span, hashes: tuple[str, ...] = ()) -> RequestedPackage | Diagnostic:
    """Return the requirement in `text`."""
    if NOT_A_NAME.match(text):
        return not_from_registry(text, span)
    try:
        parsed = Parsed(text)
    except InvalidRequirement as problem:
        reason = str(problem).partition("\n")[0]
        expected = "a name and a version, as `pydantic==2.12.5`"
        return diagnose("MCP401", span, f"`{text}` is not a requirement: {reason}", expected)
    if parsed.url:
        return not_from_registry(text, span)
    return RequestedPackage(normalised_name(parsed.name), str(parsed), span, hashes)


def not_from_registry(text: str, span: Span) -> Diagnostic:
    """Return the refusal of a requirement from outside a registry."""
    return diagnose("MCP402", span, f"`{text}` is not a name in a package registry", "", FROM_REGISTRY)


def normalised_name(name: str) -> str:
    """Return a package's normalised name."""
    return canonicalize_name(name)


def pinned_version(text: str) -> str:
    """Return the only version that a requirement allows, or an empty string if it may allow several."""
    exact = [
        item for item in Parsed(text).specifier if item.operator in ("==", "===") and not item.version.endswith(".*")
    ]
    return exact[0].version if exact else ""
