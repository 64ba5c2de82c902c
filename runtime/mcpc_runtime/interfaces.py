"""The interfaces between the parts of a server, for type checkers; never imported when a server runs."""

from __future__ import annotations

from _thread import LockType
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Protocol, TypeVar

from mcpc_runtime.concurrency.leader_followers import LeaderFollowers
from mcpc_runtime.protocol.effects import Activity, Call, Effect, Ending, PublishChange
from mcpc_runtime.protocol.image import Image, StoredPage
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.kept_results import Account
from mcpc_runtime.protocol.requests import SendResponse
from mcpc_runtime.protocol.session import Session

Note = dict[str, Json]
"""A message of a running handler: progress, a log message, a call, a client request."""
Notify = Callable[[Note], None]
Job = object
"""A runner's own handle of something it has started."""


InvocationTaken = TypeVar("InvocationTaken", contravariant=True)
InvocationMade = TypeVar("InvocationMade", covariant=True)
ResultTaken = TypeVar("ResultTaken", contravariant=True)
ResultMade = TypeVar("ResultMade", covariant=True)


class Lock(Protocol):
    """A lock, held by one thread at a time."""

    def acquire(self) -> bool:
        """Acquire the lock."""
        ...

    def release(self) -> None:
        """Release the lock."""

    def __enter__(self) -> object:
        """Acquire the lock."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Release the lock."""


class ClientChannel(Protocol):
    """The connection to one client: standard input and output, or one request of the command line.

    `ended`: whether the client has closed its end, or its process has ended.
    """

    ended: bool

    @property
    def descriptor(self) -> int:
        """The descriptor from which the client's lines are read."""
        ...

    @property
    def output(self) -> int:
        """The descriptor to which answers are written."""
        ...

    @property
    def full(self) -> bool:
        """Whether so much output waits that no input is read."""
        ...

    @property
    def unsent(self) -> int:
        """How many bytes wait to be written."""
        ...

    @property
    def bytes_written(self) -> int:
        """How many bytes were written."""
        ...

    def read(self) -> Sequence[bytes | None]:
        """Wait for input and return the lines it completes; None stands for a line over the limit."""
        ...

    def watch_parent(self) -> int:
        """Return a descriptor that is readable when the client's process has ended, -1 if nothing tells that."""
        ...

    def write(self, data: bytes) -> None:
        """Queue `data` for the next `flush`."""

    def write_later(self, page: StoredPage) -> None:
        """Queue what is read while it is written."""

    def flush(self) -> bool:
        """Write as much as possible without blocking; return whether that was all."""
        ...


class ReactorInterface(Protocol):
    """Calls back when a descriptor is ready or a timer is due: a poll loop, or an event loop."""

    clock: Callable[[], float]

    def watch(self, descriptor: int, events: int, callback: Callable[[], None]) -> None:
        """Call `callback` when `descriptor` is ready or at its end."""

    def forget(self, descriptor: int) -> None:
        """Stop watching a descriptor, if it is watched."""

    def after(self, seconds: float, callback: Callable[[], None]) -> None:
        """Call `callback` once, `seconds` from now."""

    def turn(self, lock: LockType | None = None) -> None:
        """Wait until something is ready or due, and call its callback; `lock` is free while waiting."""

    def expect(self) -> None:
        """Poll for a moment before the next sleep, because an answer is expected soon."""

    def wake(self) -> None:
        """Wake the waiting thread."""


class RequestOrigin(Protocol):
    """The transport's side of a request: takes its answer and its messages (`Request.origin`)."""

    def respond(self, effect: SendResponse) -> None:
        """Send the answer to the request."""

    def send(self, line: bytes) -> None:
        """Send another message that belongs to the request."""

    def close_stream(self, seconds: float) -> None:
        """Close the stream, and ask the client to reconnect after so many seconds."""

    def release(self) -> None:
        """Release the request, which was cancelled."""


class Observer(Protocol):
    """Receives the begin and end of each call of a handler."""

    def began(self, call: Activity) -> None:
        """Note a call that begins or waits."""

    def ended(self, call: Activity, status: str, seconds: float, ending: Ending | None) -> None:
        """Note a call's end; it has no ending if it was cancelled."""


class JobControl(Protocol):
    """Has started a job, and can stop it.

    If its handlers can send requests, `answer(job, reply, result)` delivers the answer to a job.  If progress of the
    calls that a job makes is its own, `progress_of_step(job, note)` returns it.
    """

    def stop(self, job: Any, /) -> None:
        """Stop a job whose result is not needed any more."""


class Runner(Protocol[InvocationTaken, ResultMade]):
    """Runs the invocations of a contract (see `mcpc_runtime.handlers.invocations`)."""

    def start(
        self, invocation: InvocationTaken, done: Callable[[ResultMade], None], note: Callable[[Note], None], /
    ) -> Job:
        """Start a job; raise OSError, with nothing left open, if the system lacks resources now."""

    def stop(self, job: Any, /) -> None:
        """Stop a job whose result is not needed any more."""

    def close(self) -> None:
        """End all jobs and processes, because the server ends."""


class Contract(Protocol[InvocationMade, ResultTaken]):
    """How one kind of handler is called, and how its output becomes a result: a module named in `CONTRACTS`."""

    def build_invocation(self, call: Call, image: Image, /) -> InvocationMade:
        """Return the invocation for the runner."""
        ...

    def parse_result(self, call: Call, result: ResultTaken, /) -> Ending:
        """Return the ending of the call from the runner's result."""
        ...


class RunsCalls(Protocol):
    """The dispatcher, as the task store, the polling of resources and the early start of programs use it."""

    @property
    def refusal(self) -> str:
        """Why no handler can be run, or an empty text."""
        ...

    def is_crowded(self, principal: str) -> bool:
        """Return whether a call of this principal would be refused now."""
        ...

    def runner_of(self, contract: str) -> Any:
        """Return the runner of a contract, for jobs that do not belong to a call."""


class DriverInterface(Protocol):
    """`mcpc_runtime.server.driver.Driver`, for modules of lower layers."""

    image: Image
    lock: Lock
    shared: bool
    is_shared: bool
    turns: type[LeaderFollowers] | None
    observers: Sequence[Observer]

    @property
    def full(self) -> bool:
        """Whether so much output waits that messages which are not required are dropped."""
        ...

    @property
    def clients(self) -> Sequence[Session]:
        """The sessions that may wait for change notifications."""
        ...

    def account(self, principal: str) -> Account | None:
        """Return the account that is charged for stored output of a principal's call; None if nothing is counted."""
        ...

    def watch(self) -> ReactorInterface:
        """Return the reactor."""
        ...

    def prepare(self) -> RunsCalls:
        """Return the dispatcher."""
        ...

    def post_effects(self, effects: Iterable[Effect]) -> None:
        """Queue effects, after those that wait already."""

    def ask(self, callback: Callable[[], None]) -> None:
        """Queue a callback for the serving thread."""

    def publish(self, event: PublishChange) -> None:
        """Notify every client that subscribed to a change."""

    def serve_in_this_thread(self) -> None:
        """Continue to serve in this thread."""
