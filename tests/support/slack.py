"""Factor for time limits on a loaded machine."""

import os

PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def slack() -> float:
    """Return a factor for limits of time: at least 2, and twice the processes that want a processor; or TESTS_SLACK."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else PROCESSORS
    return float(os.environ.get("TESTS_SLACK", 0)) or max(2.0, 2.0 * load / PROCESSORS)
