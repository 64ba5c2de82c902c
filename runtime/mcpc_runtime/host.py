"""What every runner is made with: the reactor, the image, the supervisor, and the environments handlers find."""

from __future__ import annotations

import posix

from mcpc_runtime.errors import errors
from mcpc_runtime.lazy import lazy
from mcpc_runtime.reactor import READABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.environments import environment as environments_environment
    from mcpc_runtime.environments import hide
    from mcpc_runtime.image import Image
    from mcpc_runtime.reactor import Reactor
    from mcpc_runtime.supervision.client import Supervisor
else:
    Supervisor = lazy("mcpc_runtime.supervision.client:Supervisor")
    environments_environment = lazy("mcpc_runtime.environments:environment", "environments_environment")
    hide = lazy("mcpc_runtime.environments:hide")

READ_SIZE = 1 << 16


class Host:
    """One for a server; the supervisor is started by the first runner that asks for it."""

    def __init__(self, reactor: Reactor, image: Image) -> None:
        self.reactor = reactor
        self.image = image
        self._supervisor: Supervisor | None = None
        self._reading = self._writing = -1
        self._environments: dict[int, dict[bytes, bytes]] = {}
        tokens = image.index["bx"]["tokens"] if "bx" in image.index else ()
        if tokens:
            hide([value for kind, value, _ in tokens if kind != "digest"])

    @property
    def supervisor(self) -> Supervisor:
        """The supervisor; what its children write to standard error passes through here, and never has to wait."""
        if self._supervisor is None:
            self._supervisor = Supervisor(self.reactor)
            self._supervisor.errors = self.errors
        return self._supervisor

    @property
    def errors(self) -> int:
        """A descriptor to write errors to, in place of standard error: it is always read."""
        if self._writing < 0:
            errors.prepare()
            self._reading, self._writing = posix.pipe()
            posix.set_blocking(self._reading, False)
            self.reactor.watch(self._reading, READABLE, self._pass_on)
        return self._writing

    def environment(self, number: int) -> dict[bytes, bytes]:
        """Return an environment of the index, as this server's own makes it; not to be changed."""
        found = self._environments.get(number)
        if found is None:
            inherit, names = self.image.index["environments"][number]
            made: dict[bytes, bytes] = environments_environment(inherit, names)
            found = self._environments[number] = made
        return found

    def close(self) -> None:
        """End every process, if any was started."""
        if self._supervisor is not None:
            self._supervisor.close()
            self._pass_on()

    def _pass_on(self) -> None:
        """Hand on what children wrote to standard error, as far as somebody takes it."""
        try:
            errors.write(posix.read(self._reading, READ_SIZE))
        except BlockingIOError:
            return
