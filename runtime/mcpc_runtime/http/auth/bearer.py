"""Read the bearer token of a request, which is in its Authorization header only (RFC 6750, section 2.1).

Queries, cookies and bodies are ignored.  The scheme must be spelled `Bearer`, as all clients of the protocol do; two
headers are an error, because a proxy may have read the other one.
"""

from __future__ import annotations

import re

from mcpc_runtime.http.replies import Pairs

AUTHORIZATION = b"authorization"
SCHEME = b"Bearer"
MAX_BYTES = 8192
"""Maximum length of a token."""
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
    if scheme != SCHEME:
        return ""
    if len(token) > MAX_BYTES or b64token(token) is None:
        raise MalformedHeaderError("the Authorization header has a malformed token")
    return token.decode("ascii")
