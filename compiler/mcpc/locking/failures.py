"""Why a resolver found nothing."""

from __future__ import annotations


class ResolutionError(Exception):
    """There are no versions, or no files, that satisfy the requirements; the message describes why."""
