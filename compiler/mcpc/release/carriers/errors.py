"""Why a carrier cannot be made; the command that makes it prints the message."""

from __future__ import annotations


class UnusableValueError(ValueError):
    """A value is missing or invalid in its place; the message names it, what is allowed, and where to write it."""


class UnusableFileError(UnusableValueError):
    """A file is not what it should be: damaged, or for another machine."""
