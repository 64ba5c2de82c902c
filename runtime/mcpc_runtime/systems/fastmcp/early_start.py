"""Starts a program before its first call: when a client over standard input has the list of tools, and is idle.

The first call does not wait for the program's imports then.  Until a client asks for tools, a server has no worker.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from mcpc_runtime.handlers.python.contract import FunctionResult
from mcpc_runtime.interfaces import ClientChannel, DriverInterface, RunsCalls
from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.effects import Call
from mcpc_runtime.protocol.requests import Request
from mcpc_runtime.systems.fastmcp.contract import build_invocation
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.system_features import WITHOUT, available_bytes


class StdioDriver(DriverInterface, Protocol):
    """The driver of standard input and output."""

    channel: ClientChannel
    dispatcher: RunsCalls | None


CONTRACT = "fastmcp"
EARLY_START = b"early-start"
"""The word in MCPC_WITHOUT that leaves the start to the first call."""
IDLE_SECONDS = 0.2
MIN_BYTES = 512 << 20
"""With less memory available, a program that may never be called is not started."""
CALLS = "mcpc_runtime.protocol.calls"
START = "start_program"
"""The function of the worker, in `calls.py` and in `original/calls.py`."""


def start_when_idle(driver: StdioDriver, request: Request) -> None:
    """Start the program when its client has sent and received nothing for a moment (hook `after_list`)."""
    if driver.channel.ended or EARLY_START in system.environ.get(WITHOUT, b"").split(b","):
        return
    available = available_bytes()
    if available is not None and available < MIN_BYTES:
        return
    reactor = driver.watch()

    def look(written: int) -> None:
        if driver.dispatcher is not None or driver.channel.ended:  # a call has started it, or none will come
            return
        if written == driver.channel.bytes_written:
            start(driver, request)
        else:
            wait()

    def wait() -> None:
        written = driver.channel.bytes_written
        reactor.after(IDLE_SECONDS, lambda: look(written))

    reactor.after(0, wait)  # the list is not written yet


def start(driver: StdioDriver, request: Request) -> None:
    """Send a worker what starts the program, as the client that sent a request sees it."""
    dispatcher = driver.prepare()
    if dispatcher.refusal:
        return
    import_module(CALLS)  # what handles the first call in this process is read now, too
    invocation = build_invocation(Call(request, driver.image.run_time_definition(START), {}), driver.image)
    invocation.function = START
    dispatcher.runner_of(CONTRACT).start(invocation, report_failure, lambda _: None)


def report_failure(result: FunctionResult) -> None:
    """Tell the operator why a program was not started; the next call starts it again."""
    problem = result.problem or (result.raised or {}).get("message")
    if problem:
        log_line(f"the program was not started before its first call: {problem}")
