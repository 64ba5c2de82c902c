"""Requirements as PEP 508 spells them: a text to a Requirement, or to the reason why it is none that can be carried."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Parsed
from packaging.utils import canonicalize_name

from mcpc.dependencies.model import Requirement
from mcpc.diagnostics import Diagnostic, diagnose

if TYPE_CHECKING:
    from mcpc.diagnostics import Span

ELSEWHERE = re.compile(r"\S+://|git@|file:|\.{0,2}/|\.{1,2}$|\S+\.(?:whl|zip|tar\.\w+)$", re.IGNORECASE)
"""How an address, a path or a file begins that pip would take in the place of a requirement."""
FROM_REGISTRY = "name a package and its version: what lies elsewhere may be something else at the next build"


def requirement(text: str, span: Span, hashes: tuple[str, ...] = ()) -> Requirement | Diagnostic:
    """Return the requirement that `text` spells."""
    if ELSEWHERE.match(text):
        return elsewhere(text, span)
    try:
        parsed = Parsed(text)
    except InvalidRequirement as problem:
        reason = str(problem).partition("\n")[0]
        expected = "a name and a version, as `pydantic==2.12.5`"
        return diagnose("MCP401", span, f"`{text}` is not a requirement: {reason}", expected)
    if parsed.url:
        return elsewhere(text, span)
    return Requirement(normalised(parsed.name), str(parsed), span, hashes)


def elsewhere(text: str, span: Span) -> Diagnostic:
    """Return the refusal of what does not come from a registry."""
    return diagnose("MCP402", span, f"`{text}` is not taken by its name from a registry", "", FROM_REGISTRY)


def normalised(name: str) -> str:
    """Return a package's name as every registry spells it."""
    return canonicalize_name(name)


def pinned_version(text: str) -> str:
    """Return the one version that a requirement admits, or nothing if it may admit several."""
    exact = [one for one in Parsed(text).specifier if one.operator in ("==", "===") and not one.version.endswith(".*")]
    return exact[0].version if exact else ""
