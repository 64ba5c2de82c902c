"""Resources whose changes nobody tells: while somebody watches one, it is read again and again, and compared.

One is read at a time, and the next round begins some seconds after the last has ended; when nobody watches any more,
that is all.  What belongs to others (a page, a repository) is not asked for again and again.  Memory: a digest a uri.
"""

from __future__ import annotations

from mcpc_runtime.errors import tell
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import Publish
from mcpc_runtime.protocol.resources import locate
from mcpc_runtime.providers.wanted import digest, first_seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mcpc_runtime.contracts.mcp_bash_resource import looked_at
    from mcpc_runtime.interfaces import Driver
    from mcpc_runtime.mcp_bash.settings import settings_of
    from mcpc_runtime.protocol.session import Session
else:
    looked_at = lazy("mcpc_runtime.contracts.mcp_bash_resource:looked_at")
    settings_of = lazy("mcpc_runtime.mcp_bash.settings:settings_of")

INTERVAL, USUAL_SECONDS = "MCPBASH_RESOURCES_POLL_INTERVAL_SECS", 2
CONTRACT = "mcp_bash_resource"
MOST_WATCHED = 1000
"""So many resources are looked at, over all conversations."""
LONGEST_SECONDS = 30.0
"""How long it may take to read one."""
WATCHED = "resourceSubscriptions"

watchers: dict[Any, Watcher] = {}
"""The one of each server that has any."""


def watch(driver: Driver) -> None:
    """Look from now on whether what clients of a server watch is another."""
    seconds = settings_of(driver.image).number(INTERVAL, USUAL_SECONDS)
    if not seconds:
        return
    if driver not in watchers:
        watchers[driver] = Watcher(driver, seconds)
    watchers[driver].hurry()


def watched(sessions: Iterable[Session]) -> list[str]:
    """Return the uris that somebody watches, each once."""
    found: dict[str, None] = {}
    for session in sessions:
        found.update(session.watched)
        for request in session.listening.values():
            filtered = request.params["notifications"]
            found.update(dict.fromkeys(filtered.get(WATCHED, ())))  # type: ignore[union-attr,arg-type]
    return list(found)


class Watcher:
    """Looks at what is watched, in the thread that serves."""

    def __init__(self, driver: Driver, seconds: int) -> None:
        self._driver = driver
        self._seconds = seconds
        self._runner: Any = driver.prepare().runner_of(CONTRACT)
        self._known: dict[str, bytes] = {}
        self._waiting: list[str] = []
        self._busy = self._told = False
        self._round = self._looks = 0
        self._job: Any = None

    def hurry(self) -> None:
        """Look soon at what is new: how it is now is what it is compared with later."""
        wanted = self._wanted()
        for uri in wanted if first_seen else ():
            if uri in first_seen:
                self._compare(uri, first_seen.pop(uri))
        self._waiting += [uri for uri in wanted if uri not in self._known and uri not in self._waiting]
        self._go_on()

    def _wanted(self) -> list[str]:
        found = watched(self._driver.clients)
        if len(found) > MOST_WATCHED and not self._told:
            self._told = True
            tell(f"{len(found)} resources are watched: changes of {MOST_WATCHED} are looked for, and of no more")
        return found[:MOST_WATCHED]

    def _begin(self, number: int) -> None:
        """Begin a round, if nobody began a later one."""
        if number != self._round or self._busy:
            return
        self._waiting = self._wanted()
        self._known = {uri: self._known[uri] for uri in self._waiting if uri in self._known}
        if self._waiting:
            self._go_on()
        else:
            watchers.pop(self._driver, None)

    def _go_on(self) -> None:
        """Look at the next, or wait for the next round."""
        while self._waiting and not self._busy:
            self._look(self._waiting.pop(0))
        if not self._busy:
            self._round += 1
            number = self._round
            self._driver.watch().after(self._seconds, lambda: self._begin(number))

    def _look(self, uri: str) -> None:
        """Read a resource; what cannot be read is something, too, and may change into something else."""
        asked = self._asked(uri)
        if asked is None:
            self._known[uri] = b""
            return
        self._busy = True
        number = self._looks
        try:
            self._job = self._runner.start(asked, lambda brought: self._take(number, uri, brought), None)
        except OSError:  # there is no room now; the next round comes
            self._end()
            return
        self._driver.watch().after(LONGEST_SECONDS, lambda: self._expire(number))

    def _asked(self, uri: str) -> Any:
        try:
            found = locate(self._driver.image, uri)
            return None if found is None else looked_at(self._driver.image, found[0], uri)
        except (ValueError, OSError):
            return None

    def _compare(self, uri: str, digest: bytes) -> None:
        """Tell of a resource that is not what it was."""
        before = self._known.get(uri)
        self._known[uri] = digest
        if before is not None and before != digest:
            self._driver.publish(Publish("resource", uri))

    def _take(self, number: int, uri: str, brought: Any) -> None:
        """Take what was read; what comes too late is passed over."""
        if number == self._looks:
            self._compare(uri, digest(brought))
            self._end()

    def _expire(self, number: int) -> None:
        """Leave off what takes too long."""
        if number == self._looks and self._busy:
            self._runner.stop(self._job)
            self._end()

    def _end(self) -> None:
        """Go on to the next."""
        self._busy = False
        self._looks += 1
        self._driver.ask(self._go_on)
