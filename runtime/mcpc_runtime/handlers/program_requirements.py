"""Check that the programs a handler requires are installed and new enough, with the handler's own PATH.

No shell is used.  The version is the first number with a dot in the output of `PROGRAM --version`.  A requirement that
is met is checked once; one that is not met is checked again at each call, since it may have been installed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from mcpc_runtime.handlers.executable.runner import ProcessRunner
from mcpc_runtime.handlers.invocations import Command, ProcessResult
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.transports.platforms.program_search import HOW_TO_INSTALL, find_program

Requirement = tuple[str, str]
"""A program and its minimum version; an empty version accepts any."""


class HasRequirements(Protocol):
    """A definition with requirements."""

    @property
    def environment(self) -> int:
        """The number of its handler's environment."""
        ...

    @property
    def requires(self) -> Sequence[Requirement]:
        """The programs that its handler requires."""
        ...


VERSION_SECONDS = 5.0
"""Seconds that a program may take to print its version."""
MAX_VERSION_OUTPUT = 1 << 16
"""Bytes of its output that are searched for a version."""
DIGITS = "0123456789"
MAX_DIGITS = 9
"""A number with more digits does not belong to a version."""


class ProgramRequirements:
    """Checks the requirements of definitions, with the interface of a runner; it remembers which are met."""

    def __init__(self, host: RunnerContext) -> None:
        self._host = host
        self._runner: ProcessRunner | None = None
        # By environment, too, because each may have another PATH.
        self._met: set[tuple[Requirement, int]] = set()

    def start(self, definition: HasRequirements, done: Callable[[str], None], note: object = None) -> RequirementCheck:
        """Call `done`, perhaps at once, with the requirement that is not met, or an empty string.

        Raise OSError if the system has no room for the check now.
        """
        number = definition.environment
        check = RequirementCheck(self, number, done)
        check.run([item for item in definition.requires if (item, number) not in self._met])
        return check

    def stop(self, check: RequirementCheck) -> None:
        """Cancel the check: `done` is not called."""
        check.stop()

    def close(self) -> None:
        """Leave the processes to the supervisor."""

    def environment(self, number: int) -> Mapping[bytes, bytes]:
        """Return an environment of the index."""
        return self._host.environment(number)

    def remember(self, requirement: Requirement, number: int) -> None:
        """Remember that a requirement is met in an environment."""
        self._met.add((requirement, number))

    def run(self, command: Command, done: Callable[[ProcessResult], None]) -> Callable[[], None]:
        """Run a command; return what ends it."""
        if self._runner is None:
            self._runner = ProcessRunner(self._host)
        runner = self._runner
        job = runner.start(command, done, lambda note: None)
        return lambda: None if job is None else runner.stop(job)

    def after(self, seconds: float, then: Callable[[], None]) -> None:
        """Call `then` later."""
        self._host.reactor.after(seconds, then)


class RequirementCheck:
    """A check of requirements, one after the other until one is not met; after `stop`, `done` is not called."""

    def __init__(self, requirements: ProgramRequirements, number: int, done: Callable[[str], None]) -> None:
        self._requirements = requirements
        self._number = number
        self._done: Callable[[str], None] | None = done
        self._cancel: Callable[[], None] | None = None
        self._turn = 0

    def run(self, requirements: list[Requirement]) -> None:
        """Check each requirement in order."""
        for position, item in enumerate(requirements):
            path = find_program(item[0], self._requirements.environment(self._number))
            if not path:
                advice = HOW_TO_INSTALL.get(item[0])
                return self._end(unmet_text(item, f"not installed ({advice})" if advice else "not installed"))
            if item[1]:
                return self._run_version(item, path, requirements[position + 1 :])
            self._requirements.remember(item, self._number)
        return self._end("")

    def stop(self) -> None:
        """Cancel the check: `done` is not called."""
        self._done = None
        self._turn += 1
        cancel, self._cancel = self._cancel, None
        if cancel is not None:
            cancel()

    def _run_version(self, item: Requirement, path: str, rest: list[Requirement]) -> None:
        turn = self._turn
        command = Command([path, "--version"], self._number, {})
        command.stdin, command.merged = b"", True
        cancel = self._requirements.run(command, lambda completed: self._take(item, completed, rest))
        # The turn is over if the command has ended before `run` returned.
        if self._turn == turn:
            self._cancel = cancel
            self._requirements.after(VERSION_SECONDS, lambda: self._give_up(item, turn))

    def _take(self, item: Requirement, completed: ProcessResult, rest: list[Requirement]) -> None:
        self._turn += 1
        self._cancel = None
        version = parse_version(completed.output[:MAX_VERSION_OUTPUT])
        problem = (
            version_problem(item, version)
            if not completed.problem
            else unmet_text(item, f"installed, but {completed.problem}")
        )
        if problem:
            self._end(problem)
            return
        self._requirements.remember(item, self._number)
        try:
            self.run(rest)
        except OSError as failure:  # the caller cannot retry at this point
            self._end(f"programs whose versions cannot be checked now ({failure.strerror})")

    def _give_up(self, item: Requirement, turn: int) -> None:
        if self._turn == turn:
            done = self._done
            self.stop()
            # `stop` has forgotten it, but here it is still called, with the reason.
            self._done = done
            self._end(unmet_text(item, f"installed, but did not print its version within {VERSION_SECONDS:g} seconds"))

    def _end(self, problem: str) -> None:
        done, self._done = self._done, None
        if done is not None:
            done(problem)


def requirement_text(requirement: Requirement) -> str:
    """Return a requirement as a definition writes it."""
    command, version = requirement
    return f"{command} >= {version}" if version else command


def unmet_text(requirement: Requirement, state: str) -> str:
    """Return how messages describe a requirement that is not met."""
    return f"{requirement_text(requirement)}, which is {state}"


def version_problem(requirement: Requirement, version: str) -> str:
    """Return what is wrong with the version that a program printed, or an empty string."""
    if not version:
        return unmet_text(requirement, "installed, but prints no version")
    return (
        unmet_text(requirement, f"installed in version {version}")
        if version_numbers(version) < version_numbers(requirement[1])
        else ""
    )


def version_numbers(version: str) -> list[int]:
    """Return the numbers of a version without trailing zeros."""
    numbers = [int(part) for part in version.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers


def parse_version(output: bytes) -> str:
    """Return the first number with a dot in an output, else its first number, or an empty string."""
    first = ""
    text = str(output, "utf-8", "replace")
    start = 0
    while start < len(text):
        end = start
        while end < len(text) and (text[end] in DIGITS or text[end] == "."):
            end += 1
        parts = text[start:end].rstrip(".").split(".")
        if all(part and len(part) <= MAX_DIGITS for part in parts):
            if len(parts) > 1:
                return ".".join(parts)
            first = first or parts[0]
        start = end + 1
    return first
