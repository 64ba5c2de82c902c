"""Read the bearer token of a request, which is in its Authorization header only (RFC 6750, section 2.1).

A query, a cookie or a body is never looked at.  The scheme is written `Bearer`, as every client of the protocol writes
it; two headers are an error, because nobody knows which of them a proxy looked at.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.http.replies import Pairs

AUTHORIZATION = b"authorization"
SCHEME = b"Bearer"
MAX_BYTES = 8192
"""Of a token: a longer one would not be put into a header by anybody."""
b64token = re.compile(rb"[A-Za-z0-9._~+/-]+=*").fullmatch


class MalformedHeaderError(Exception):
    """The header cannot be read: the request is at fault, not its token."""


def bearer_token(headers: Pairs) -> str:
    """Return the token that a request brings, nothing if it brings none; raise MalformedError."""
    values = [value for name, value in headers if name.lower() == AUTHORIZATION]
    if not values:
        return ""
    if len(values) > 1:
        raise MalformedHeaderError("more than one Authorization header")
    scheme, _, token = values[0].strip(b" \t").partition(b" ")
    if scheme != SCHEME:
        return ""
    if len(token) > MAX_BYTES or b64token(token) is None:
        raise MalformedHeaderError("the Authorization header has a malformed token")
    return token.decode("ascii")
