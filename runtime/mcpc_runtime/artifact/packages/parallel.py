"""Work on many items in a few threads, for functions in C that release the interpreter's lock."""

from __future__ import annotations

import _imp
import os
import threading
from _collections import deque
from collections.abc import Callable, Iterable, Iterator

MAX_THREADS = 4


def for_each(items: Iterable[str], function: Callable[[str], None]) -> None:
    """Call a function with each item, in this thread and in one for each other processor; raise its first exception.

    All calls have ended when this returns.
    """
    waiting = deque(items)
    problems: list[BaseException] = []
    depth = release_import_lock()
    try:
        count = min(processors(), len(waiting)) - 1
        threads = [*start_threads(count, lambda: call_waiting(waiting, function, problems))]
        try:
            call_waiting(waiting, function, problems)
        finally:
            waiting.clear()
            for thread in threads:
                thread.join()
    finally:
        for _ in range(depth):
            _imp.acquire_lock()
    if problems:
        raise problems[0]


def release_import_lock() -> int:
    """Give the import lock back, and return how often this thread had it.

    Python has it while it asks a finder.  A finder of packages extracts them, and a thread of the extraction that
    imports a module would wait for the lock as long as the finder waits for the thread.
    """
    depth = 0
    while True:
        try:
            _imp.release_lock()
        except RuntimeError:  # this thread does not have it
            return depth
        depth += 1


def call_waiting(waiting: deque[str], function: Callable[[str], None], problems: list[BaseException]) -> None:
    """Call a function with items until there are none, or there is a problem."""
    while not problems:
        try:
            item = waiting.popleft()
        except IndexError:
            return
        try:
            function(item)
        except BaseException as problem:  # noqa: BLE001 - it is raised in the thread that waits
            problems.append(problem)


def start_threads(number: int, function: Callable[[], None]) -> Iterator[threading.Thread]:
    """Start threads, fewer if the system allows no more."""
    for _ in range(number):
        thread = threading.Thread(target=function, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return
        yield thread


def processors() -> int:
    """Return how many processors this process may use, at most MAX_THREADS."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MAX_THREADS)
