"""The limit of descriptors of this process."""

from __future__ import annotations

import resource


def most_descriptors() -> int:
    """Return how many descriptors this process may open, 0 without a limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 0 if soft == resource.RLIM_INFINITY else soft
