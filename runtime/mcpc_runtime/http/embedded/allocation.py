"""Return large blocks of memory to the system as soon as they are free.

glibc takes blocks from the heap that are as large as the largest one freed before, up to 32 MB; the heap then keeps
what others were given between them, and the process stays as large as it was at its worst.  Blocks of a megabyte and
more get pages of their own here, always; what asyncio receives into is smaller, and stays quick to get.
"""

from __future__ import annotations

from mcpc_runtime.platforms import c_library

MMAP_THRESHOLD = -3
LARGE = 1 << 20


def return_large_blocks() -> bool:
    """Have large blocks returned when they are freed; False where the C library has no such option."""
    try:
        mallopt = c_library.address_of("mallopt")
    except (ImportError, OSError):
        return False
    return bool(c_library.call(mallopt, (MMAP_THRESHOLD, LARGE)))
