"""Checks of a whole server; only a server without errors may be emitted.

A pass reads only the IR, changes nothing, and does not depend on other passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mcpc.diagnostics import has_errors, in_order
from mcpc.model.ir import CheckedServer, Server
from mcpc.passes.clients import check_apps, check_capabilities, check_client_limits, check_headers
from mcpc.passes.handlers import (
    check_bash_booleans,
    check_handler_options,
    check_handlers,
    check_modules,
    check_requests,
)
from mcpc.passes.hidden_characters import check_hidden_characters
from mcpc.passes.machines import check_environment, check_platforms, check_requirements
from mcpc.passes.names import check_completions, check_descriptions, check_names, check_toolsets, check_uris
from mcpc.passes.schemas import check_examples, check_models, check_schemas
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
    check_requests,
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
    server: Server, *, known: Iterable[Diagnostic] = (), passes: Iterable[Pass] = PASSES
) -> tuple[CheckedServer | None, Diagnostics]:
    """Return all problems of `server`, including those `known` before, and the checked server if none is an error."""
    problems = in_order((*known, *(problem for ask in passes for problem in ask(server))))
    return None if has_errors(problems) else CheckedServer(server), problems
