"""What a confined program may use, on every system; an adapter sets those limits that its system knows."""

from __future__ import annotations

REPLIES = 3
"""The descriptor of a program's answer, unless it uses its standard output."""
ANSWER_BYTES = 64 << 20
OUTPUT_BYTES = 64 << 20
MAX_OUTPUT_KEPT = 1 << 16
MEMORY_BYTES = 2 << 30
FILE_BYTES = 256 << 20
FOLDER_BYTES = 512 << 20
FOLDER_FILES = 100_000
PROCESSES = 64
THREADS = 512
"""How many threads it may add to those of the user; only the superuser is exempt from this kernel limit."""
EXTRA_PROCESSOR_SECONDS = 60
"""How much more processor time it may use than time, since it may use several processors."""
POLL_SECONDS = 0.1
GRACE_SECONDS = 10
"""How long a program may take to end after closing the descriptor of its answer."""
