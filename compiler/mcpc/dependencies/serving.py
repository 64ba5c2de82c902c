"""What the server itself carries to serve over HTTP and to speak with others: packages at the versions mcpc names.

For `http` the versions are those that lie beside the compiler, which its metadata gives a range for; for all else they
are those of its extras, so they lie beside the compiler, or pip is held to them.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata
from typing import TYPE_CHECKING

from packaging.requirements import Requirement as Pin

from mcpc import DISTRIBUTION
from mcpc.dependencies.layer import IN_ARCHIVES, layer, taken_apart
from mcpc.dependencies.model import Requirement
from mcpc.dependencies.spelling import normalised
from mcpc.dependencies.staging import stage
from mcpc.dependencies.tree import UnfitError
from mcpc.diagnostics import diagnose, has_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.dependencies.model import Staged
    from mcpc.diagnostics import Diagnostics
    from mcpc.ir import Server
    from mcpc.options import Options

HTTP = ("h11", "uvicorn")
LEFT_OUT = frozenset({"click"})
"""What only the command line of a package imports: its server runs without (see `mcpc_runtime.http.embedded.parts`)."""
REINSTALL = "install mcpc from its wheel, or again from its sources, so that its metadata says what it needs"


def served(server: Server, options: Options) -> tuple[Server, Diagnostics]:
    """Return the server with what the options have it carry for itself."""
    wanted = tuple(Requirement(normalised(one.name), pinned(one)) for one in pins(options.serving))
    absent = [name for name in options.serving if not any(True for _ in pins((name,)))]
    if absent:
        return server, (diagnose("MCP405", None, f"mcpc does not say what `--{absent[0]}` needs", "", REINSTALL),)
    staged: list[Staged] = []
    problems: Diagnostics = ()
    for platform in dict.fromkeys(options.platforms or ("",)):
        found, more = stage(wanted, platform, "")
        problems += more
        staged += [without(found)] if found is not None else []
    if has_errors(problems):
        return server, problems
    try:
        parts = taken_apart(staged, ())
    except UnfitError as problem:
        return server, (*problems, diagnose("MCP407", None, str(problem), "", IN_ARCHIVES))
    return replace(server, serving=layer(parts, staged, frozenset())), problems


def pins(chosen: Iterable[str]) -> Iterator[Pin]:
    """Yield what mcpc's metadata names for each choice, with its version."""
    named = [Pin(text) for text in metadata.requires(DISTRIBUTION) or ()]
    for choice in chosen:
        for one in named:
            if normalised(one.name) in HTTP if choice == "http" else _is_of(one, choice):
                yield one


def pinned(one: Pin) -> str:
    """Return a requirement with one version: its own, or that of what lies beside the compiler."""
    is_exact = any(specifier.operator == "==" for specifier in one.specifier)
    return f"{one.name}{one.specifier}" if is_exact else f"{one.name}=={metadata.version(one.name)}"


def _is_of(one: Pin, extra: str) -> bool:
    """Tell whether a requirement is there only for an extra."""
    marker = one.marker
    return marker is not None and marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""})


def without(staged: Staged) -> Staged:
    """Return what was staged less what is not imported."""
    return replace(staged, distributions=tuple(one for one in staged.distributions if one.name not in LEFT_OUT))
