"""Return large blocks of memory to the system as soon as they are free.

glibc raises its threshold for separate pages to the size of the largest freed block, up to 32 MB.  Larger blocks then
fragment the heap, and the process stays as large as its maximum.  Here blocks of a megabyte and more always get
separate pages; the buffers of asyncio are smaller, and are still allocated quickly.
"""

from __future__ import annotations

from mcpc_runtime.transports.platforms import system_features

MMAP_THRESHOLD = -3
LARGE = 1 << 20


def return_large_blocks() -> bool:
    """Return large blocks to the system when they are freed; False where the C library has no such option."""
    try:
        mallopt = system_features.address_of("mallopt")
    except (ImportError, OSError):
        return False
    return bool(system_features.call(mallopt, (MMAP_THRESHOLD, LARGE)))
