"""Dates up to which versions of packages count.

A date stands for its whole day in UTC, so that a build is the same everywhere; a time is taken as it is.
"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

DATE_LENGTH = len("2025-06-30")


def upload_limit(text: str) -> str | None:
    """Return the moment before which packages count, for uv; None if the text is not a date."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    if len(text) <= DATE_LENGTH:
        found = datetime.combine(found.date() + timedelta(days=1), time(), UTC)
    moment = found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def earliest(dates: Iterable[str]) -> str:
    """Return the earliest of the dates that are not empty, an empty text if there is none."""
    return min(filter(None, dates), key=lambda date: upload_limit(date) or date, default="")
