"""Whether the programs a handler starts are there, and new enough: looked for as the handler itself would find them.

No shell takes part.  A version is asked for by `PROGRAM --version`, and is the first number with a dot in what that
says.  What is there is asked once; what is not is asked again, since somebody may have installed it.
"""

from __future__ import annotations

import posix

from mcpc_runtime.commands import Command
from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from mcpc_runtime.commands import Completed
    from mcpc_runtime.host import Host

    Wanted = tuple[str, str]
    """A program, and the oldest version that will do, or nothing for any."""

    class Needing(Protocol):
        """What has requirements: a definition."""

        environment: int
        requires: tuple[Wanted, ...]

    from mcpc_runtime.runners.process import ProcessRunner
else:
    ProcessRunner = lazy("mcpc_runtime.runners.process:ProcessRunner")


USUAL_PATH = b"/usr/local/bin:/usr/bin:/bin"
SECONDS = 5.0
"""How long a program may take to tell its version."""
READ = 1 << 16
"""So many bytes of what it says are looked at."""
DIGITS = "0123456789"
LONGEST = 9
"""A number of more digits is no part of a version."""
FILE, KIND = 0o100000, 0o170000


class Requirements:
    """Asks for what definitions require, as a runner runs commands; it remembers what is there."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._runner: Any = None
        self._met: set[tuple[Wanted, int]] = set()

    def start(self, definition: Needing, done: Callable[[str], None], note: object = None) -> Question:
        """Call `done`, perhaps at once, with what the handler of `definition` lacks, or with nothing.

        Raise OSError if the system has no room to ask now.
        """
        number = definition.environment
        question = Question(self, number, done)
        question.ask([each for each in definition.requires if (each, number) not in self._met])
        return question

    def stop(self, question: Question) -> None:
        """Nobody waits for the answer any more."""
        question.stop()

    def close(self) -> None:
        """Leave the processes to the supervisor."""

    def environment(self, number: int) -> Mapping[bytes, bytes]:
        """Return an environment of the index."""
        return self._host.environment(number)

    def remember(self, each: Wanted, number: int) -> None:
        """Never ask again for what is there."""
        self._met.add((each, number))

    def run(self, command: Command, done: Callable[[Completed], None]) -> Callable[[], None]:
        """Run a command; return what ends it."""
        if self._runner is None:
            self._runner = ProcessRunner(self._host)
        job = self._runner.start(command, done, lambda said: None)
        return lambda: self._runner.stop(job)

    def after(self, seconds: float, then: Callable[[], None]) -> None:
        """Call `then` later."""
        self._host.reactor.after(seconds, then)


class Question:
    """Some requirements, asked one after the other until one is not met; `stop` makes it end in silence."""

    def __init__(self, requirements: Requirements, number: int, done: Callable[[str], None]) -> None:
        self._requirements = requirements
        self._number = number
        self._done: Callable[[str], None] | None = done
        self._leave: Callable[[], None] | None = None
        self._turn = 0

    def ask(self, wanted: list[Wanted]) -> None:
        """Ask for each in its turn."""
        for position, each in enumerate(wanted):
            place = found(each[0], self._requirements.environment(self._number))
            if not place:
                return self._end(lacking(each, "not installed"))
            if each[1]:
                return self._ask_version(each, place, wanted[position + 1 :])
            self._requirements.remember(each, self._number)
        return self._end("")

    def stop(self) -> None:
        """Nobody waits for the answer any more."""
        self._done = None
        self._turn += 1
        leave, self._leave = self._leave, None
        if leave is not None:
            leave()

    def _ask_version(self, each: Wanted, place: str, rest: list[Wanted]) -> None:
        turn = self._turn
        command = Command([place, "--version"], self._number, {})
        command.told, command.merged = b"", True
        leave = self._requirements.run(command, lambda completed: self._take(each, completed, rest))
        if self._turn == turn:
            self._leave = leave
            self._requirements.after(SECONDS, lambda: self._give_up(each, turn))

    def _take(self, each: Wanted, completed: Completed, rest: list[Wanted]) -> None:
        self._turn += 1
        self._leave = None
        told = version_in(completed.output[:READ])
        problem = too_old(each, told) if not completed.problem else lacking(each, f"here, but {completed.problem}")
        if problem:
            self._end(problem)
            return
        self._requirements.remember(each, self._number)
        try:
            self.ask(rest)
        except OSError as failure:  # whoever asked is not there to ask again
            self._end(f"programs that cannot be asked for their versions now ({failure.strerror})")

    def _give_up(self, each: Wanted, turn: int) -> None:
        if self._turn == turn:
            done = self._done
            self.stop()
            self._done = done
            self._end(lacking(each, f"here, and did not tell its version in {SECONDS:g} seconds"))

    def _end(self, problem: str) -> None:
        done, self._done = self._done, None
        if done is not None:
            done(problem)


def found(command: str, environment: Mapping[bytes, bytes]) -> str:
    """Return the file that a program's name stands for, or nothing."""
    for folder in environment.get(b"PATH", USUAL_PATH).split(b":"):
        place = (folder or b".") + b"/" + command.encode("utf-8", "surrogateescape")
        try:
            if posix.stat(place).st_mode & KIND == FILE and posix.access(place, posix.X_OK):
                return str(place, "utf-8", "surrogateescape")
        except (OSError, ValueError):
            continue
    return ""


def named(each: Wanted) -> str:
    """Return a requirement as a definition writes it."""
    command, version = each
    return f"{command} >= {version}" if version else command


def lacking(each: Wanted, how: str) -> str:
    """Return how a message calls a requirement that is not met."""
    return f"{named(each)}, which is {how}"


def too_old(each: Wanted, told: str) -> str:
    """Return what is wrong with the version that a program told, or nothing."""
    if not told:
        return lacking(each, "here, and tells no version")
    return lacking(each, f"{told} here") if numbers(told) < numbers(each[1]) else ""


def numbers(version: str) -> list[int]:
    """Return the numbers of a version; zeros at its end do not count."""
    found = [int(part) for part in version.split(".")]
    while found and not found[-1]:
        found.pop()
    return found


def version_in(output: bytes) -> str:
    """Return the first number with a dot that a program told, else its first number, or nothing."""
    plain = ""
    text = str(output, "utf-8", "replace")
    start = 0
    while start < len(text):
        end = start
        while end < len(text) and (text[end] in DIGITS or text[end] == "."):
            end += 1
        parts = text[start:end].rstrip(".").split(".")
        if all(part and len(part) <= LONGEST for part in parts):
            if len(parts) > 1:
                return ".".join(parts)
            plain = plain or parts[0]
        start = end + 1
    return plain
