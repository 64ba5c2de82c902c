"""The dispatcher: starts, limits, cancels and completes the calls of one server.

A call waits if no slot is free, and may call other tools; how it ends is in `running_calls`.  This module is imported
with the first call of a handler.

The runners of a server's handlers and the bindings of contracts to them; each is made for the first call.
"""

from __future__ import annotations

from _functools import partial
from collections.abc import Callable
from errno import EAGAIN, EMFILE, ENFILE, ENOMEM
from typing import Any

from mcpc_runtime import log
from mcpc_runtime.handlers.contracts import CONTRACTS, CallBinding
from mcpc_runtime.handlers.program_requirements import ProgramRequirements
from mcpc_runtime.handlers.python.inline_runner import InlineCall, InlineFastPath, InlineRunner
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import DriverInterface, Note
from mcpc_runtime.lazy import resolve
from mcpc_runtime.log import log_line, standard_error
from mcpc_runtime.protocol.effects import Activity, Call, Ending, TaskRequest
from mcpc_runtime.protocol.tasks import required_task_refusal as tasks_lacking
from mcpc_runtime.server.call_log import open_call_log
from mcpc_runtime.server.handler_messages import ClientRequests, HandlerMessages
from mcpc_runtime.server.running_calls import Admission, RunningCall, RunningCalls, slots_of, tool_error_or_failure
from mcpc_runtime.server.tasks.manager import TaskManager
from mcpc_runtime.transports.platforms import system

CALL_LOG_VARIABLE = b"MCPC_CALL_LOG"
STATE, RESPONSES = "requestState", "inputResponses"
TEMPORARY_ERRORS = (EAGAIN, EMFILE, ENFILE, ENOMEM)
"""System errors after which a call waits until another one ends."""


