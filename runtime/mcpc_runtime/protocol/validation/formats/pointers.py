"""JSON Pointers (RFC 6901), relative ones, and UUIDs (RFC 9562)."""

from __future__ import annotations

from mcpc_runtime.protocol.validation.formats.characters import HEXADECIMAL


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
    if len(text) != 36 or (text[8], text[13], text[18], text[23]) != ("-", "-", "-", "-"):
        return False
    digits = text.replace("-", "")
    return len(digits) == 32 and HEXADECIMAL.issuperset(digits)
