"""The worker: threads take turns to read and run calls; the main thread reads control messages.

A call's function runs on the thread that received the call; an awaitable that it returns is awaited on the event loop.
Every exception that it raises, SystemExit and KeyboardInterrupt too, becomes its result, which is written once.

No handler runs on the main thread, so Python's signal handlers always can; Python raises an error if a handler tries to
set one.  The program of a framework has that thread (MAIN_THREAD), and another one reads control messages.  Modules are
imported once and keep their state.  Output that a handler prints goes to standard error.  Before the process ends, it
releases what bindings have, and calls what was registered with `atexit`; the server, told once that there is such a
thing, gives it time.
"""

from __future__ import annotations

import asyncio
import marshal
import sys
from _contextvars import Context as Variables
from _signal import SIGINT, SIGTERM, signal
from _thread import RLock, start_new_thread
from atexit import _ncallbacks
from collections.abc import Awaitable, Callable, Mapping
from types import ModuleType
from typing import Any

from mcpc_runtime.concurrency.leader_followers import LeaderFollowers
from mcpc_runtime.handlers.python.bindings import BEFORE_EXIT, BINDINGS, MAIN_THREAD, ArgumentError
from mcpc_runtime.handlers.python.children import prepare_children
from mcpc_runtime.handlers.python.context import Context
from mcpc_runtime.handlers.python.errors import Cancelled
from mcpc_runtime.handlers.python.execution import (
    InterruptibleSection,
    activate_packages,
    add_handlers,
    exception_message,
    is_intended,
    json_bytes,
    print_traceback,
    protocol_error_of,
    run_exit_functions,
)
from mcpc_runtime.handlers.python.worker.coroutines import AsyncReply, EventLoopThread, ThreadReply
from mcpc_runtime.handlers.python.worker.frames import (
    FRAME_LIMIT,
    DatagramReceiver,
    ReplyWriter,
    StreamReceiver,
    read_exactly,
)
from mcpc_runtime.lazy import resolve
from mcpc_runtime.protocol.jsonrpc import Json, encode
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.artifact_file import check_unchanged, watch_archive
from mcpc_runtime.transports.platforms.files import open_null
from mcpc_runtime.transports.platforms.pipes import adopt

Message = tuple[str, str, list[str], dict[str, Json], str, dict[str, Json], str, dict[str, Json]]
"""File, function, binding, arguments, parameter for the context, `_meta`, name, and `more` of an invocation."""


CALLS, REPLIES, CONTROL, ARCHIVE = 3, 4, 5, 6
"""The descriptors that the process is started with."""
BROKEN_STATUS = 70


def main(archive: str, channel: str, folder: str, *known: str) -> None:
    """Answer calls until there are no more.

    `folder`: with the project's files, if handlers are imported from there; `known`: the state of the server's file
    when the server opened it.
    """
    descriptors = tuple(adopt(descriptor) for descriptor in (CALLS, REPLIES, CONTROL))
    if known:
        inode, size, changed = map(int, known)
        watch_archive(archive, (inode, size, changed))
        check_unchanged(archive)
        if archive == f"/proc/{system.getpid()}/fd/{ARCHIVE}":
            # Children open the file by the number of this process, and need no descriptor.
            system.set_inheritable(ARCHIVE, False)
    sys.stdout = sys.stderr
    add_handlers(archive, folder)
    sys.argv = [archive]
    worker = Worker(channel, descriptors)
    signal(SIGINT, worker.interrupted)
    prepare_children(archive, folder)
    system.register_at_fork(after_in_child=worker.disconnect_fork)
    if sys.platform == "win32":
        __import__("threading")  # asyncio takes the thread that imports it first for the main thread
    activate_packages(archive)
    worker.prepare_to_leave()
    worker.replies.send(b'{"ready":true}')
    worker.announce_exit()
    start_new_thread(worker.turns.serve, ())
    # At most one of them is there, and it does not return: another thread has the control messages then.
    for run in resolved(MAIN_THREAD):
        start_new_thread(worker.listen_to_the_end, ())
        run()
    worker.listen_to_the_end()