class Dispatcher:
    """Runs the calls of one server.  All methods are called with the driver's lock held."""

    def __init__(self, driver: DriverInterface, admission: Admission) -> None:
        standard_error.prepare()
        self._driver = driver
        self._admission = admission
        logs = open_call_log() if CALL_LOG_VARIABLE in system.environ else []
        self._running = RunningCalls(driver, [*logs, *driver.observers], admission, self._start_waiting_soon)
        self._runners = HandlerRunners(driver)
        self._messages = HandlerMessages(driver, self._running, self.start_nested, lambda: self.client_requests)
        self._is_serial = slots_of(driver.image) == 1
        self._is_starting_soon = False
        self._client_requests: ClientRequests | None = None
        self._tasks: TaskManager | None = None
        self._fast_path: InlineFastPath | None = None

    @property
    def busy(self) -> bool:
        """Whether a call has not been answered yet."""
        return bool(self._running.by_call) or (self._tasks is not None and self._tasks.busy)

    @property
    def calls(self) -> list[Activity]:
        """The calls that have not been answered yet, oldest first."""
        return list(self._running.by_call)

    @property
    def waiting(self) -> int:
        """How many calls wait for a slot."""
        return len(self._admission)

    @property
    def pids(self) -> list[int]:
        """The processes that run for handlers."""
        return self._runners.pids

    @property
    def client_requests(self) -> ClientRequests:
        """The requests of calls to the client."""
        if self._client_requests is None:
            self._client_requests = ClientRequests(self._driver, self._running, lambda: self.tasks)
        return self._client_requests

    @property
    def tasks(self) -> TaskManager:
        """The calls that are tasks."""
        if self._tasks is None:
            self._tasks = TaskManager(self._driver, self)
            self._running.finish_task = self._tasks.finish
        return self._tasks

    def is_crowded(self, principal: str) -> bool:
        """Return whether a call of this principal would be refused now, because too many wait."""
        return bool(self._admission.refusal(principal))

    @property
    def refusal(self) -> str:
        """Why no handler can be run, or an empty text."""
        return self._runners.refusal

    def runner_of(self, contract: str) -> Any:
        """Return the runner of a contract, for jobs that do not belong to a call."""
        return self._runners.bindings[contract, False].runner

    def start(self, call: Activity) -> None:
        """Run a call's handler, now or when a slot is free."""
        if isinstance(call, TaskRequest):
            running_call = self._running.add(RunningCall(call))
            (self._begin if self._is_serial else self._admit)(running_call)  # the one call that runs may be its task
            return
        definition, request = call.definition, call.request
        if self.refusal:
            self._refuse(self._running.add(RunningCall(call)), tool_error_or_failure(call, self.refusal))
            return
        # The fast path reports nothing to observers, such as the call log.
        is_free = self._admission.is_roomy and not self._running.observers
        if definition.inline and is_free and needs_only_arguments(call):
            if self._fast_path is None:
                self._fast_path = InlineFastPath(self._driver, self._runners.inline, self._adopt)
            self._fast_path.start(call)
            return
        running_call = self._running.add(RunningCall(call))
        if request.wire.stateless and (STATE in request.params or RESPONSES in request.params):
            failure = self.client_requests.take_responses(call)
            if failure is not None:
                self._refuse(running_call, failure)
                return
        self._admit(running_call)

    def _admit(self, running_call: RunningCall) -> None:
        """Begin a call, have it wait, or refuse it."""
        if self._admission.admits(running_call):
            self._begin(running_call)
        elif busy := self._admission.refusal(running_call.call.request.session.principal):
            self._refuse(running_call, tool_error_or_failure(running_call.call, busy))
        else:
            self._admission.wait(running_call)

    def start_nested(self, parent: RunningCall, call: Call, answer: Callable[[Note], None]) -> None:
        """Run a call that another one made; it never waits for a slot, because the other one waits for it."""
        if not parent.over:
            running_call = self._running.add(RunningCall(call, answer, parent))
            parent.children.append(running_call)
            self._begin(running_call)

    def adopt(self) -> None:
        """Register the inline call whose thread lost the leadership."""
        if self._fast_path is not None:
            self._fast_path.adopt()

    def deliver(self, call: Call, number: int, answer: Note) -> None:
        """Hand the client's answer to the call that requested it."""
        running_call = self._running.by_call.get(call)
        take = None if running_call is None else running_call.questions.pop(number, None)
        if running_call is not None and take is not None:
            self._running.resume(running_call)
            self._attempt(running_call, lambda _: take(answer))

    def stop(self, call: Activity) -> None:
        """Abandon a cancelled call."""
        running_call = self._running.by_call.get(call)
        if running_call is not None:
            self._running.abandon(running_call)

    def stop_all(self) -> None:
        """Abandon every call, because the client has disconnected, and log how many there were."""
        running_calls = list(self._running.by_call.values())
        if running_calls:
            calls = "1 call" if len(running_calls) == 1 else f"{len(running_calls)} calls"
            log_line(f"the client disconnected: {calls} did not finish within 2 s and ended")
        for running_call in running_calls:
            self._running.abandon(running_call)

    def close(self) -> None:
        """End all jobs and processes."""
        if self._tasks is not None:
            self._tasks.close()
        self._runners.close()

    def _refuse(self, running_call: RunningCall, ending: Ending) -> None:
        """Answer a call without running it."""
        self._admission.enter(running_call)
        self._running.end(running_call, ending, "refused")

    def _begin(self, running_call: RunningCall) -> None:
        self._admission.enter(running_call)
        self._running.deadlines.add(running_call, running_call.limit)
        call = running_call.call
        if isinstance(call, TaskRequest):
            end = partial(self._running.end, running_call)
            self._attempt(running_call, lambda _: self.tasks.perform(call, end))
        else:
            self._attempt(running_call, self._require_programs if call.definition.requires else self._run)

    def _attempt(self, running_call: RunningCall, step: Callable[[RunningCall], None]) -> None:
        """Do one step of a call; after a temporary error the call waits, after any other it ends."""
        try:
            step(running_call)
        except Exception as problem:  # noqa: BLE001 - an error in one call must not end the server
            is_temporary = isinstance(problem, OSError) and problem.errno in TEMPORARY_ERRORS
            # Only the end of another call starts one that waits.
            if is_temporary and self._admission.running > 1 and not running_call.over:
                self._admission.put_back(running_call)
                self._running.deadlines.remove(running_call, running_call.limit)
            else:
                self._running.end(running_call, log.failure_of(problem), "failure")

    def _require_programs(self, running_call: RunningCall) -> None:
        """Run a call's handler if the programs that it requires are installed."""
        requirements = running_call.runner = self._runners.requirements
        definition = running_call.handler_call.definition
        job = requirements.start(definition, lambda missing: self._take_missing(running_call, missing))
        if running_call.runner is requirements:
            running_call.job = job

    def _take_missing(self, running_call: RunningCall, missing: str) -> None:
        running_call.job = None
        if running_call.over:
            return
        if missing:
            call = running_call.call
            self._running.end(running_call, tool_error_or_failure(call, f"{call.name} requires {missing}"), "error")
            return
        self._driver.ask(lambda: None if running_call.over else self._attempt(running_call, self._run))

    def _run(self, running_call: RunningCall) -> None:
        """Run a call's handler, after the client requests of its definition, and as a task if it becomes one."""
        call = running_call.handler_call
        definition = call.definition
        may_be_task = bool(definition.task) and not call.is_task and not call.chain
        failure = tasks_lacking(call) if may_be_task else None
        if failure is not None:
            self._running.end(running_call, failure, "refused")
        elif definition.asks and not running_call.asked:
            self.client_requests.ask_first(running_call, lambda: self._run(running_call))
        elif may_be_task and self.tasks.takes(call):
            self._running.end_as_task(running_call)
        else:
            self._run_handler(running_call, call)

    def _run_handler(self, running_call: RunningCall, call: Call) -> None:
        definition = call.definition
        binding = running_call.binding = self._runners.bindings[definition.contract, bool(definition.inline)]
        if binding.limit is not None:
            running_call.seconds = binding.limit(call)
            self._running.set_limit(running_call, running_call.seconds)
        invocation = binding.build_invocation(call, self._driver.image)
        if hasattr(invocation, "account"):  # its output is stored in this process
            account = self._driver.account(call.request.session.principal)
            running_call.account = invocation.account = account
        done = partial(self._running.conclude, running_call)
        note = partial(self._messages.take, running_call)
        if binding.runner is None:
            done(invocation)
        elif definition.inline:
            runner = running_call.runner = self._runners.inline
            inline_call = running_call.job = runner.make(invocation, done, note)
            if runner.run(inline_call, definition.inline):
                self._driver.ask(lambda: done(inline_call.returned))  # after its notes
        else:
            running_call.runner = binding.runner
            running_call.job = binding.runner.start(invocation, done, note)

    def _adopt(self, call: Call, job: InlineCall) -> None:
        """Register an inline call that turned out to be slow; observers do not see it."""
        running_call = RunningCall(call)
        self._running.by_call[call] = running_call
        self._admission.enter(running_call)
        running_call.binding = self._runners.bindings[call.definition.contract, True]
        running_call.runner, running_call.job = self._runners.inline, job
        job.done = partial(self._running.conclude, running_call)
        self._running.deadlines.add(running_call, running_call.limit)

    def _start_waiting_soon(self) -> None:
        """Start waiting calls soon: not from here, for an inline handler may cost this thread the leadership."""
        if not self._is_starting_soon:
            self._is_starting_soon = True
            self._driver.ask(self._start_waiting)

    def _start_waiting(self) -> None:
        """Start waiting calls while slots are free."""
        self._is_starting_soon = False
        while (running_call := self._admission.next()) is not None:
            before = len(self._admission)
            self._begin(running_call)
            if len(self._admission) > before:
                return  # it was put back


