"""Every call that runs a handler, from its start to its one answer: where it runs, how long, what it says meanwhile.

A call waits if there is no room for it, has a time limit, may be stopped, may call other tools, and is answered once.
Nothing of this is imported before the first handler is called.  Memory: O(calls under way).
"""

from __future__ import annotations

import posix
from errno import EAGAIN, EMFILE, ENFILE, ENOMEM
from time import monotonic

from mcpc_runtime.deadlines import Deadlines
from mcpc_runtime.engine import internal_error
from mcpc_runtime.errors import tell
from mcpc_runtime.host import Host
from mcpc_runtime.protocol.effects import Failure, text_outcome
from mcpc_runtime.protocol.facts import INTERNAL_ERROR, TIMEOUT_KEY
from mcpc_runtime.protocol.rows import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.engine import Engine
    from mcpc_runtime.protocol.effects import Call, Effect, Ending
    from mcpc_runtime.protocol.jsonrpc import Json

CONTRACTS = {
    "executable": ("mcpc_runtime.contracts.executable", "mcpc_runtime.runners.process:ProcessRunner"),
    "mcbox": ("mcpc_runtime.contracts.mcbox", "mcpc_runtime.runners.process:ProcessRunner"),
    "python": ("mcpc_runtime.contracts.python", "mcpc_runtime.runners.worker:WorkerRunner"),
}
"""A contract's module (`prepare`, `conclude`) and the runner it speaks to."""
INLINE = "mcpc_runtime.runners.inline:InlineRunner"
CALL_LOG_VARIABLE = b"MCPC_CALL_LOG"
CALL_LOG = "mcpc_runtime.calllog:call_log"
CALL_WITHIN = "mcpc_runtime.protocol.calls:call_within"
RESULT_WITHIN = "mcpc_runtime.protocol.calls:result_within"
UNMET = "mcpc_runtime.requirements:unmet"
MOST_RUNNING = 256
"""So many calls run at once; more wait for their turn."""
NO_ROOM = (EAGAIN, EMFILE, ENFILE, ENOMEM)
"""How the system says that it cannot start something now, but perhaps when something else has ended."""
PROGRESS_SECONDS = 0.05
"""Progress of one call is told at most so often; of what is told faster only the last is."""
LOGS_A_SECOND = 1000


class Task:
    """One call under way.  `answer`: for a call that another one made, what takes its result."""

    __slots__ = ("answer", "began", "call", "children", "held", "job", "over", "runner", "seconds", "told", "way")

    def __init__(self, call: Call, answer: Callable[[dict[str, Json]], None] | None) -> None:
        self.call = call
        self.answer = answer
        self.began = monotonic()
        self.seconds = limit(call)
        self.over = False
        self.way: Way | None = None
        self.runner: Any = None
        self.job: Any = None
        self.told = 0.0
        self.held: dict[str, Json] | None = None
        self.children: list[Task] = []


class Way:
    """How the handlers of one contract are called: its two functions and its runner."""

    __slots__ = ("conclude", "prepare", "runner")

    def __init__(self, module: str, runner: Any) -> None:
        self.prepare: Callable[..., Any] = resolve(f"{module}:prepare")
        self.conclude: Callable[..., Ending] = resolve(f"{module}:conclude")
        self.runner = runner


