"""Requests about tasks go to whoever keeps the tasks; an answer that comes too late is passed over."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.host import Host


class Job:
    """One request; `done` takes the answer while somebody waits for it."""

    __slots__ = ("done",)

    def __init__(self, done: Callable[[Any], None]) -> None:
        self.done: Callable[[Any], None] | None = done

    def finish(self, answer: Any) -> None:
        """Hand on the answer."""
        done, self.done = self.done, None
        if done is not None:
            done(answer)


class TaskRunner:
    """Hands requests to the keeper of the tasks."""

    def __init__(self, host: Host, keeper: Any) -> None:
        self._keeper = keeper

    def start(self, call: Any, done: Callable[[Any], None], note: Callable[[Any], None]) -> Job:
        """Have the keeper do what a request wants."""
        job = Job(done)
        self._keeper.perform(call, job.finish)
        return job

    def stop(self, job: Job) -> None:
        """Have nobody be told what comes of it; what it changes stays changed."""
        job.done = None

    def close(self) -> None:
        """Do nothing: the keeper is closed by whoever made it."""
