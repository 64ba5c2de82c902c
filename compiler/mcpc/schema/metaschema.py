"""Validation of a schema by its draft's metaschema, through the `jsonschema` library.

It takes milliseconds for each schema and a tenth of a second to start, so a build does not use it: `analysis` checks
the same shapes itself, and the tests compare the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonschema import Draft6Validator, Draft7Validator, Draft201909Validator, Draft202012Validator

from mcpc.diagnostics import diagnose, in_order
from mcpc.schema.dialects import DRAFT_06, DRAFT_07, DRAFT_2019_09, DRAFT_2020_12

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jsonschema import ValidationError

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.reading import Node
    from mcpc.schema.dialects import Dialect

VALIDATORS = {
    DRAFT_2020_12: Draft202012Validator(Draft202012Validator.META_SCHEMA),
    DRAFT_2019_09: Draft201909Validator(Draft201909Validator.META_SCHEMA),
    DRAFT_07: Draft7Validator(Draft7Validator.META_SCHEMA),
    DRAFT_06: Draft6Validator(Draft6Validator.META_SCHEMA),
}
SHOWN = 200
"""Maximum length of the value in a message."""


def check_by_metaschema(node: Node, dialect: Dialect = DRAFT_2020_12) -> Diagnostics:
    """Return the metaschema's errors about the schema `node`, each at its value."""
    try:
        return in_order(map(_complaint(node), VALIDATORS[dialect].iter_errors(node.value)))
    except RecursionError:
        return (diagnose("MCP008", node.span, "the schema is nested too deeply to be checked against its metaschema"),)


def _complaint(node: Node) -> Callable[[ValidationError], Diagnostic]:
    def complaint(error: ValidationError) -> Diagnostic:
        message = error.message if len(error.message) <= SHOWN else f"{error.message[:SHOWN]}…"
        return diagnose("MCP110", _at(node, error.absolute_path).span, f"the metaschema refuses this: {message}")

    return complaint


def _at(node: Node, path: Iterable[str | int]) -> Node:
    """Return the node at `path`, or its last existing ancestor."""
    for step in path:
        inner = node.items[step] if isinstance(step, int) and step < len(node.items) else node.get(str(step))
        node = inner or node
    return node
