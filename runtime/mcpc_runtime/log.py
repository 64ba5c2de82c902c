"""The operator's log on standard error: writing never blocks; data that the reader does not accept is dropped.

Internal errors of the server: each is logged with its traceback, and its request is answered with an error.

Code that must survive any error calls `attempt`, or catches the error and calls `log_failure` itself.
"""

from __future__ import annotations

from collections.abc import Callable
from traceback import format_exception
from typing import TypeVar

from mcpc_runtime.protocol.effects import Activity, Effect, Ending, Failure, internal_error
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.pipes import open_nonblocking


class StandardError:
    """Standard error of this process."""

    __slots__ = ("_descriptor", "_lost", "_put")

    def __init__(self) -> None:
        self._descriptor = 2
        self._lost = 0
        self._put: Callable[[int, memoryview], int] | None = None

    def write(self, data: bytes) -> None:
        """Write what standard error accepts now; report later how much was lost."""
        if self._put is None:
            self.prepare()
        size, lost = len(data), self._lost
        if lost:
            data = b"\n[%d bytes of standard error were lost]\n%b" % (lost, data)
        view = memoryview(data)
        try:
            while view and self._put is not None:
                view = view[self._put(self._descriptor, view) :]
        except OSError:
            pass
        # If more than the text is left, the note before it was not written whole: what was lost still has to be told.
        self._lost = len(view) if len(view) <= size else lost + size

    def prepare(self) -> None:
        """Open the descriptor, if it is not open yet; another process may have filled the pipe already."""
        if self._put is None:
            try:
                self._put, self._descriptor = open_nonblocking(system.dup(2))
            except OSError:  # no descriptor is free: better to lose text than to wait
                return


class LineFormat:
    """The beginning of log lines; `prefix` returns the time, if lines have one."""

    prefix: Callable[[], str] | None = None


standard_error = StandardError()


def log_line(text: str) -> None:
    """Write a line to standard error, as far as it is read."""
    if LineFormat.prefix is not None:
        text = LineFormat.prefix() + text
    standard_error.write(text.encode("utf-8", "backslashreplace") + b"\n")


Result = TypeVar("Result")


INTERNAL = "internal error, the server continues"


def log_failure(problem: BaseException, event: str = INTERNAL) -> None:
    """Write an error and its traceback to the operator's log; `event`: what has failed."""
    text = f"{event}: {type(problem).__name__}: {problem}"
    try:
        text += "\n" + "".join(format_exception(problem)).rstrip()
    except Exception:  # noqa: BLE001 - there may be no descriptor or memory for the traceback; the error is logged without
        text += " (without a traceback)"
    log_line(text)


def failure_of(problem: BaseException) -> Failure:
    """Log an internal error; return the response to the request that failed with it."""
    log_failure(problem)
    return internal_error(problem)


def attempt(task: Callable[[], Result]) -> Result | Failure:
    """Return the result of a task; if it raises any error, log it and return the response to the request."""
    try:
        return task()
    except Exception as problem:  # noqa: BLE001 - an error in one request must not end the server
        return failure_of(problem)


def finish_or_fail(call: Activity, ending: Ending) -> list[Effect]:
    """Return the effects of a handler's end; if they cannot be computed, those of an error."""
    finish: Callable[[Activity, Ending], list[Effect]] = call.request.session.finish
    effects = attempt(lambda: finish(call, ending))
    return finish(call, effects) if isinstance(effects, Failure) else effects
