"""Questions asked of a whole server; only one that answers all of them without an error may be emitted.

A pass sees the representation and nothing else, changes nothing, and depends on no other pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mcpc.diagnostics import has_errors, in_order
from mcpc.ir import CheckedServer, Server
from mcpc.passes.allowed import allowed
from mcpc.passes.apps import apps
from mcpc.passes.capabilities import capabilities
from mcpc.passes.completions import completions
from mcpc.passes.descriptions import descriptions
from mcpc.passes.environment import environment
from mcpc.passes.examples import examples
from mcpc.passes.handlers import handlers
from mcpc.passes.headers import headers
from mcpc.passes.models import models
from mcpc.passes.modules import modules
from mcpc.passes.names import names
from mcpc.passes.requires import requires
from mcpc.passes.resources import resources
from mcpc.passes.running import running
from mcpc.passes.schemas import schemas
from mcpc.passes.secrets import secrets
from mcpc.passes.text import texts
from mcpc.passes.unused import unused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.diagnostics import Diagnostic, Diagnostics

__all__ = ["PASSES", "Pass", "check"]

Pass = Callable[[Server], "Diagnostics"]

PASSES: tuple[Pass, ...] = (
    names,
    resources,
    completions,
    descriptions,
    schemas,
    headers,
    examples,
    handlers,
    environment,
    modules,
    unused,
    capabilities,
    texts,
    models,
    running,
    requires,
    apps,
    allowed,
    secrets,
)


def check(server: Server, *, found: Iterable[Diagnostic] = ()) -> tuple[CheckedServer | None, Diagnostics]:
    """Return every problem of `server`, those `found` before among them, and the checked server if none is an error."""
    problems = in_order((*found, *(problem for ask in PASSES for problem in ask(server))))
    return None if has_errors(problems) else CheckedServer(server), problems
