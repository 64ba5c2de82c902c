"""Labels of host names (RFC 1123)."""

from __future__ import annotations

from mcpc_runtime.protocol.validation.formats.characters import LETTERS_AND_DIGITS

IN_LABEL = LETTERS_AND_DIGITS | {"-"}
MAX_NAME_LENGTH, MAX_LABEL_LENGTH = 253, 63


def is_plain_label(text: str) -> bool:
    """Tell whether `text` is a label of RFC 1123."""
    if not 0 < len(text) <= MAX_LABEL_LENGTH or text[0] == "-" or text[-1] == "-":
        return False
    return IN_LABEL.issuperset(text)
