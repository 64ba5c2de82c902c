"""Diagnostics of failed installations, at the requirement that a failure names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from packaging.requirements import Requirement

from mcpc.diagnostics import diagnose
from mcpc.packages.installed_files import UnfitPackageError
from mcpc.packages.sdists import BuildError
from mcpc.packages.uv_failures import InstallError, NoWheelError
from mcpc.sandbox.cache_dir import cache_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.model.ir.layer import RequestedPackage
    from mcpc.packages.platforms import Target

HOW_TO_ALLOW = "`--allow-sdist`, or `allow-sdist = true` in `[tool.mcpc]`, builds one: that runs its code, confined"
HOW_TO_BUILD = "name a version that has a wheel, or put a wheel of it into the project (`NAME @ ./NAME.whl`)"
HOW_TO_REQUIRE = "a package needs an exact version and a wheel for the platform to be bundled"
HOW_TO_OFFLINE = "put wheels of it and of what it needs into a folder, and name that with `--find-links`"


def installation_failure(problem: Exception, wanted: Sequence[RequestedPackage], goal: Target) -> Diagnostic:
    """Return the diagnostic of a failure, at the requirement that its message names."""
    words = str(problem)
    if isinstance(problem, UnfitPackageError):
        return diagnose("MCP407", span_of_package(words, wanted), words, "", "name another version of it")
    if isinstance(problem, OSError):
        message = f"packages cannot be cached in `{cache_folder()}`: {problem.strerror or problem}"
        return diagnose("MCP405", None, message, "", "set MCPC_CACHE_DIR to a writable folder")
    if isinstance(problem, NoWheelError):
        span = span_of_package(f"{words} {problem.by}", wanted)
        return diagnose("MCP417", span, problem.describe(goal), "", HOW_TO_ALLOW)
    if isinstance(problem, BuildError):
        message = f"`{problem.name}` could not be built: {words}"
        return diagnose("MCP418", span_of_package(problem.name, wanted), message, "", HOW_TO_BUILD)
    message = f"the packages for {goal.name} cannot be installed: {words}"
    span = _span_of_address(problem, wanted) or span_of_package(words, wanted)
    if any(item.origins.offline for item in wanted):
        return diagnose("MCP423", span, message, "", HOW_TO_OFFLINE)
    hint = problem.hint if isinstance(problem, InstallError) else ""
    return diagnose("MCP405", span, message, "", hint or HOW_TO_REQUIRE)


def _span_of_address(problem: Exception, wanted: Sequence[RequestedPackage]) -> Span | None:
    """Return the place of the requirement whose address uv could not read."""
    said = problem.said if isinstance(problem, InstallError) else ""
    addresses = ((urldefrag(Requirement(item.text).url or "").url, item.span) for item in wanted)
    return next((span for address, span in addresses if address and address in said), None)


def span_of_package(words: str, wanted: Sequence[RequestedPackage]) -> Span | None:
    """Return the place of the requirement that a message names, else of the first one."""
    named = [item.span for item in wanted if re.search(rf"\b{re.escape(item.name)}\b", with_normalised_names(words))]
    return next((span for span in (*named, *(item.span for item in wanted)) if span is not None), None)


def with_normalised_names(words: str) -> str:
    """Return a text with normalised package names."""
    return re.sub(r"[-_.]+", "-", words).lower()
