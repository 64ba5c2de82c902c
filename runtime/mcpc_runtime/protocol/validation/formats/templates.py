"""URI templates of RFC 6570, of every level."""

from __future__ import annotations

from mcpc_runtime.protocol.validation.formats.characters import (
    ASCII,
    BEYOND_ASCII,
    DIGITS,
    LETTERS_AND_DIGITS,
    PRIVATE,
    are_in,
    has_whole_triplets,
)

OUTSIDE = ASCII - frozenset(map(chr, range(33))) - frozenset('"<>\\^`{|}\x7f')
OPERATORS = frozenset("+#./;?&=,!@|")
"""The defined operators, and the reserved ones, which the grammar includes."""
IN_VARIABLE = LETTERS_AND_DIGITS | frozenset("_%")


def is_uri_template(text: str) -> bool:
    """Tell whether a text is a `URI-Template`."""
    if not has_whole_triplets(text):
        return False
    first, *others = text.split("{")
    return _is_literal(first) and all(map(_is_expression_and_literal, others))


def _is_literal(text: str) -> bool:
    others = frozenset(text) - OUTSIDE
    return not others or (not others & ASCII and are_in(others, BEYOND_ASCII + PRIVATE))


def _is_expression_and_literal(text: str) -> bool:
    expression, brace, literal = text.partition("}")
    if expression[:1] in OPERATORS:
        expression = expression[1:]
    return bool(brace) and all(map(_is_variable, expression.split(","))) and _is_literal(literal)


def _is_variable(text: str) -> bool:
    if text.endswith("*"):
        return _is_name(text[:-1])
    name, colon, length = text.partition(":")
    return _is_name(name) and (not colon or _is_prefix(length))


def _is_prefix(text: str) -> bool:
    return 0 < len(text) < 5 and text[0] != "0" and DIGITS.issuperset(text)


def _is_name(text: str) -> bool:
    return all(part and IN_VARIABLE.issuperset(part) for part in text.split("."))
