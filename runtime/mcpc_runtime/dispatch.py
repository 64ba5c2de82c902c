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
from mcpc_runtime.errors import errors, tell
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
    "mcbox": ("mcpc_runtime.contracts.mcbox", "mcpc_runtime.runners.shell:ShellRunner"),
    "python": ("mcpc_runtime.contracts.python", "mcpc_runtime.runners.worker:WorkerRunner"),
}
"""A contract's module (`prepare`, `conclude`) and the runner it speaks to."""
STRAIGHT = "mcpc_runtime.straight:Straight"
INLINE = "mcpc_runtime.runners.inline:InlineRunner"
CALL_LOG_VARIABLE = b"MCPC_CALL_LOG"
CALL_LOG = "mcpc_runtime.calllog:call_log"
CALL_WITHIN = "mcpc_runtime.protocol.calls:call_within"
RESULT_WITHIN = "mcpc_runtime.protocol.calls:result_within"
REQUIREMENTS = "mcpc_runtime.requirements:Requirements"
MOST_RUNNING = 256
"""So many calls run at once; more wait for their turn."""
MOST_WAITING = 4096
BUSY = f"the server is busy: {MOST_RUNNING} calls run and {MOST_WAITING} wait; call again later"
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
        errors.prepare()
        self._engine = engine
        self._session = engine.session
        self._reactor = engine.watch()
        self._host = Host(self._reactor, engine.image)
        self._runners: dict[str, Any] = {}
        self._ways: dict[tuple[str, bool], Way] = {}
        self._tasks: dict[Call, Task] = {}
        self._waiting: dict[Task, None] = {}
        self._running = 0
        self._filling = False
        self._deadlines = Deadlines(self._reactor, self._expire)
        self._log = resolve(CALL_LOG)() if CALL_LOG_VARIABLE in posix.environ else None
        self._second, self._logs = 0.0, 0
        self.straight: Any = None

    @property
    def busy(self) -> bool:
        """Whether a call has not been answered yet."""
        return bool(self._tasks)

    def start(self, call: Call) -> None:
        """Run a call's handler, or have it wait for its turn."""
        if call.definition.inline and self._log is None and goes_straight(call):
            self._inline().start(call)
            return
        task = self._tasks[call] = Task(call, None)
        if len(self._waiting) >= MOST_WAITING:
            self._running += 1
            self._end(task, refusal(call, BUSY), "refused")
        elif self._waiting or self._running >= MOST_RUNNING:
            self._waiting[task] = None
        else:
            self._begin(task)

    def _start_within(self, parent: Task, call: Call, answer: Callable[[dict[str, Json]], None]) -> None:
        """Run a call that another one made; it never waits, because that one waits for it."""
        if not parent.over:
            task = self._tasks[call] = Task(call, answer)
            parent.children.append(task)
            self._begin(task)

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
        definition = task.call.definition
        self._running += 1
        self._deadlines.add(task, task.seconds)
        self._guarded(task, self._ask if definition.requires else self._run)

    def _ask(self, task: Task) -> None:
        """Run a call's handler if the programs it requires are there."""
        asked = task.runner = self._runner(REQUIREMENTS)
        question = asked.start(task.call.definition, lambda lacking: self._asked(task, lacking), None)
        if task.runner is asked:
            task.job = question

    def _asked(self, task: Task, lacking: str) -> None:
        task.job = None
        if task.over:
            return
        if lacking:
            self._end(task, refusal(task.call, f"{task.call.definition.name} needs {lacking}"), "error")
            return
        self._engine.ask(lambda: None if task.over else self._guarded(task, self._run))

    def _guarded(self, task: Task, begin: Callable[[Task], None]) -> None:
        try:
            begin(task)
        except OSError as problem:
            self._no_room(task, problem)
        except Exception as problem:
            self._end(task, internal_error(problem), "failure")

    def _run(self, task: Task) -> None:
        """Hand a call to its runner."""
        call, definition = task.call, task.call.definition
        way = task.way = self._way(definition.contract, definition.inline)
        command = way.prepare(call, self._engine.image)
        task.runner = way.runner

        def done(result: Any) -> None:
            self._done(task, result)

        def note(said: dict[str, Json]) -> None:
            self._note(task, said)

        if definition.inline:
            task.job = way.runner.make(command, done, note)
            if way.runner.run(task.job):
                self._engine.ask(lambda: done(task.job.returned))  # after what it said
        else:
            task.job = way.runner.start(command, done, note)

    def _no_room(self, task: Task, problem: OSError) -> None:
        """Have a call wait until another one has ended, if that is what it needs."""
        if problem.errno in NO_ROOM and self._running > 1 and not task.over:
            self._running -= 1
            self._deadlines.remove(task, task.seconds)
            self._waiting = {task: None, **self._waiting}
        else:
            self._end(task, internal_error(problem), "failure")

    def _inline(self) -> Any:
        if self.straight is None:
            runner = self._runner(INLINE)
            self.straight = resolve(STRAIGHT)(self._engine, runner, self._adopt)
        return self.straight

    def adopt(self) -> None:
        """Take on the inline call whose thread lost its turn."""
        if self.straight is not None:
            self.straight.adopt()

    def _adopt(self, call: Call, job: Any) -> None:
        """Make a task of an inline call that turned out to be slow."""
        task = self._tasks[call] = Task(call, None)
        self._running += 1
        task.way, task.runner, task.job = self._way(call.definition.contract, True), self._runner(INLINE), job
        job.done = lambda result: self._done(task, result)
        self._deadlines.add(task, task.seconds)

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
            self._engine.shared |= row == INLINE
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
        self._tell_held(task)
        self._forget(task)
        self._record(task, status or ("error" if getattr(ending, "is_error", False) else "success"), ending)
        if task.answer is not None:
            task.answer(resolve(RESULT_WITHIN)(task.call, ending))
        else:
            self._engine.effects += self._answers(task.call, ending)
        self._more()

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
        self._more()

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

    def _more(self) -> None:
        """Have what waits begun soon: not from here, for beginning an inline handler may cost this thread its turn."""
        if self._waiting and not self._filling:
            self._filling = True
            self._engine.ask(self._fill)

    def _fill(self) -> None:
        """Begin what waits, as far as there is room."""
        self._filling = False
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
            self._tell_held(task)
            self._engine.effects += self._session.note(task.call, said)

    def _tell_held(self, task: Task) -> None:
        """Tell the progress that was held back: what is told next came after it."""
        held, task.held = task.held, None
        if held is not None:
            self._engine.effects += self._session.note(task.call, held)

    def _progress(self, task: Task, said: dict[str, Json]) -> None:
        """Tell progress now, or hold the newest until it may be told."""
        now = monotonic()
        wait = task.told + PROGRESS_SECONDS - now
        if wait <= 0:
            task.told = now
            task.held = said
            self._tell_held(task)
            return
        if task.held is None:
            self._reactor.after(wait, lambda: self._release(task))
        task.held = said

    def _release(self, task: Task) -> None:
        if task.held is not None and not task.over:
            task.told = monotonic()
            self._tell_held(task)

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
            self._engine.ask(lambda: self._start_within(task, made, answer))

    def _record(self, task: Task, status: str, ending: Ending | None) -> None:
        if self._log is not None:
            self._log(task.call, status, monotonic() - task.began, ending)


def goes_straight(call: Call) -> bool:
    """Tell whether an inline handler wants nothing but its arguments."""
    definition = call.definition
    return not definition.requires and not definition.handler[2] and not call.is_prompt


def limit(call: Call) -> float:
    """Return how many seconds a call may take: its tool's limit, or less if the request says so."""
    meta = call.request.params.get("_meta")
    asked = meta.get(TIMEOUT_KEY) if type(meta) is dict else None
    seconds: float = call.definition.seconds
    return min(seconds, asked) if (type(asked) is int or type(asked) is float) and asked > 0 else seconds


def refusal(call: Call, words: str) -> Ending:
    """Return a tool's own error, which a model can read; a prompt has none, so it is the request's."""
    return Failure(INTERNAL_ERROR, f"Internal error: {words}") if call.is_prompt else text_outcome(words, is_error=True)