def resolved(rows: Mapping[str, str]) -> list[Callable[[], None]]:
    """Return the functions of rows, without those of bindings that this server does not have."""
    functions: list[Callable[[], None]] = []
    for row in rows.values():
        try:
            functions.append(resolve(row))
        except ModuleNotFoundError:
            continue
    return functions


class Worker:
    """The calls this process is running."""

    def __init__(self, channel: str, descriptors: tuple[int, ...]) -> None:
        calls, replies, self._control = self._descriptors = descriptors
        self.replies = ReplyWriter(replies)
        self.coroutines = EventLoopThread()
        self.calls: dict[int, WorkerCall] = {}
        self.forked = False
        self.turns = LeaderFollowers(self.drive)
        self._receiver = StreamReceiver(calls, self._begun) if channel == "stream" else DatagramReceiver(calls)
        self._modules: dict[str, ModuleType] = {}
        self._imports = RLock()
        self._leaving = RLock()
        self._exit_functions: list[Callable[[], None]] = []
        self._has_announced_exit = False
        self._last_number = 0
        self._cancelled_early: set[int] = set()

    def drive(self) -> None:
        """Receive and run calls until there are no more."""
        try:
            while (taken := self._receiver.take()) is not None:
                self._take(*taken)
        except Exception as problem:  # noqa: BLE001 - without calls the worker has no purpose
            print_traceback(problem)
            system._exit(BROKEN_STATUS)
        self.leave()

    def prepare_to_leave(self) -> None:
        """Let bindings release resources before the process ends."""
        self._exit_functions = resolved(BEFORE_EXIT)
        if self._exit_functions:
            # Not from the handler itself: what it interrupts in the main thread may be what has to end.
            signal(SIGTERM, lambda *_: start_new_thread(self.leave, ()))

    def announce_exit(self) -> None:
        """Tell the server, once, if there is something to do before the process ends."""
        if not self._has_announced_exit and (self._exit_functions or _ncallbacks()):
            self._has_announced_exit = True
            self.replies.send(b'{"leaves":true}')

    def leave(self) -> None:
        """End the process, once."""
        with self._leaving:
            if not self.forked:
                for call in self._exit_functions:
                    call()
                run_exit_functions()
            system._exit(0)

    def _take(self, number: int, body: bytes) -> None:
        message: Message = marshal.loads(body)
        call = WorkerCall(self, number, message)
        # Here the call is entered before cancellations are looked at, in `_cancel` it is the other way: none is missed.
        self.calls[number] = call
        self._last_number = number
        if number in self._cancelled_early:
            self._cancelled_early.discard(number)
            call.cancelled = True
        # A call that imports its module is slow once, which says nothing about its function.
        self.turns.run(message[:2] if message[0] in self._modules else None, call.run)

    def _begun(self, number: int) -> None:
        self.replies.send(b'{"begun":%d}' % number)

    def function(self, file: str, name: str) -> Callable[..., object]:
        """Return a function of a module, which is imported if it was not yet."""
        module = self._modules.get(file)
        if module is None:
            dotted = file.removesuffix(".py").replace("/", ".")
            with self._imports:
                __import__(dotted)
                module = self._modules[file] = sys.modules[dotted]
        function: Callable[..., object] = getattr(module, name)
        return function

    def listen_to_the_end(self) -> None:
        """Handle control messages, then end the process."""
        self.listen()
        self.leave()

    def listen(self) -> None:
        """Handle the server's control messages until there are no more.

        They are `("cancel", call)`, `("answer", call, number, result)`, and `("alive", 0)`, which requests a reply.
        """
        while (head := read_exactly(self._control, 4)) is not None:
            body = read_exactly(self._control, int.from_bytes(head, "little"))
            if body is None:
                return
            kind, number, *rest = marshal.loads(body)
            try:
                CONTROL_HANDLERS[kind](self, number, *rest)
            except Exception as problem:  # noqa: BLE001 - a handler broke its loop; later messages are for others
                print_traceback(problem)

    def _reply_alive(self, _: int) -> None:
        self.replies.send(b'{"alive":true}')

    def _answer(self, number: int, reply: int, result: Json) -> None:
        call = self.calls.get(number)
        if call is not None:
            call.answered(reply, result)

    def _cancel(self, number: int) -> None:
        """Cancel a call, now or when it arrives; a call that has ended is ignored."""
        # Control messages have a channel of their own, so a cancellation can be here before its call.
        self._cancelled_early.add(number)
        call = self.calls.get(number)
        if call is not None or number <= self._last_number:
            self._cancelled_early.discard(number)
        if call is not None:
            call.cancel()

    def interrupted(self, *_: object) -> None:
        """Interrupt the running call on SIGINT; with several calls it is ambiguous, and ignored."""
        running = [call for call in list(self.calls.values()) if call.is_running]
        if len(running) == 1:
            running[0].interrupt()

    def disconnect_fork(self) -> None:
        """Disconnect a process that a handler forked from the server."""
        self.forked = True
        null = open_null()
        for descriptor in self._descriptors:
            # Not closed: files that the child opens would get their numbers.
            system.dup2(null, descriptor, False)
        system.close(null)


