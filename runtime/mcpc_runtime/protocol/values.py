"""How many values a JSON text has, found out before it is parsed: an empty object takes 2 bytes to send, 64 to keep.

Counted are the characters that begin a container or separate what is in one, outside strings; there are never fewer of
them than values, less one.  The count takes about 2 nanoseconds a byte, and no text shorter than MOST_VALUES needs it.
"""

from __future__ import annotations

MOST_VALUES = 1 << 19
"""So many values a message may have, keys counted as well; parsed, that is 60 MiB at most."""
STRUCTURE = b"[{:,"
WINDOW = 1 << 18


def has_too_many_values(data: bytes) -> bool:
    """Tell whether a text has more than MOST_VALUES values.  O(its length)."""
    return structure(data) > MOST_VALUES and structure_outside_strings(data) > MOST_VALUES


def structure(data: bytes) -> int:
    """Return how many characters of a text are structure, or look as if they were, being in a string."""
    return len(data) - len(data.translate(None, STRUCTURE))


def structure_outside_strings(data: bytes) -> int:
    """Return how many characters of a text are structure.  In windows, so that it takes little memory."""
    plain = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    count, is_inside = 0, False
    for at in range(0, len(plain), WINDOW):
        parts = plain[at : at + WINDOW].split(b'"')
        count += structure(b"".join(parts[is_inside::2]))
        is_inside ^= len(parts) % 2 == 0
    return count
