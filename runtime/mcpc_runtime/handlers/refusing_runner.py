"""The runner of handlers that cannot run on this platform: each call is answered by the reason."""

from __future__ import annotations

from mcpc_runtime.handlers.output_capture import OutputCapture
from mcpc_runtime.platforms.processes import SHELL_REFUSAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.handlers.invocations import ProcessResult
    from mcpc_runtime.handlers.runner_context import RunnerContext
    from mcpc_runtime.interfaces import Notify


class RefusingRunner:
    """Refuses every call."""

    def __init__(self, host: RunnerContext) -> None:
        self._host = host

    def start(self, call: object, done: Callable[[ProcessResult], None], note: Notify) -> None:
        """Answer with the reason, as a handler that failed."""
        capture = OutputCapture()
        capture.add_output(SHELL_REFUSAL.encode())
        done(capture.completed(1))

    def stop(self, job: object) -> None:
        """Do nothing: nothing runs."""

    def close(self) -> None:
        """Do nothing: nothing runs."""
