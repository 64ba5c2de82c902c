"""Changes of what a server offers while it serves: the lists that were built are right no longer.

The program may change them in a call, in its lifespan, or at any time between; the next call reports them.
"""

from __future__ import annotations

TYPE_CHECKING = False

KINDS = {"tool": "tools", "prompt": "prompts", "resource": "resources", "template": "resources"}
"""The list of each kind of component."""
_serving: list[bool] = []
_changed: dict[str, bool] = {}
"""The lists that have changed, each with whether clients are to be notified."""


def begin() -> None:
    """Note changes from now on: the program serves."""
    _serving[:] = [True]


def note_change(*kinds: str) -> None:
    """Note that components of these kinds were added, removed, shown or hidden; of all kinds without any."""
    if _serving:
        _changed.update(dict.fromkeys((KINDS[kind] for kind in kinds or KINDS), True))


def hush() -> None:
    """Let clients not be notified of what has changed so far: the lifespan has begun."""
    _changed.update(dict.fromkeys(_changed, False))


def taken_changes() -> dict[str, bool]:
    """Return the lists that have changed since the last time, each with whether clients are to be notified."""
    found = dict(_changed)
    for kind in found:
        _changed.pop(kind, None)
    return found


def forget() -> None:
    """Forget everything: a test begins."""
    _serving.clear()
    _changed.clear()
