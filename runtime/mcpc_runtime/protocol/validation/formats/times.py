"""Dates, times and durations of RFC 3339: section 5.6 with its rules on leap seconds, and appendix A."""

from __future__ import annotations

from mcpc_runtime.protocol.validation.formats.characters import DIGITS

DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
LAST_MINUTE = 23 * 60 + 59


def decimal_number(text: str) -> int:
    """Return the number of a text of ASCII digits; -1 for any other text."""
    return int(text) if text and DIGITS.issuperset(text) else -1


def is_date(text: str) -> bool:
    """Tell whether a text is a `full-date`."""
    if len(text) != 10 or text[4] != "-" or text[7] != "-":
        return False
    year, month, day = decimal_number(text[:4]), decimal_number(text[5:7]), decimal_number(text[8:])
    if year < 0 or not 1 <= month <= 12:
        return False
    is_leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= day <= DAYS[month - 1] + is_leap


def is_time(text: str) -> bool:
    """Tell whether a text is a `full-time`; the offset is required."""
    if text[2:3] != ":" or text[5:6] != ":":
        return False
    hour, minute, second = decimal_number(text[:2]), decimal_number(text[3:5]), decimal_number(text[6:8])
    if not (0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 60):
        return False
    offset = _offset(_after_fraction(text[8:]))
    # A leap second is the last one of 23:59 in universal time (RFC 3339, section 5.7).
    return offset is not None and (second < 60 or (hour * 60 + minute - offset) % (24 * 60) == LAST_MINUTE)


def is_date_time(text: str) -> bool:
    """Tell whether a text is a `date-time`."""
    return text[10:11] in ("T", "t") and is_date(text[:10]) and is_time(text[11:])


def _after_fraction(text: str) -> str:
    if not text.startswith("."):
        return text
    rest = text[1:].lstrip("0123456789")
    # A point without a digit is answered with "", which is no offset.
    return rest if len(rest) < len(text) - 1 else ""


def _offset(text: str) -> int | None:
    """Return the minutes that `time-offset` adds to universal time, None for an invalid offset."""
    if text in ("Z", "z"):
        return 0
    if len(text) != 6 or text[0] not in "+-" or text[3] != ":":
        return None
    hours, minutes = decimal_number(text[1:3]), decimal_number(text[4:])
    if not (0 <= hours <= 23 and 0 <= minutes <= 59):
        return None
    return (hours * 60 + minutes) * (1 if text[0] == "+" else -1)


def is_duration(text: str) -> bool:
    """Tell whether a text is a `duration`."""
    if not text.startswith("P"):
        return False
    date, has_time, time = text[1:].partition("T")
    if not has_time:
        return _counts(date, "YMD") or _counts(date, "W")
    return (not date or _counts(date, "YMD")) and _counts(time, "HMS")


def _counts(text: str, units: str) -> bool:
    """Tell whether `text` has a number for each of some adjacent `units`, in their order."""
    letters = "".join([character for character in text if character not in DIGITS])
    # As a part of the text of all units: `P1Y1D` leaves out the months between, which the grammar does not allow.
    if not letters or letters not in units:
        return False
    for letter in letters:
        amount, _, text = text.partition(letter)
        if not amount:
            return False
    return not text
