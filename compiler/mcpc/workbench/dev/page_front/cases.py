"""A test case that the page saves: only what a case may have is taken, and only as the types that it may have."""

from __future__ import annotations

from typing import Any

KINDS = {"tool": str, "prompt": str, "resource": str, "complete": dict}
"""The fields that say what a case calls, and the types of their values."""
COMPLETE_FIELDS = ("prompt", "resource", "argument", "value")
MAX_NAME = 200
ERAS = ("handshake", "stateless")


class CaseError(ValueError):
    """What the page sent is not a case; the message says what is wrong."""


def case_of(sent: Any) -> dict[str, Any]:
    """Return the case in what the page sent; raise CaseError."""
    if not isinstance(sent, dict):
        raise CaseError("expected an object")
    kind = next((kind for kind, wanted in KINDS.items() if isinstance(sent.get(kind), wanted)), None)
    if kind is None:
        raise CaseError("expected a `tool`, a `prompt`, a `resource` or an object `complete`")
    name, arguments, expect, era = (sent.get(key) for key in ("name", "arguments", "expect", "era"))
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise CaseError(f"expected a `name` on one line, of at most {MAX_NAME} characters")
    if not isinstance(arguments or {}, dict) or not isinstance(expect or {}, dict):
        raise CaseError("expected objects as `arguments` and `expect`")
    if era is not None and era not in ERAS:
        raise CaseError(f"expected `era` to be one of {', '.join(ERAS)}")
    called = completed_of(sent[kind]) if kind == "complete" else sent[kind]
    given = {"arguments": arguments if kind != "resource" else None, "era": era, "expect": expect}
    return {"name": name, kind: called} | {key: value for key, value in given.items() if value}


def completed_of(sent: dict[str, Any]) -> dict[str, str]:
    """Return what a case completes; raise CaseError."""
    found = {key: sent[key] for key in COMPLETE_FIELDS if key in sent}
    if not all(isinstance(value, str) for value in found.values()):
        raise CaseError("expected texts in `complete`")
    if "argument" not in found or ("prompt" in found) == ("resource" in found):
        raise CaseError("expected `complete` to have an `argument`, and a `prompt` or a `resource`")
    return found
