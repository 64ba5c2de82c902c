"""Every call that runs a handler, from its start to its one answer: where it runs, how long, what it says meanwhile.

A call waits if there is no room for it, has a time limit, may be stopped, may call other tools, and is answered once.
Nothing of this is imported before the first handler is called.  Memory: O(calls under way).
"""

from __future__ import annotations

import posix
from errno import EAGAIN, EMFILE, ENFILE, ENOMEM
from time import monotonic

from mcpc_runtime.contracts import CONTRACTS, Way
from mcpc_runtime.deadlines import Deadlines
from mcpc_runtime.errors import errors, tell
from mcpc_runtime.hearing import Hearing
from mcpc_runtime.host import Host
from mcpc_runtime.lazy import lazy, resolve
from mcpc_runtime.protocol.effects import Failure, internal_error
from mcpc_runtime.work import Places, Work, goes_straight, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.asking import Asking
    from mcpc_runtime.calllog import call_logs
    from mcpc_runtime.interfaces import Driver
    from mcpc_runtime.protocol.accounts import Account
    from mcpc_runtime.protocol.calls import result as calls_result
    from mcpc_runtime.protocol.calls import result_within
    from mcpc_runtime.protocol.effects import Call, Effect, Ending
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.session import Session
    from mcpc_runtime.protocol.tasks import lacking as tasks_lacking
    from mcpc_runtime.straight import Straight
    from mcpc_runtime.tasks.keeper import Keeper
else:
    Asking = lazy("mcpc_runtime.asking:Asking")
    Keeper = lazy("mcpc_runtime.tasks.keeper:Keeper")
    Straight = lazy("mcpc_runtime.straight:Straight")
    call_logs = lazy("mcpc_runtime.calllog:call_logs")
    calls_result = lazy("mcpc_runtime.protocol.calls:result", "calls_result")
    result_within = lazy("mcpc_runtime.protocol.calls:result_within")
    tasks_lacking = lazy("mcpc_runtime.protocol.tasks:lacking", "tasks_lacking")

INLINE = "mcpc_runtime.runners.inline:InlineRunner"
TASKS = "mcpc_runtime.runners.tasks:TaskRunner"
CALL_LOG_VARIABLE = b"MCPC_CALL_LOG"
STATE, RESPONSES = "requestState", "inputResponses"
REQUIREMENTS = "mcpc_runtime.requirements:Requirements"
NO_ROOM = (EAGAIN, EMFILE, ENFILE, ENOMEM)
"""How the system says that it cannot start something now, but perhaps when something else has ended."""


