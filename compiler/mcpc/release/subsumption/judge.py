"""Validation of one value by a part of a schema: the independent judge of witnesses.

`format` is asserted, because a contract says so, whether or not a server checks it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jsonschema import FormatChecker
from referencing import Registry
from referencing.exceptions import Unresolvable

from mcpc.schema.dialects import DRAFT_2020_12
from mcpc.schema.jsonschema_oracle import DRAFTS, TooLongError, is_valid
from mcpc_runtime.protocol.validation.formats import FORMATS

if TYPE_CHECKING:
    from mcpc.release.subsumption.nodes import Document, SchemaNode

    Json = Any


class UnjudgedError(Exception):
    """A value cannot be validated: a reference leads out of the schema, or a pattern is not valid."""


def _formats() -> FormatChecker:
    checker = FormatChecker(formats=())
    for name, accepts in FORMATS.items():
        checker.checkers = {**checker.checkers, name: (_text_check(accepts), ())}
    return checker


def _text_check(accepts: Any) -> Any:
    return lambda value: not isinstance(value, str) or accepts(value)


FAILURES = (Unresolvable, TooLongError, RecursionError, re.error, ValueError, TypeError, OverflowError)
"""What the library raises for a schema that it cannot use."""
MAX_REFERENCES = 60
"""References that are followed for one value."""
CHECKER = _formats()
DRAFT = DRAFTS[DRAFT_2020_12.uri]


class Judge:
    """Validators of documents."""

    def __init__(self) -> None:
        self._validators: dict[tuple[str, bool], Any] = {}

    def accepts(self, node: SchemaNode, value: Json, *, formats: bool = True) -> bool:
        """Tell whether a value is valid; raise UnjudgedError if that cannot be told."""
        validator = self._validator(node.document, formats=formats)
        try:
            return is_valid(validator.evolve(schema=node.written), value, MAX_REFERENCES)
        except FAILURES as problem:
            raise UnjudgedError(type(problem).__name__) from None

    def _validator(self, document: Document, *, formats: bool) -> Any:
        key = (document.key, formats)
        if key not in self._validators:
            checker = CHECKER if formats else None
            self._validators[key] = DRAFT(document.value, registry=Registry(), format_checker=checker)
        return self._validators[key]