def needs_only_arguments(call: Call) -> bool:
    """Return whether an inline handler needs nothing but its arguments."""
    definition = call.definition
    is_simple = not definition.requires and not definition.handler[2] and call.is_tool
    return is_simple and not definition.asks and not definition.task


INLINE = "mcpc_runtime.handlers.python.inline_runner:InlineRunner"
REQUIREMENTS = "mcpc_runtime.handlers.program_requirements:ProgramRequirements"


class HandlerRunners:
    """The runners of one server.  `bindings`: by the name of a contract and whether the handler is inline."""

    def __init__(self, driver: DriverInterface) -> None:
        self._driver = driver
        self._context = RunnerContext(driver.watch(), driver.image)
        self._runners: dict[str, Any] = {}
        self.bindings = CallBindings(self._runner)

    @property
    def inline(self) -> InlineRunner:
        """The runner of inline handlers."""
        runner: InlineRunner = self._runner(INLINE)
        return runner

    @property
    def requirements(self) -> ProgramRequirements:
        """The check for the programs that handlers require."""
        runner: ProgramRequirements = self._runner(REQUIREMENTS)
        return runner

    @property
    def refusal(self) -> str:
        """Why no handler can be run, or an empty text."""
        return self._context.refusal

    @property
    def pids(self) -> list[int]:
        """The processes that run for handlers."""
        return self._context.pids

    def close(self) -> None:
        """End all jobs and processes."""
        for runner in self._runners.values():
            runner.close()
        self._context.close()

    def _runner(self, row: str) -> Any:
        runner = self._runners.get(row)
        if runner is None:
            arguments = (self._driver,) if row == INLINE else ()
            runner = self._runners[row] = resolve(row)(self._context, *arguments)
            # An inline handler may take long in this thread: others are to take over then.
            self._driver.shared |= row == INLINE
        return runner


class CallBindings(dict["tuple[str, bool]", CallBinding]):
    """The bindings that were used; `runner(row)` returns a runner by its row of `CONTRACTS`."""

    def __init__(self, runner: Callable[[str], Any]) -> None:
        super().__init__()
        self._runner = runner

    def __missing__(self, key: tuple[str, bool]) -> CallBinding:
        """Make the binding of a contract that is used for the first time."""
        contract, is_inline = key
        module_name, row = CONTRACTS[contract]
        binding = self[key] = CallBinding(module_name, self._runner(INLINE if is_inline else row) if row else None)
        return binding
