"""The one place a token comes from: the Authorization header (RFC 6750, section 2.1).

A query, a cookie or a body is never looked at.  The scheme is written `Bearer`, as every client of the protocol writes
it; two headers are an error, because nobody knows which of them a proxy looked at.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.http.auth.principals import Headers

AUTHORIZATION = b"authorization"
SCHEME = b"Bearer"
MOST_BYTES = 8192
"""Of a token: a longer one would not be put into a header by anybody."""
b64token = re.compile(rb"[A-Za-z0-9._~+/-]+=*").fullmatch


class MalformedError(Exception):
    """The header cannot be read: the request is at fault, not its token."""


def bearer_token(headers: Headers) -> str:
    """Return the token that a request brings, nothing if it brings none; raise MalformedError."""
    values = [value for name, value in headers if name.lower() == AUTHORIZATION]
    if not values:
        return ""
    if len(values) > 1:
        raise MalformedError("there is more than one Authorization header")
    scheme, _, token = values[0].strip(b" \t").partition(b" ")
    if scheme != SCHEME:
        return ""
    if len(token) > MOST_BYTES or b64token(token) is None:
        raise MalformedError("the Authorization header has no token that could be one")
    return token.decode("ascii")