class WorkerCall:
    """One call: call its function, write its result once, and cancel it on request."""

    __slots__ = ("_answers", "_ended", "_message", "_section", "_task", "_worker", "cancelled", "number")

    def __init__(self, worker: Worker, number: int, message: Message) -> None:
        self._worker = worker
        self.number = number
        self._message = message
        self._section = InterruptibleSection()
        self._task: asyncio.Task[None] | None = None
        self._ended = [False]
        self._answers: dict[int, ThreadReply] | None = None
        self.cancelled = False

    def run(self) -> None:
        """Run the call in this thread, and write its result."""
        try:
            frame = self._guarded()
        except BaseException as problem:  # noqa: BLE001 - interrupted after the handler ended, before the frame was made
            self._section.leave()
            frame = exception_frame(self.number, problem)
        if self._worker.forked:
            exit_forked_child()
        if frame is not None:
            self._end(frame)

    def _guarded(self) -> bytes | None:
        """Return the result frame, None if the event loop will write it; later interrupts do not reach this thread."""
        # From here to `leave`, and nowhere else, an interrupt may stop this thread.
        self._section.enter()
        try:
            if self.cancelled:
                raise Cancelled
            value = Variables().run(self._call_function)
            if hasattr(value, "__await__"):
                self._worker.coroutines.begin(self._awaited(value), self._begun)
                frame = None
            else:
                frame = call_frame(self.number, b"value", value)
        except ArgumentError as problem:
            frame = call_frame(self.number, b"refused", str(problem))
        except BaseException as problem:  # noqa: BLE001 - every exception of the handler is its result
            frame = self._failure(problem)
        self._section.leave()
        return frame

    def _failure(self, problem: BaseException) -> bytes:
        if not is_intended(problem):
            print_traceback(problem)
        return exception_frame(self.number, problem)

    def _call_function(self) -> object:
        file, name, binding, arguments, context, meta, tool, more = self._message
        function = self._worker.function(file, name)
        contexts = {context: Context(self, tool, meta, more)} if context else {}
        if binding:
            return resolve(BINDINGS[binding[0]])(function, arguments, contexts, *binding[1:])
        return function(**arguments, **contexts)

    def _begun(self, task: asyncio.Task[None]) -> None:
        self._task = task
        if self.cancelled:
            self._cancel_task()

    def _cancel_task(self) -> None:
        """Cancel the task after its first step: one that has not started would end without a result."""
        if self._task is not None:
            self._worker.coroutines.soon(self._task.cancel)

    async def _awaited(self, value: Awaitable[object]) -> None:
        """Await the returned object on the event loop, and write the result."""
        try:
            frame = call_frame(self.number, b"value", await value)
        except ArgumentError as problem:
            frame = call_frame(self.number, b"refused", str(problem))
        except BaseException as problem:  # noqa: BLE001 - as above
            frame = self._failure(problem)
        self._end(frame)

    def _end(self, frame: bytes) -> None:
        """Write the result.  A process that the handler forked ends here instead."""
        if self._worker.forked:
            exit_forked_child()
        # Before the result, after which the server may end this process.
        self._worker.announce_exit()
        self._worker.calls.pop(self.number, None)
        self._worker.replies.send(frame, self._ended, last=True)
        for answer in list((self._answers or {}).values()):
            answer.give(None)

    def cancel(self) -> None:
        """Cancel the call: cancel its task, or raise Cancelled in its thread."""
        self.cancelled = True
        self._section.interrupt(Cancelled)
        self._worker.coroutines.soon(self._cancel_task)
        for answer in list((self._answers or {}).values()):
            answer.withdraw()

    def interrupt(self) -> bool:
        """Raise KeyboardInterrupt in its thread; False if its handler is not running in one."""
        return self._section.interrupt(KeyboardInterrupt)

    @property
    def is_running(self) -> bool:
        """Whether its handler runs in a thread now."""
        return self._section.open

    def say(self, note: Mapping[str, object]) -> None:
        """Send a note, unless the call has ended; a thread is not interrupted while it writes one."""
        frame = call_frame(self.number, b"note", note)
        if self._worker.forked or self._ended[0]:
            return
        if not self._section.mine:
            self._worker.replies.send(frame, self._ended)
            return
        if not self._section.pause():
            raise Cancelled
        try:
            self._worker.replies.send(frame, self._ended)
        finally:
            self._section.resume()
        if self.cancelled:
            raise Cancelled

    def ask(self, note: Mapping[str, object], read: Callable[[Json], object]) -> Any:
        """Send a note that expects a reply: from another tool, or from the client."""
        if self._ended[0]:
            raise RuntimeError("this call has already ended")
        if self._answers is None:
            self._answers = {}
        number = len(self._answers) + 1
        if self._worker.coroutines.here:
            reply = AsyncReply(self._worker.coroutines)
            self._answers[number] = reply
            self.say({**note, "reply": number})
            return reply.read(read)
        answer = self._answers[number] = ThreadReply()
        self.say({**note, "reply": number})
        return read(self._reply_or_raise(answer.wait()))

    def use_event_loop(self, loop: asyncio.AbstractEventLoop, thread: int) -> None:
        """Run the coroutines of this and all later calls on a loop, which runs in `thread`."""
        self._worker.coroutines.use(loop, thread)

    def retire_worker(self) -> None:
        """Let the server give this process no new calls, and end it when its calls have ended."""
        self._worker.replies.send(b'{"retire":true}')

    def _reply_or_raise(self, result: Json) -> Json:
        """Return a reply; without one the call was cancelled, or has ended."""
        if result is None:
            if self.cancelled:
                raise Cancelled
            raise RuntimeError("this call has already ended")
        return result

    def answered(self, number: int, result: Json) -> None:
        """Deliver the reply to a note."""
        answer = (self._answers or {}).get(number)
        if answer is not None:
            answer.give(result)


def call_frame(number: int, key: bytes, value: object) -> bytes:
    """Return a frame of a call; raise an exception if the value cannot be written as JSON."""
    frame = b'{"call":%d,"%b":%b}' % (number, key, json_bytes(value))
    if len(frame) > FRAME_LIMIT:
        raise ValueError(f"the result takes {len(frame) >> 20} MiB; the maximum is {FRAME_LIMIT >> 20} MiB")
    return frame


def exception_frame(number: int, problem: BaseException) -> bytes:
    """Return the frame of an exception."""
    error = protocol_error_of(problem)
    if error is not None:
        return b'{"call":%d,"raised":%b}' % (number, encode(error))
    return b'{"call":%d,"error":%b}' % (number, encode(exception_message(problem)))


def exit_forked_child() -> None:
    """End a forked process as the interpreter would."""
    # The handler may have replaced the streams: whatever they raise, this process must not go on as a second worker.
    try:
        sys.stdout.flush()
    finally:
        try:
            sys.stderr.flush()
        finally:
            system._exit(0)


CONTROL_HANDLERS: dict[str, Callable[..., None]] = {
    "alive": Worker._reply_alive,
    "answer": Worker._answer,
    "cancel": Worker._cancel,
}
"""The method for each control message."""