class Dispatcher:
    """The calls of one server.  Everything here happens with the engine's lock held."""

    def __init__(self, engine: Driver) -> None:
        errors.prepare()
        self.engine = engine
        self.reactor = engine.watch()
        self._host = Host(self.reactor, engine.image)
        self._runners: dict[str, Any] = {}
        self._ways: dict[tuple[str, bool], Way] = {}
        self._works: dict[Call, Work] = {}
        self._account: Callable[[str], Account] | None = getattr(engine, "account", None)
        self._places = (getattr(engine, "places", None) or Places)()
        self._filling = False
        self._deadlines = Deadlines(self.reactor, self._expire)
        self._observers: list[Any] = call_logs() if CALL_LOG_VARIABLE in posix.environ else []
        self._hearing = Hearing(self)
        self._asking: Any = None
        self._keeper: Any = None
        self.straight: Any = None

    @property
    def busy(self) -> bool:
        """Whether a call has not been answered yet."""
        return bool(self._works) or (self._keeper is not None and self._keeper.busy)

    @property
    def calls(self) -> list[Call]:
        """The calls that have not been answered yet."""
        return list(self._works)

    def start(self, call: Call) -> None:
        """Run a call's handler, or have it wait for its turn."""
        if call.definition.inline and self._places.is_roomy and not self._observers and goes_straight(call):
            self._inline().start(call)
            return
        work = self._take(Work(call))
        if call.request.wire.stateless and (STATE in call.request.params or RESPONSES in call.request.params):
            refused = self.asking.resume(call)
            if refused is not None:
                self._refuse(work, refused)
                return
        if self._places.admits(work):
            self._begin(work)
        elif busy := self._places.refusal(call.request.session.principal):
            self._refuse(work, refusal(call, busy))
        else:
            self._places.wait(work)

    def _refuse(self, work: Work, ending: Ending) -> None:
        """Answer a call that is not begun."""
        self._places.enter(work)
        self.end(work, ending, "refused")

    def observe(self, observer: Any) -> None:
        """Tell an observer of every call: `began(call)`, and `ended(call, status, seconds, ending)`."""
        self._observers.append(observer)

    def _take(self, work: Work) -> Work:
        self._works[work.call] = work
        for observer in self._observers:
            observer.began(work.call)
        return work

    def start_within(self, parent: Work, call: Call, answer: Callable[[dict[str, Json]], None]) -> None:
        """Run a call that another one made; it never waits, because that one waits for it."""
        if not parent.over:
            work = self._take(Work(call, answer, parent))
            parent.children.append(work)
            self._begin(work)

    def stop(self, call: Call) -> None:
        """End a call that nobody waits for."""
        work = self._works.get(call)
        if work is not None:
            self._abandon(work, "cancelled")

    def stop_all(self) -> None:
        """End every call, because the client has gone; say so to whoever runs the server."""
        if self._works:
            calls = "1 call" if len(self._works) == 1 else f"{len(self._works)} calls"
            tell(f"the client closed its end: {calls} not finished within 2 s and ended")
        for work in list(self._works.values()):
            self._abandon(work, "cancelled")

    def close(self) -> None:
        """End whatever still runs."""
        if self._keeper is not None:
            self._keeper.close()
        for runner in self._runners.values():
            runner.close()
        self._host.close()

    def give(self, call: Call, number: int, value: dict[str, Json]) -> None:
        """Take the client's answer to what a call asked."""
        work = self._works.get(call)
        take = None if work is None else work.questions.pop(number, None)
        if work is not None and take is not None:
            self.go_on(work)
            self._guarded(work, lambda _: take(value))

    def wait(self, work: Work, seconds: float) -> None:
        """Give a call, and those that wait for it, so many seconds from now: it asks somebody something."""
        waiting: Work | None = work
        while waiting is not None:
            waiting.open += 1
            if waiting.open == 1:
                self._allow(waiting, seconds)
            waiting = waiting.parent

    def go_on(self, work: Work, answered: int = 1) -> None:
        """Take note that so many questions of a call are over; who waits for no other has its own limit again."""
        waiting: Work | None = work
        while waiting is not None:
            waiting.open -= answered
            if waiting.open == 0 and not waiting.over:
                self._allow(waiting, waiting.seconds)
            waiting = waiting.parent

    def _allow(self, work: Work, seconds: float) -> None:
        self._deadlines.remove(work, work.limit)
        work.limit = seconds
        self._deadlines.add(work, seconds)

    def progressed(self, work: Work) -> None:
        """Give a call that told of its progress the time that its contract has for that."""
        extended = work.way and work.way.extended
        more = extended(work.call, monotonic() - work.began) if extended and not work.open else None
        if more is not None:
            self._allow(work, more)

    def end_whole(self, work: Work, ending: Ending, status: str) -> None:
        """End the client's own call, of which this may be a part, with an answer; its handler is stopped."""
        while work.parent is not None:
            work = work.parent
        if work.job is not None and not work.over:
            work.runner.stop(work.job)
        self.end(work, ending, status)

    @property
    def asking(self) -> Any:
        """What asks clients for what calls want of them."""
        if self._asking is None:
            self._asking = Asking(self)
        return self._asking

    @property
    def tasks(self) -> Any:
        """What keeps the calls that clients were given a task for."""
        if self._keeper is None:
            self._keeper = Keeper(self.engine, self)
        return self._keeper

    def is_crowded(self, principal: str) -> bool:
        """Tell whether so many calls wait for their turn that one more of this principal would be refused."""
        return bool(self._places.refusal(principal))

    def _begin(self, work: Work) -> None:
        definition = work.call.definition
        self._places.enter(work)
        self._deadlines.add(work, work.limit)
        self._guarded(work, self._ask if definition.requires else self._run)

    def _ask(self, work: Work) -> None:
        """Run a call's handler if the programs it requires are there."""
        asked = work.runner = self._runner(REQUIREMENTS)
        question = asked.start(work.call.definition, lambda lacking: self._asked(work, lacking), None)
        if work.runner is asked:
            work.job = question

    def _asked(self, work: Work, lacking: str) -> None:
        work.job = None
        if work.over:
            return
        if lacking:
            self.end(work, refusal(work.call, f"{work.call.definition.name} needs {lacking}"), "error")
            return
        self.engine.ask(lambda: None if work.over else self._guarded(work, self._run))

    def _guarded(self, work: Work, begin: Callable[[Work], None]) -> None:
        try:
            begin(work)
        except OSError as problem:
            self._no_room(work, problem)
        except Exception as problem:
            self.end(work, internal_error(problem), "failure")

    def _run(self, work: Work) -> None:
        """Hand a call to its runner, after what its definition asks first, and as a task if it is one."""
        call, definition = work.call, work.call.definition
        may_be_task = bool(definition.task) and not call.is_task and not call.chain
        refused = tasks_lacking(call) if may_be_task else None
        if refused is not None:
            self.end(work, refused, "refused")
            return
        if definition.asks and not work.asked:
            self.asking.ask_first(work, lambda: self._run(work))
            return
        if may_be_task and self.tasks.takes(call):
            self._record(work, "task", None)
            self._forget(work)
            self._more()
            return
        way = work.way = self._way(definition.contract, bool(definition.inline))
        self._time(work, way)
        command = self._prepared(work, way)
        work.runner = way.runner

        def done(result: Any) -> None:
            self._done(work, result)

        def note(said: dict[str, Json]) -> None:
            self._hearing.hear(work, said)

        if definition.inline:
            work.job = way.runner.make(command, done, note)
            if way.runner.run(work.job, definition.inline):
                self.engine.ask(lambda: done(work.job.returned))  # after what it said
        else:
            work.job = way.runner.start(command, done, note)

    def _prepared(self, work: Work, way: Way) -> Any:
        """Return what the call's runner is asked, with an account for the output if that is kept here."""
        command = way.prepare(work.call, self.engine.image)
        if self._account is not None and hasattr(command, "account"):
            work.account = command.account = self._account(work.call.request.session.principal)
        return command

    def _time(self, work: Work, way: Way) -> None:
        """Give a call the time that its contract has for it."""
        if way.limit is not None:
            work.seconds = way.limit(work.call)
            self._allow(work, work.seconds)

    def _no_room(self, work: Work, problem: OSError) -> None:
        """Have a call wait until another one has ended, if that is what it needs."""
        if problem.errno in NO_ROOM and self._places.running > 1 and not work.over:
            self._places.put_back(work)
            self._deadlines.remove(work, work.limit)
        else:
            self.end(work, internal_error(problem), "failure")

    def _inline(self) -> Any:
        if self.straight is None:
            runner = self._runner(INLINE)
            self.straight = Straight(self.engine, runner, self._adopt)
        return self.straight

    def adopt(self) -> None:
        """Take on the inline call whose thread lost its turn."""
        if self.straight is not None:
            self.straight.adopt()

    def _adopt(self, call: Call, job: Any) -> None:
        """Make a work of an inline call that turned out to be slow."""
        work = self._works[call] = Work(call)
        self._places.enter(work)
        work.way, work.runner, work.job = self._way(call.definition.contract, True), self._runner(INLINE), job
        job.done = lambda result: self._done(work, result)
        self._deadlines.add(work, work.limit)

    def runner_of(self, contract: str) -> Any:
        """Return the runner of a contract, for what runs without a call."""
        return self._way(contract, False).runner

    def _way(self, contract: str, inline: bool) -> Way:
        way = self._ways.get((contract, inline))
        if way is None:
            module, row = CONTRACTS[contract]
            way = self._ways[contract, inline] = Way(module, self._runner(INLINE if inline else row))
        return way

    def _runner(self, row: str) -> Any:
        runner = self._runners.get(row)
        if runner is None:
            more = (self.engine,) if row == INLINE else (self.tasks,) if row == TASKS else ()
            runner = self._runners[row] = resolve(row)(self._host, *more)
            self.engine.shared |= row == INLINE
        return runner

    def _done(self, work: Work, result: Any) -> None:
        """Take what a runner brought back."""
        if work.over or work.way is None:
            return
        try:
            ending = work.way.conclude(work.call, result)
        except Exception as problem:
            ending = internal_error(problem)
        self.end(work, ending, "failure" if isinstance(ending, Failure) else "")

    def _expire(self, work: Work) -> None:
        """Answer a call whose time is over, and end what it runs."""
        expired = work.way.expired if work.way is not None and not work.open else None
        ending = expired(work) if expired else None
        if work.job is not None:
            work.runner.stop(work.job)
        if ending is not None:
            self.end(work, ending, "timeout")
            return
        why = "nobody answered what it asked in" if work.open else "its limit is"
        words = f"{work.call.definition.name} was stopped: {why} {work.limit:g} s"
        self.end(work, refusal(work.call, words), "timeout")

    def end(self, work: Work, ending: Ending, status: str) -> None:
        """Answer a call, once."""
        if work.over:
            return
        self._hearing.tell_held(work)
        self._forget(work)
        self._record(work, status or ("error" if getattr(ending, "is_error", False) else "success"), ending)
        if work.answer is not None:
            work.answer(result_within(work.call, ending))
        elif work.call.is_task:
            self.tasks.finish(work.call, made(work.call, ending))
        else:
            self.engine.effects += self._answers(work.call, ending)
        self._more()

    def _answers(self, call: Call, ending: Ending) -> list[Effect]:
        session: Session = call.request.session
        try:
            return session.finish(call, ending)
        except Exception as problem:
            return session.finish(call, internal_error(problem))

    def _abandon(self, work: Work, status: str) -> None:
        """End what a call runs, without an answer."""
        if work.over:
            return
        has_run = self._forget(work)
        if has_run and work.job is not None:
            work.runner.stop(work.job)
        self._record(work, status, None)
        self._more()

    def _forget(self, work: Work) -> bool:
        """Note that a call is over, and with it every call it made; return whether it had been begun."""
        work.over = True
        del self._works[work.call]
        if work.account is not None:
            work.account.end()
        has_run: bool = self._places.leave(work)
        if has_run:
            self._deadlines.remove(work, work.limit)
        if work.questions:
            self.asking.withdraw(work)
        for child in work.children:
            self._abandon(child, "cancelled")
        work.children = []
        return has_run

    def _more(self) -> None:
        """Have what waits begun soon: not from here, for beginning an inline handler may cost this thread its turn."""
        if self._places and not self._filling:
            self._filling = True
            self.engine.ask(self._fill)

    def _fill(self) -> None:
        """Begin what waits, as far as there is room."""
        self._filling = False
        while (work := self._places.next()) is not None:
            before = len(self._places)
            self._begin(work)
            if len(self._places) > before:
                return  # it was put back

    def _record(self, work: Work, status: str, ending: Ending | None) -> None:
        for observer in self._observers:
            observer.ended(work.call, status, monotonic() - work.began, ending)


def made(call: Call, ending: Ending) -> bytes | Failure:
    """Return the result of a task's call, or the error that it ends with."""
    try:
        found: bytes | Failure = calls_result(call, ending)
    except Exception as problem:
        return internal_error(problem)
    return found
