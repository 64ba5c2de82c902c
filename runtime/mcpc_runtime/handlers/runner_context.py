"""The context of all runners of a server: reactor, image, supervisor, and the environments of handlers."""

from __future__ import annotations

from mcpc_runtime.artifact.settings import image_problems, refusal_text
from mcpc_runtime.interfaces import ReactorInterface
from mcpc_runtime.lazy import call_rows
from mcpc_runtime.log import standard_error
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.environments import handler_environment, hide_variables
from mcpc_runtime.transports.platforms.pipes import incoming
from mcpc_runtime.transports.platforms.reactor import READABLE
from mcpc_runtime.transports.platforms.supervisor import Supervisor

READ_SIZE = 1 << 16


class RunnerContext:
    """One per server; the supervisor is started by the first runner that uses it."""

    def __init__(self, reactor: ReactorInterface, image: Image) -> None:
        self.reactor = reactor
        self.image = image
        self._supervisor: Supervisor | None = None
        self._read_end = self._write_end = -1
        self._environments: dict[int, dict[bytes, bytes]] = {}
        self.refusal = refusal_text(image_problems(image), image.how_to_set) if "settings" in image.index else ""
        """Why no handler can be run: settings are missing or invalid."""
        for names in call_rows(image.hooks("secret_variables"), image):
            hide_variables(names)

    @property
    def supervisor(self) -> Supervisor:
        """The supervisor; what its children write to standard error is forwarded here without blocking them."""
        if self._supervisor is None:
            self._supervisor = Supervisor(self.reactor)
            self._supervisor.errors = self.errors
        return self._supervisor

    @property
    def pids(self) -> list[int]:
        """The processes that run for handlers."""
        return [] if self._supervisor is None else self._supervisor.pids

    @property
    def errors(self) -> int:
        """A descriptor that replaces standard error for children: it is always read."""
        if self._write_end < 0:
            # Standard error of a child is a pipe to here: a reader of the server's own that stops must not block
            # handlers.
            standard_error.prepare()
            self._read_end, self._write_end = incoming()
            self.reactor.watch(self._read_end, READABLE, self._forward_errors)
        return self._write_end

    def environment(self, number: int) -> dict[bytes, bytes]:
        """Return an environment of the index, filled from the server's environment; do not change it."""
        environment = self._environments.get(number)
        if environment is None:
            inherit, names = self.image.index["environments"][number]
            environment = self._environments[number] = handler_environment(inherit, names)
        return environment

    def close(self) -> None:
        """End all processes, if any was started."""
        if self._supervisor is not None:
            # What the children wrote last is still in the pipe.
            self._supervisor.close()
            self._forward_errors()

    def _forward_errors(self) -> None:
        """Forward what children wrote to standard error, as far as it can be written without waiting."""
        try:
            standard_error.write(system.read(self._read_end, READ_SIZE))
        except BlockingIOError:
            return
