"""Addresses of hosts and mailboxes: RFC 791 and 4291 as RFC 3986 and 5321 write them, RFC 1123, RFC 5321 and 6531."""

from __future__ import annotations

from mcpc_runtime.protocol.validation.formats.characters import (
    ASCII,
    DIGITS,
    HEXADECIMAL,
    LETTERS_AND_DIGITS,
    MAX_NAME_LENGTH,
    is_plain_label,
)
from mcpc_runtime.protocol.validation.formats.domains import is_encoded_domain, is_mail_domain

IN_ATOM = LETTERS_AND_DIGITS | frozenset("!#$%&'*+-/=?^_`{|}~")
QUOTABLE = frozenset(map(chr, range(32, 127)))
MAX_LOCAL_PART_LENGTH = 64


def is_ipv4(text: str) -> bool:
    """Tell whether a text is an IPv4 address: four decimal numbers without leading zeros."""
    parts = text.split(".", 4)
    return len(parts) == 4 and all(map(_is_octet, parts))


def _is_octet(text: str) -> bool:
    if not (0 < len(text) < 4 and DIGITS.issuperset(text)):
        return False
    return text == "0" or (text[0] != "0" and int(text) < 256)


def is_ipv6(text: str) -> bool:
    """Tell whether a text is an IPv6 address: eight groups.

    `::` leaves out at least one, and an IPv4 address may stand for the last two.
    """
    # The longest: six groups of four digits and an IPv4 address of fifteen characters.
    if len(text) > 45:
        return False
    head, has_gap, tail = text.partition("::")
    if not has_gap:
        return _groups(head, is_last=True) == 8
    groups_before, groups_after = _groups(head), _groups(tail, is_last=True)
    return groups_before >= 0 and groups_after >= 0 and groups_before + groups_after < 8


def _groups(text: str, is_last: bool = False) -> int:
    """Return how many groups of sixteen bits `text` has, -1 if it is not made of groups."""
    if not text:
        return 0
    groups = text.split(":")
    count = len(groups)
    if is_last and is_ipv4(groups[-1]):
        del groups[-1]
        count += 1
    return count if all(0 < len(group) < 5 and HEXADECIMAL.issuperset(group) for group in groups) else -1


def is_hostname(text: str) -> bool:
    """Tell whether a text is a host name: letters, digits and hyphens (RFC 1123).

    A label that begins with `xn--` must be a valid one (RFC 5890).
    """
    if not _is_plain_name(text):
        return False
    lower = text.lower()
    return "xn--" not in lower or is_encoded_domain(lower)


def _is_plain_name(text: str) -> bool:
    return len(text) <= MAX_NAME_LENGTH and all(map(is_plain_label, text.split(".")))


def is_email(text: str) -> bool:
    """Tell whether a text is a `Mailbox` of RFC 5321."""
    local, domain = _parts(text)
    return ASCII.issuperset(local) and _is_local_part(local) and (_is_plain_name(domain) or _is_literal(domain))


def is_idn_email(text: str) -> bool:
    """Tell whether a text is a `Mailbox` as RFC 6531 extends it."""
    local, domain = _parts(text)
    return _is_local_part(local) and (is_mail_domain(domain) or _is_literal(domain))


def _parts(text: str) -> tuple[str, str]:
    local, _, domain = text.rpartition("@")
    return local, domain


def _is_local_part(text: str) -> bool:
    """Tell whether `text` is a dotted or a quoted local part; both may contain non-ASCII characters."""
    # The limit is in octets (RFC 5321, section 4.5.3.1.1); a long text is refused before it is encoded.
    if not 0 < len(text) <= MAX_LOCAL_PART_LENGTH or len(text.encode("utf-8", "surrogatepass")) > MAX_LOCAL_PART_LENGTH:
        return False
    # RFC 6531 allows characters beyond ASCII wherever a letter may be, quoted or not.
    ascii_only = "".join([character if character in ASCII else "a" for character in text])
    if len(text) > 1 and text[0] == text[-1] == '"':
        return _is_quoted(ascii_only[1:-1])
    return all(atom and IN_ATOM.issuperset(atom) for atom in ascii_only.split("."))


def _is_quoted(text: str) -> bool:
    # Backslashes first: the second of a pair does not quote what follows.
    unescaped = text.replace("\\\\", "").replace('\\"', "")
    return '"' not in unescaped and not unescaped.endswith("\\") and QUOTABLE.issuperset(unescaped)


def _is_literal(text: str) -> bool:
    """Tell whether `text` is an address in brackets."""
    if text[:1] != "[" or text[-1:] != "]":
        return False
    if text[1:6].lower() == "ipv6:":
        return is_ipv6(text[6:-1])
    return is_ipv4(text[1:-1])
