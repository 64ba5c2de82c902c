"""What needs no running: the contract knew the answer when it was asked how to find it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.host import Host


class ReadyRunner:
    """Brings back what it is given."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def start(self, known: Any, done: Callable[[Any], None], note: Callable[[Any], None]) -> None:
        """Hand over what is known already."""
        done(known)

    def stop(self, job: None) -> None:
        """There is nothing to stop."""

    def close(self) -> None:
        """There is nothing to close."""
