"""How long a file of the project may take to be imported at the build, and what is told of one that takes longer."""

from __future__ import annotations

SECONDS = 20
"""How long a file may take until it is imported."""
GRACE_SECONDS = 5
"""How long a process may take besides: to begin, and to end."""
LATE = f"it was not imported in {SECONDS} seconds"
