"""The worker process: calls Python handlers, synchronous ones in threads, all asynchronous ones on one loop.

Modules are imported once and keep their state between calls.  What a handler prints goes to standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from queue import SimpleQueue

from mcpc_runtime.bindings import BINDINGS, ArgumentError
from mcpc_runtime.protocol.rows import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine
    from typing import Any

REQUESTS, REPLIES = 3, 4
SPECIAL: tuple[tuple[str, dict[str, str]], ...] = (
    ("model_dump", {"mode": "json"}),
    ("isoformat", {}),
    ("__fspath__", {}),
)
"""Methods by which an object says what it is in JSON, with their keywords: models, times, paths."""
OURS, DUMP = "mcpc_app.models.", "mcpc_runtime.bindings.models:dump"
"""Models that were generated from a schema leave out what the schema would not want to find."""


def main(archive: str) -> None:
    """Answer frames until there are no more."""
    sys.path.insert(0, os.path.join(archive, "handlers"))
    sys.argv = [archive]
    carry(archive)
    worker = Child()
    with os.fdopen(REQUESTS, "rb") as stream:
        while len(head := stream.read(4)) == 4:
            worker.receive(json.loads(stream.read(int.from_bytes(head, "little"))))
    os._exit(0)


def carry(archive: str) -> None:
    """Put the packages in reach that the archive carries, if it carries any: then it has the module for it, too."""
    try:
        activate = resolve("mcpc_runtime.layer:activate")
    except ModuleNotFoundError:
        return
    activate(archive)


class Child:
    """The calls this process is running."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._imports = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: dict[int, Any] = {}

    def receive(self, message: dict[str, Any]) -> None:
        """Start a call, or cancel one."""
        if "cancel" in message:
            task = self._tasks.pop(message["cancel"], None)
            if task is not None:
                task.cancel()
            return
        if self._idle.acquire(blocking=False):
            self._calls.put(message)
        else:
            threading.Thread(target=self._serve, args=(message,), daemon=True).start()

    def _serve(self, message: dict[str, Any]) -> None:
        """Make one call after the other; there are as many threads as there were ever calls at once."""
        while True:
            self._run(message)
            self._idle.release()
            message = self._calls.get()

    def _run(self, message: dict[str, Any]) -> None:
        number = message["call"]
        try:
            with self._imports:
                module = importlib.import_module(message["file"].removesuffix(".py").replace("/", "."))
            function = getattr(module, message["function"])
            binding = message["binding"]
            if binding:
                call = resolve(BINDINGS[binding[0]])
                value = call(function, message["arguments"], *binding[1:])
            else:
                value = function(**message["arguments"])
            if hasattr(value, "__await__"):
                value = self._await(number, value)
            body = json.dumps({"call": number, "value": value}, default=plain, allow_nan=False, ensure_ascii=False)
        except ArgumentError as problem:
            body = json.dumps({"call": number, "refused": str(problem)})
        except BaseException as problem:  # noqa: BLE001 - the handler's own failure, whatever it is, is its answer
            report(problem)
            body = json.dumps({"call": number, "error": message_of(problem)})
        data = body.encode("utf-8", "backslashreplace")
        with self._lock:
            write(len(data).to_bytes(4, "little") + data)

    def _await(self, number: int, value: Coroutine[Any, Any, Any]) -> Any:
        """Wait for a coroutine on the one loop, which runs in a thread of its own."""
        asyncio = importlib.import_module("asyncio")
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, daemon=True).start()
        task = asyncio.run_coroutine_threadsafe(awaited(value), self._loop)
        self._tasks[number] = task
        try:
            return task.result()
        finally:
            self._tasks.pop(number, None)


async def awaited(value: Any) -> Any:
    """Await anything awaitable."""
    return await value


def plain(value: Any) -> Any:
    """Return what JSON can carry of an object that is no JSON value; raise TypeError if it does not say."""
    if any(kind.__module__.startswith(OURS) for kind in type(value).__mro__):
        return resolve(DUMP)(value)
    for method, keywords in SPECIAL:
        say: Callable[..., Any] | None = getattr(value, method, None)
        if say is not None and not isinstance(value, type):
            return say(**keywords)
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"the handler returned a {type(value).__name__}, which JSON cannot carry")


def message_of(problem: BaseException) -> str:
    """Return an exception as one line for the model."""
    text = str(problem)
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__


def report(problem: BaseException) -> None:
    """Write the traceback to standard error, for the person who runs the server."""
    traceback = importlib.import_module("traceback")
    sys.stderr.write("".join(traceback.format_exception(problem)))
    sys.stderr.flush()


def write(data: bytes) -> None:
    """Write all of `data` to the server."""
    view = memoryview(data)
    while view:
        view = view[os.write(REPLIES, view) :]
