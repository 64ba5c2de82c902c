"""Validation of a value by the `jsonschema` library, the reference for what is valid.

Importing it takes a twentieth of a second, so this module is imported only when there is a value to validate.  Where
the library follows Python's rules instead of the standard's (patterns, multiples), they are replaced.

It takes milliseconds for each schema and a tenth of a second to start, so a build does not use it: `analysis` checks
the same shapes itself, and the tests compare the two.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jsonschema import Draft6Validator, Draft7Validator, Draft201909Validator, Draft202012Validator, ValidationError
from jsonschema.exceptions import best_match
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from mcpc.diagnostics import diagnose, in_order
from mcpc.schema.dialects import DRAFT_06, DRAFT_07, DRAFT_2019_09, DRAFT_2020_12
from mcpc.schema.ecma.translation import translate
from mcpc.schema.resources import resolve_uri, uri_of_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.reading import Json, Node
    from mcpc.schema.dialects import Dialect

MAX_REFERENCES = 50_000
"""Maximum number of references that are followed for one value: more than reasonable schemas need, and still fast."""
MAX_VALUE = 60
OWN = ("$schema", "$id")


class TooLongError(Exception):
    """Validating a value would take too long."""


class _ReferenceBudget:
    """How many references may still be followed for the current value."""

    left = MAX_REFERENCES


def _followed(draft: Any, keyword: str) -> Any:
    """Return a draft's function for a reference, with a count."""
    follow = draft.VALIDATORS[keyword]

    def check(validator: Any, want: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        _ReferenceBudget.left -= 1
        if _ReferenceBudget.left < 0:
            raise TooLongError
        yield from follow(validator, want, value, schema)

    return check


def _matches(_validator: Any, want: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(value, str) and not re.search(translate(want), value, re.ASCII):
        yield ValidationError("it does not match")


def _named(validator: Any, want: Mapping[str, Json], value: Any, _schema: Any) -> Iterator[ValidationError]:
    for pattern, schema in want.items() if isinstance(value, dict) else ():
        search = re.compile(translate(pattern), re.ASCII).search
        for name in filter(search, value):
            yield from validator.descend(value[name], schema, path=name, schema_path=pattern)


def _multiple(_validator: Any, want: float, value: Any, _schema: Any) -> Iterator[ValidationError]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # As decimal numbers: in binary ones 0.3 is no multiple of 0.1.
    if is_number and (Fraction(repr(value)) / Fraction(repr(want))).denominator != 1:
        yield ValidationError("it is not a multiple")


def _exact(draft: Any) -> Any:
    followed = [name for name in ("$ref", "$dynamicRef", "$recursiveRef") if name in draft.VALIDATORS]
    rows = {"pattern": _matches, "patternProperties": _named, "multipleOf": _multiple}
    return extend(
        draft,
        {  # type: ignore[no-untyped-call]
            **rows,
            **{name: _followed(draft, name) for name in followed},
        },
    )


DRAFTS = {
    DRAFT_2020_12.uri: _exact(Draft202012Validator),
    DRAFT_2019_09.uri: _exact(Draft201909Validator),
    DRAFT_07.uri: _exact(Draft7Validator),
    DRAFT_06.uri: _exact(Draft6Validator),
}


def is_valid(validator: Any, value: Json, references: int = MAX_REFERENCES) -> bool:
    """Tell whether a validator of one of DRAFTS accepts a value; raise TooLongError and the library's exceptions."""
    _ReferenceBudget.left = references
    with panics_named():
        verdict = validator.is_valid(value)
    return bool(verdict)


@contextmanager
def panics_named() -> Iterator[None]:
    """Raise RecursionError where the native part of the library meets the end of the stack, by an unnamed exception."""
    try:
        yield
    # The exception of Rust's panics derives from BaseException, and no module has it.
    except BaseException as problem:
        if type(problem).__name__ != "PanicException":
            raise
        raise RecursionError("the library's native part reached the end of the stack") from None


class ReferenceValidator:
    """Validator of values against the subschemas of one document, each named by its JSON Pointer."""

    def __init__(self, root: Node, dialect: Dialect) -> None:
        draft = DRAFTS.get(dialect.uri, DRAFTS[DRAFT_2020_12.uri])
        self._root = draft(_bare(root, uri_of_file(root.path)), registry=Registry())

    def refusal(self, pointer: str, value: Json) -> tuple[tuple[str | int, ...], str] | None:
        """Return where in `value` it is invalid and by which keyword, None if it is valid; raise TooLongError.

        What the library cannot validate at all is accepted.
        """
        _ReferenceBudget.left = MAX_REFERENCES
        # A pointer in a fragment is percent-encoded (RFC 6901, section 6).
        schema = {"$ref": "#" + quote(pointer, safe="/~")}
        try:
            with panics_named():
                error = best_match(self._root.evolve(schema=schema).iter_errors(value))
        except (Unresolvable, RecursionError, re.error):
            return None
        return None if error is None else (tuple(error.absolute_path), _reason(error))


def _bare(root: Node, uri: str) -> Any:
    """Return a document with its absolute URI, and without a `$schema`, which would change the library's behaviour."""
    if not isinstance(root.value, dict):
        return root.value
    named = root.value.get("$id")
    uri = resolve_uri(uri, named)[0] if isinstance(named, str) and not named.startswith("#") else uri
    return {"$id": uri, **{name: value for name, value in root.value.items() if name not in OWN}}


def _reason(error: ValidationError) -> str:
    """Return the keyword that refuses a value, and its message."""
    if not isinstance(error.validator, str):
        return "nothing is accepted there"
    text = json.dumps(error.validator_value, ensure_ascii=False)
    return f"`{error.validator}` is {text if len(text) <= MAX_VALUE else f'{text[:MAX_VALUE]}…'}"


VALIDATORS = {
    DRAFT_2020_12: Draft202012Validator(Draft202012Validator.META_SCHEMA),
    DRAFT_2019_09: Draft201909Validator(Draft201909Validator.META_SCHEMA),
    DRAFT_07: Draft7Validator(Draft7Validator.META_SCHEMA),
    DRAFT_06: Draft6Validator(Draft6Validator.META_SCHEMA),
}
MAX_MESSAGE = 200
"""Maximum length of the value in a message."""


def check_by_metaschema(node: Node, dialect: Dialect = DRAFT_2020_12) -> Diagnostics:
    """Return the metaschema's errors about the schema `node`, each at its value."""
    try:
        return in_order(map(_complaint(node), VALIDATORS[dialect].iter_errors(node.value)))
    except RecursionError:
        return (diagnose("MCP008", node.span, "the schema is nested too deeply to be checked against its metaschema"),)


def _complaint(node: Node) -> Callable[[ValidationError], Diagnostic]:
    def complaint(error: ValidationError) -> Diagnostic:
        message = error.message if len(error.message) <= MAX_MESSAGE else f"{error.message[:MAX_MESSAGE]}…"
        return diagnose("MCP110", _at(node, error.absolute_path).span, f"the metaschema refuses this: {message}")

    return complaint


def _at(node: Node, path: Iterable[str | int]) -> Node:
    """Return the node at `path`, or its last existing ancestor."""
    for step in path:
        inner = node.items[step] if isinstance(step, int) and step < len(node.items) else node.get(str(step))
        node = inner or node
    return node