class Dispatcher:
    """The calls of one server.  Everything here happens with the engine's lock held."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._session = engine.session
        self._reactor = engine.watch()
        self._host = Host(self._reactor, engine.image)
        self._runners: dict[str, Any] = {}
        self._ways: dict[tuple[str, bool], Way] = {}
        self._tasks: dict[Call, Task] = {}
        self._waiting: dict[Task, None] = {}
        self._running = 0
        self._deadlines = Deadlines(self._reactor, self._expire)
        self._log = resolve(CALL_LOG)() if CALL_LOG_VARIABLE in posix.environ else None
        self._second, self._logs = 0.0, 0

    @property
    def busy(self) -> bool:
        """Whether a call has not been answered yet."""
        return bool(self._tasks)

    def start(self, call: Call, answer: Callable[[dict[str, Json]], None] | None = None) -> Task:
        """Run a call's handler, or have it wait for its turn."""
        task = self._tasks[call] = Task(call, answer)
        # A call within another one never waits: the one that waits for it has the room.
        if answer is None and (self._waiting or self._running >= MOST_RUNNING):
            self._waiting[task] = None
        else:
            self._begin(task)
        return task

    def stop(self, call: Call) -> None:
        """End a call that nobody waits for."""
        task = self._tasks.get(call)
        if task is not None:
            self._abandon(task, "cancelled")

    def stop_all(self) -> None:
        """End every call, because the client has gone; say so to whoever runs the server."""
        if self._tasks:
            calls = "1 call" if len(self._tasks) == 1 else f"{len(self._tasks)} calls"
            tell(f"the client closed its end: {calls} not finished within 2 s and ended")
        for task in list(self._tasks.values()):
            self._abandon(task, "cancelled")

    def close(self) -> None:
        """End whatever still runs."""
        for runner in self._runners.values():
            runner.close()
        self._host.close()

    def _begin(self, task: Task) -> None:
        call, definition = task.call, task.call.definition
        self._running += 1
        try:
            lacking = definition.requires and resolve(UNMET)(definition.requires, self._host, definition.environment)
            if lacking:
                self._end(task, refusal(call, f"{definition.name} needs {lacking}"), "error")
                return
            way = task.way = self._way(definition.contract, definition.inline)
            command = way.prepare(call, self._engine.image)
            task.runner = way.runner
            self._deadlines.add(task, task.seconds)
            job = way.runner.start(
                command, lambda result: self._done(task, result), lambda said: self._note(task, said)
            )
            task.job = job
        except OSError as problem:
            self._no_room(task, problem)
        except Exception as problem:
            self._end(task, internal_error(problem), "failure")

    def _no_room(self, task: Task, problem: OSError) -> None:
        """Have a call wait until another one has ended, if that is what it needs."""
        if problem.errno in NO_ROOM and self._running > 1 and not task.over:
            self._running -= 1
            self._deadlines.remove(task, task.seconds)
            self._waiting = {task: None, **self._waiting}
        else:
            self._end(task, internal_error(problem), "failure")

    def _way(self, contract: str, inline: bool) -> Way:
        way = self._ways.get((contract, inline))
        if way is None:
            module, row = CONTRACTS[contract]
            way = self._ways[contract, inline] = Way(module, self._runner(INLINE if inline else row))
        return way

    def _runner(self, row: str) -> Any:
        runner = self._runners.get(row)
        if runner is None:
            more = (self._engine,) if row == INLINE else ()
            runner = self._runners[row] = resolve(row)(self._host, *more)
        return runner

    def _done(self, task: Task, result: Any) -> None:
        """Take what a runner brought back."""
        if task.over or task.way is None:
            return
        try:
            ending = task.way.conclude(task.call, result)
        except Exception as problem:
            ending = internal_error(problem)
        self._end(task, ending, "failure" if isinstance(ending, Failure) else "")

    def _expire(self, task: Task) -> None:
        """Answer a call whose time is over, and end what it runs."""
        if task.job is not None:
            task.runner.stop(task.job)
        seconds = f"{task.seconds:g} s"
        self._end(
            task, refusal(task.call, f"{task.call.definition.name} was stopped: its limit is {seconds}"), "timeout"
        )

    def _end(self, task: Task, ending: Ending, status: str) -> None:
        """Answer a call, once."""
        if task.over:
            return
        if task.held is not None:
            self._engine.effects += self._tell(task, task.held)
        self._forget(task)
        self._record(task, status or ("error" if getattr(ending, "is_error", False) else "success"), ending)
        if task.answer is not None:
            task.answer(resolve(RESULT_WITHIN)(task.call, ending))
        else:
            self._engine.effects += self._answers(task.call, ending)
        self._fill()

    def _answers(self, call: Call, ending: Ending) -> list[Effect]:
        try:
            return self._session.finish(call, ending)
        except Exception as problem:
            return self._session.finish(call, internal_error(problem))

    def _abandon(self, task: Task, status: str) -> None:
        """End what a call runs, without an answer."""
        if task.over:
            return
        waiting = task in self._waiting
        self._forget(task)
        if not waiting and task.job is not None:
            task.runner.stop(task.job)
        self._record(task, status, None)
        self._fill()

    def _forget(self, task: Task) -> None:
        """Note that a call is over, and with it every call it made."""
        task.over = True
        del self._tasks[task.call]
        if task in self._waiting:
            del self._waiting[task]
        else:
            self._running -= 1
            self._deadlines.remove(task, task.seconds)
        for child in task.children:
            self._abandon(child, "cancelled")
        task.children = []

    def _fill(self) -> None:
        """Begin what waits, as far as there is room."""
        while self._waiting and self._running < MOST_RUNNING:
            before = len(self._waiting)
            task = next(iter(self._waiting))
            del self._waiting[task]
            self._begin(task)
            if len(self._waiting) >= before:
                return

    def _note(self, task: Task, said: dict[str, Json]) -> None:
        """Take what a handler says while it runs."""
        if task.over:
            return
        if "progress" in said:
            self._progress(task, said)
        elif "call" in said:
            self._call_within(task, said)
        elif self._may_log():
            self._engine.effects += self._tell(task, said)

    def _tell(self, task: Task, said: dict[str, Json]) -> list[Effect]:
        task.held = None
        return self._session.note(task.call, said)

    def _progress(self, task: Task, said: dict[str, Json]) -> None:
        """Tell progress now, or hold the newest until it may be told."""
        now = monotonic()
        wait = task.told + PROGRESS_SECONDS - now
        if wait <= 0:
            task.told = now
            self._engine.effects += self._tell(task, said)
            return
        if task.held is None:
            self._reactor.after(wait, lambda: self._release(task))
        task.held = said

    def _release(self, task: Task) -> None:
        if task.held is not None and not task.over:
            task.told = monotonic()
            self._engine.effects += self._tell(task, task.held)

    def _may_log(self) -> bool:
        """Say whether one more log message may go to the client; what may not is lost, and its number told."""
        now = monotonic()
        if now - self._second >= 1:
            if self._logs > LOGS_A_SECOND:
                tell(f"{self._logs - LOGS_A_SECOND} log messages were dropped: more than {LOGS_A_SECOND} in a second")
            self._second, self._logs = now, 0
        self._logs += 1
        return self._logs <= LOGS_A_SECOND and not self._engine.channel.full

    def _call_within(self, task: Task, said: dict[str, Json]) -> None:
        """Run the tool that a handler calls, and hand it the result."""

        def answer(result: dict[str, Json]) -> None:
            if not task.over:
                task.runner.answer(task.job, said.get("reply"), result)

        made = resolve(CALL_WITHIN)(self._session, task.call, said["call"], said.get("arguments"))
        if isinstance(made, str):
            answer({"content": [{"type": "text", "text": made}], "isError": True})
        else:
            task.children.append(self.start(made, answer))

    def _record(self, task: Task, status: str, ending: Ending | None) -> None:
        if self._log is not None:
            self._log(task.call, status, monotonic() - task.began, ending)


def limit(call: Call) -> float:
    """Return how many seconds a call may take: its tool's limit, or less if the request says so."""
    meta = call.request.params.get("_meta")
    asked = meta.get(TIMEOUT_KEY) if type(meta) is dict else None
    seconds: float = call.definition.seconds
    return min(seconds, asked) if (type(asked) is int or type(asked) is float) and asked > 0 else seconds


def refusal(call: Call, words: str) -> Ending:
    """Return a tool's own error, which a model can read; a prompt has none, so it is the request's."""
    return Failure(INTERNAL_ERROR, f"Internal error: {words}") if call.is_prompt else text_outcome(words, is_error=True)
