"""Internal errors of the server: each is logged with its traceback, and its request is answered with an error.

Code that must survive any error calls `attempt`, or catches the error and calls `log_failure` itself.
"""

from __future__ import annotations

from collections.abc import Callable
from traceback import format_exception
from typing import TypeVar

from mcpc_runtime.log.operator_log import log_line
from mcpc_runtime.protocol.effects import Activity, Effect, Ending, Failure, internal_error

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
