"""The runners of a server's handlers and the bindings of contracts to them; each is made for the first call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpc_runtime.handlers.contracts import CONTRACTS, CallBinding
from mcpc_runtime.handlers.program_requirements import ProgramRequirements
from mcpc_runtime.handlers.python.inline_runner import InlineRunner
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import DriverInterface
from mcpc_runtime.lazy import resolve

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
