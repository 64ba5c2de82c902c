"""URIs (RFC 3986) and IRIs (RFC 3987): the generic grammars, without the rules of specific schemes.

JSON Pointers (RFC 6901), relative ones, and UUIDs (RFC 9562).

URI templates of RFC 6570, of every level.
"""

from __future__ import annotations

from mcpc_runtime.protocol.validation.formats.addresses import is_ipv6
from mcpc_runtime.protocol.validation.formats.characters import (
    ASCII,
    BEYOND_ASCII,
    DIGITS,
    HEXADECIMAL,
    LETTERS,
    LETTERS_AND_DIGITS,
    PRIVATE,
    are_in,
    has_whole_triplets,
)

IN_SCHEME = LETTERS_AND_DIGITS | frozenset("+-.")
IN_NAME = LETTERS_AND_DIGITS | frozenset("-._~!$&'()*+,;=%")
IN_USER = IN_NAME | {":"}
IN_FUTURE = IN_USER - {"%"}
IN_PATH = IN_USER | frozenset("@/")
IN_QUERY = IN_PATH | {"?"}


def is_uri(text: str) -> bool:
    """Tell whether a text is a `URI`."""
    return ASCII.issuperset(text) and _scheme(text) > 0 and _is_reference(text)


def is_uri_reference(text: str) -> bool:
    """Tell whether a text is a `URI-reference`."""
    return ASCII.issuperset(text) and _is_reference(text)


def is_iri(text: str) -> bool:
    """Tell whether a text is an `IRI`."""
    return _scheme(text) > 0 and _is_reference(text)


def is_iri_reference(text: str) -> bool:
    """Tell whether a text is an `IRI-reference`."""
    return _is_reference(text)


def _scheme(text: str) -> int:
    """Return the length of the scheme; 0 if there is none, and -1 for a colon where only a scheme may end."""
    colon = text.find(":")
    if colon < 0:
        return 0
    scheme = text[:colon]
    # A colon behind one of these is part of a path, a query or a fragment.
    if "/" in scheme or "?" in scheme or "#" in scheme:
        return 0
    return colon if scheme and scheme[0] in LETTERS and IN_SCHEME.issuperset(scheme) else -1


def _is_reference(text: str) -> bool:
    scheme = _scheme(text)
    if scheme < 0 or not has_whole_triplets(text):
        return False
    rest, _, fragment = text[scheme + 1 if scheme else 0 :].partition("#")
    rest, _, query = rest.partition("?")
    if rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        if not _is_authority(authority):
            return False
        rest = slash + path
    return _is_of(rest, IN_PATH) and _is_of(query, IN_QUERY, has_private=True) and _is_of(fragment, IN_QUERY)


def _is_of(text: str, characters: frozenset[str], has_private: bool = False) -> bool:
    """Tell whether `text` has only `characters` and the additional ones of an IRI."""
    others = frozenset(text) - characters
    return not others or (
        not others & ASCII and are_in(others, BEYOND_ASCII + PRIVATE if has_private else BEYOND_ASCII)
    )


def _is_authority(text: str) -> bool:
    user, _, host = text.rpartition("@")
    if not _is_of(user, IN_USER):
        return False
    if host.startswith("["):
        inside, bracket, port = host[1:].partition("]")
        return bool(bracket) and (is_ipv6(inside) or _is_future(inside)) and (not port or _is_port(port))
    name, colon, port = host.partition(":")
    # A port may be empty (RFC 3986, section 3.2.3).
    return _is_of(name, IN_NAME) and (not colon or DIGITS.issuperset(port))


def _is_port(text: str) -> bool:
    return text[0] == ":" and DIGITS.issuperset(text[1:])


def _is_future(text: str) -> bool:
    """Tell whether a text is an `IPvFuture`."""
    version, dot, address = text[1:].partition(".")
    if text[:1] not in ("v", "V") or not dot or not version or not address:
        return False
    return HEXADECIMAL.issuperset(version) and IN_FUTURE.issuperset(address)


def is_json_pointer(text: str) -> bool:
    """Tell whether a text is a `json-pointer`, not as a fragment of a URI."""
    if text and text[0] != "/":
        return False
    return "~" not in text or all(part[:1] in ("0", "1") for part in text.split("~")[1:])


def is_relative_json_pointer(text: str) -> bool:
    """Tell whether a text is a `relative-json-pointer`: steps up, then `#` or a pointer down."""
    rest = text.lstrip("0123456789")
    steps = text[: len(text) - len(rest)]
    if not steps or (steps[0] == "0" and steps != "0"):
        return False
    return rest == "#" or is_json_pointer(rest)


def is_uuid(text: str) -> bool:
    """Tell whether a text is a `UUID`, of any version and variant."""
    # With 36 characters and 32 digits there is no place for another hyphen.
    if len(text) != 36 or (text[8], text[13], text[18], text[23]) != ("-", "-", "-", "-"):
        return False
    digits = text.replace("-", "")
    return len(digits) == 32 and HEXADECIMAL.issuperset(digits)


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
    # RFC 6570: from 1 to 9999, without leading zeros.
    return 0 < len(text) < 5 and text[0] != "0" and DIGITS.issuperset(text)


def _is_name(text: str) -> bool:
    return all(part and IN_VARIABLE.issuperset(part) for part in text.split("."))
