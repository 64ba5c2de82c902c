"""Static tokens: a list that the operator writes.

    NAME TOKEN [TOOL,TOOL…]     or a TOKEN alone; a tool's name may have `*` in it; `#` begins a comment line

A name with several tokens is one principal, so that a token can be replaced while clients still have the old one.

Rule: all digests are compared, so that the time reveals neither which token matched nor how much of it.

Read the bearer token of a request, which is in its Authorization header only (RFC 6750, section 2.1).

Queries, cookies and bodies are ignored.  The scheme must be spelled `Bearer`, as all clients of the protocol do; two
headers are an error, because a proxy may have read the other one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from hmac import compare_digest

from mcpc_runtime.http.principals import AllowedTools, MisconfiguredError, Principal
from mcpc_runtime.http.replies import Pairs

AUTHORIZATION = b"authorization"
SCHEME = b"Bearer"
MAX_BYTES = 8192
"""Maximum length of a token."""
# The syntax of a bearer token in RFC 6750, section 2.1.
b64token = re.compile(rb"[A-Za-z0-9._~+/-]+=*").fullmatch


class MalformedHeaderError(Exception):
    """The Authorization header is malformed: the request is wrong, not its token."""


def bearer_token(headers: Pairs) -> str:
    """Return the token of a request, an empty string if it has none; raise MalformedHeaderError."""
    values = [value for name, value in headers if name.lower() == AUTHORIZATION]
    if not values:
        return ""
    if len(values) > 1:
        raise MalformedHeaderError("more than one Authorization header")
    scheme, _, token = values[0].strip(b" \t").partition(b" ")
    # Another scheme is no malformed token: it gets the challenge, as if there were none.
    if scheme != SCHEME:
        return ""
    if len(token) > MAX_BYTES or b64token(token) is None:
        raise MalformedHeaderError("the Authorization header has a malformed token")
    return token.decode("ascii")


ALONE = "token"
is_name = re.compile(r"[A-Za-z0-9_.@-]{1,64}").fullmatch
MIN_TOKEN_LENGTH = 16
"""Minimum characters of a token: shorter ones can be guessed."""
is_tool = re.compile(r"[A-Za-z0-9_.*-]{1,128}").fullmatch


class Tokens:
    """The accepted tokens: the digest of each, and its principal."""

    __slots__ = ("_entries",)

    def __init__(self, entries: tuple[tuple[bytes, Principal], ...]) -> None:
        self._entries = entries

    def find(self, token: str) -> Principal | None:
        """Return the principal of this token, None if it is unknown."""
        token_digest = sha256(token.encode("ascii")).digest()
        owner: Principal | None = None
        for digest, principal in self._entries:
            # No early return: its time would tell which token it was.
            if compare_digest(digest, token_digest):
                owner = principal
        return owner

    @property
    def count(self) -> int:
        """How many tokens there are."""
        return len(self._entries)

    def replace(self, others: Tokens) -> list[Principal]:
        """Replace all tokens; return the principals of tokens that were removed, or now allow other tools.

        An unchanged token keeps its principal, so that its streams stay open.
        """
        before = dict(self._entries)
        entries = []
        for digest, principal in others._entries:
            previous = before.get(digest)
            is_unchanged = previous is not None and (previous.name, previous.allows) == (
                principal.name,
                principal.allows,
            )
            entries.append((digest, before.pop(digest) if is_unchanged else principal))
        self._entries = tuple(entries)
        return list(before.values())

    def named_tools(self) -> Iterator[tuple[str, str]]:
        """Yield each principal whose token names tools without a `*`, with each name."""
        for _, principal in self._entries:
            patterns = principal.allows.patterns if isinstance(principal.allows, AllowedTools) else ()
            yield from ((principal.name, pattern) for pattern in patterns if "*" not in pattern)


def tokens_from(text: str, place: str) -> Tokens:
    """Return the tokens of a list; raise MisconfiguredError, which names `place` and the line, not its contents."""
    entries: dict[bytes, Principal] = {}
    for number, line in lines(text):
        token, principal = parse_entry(line.split(), f"{place}, line {number}")
        digest = sha256(token.encode("ascii")).digest()
        if digest in entries:
            raise MisconfiguredError(f"{place}, line {number}: the same token is in an earlier line")
        entries[digest] = principal
    if not entries:
        raise MisconfiguredError(f"{place} has no token")
    return Tokens(tuple(entries.items()))


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty or a comment, with their numbers; `;` ends a line, too, for variables."""
    for number, line in enumerate(text.replace(";", "\n").split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


def parse_entry(fields: list[str], place: str) -> tuple[str, Principal]:
    """Return a line's token and its principal."""
    if len(fields) > 3:
        raise MisconfiguredError(f"{place}: expected NAME TOKEN TOOL,TOOL")
    name, token = (ALONE, fields[0]) if len(fields) == 1 else fields[:2]
    if not is_name(name):
        raise MisconfiguredError(f"{place}: a name is up to 64 letters, digits and _ . @ -")
    if len(token) > MAX_BYTES or not token.isascii() or b64token(token.encode("ascii")) is None:
        raise MisconfiguredError(f"{place}: a token is letters, digits and - . _ ~ + / with = only at its end")
    if len(token) < MIN_TOKEN_LENGTH:
        raise MisconfiguredError(f"{place}: a token has {MIN_TOKEN_LENGTH} characters or more, and nobody can guess it")
    patterns = fields[2].split(",") if len(fields) == 3 else []
    if not all(map(is_tool, patterns)):
        raise MisconfiguredError(f"{place}: tools are names, with a comma between two; * stands for any characters")
    return token, Principal(f"token {name}", AllowedTools(tuple(patterns)) if patterns else None)
