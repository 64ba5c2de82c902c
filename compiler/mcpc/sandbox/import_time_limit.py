"""Time limit for importing a project file during the build, and the message if it is exceeded."""

from __future__ import annotations

SECONDS = 20
"""How long importing a file may take."""
GRACE_SECONDS = 5
"""Additional time for the start and the end of the process."""
TIME_LIMIT_MESSAGE = f"the import took longer than {SECONDS} seconds"
