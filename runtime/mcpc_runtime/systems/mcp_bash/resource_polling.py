"""Polling of subscribed resources whose providers send no change events: each is read repeatedly and compared.

One resource is read at a time; the next round begins some seconds after the last has ended, and polling ends with the
last subscription.  Web pages and repositories are not polled.  Memory: one digest per uri.
"""

from __future__ import annotations

from collections.abc import Iterable

from mcpc_runtime.interfaces import DriverInterface
from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.effects import PublishChange
from mcpc_runtime.protocol.resources import locate_uri
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.systems.mcp_bash.providers.registry import ProviderRequest
from mcpc_runtime.systems.mcp_bash.providers.requests import ProviderResult, first_seen, result_digest
from mcpc_runtime.systems.mcp_bash.resource_contract import CONTRACT, polling_request
from mcpc_runtime.systems.mcp_bash.settings import settings_of

INTERVAL_VARIABLE, DEFAULT_SECONDS = "MCPBASH_RESOURCES_POLL_INTERVAL_SECS", 2
MAX_POLLED = 1000
"""The maximum number of polled resources, over all sessions."""
MAX_READ_SECONDS = 30.0
"""Seconds that reading a resource may take."""
SUBSCRIPTIONS = "resourceSubscriptions"

pollers: dict[DriverInterface, ResourcePoller] = {}
"""The poller of each driver that has subscriptions."""


def start_polling(driver: DriverInterface) -> None:
    """Start polling the resources to which a server's clients are subscribed."""
    seconds = settings_of(driver.image).number(INTERVAL_VARIABLE, DEFAULT_SECONDS)
    if not seconds:
        return
    if driver not in pollers:
        pollers[driver] = ResourcePoller(driver, seconds)
    pollers[driver].hurry()


def subscribed_uris(sessions: Iterable[Session]) -> list[str]:
    """Return the subscribed uris, each once."""
    subscribed: dict[str, None] = {}
    for session in sessions:
        subscribed.update(session.watched)
        for request in session.listening.values():
            filtered = request.params["notifications"]
            uris = filtered.get(SUBSCRIPTIONS) if type(filtered) is dict else None
            subscribed.update(dict.fromkeys(uri for uri in uris if type(uri) is str) if type(uris) is list else {})
    return list(subscribed)


class ResourcePoller:
    """Polls the subscribed resources, in the driver's thread."""

    def __init__(self, driver: DriverInterface, seconds: int) -> None:
        self._driver = driver
        self._seconds = seconds
        self._runner = driver.prepare().runner_of(CONTRACT)
        self._known: dict[str, bytes] = {}
        self._waiting: list[str] = []
        self._busy = self._has_warned = False
        self._round = self._read_count = 0
        self._job: object = None

    def hurry(self) -> None:
        """Read new subscriptions soon, as the base of later comparisons."""
        uris = self._polled_uris()
        for uri in uris if first_seen else ():
            if uri in first_seen:
                self._compare(uri, first_seen.pop(uri))
        self._waiting += [uri for uri in uris if uri not in self._known and uri not in self._waiting]
        self._continue()

    def _polled_uris(self) -> list[str]:
        uris = subscribed_uris(self._driver.clients)
        if len(uris) > MAX_POLLED and not self._has_warned:
            self._has_warned = True
            log_line(f"{len(uris)} resources are subscribed to: only {MAX_POLLED} are polled for changes")
        return uris[:MAX_POLLED]

    def _begin(self, number: int) -> None:
        """Begin a round, unless a later one has begun."""
        if number != self._round or self._busy:
            return
        self._waiting = self._polled_uris()
        self._known = {uri: self._known[uri] for uri in self._waiting if uri in self._known}
        if self._waiting:
            self._continue()
        else:
            pollers.pop(self._driver, None)

    def _continue(self) -> None:
        """Read the next resource, or schedule the next round."""
        while self._waiting and not self._busy:
            self._read(self._waiting.pop(0))
        if not self._busy:
            self._round += 1
            number = self._round
            self._driver.watch().after(self._seconds, lambda: self._begin(number))

    def _read(self, uri: str) -> None:
        """Read a resource; a failure counts as a state that may change, too."""
        request = self._request_for(uri)
        if request is None:
            # It counts as known, so that `hurry` does not queue it again and again.
            self._known[uri] = b""
            return
        self._busy = True
        number = self._read_count
        try:
            self._job = self._runner.start(request, lambda result: self._take(number, uri, result), None)
        except OSError:  # no room now; retry in the next round
            self._end()
            return
        self._driver.watch().after(MAX_READ_SECONDS, lambda: self._expire(number))

    def _request_for(self, uri: str) -> ProviderRequest | None:
        try:
            located = locate_uri(self._driver.image, uri)
            return None if located is None else polling_request(self._driver.image, located[0], uri)
        except (ValueError, OSError):
            return None

    def _compare(self, uri: str, digest: bytes) -> None:
        """Publish a change if the digest differs from the last one."""
        before = self._known.get(uri)
        self._known[uri] = digest
        if before is not None and before != digest:
            self._driver.publish(PublishChange("resource", uri))

    def _take(self, number: int, uri: str, result: ProviderResult) -> None:
        """Process what was read; a result after the timeout is ignored."""
        if number == self._read_count:
            self._compare(uri, result_digest(result))
            self._end()

    def _expire(self, number: int) -> None:
        """Stop a read that takes too long."""
        if number == self._read_count and self._busy:
            self._runner.stop(self._job)
            self._end()

    def _end(self) -> None:
        """Finish a read, and continue with the next."""
        self._busy = False
        self._read_count += 1
        # Not called directly: many results that are there at once would nest as deep as their number.
        self._driver.ask(self._continue)
