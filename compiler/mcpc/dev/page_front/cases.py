"""A test case that the page saves: only what a case may have is taken, and only as the types that it may have."""

from __future__ import annotations

from typing import Any

KINDS = ("tool", "prompt", "resource")
MAX_NAME = 200
ERAS = ("handshake", "stateless")


class CaseError(ValueError):
    """What the page sent is not a case; the message says what is wrong."""


def case_of(sent: Any) -> dict[str, Any]:
    """Return the case in what the page sent; raise CaseError."""
    if not isinstance(sent, dict):
        raise CaseError("expected an object")
    kind = next((kind for kind in KINDS if isinstance(sent.get(kind), str)), None)
    if kind is None:
        raise CaseError("expected a `tool`, a `prompt` or a `resource`")
    name, arguments, expect, era = (sent.get(key) for key in ("name", "arguments", "expect", "era"))
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise CaseError(f"expected a `name` on one line, of at most {MAX_NAME} characters")
    if not isinstance(arguments or {}, dict) or not isinstance(expect or {}, dict):
        raise CaseError("expected objects as `arguments` and `expect`")
    if era is not None and era not in ERAS:
        raise CaseError(f"expected `era` to be one of {', '.join(ERAS)}")
    case: dict[str, Any] = {"name": name, kind: sent[kind]}
    given = {"arguments": arguments if kind != "resource" else None, "era": era, "expect": expect}
    return case | {key: value for key, value in given.items() if value}
