"""Checks of a whole server; only a server without errors may be emitted.

A pass reads only the IR, changes nothing, and does not depend on other passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mcpc.diagnostics import has_errors, in_order
from mcpc.model.ir import CheckedServer, Server
from mcpc.passes.apps import check_apps
from mcpc.passes.bash_booleans import check_bash_booleans
from mcpc.passes.capabilities import check_capabilities
from mcpc.passes.client_limits import check_client_limits
from mcpc.passes.completions import check_completions
from mcpc.passes.descriptions import check_descriptions
from mcpc.passes.environment import check_environment
from mcpc.passes.examples import check_examples
from mcpc.passes.handlers import check_handlers
from mcpc.passes.headers import check_headers
from mcpc.passes.hidden_characters import check_hidden_characters
from mcpc.passes.models import check_models
from mcpc.passes.modules import check_modules
from mcpc.passes.names import check_names
from mcpc.passes.platforms import check_platforms
from mcpc.passes.requires import check_requirements
from mcpc.passes.resources import check_uris
from mcpc.passes.running import check_handler_options
from mcpc.passes.schemas import check_schemas
from mcpc.passes.toolsets import check_toolsets
from mcpc.passes.unused import check_unused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.diagnostics import Diagnostic, Diagnostics

__all__ = ["PASSES", "Pass", "check_server"]

Pass = Callable[[Server], "Diagnostics"]

PASSES: tuple[Pass, ...] = (
    check_names,
    check_uris,
    check_completions,
    check_descriptions,
    check_schemas,
    check_client_limits,
    check_headers,
    check_examples,
    check_handlers,
    check_environment,
    check_modules,
    check_unused,
    check_capabilities,
    check_hidden_characters,
    check_models,
    check_handler_options,
    check_requirements,
    check_bash_booleans,
    check_platforms,
    check_apps,
    check_toolsets,
)


def check_server(
    server: Server, *, found: Iterable[Diagnostic] = (), passes: Iterable[Pass] = PASSES
) -> tuple[CheckedServer | None, Diagnostics]:
    """Return all problems of `server`, including those `found` before, and the checked server if none is an error."""
    problems = in_order((*found, *(problem for ask in passes for problem in ask(server))))
    return None if has_errors(problems) else CheckedServer(server), problems
