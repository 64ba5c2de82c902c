"""What `mcpc dev` writes on standard error: builds, their problems, and calls, in complete lines, without blocking.

The reader of a pipe may be slow or absent. Text that does not fit is dropped, because the thread that writes here also
handles the conversation. A warning is reported once while it persists; errors are reported again, because they are why
the last build keeps serving. Of a call the time, name, status and milliseconds are logged, never the argument values:
over standard input and output they are derived from the messages that pass; over HTTP, from the server's call log,
which it writes to a named pipe.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics.formats.visible import visible
from mcpc.diagnostics.model import counted
from mcpc.sandbox.platforms import open_log_pipe, write_within
from mcpc.workbench.dev.building import terminal_columns
from mcpc.workbench.dev.conversation import answered_requests, id_key, params_of, parse_messages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from mcpc.workbench.dev.building import BuildFacts, BuildProblem, BuildResult
    from mcpc.workbench.dev.conversation import Message


PIECE_BYTES = 512
"""Bytes that POSIX writes to a pipe atomically."""
WRITE_TIMEOUT_SECONDS = 0.5
"""How long a report waits for a reader; a call line does not wait."""
STYLES = {"good": "32", "bad": "31", "faint": "2", "bold": "1"}
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
ERASE_LINE = "\r\x1b[K"
HEAD = "mcpc dev: "
STAYS = "the build failed; the last successful build keeps serving"
NAME_FIELDS = {
    "tools": ("", "name"),
    "prompts": ("prompt ", "name"),
    "resources": ("resource ", "uri"),
    "resourceTemplates": ("resource ", "uriTemplate"),
}
"""By list of a built file: the label before a name (none for tools), and the field with the name."""
SEVERITIES = ("error", "warning", "note")
MAX_NAMES = 10
MAX_NAME_LENGTH = 80
"""In characters; a definition or a client may have any name."""
CALL_LOG, LOG_REQUESTS = "MCPC_CALL_LOG", "MCPC_LOG_REQUESTS"
METHODS = {"tools/call": "", "prompts/get": "prompt "}
"""The methods that are logged, with the label before the name."""
MAX_LINE_LENGTH = 1 << 20
IS_ERROR = re.compile(rb'"isError":\s*true')
STATUSES = {"success": "ok"}
"""Statuses that the call log names differently."""


class Screen:
    """The user's terminal or log; any thread may write to it."""

    def __init__(self, colour: bool, descriptor: int = 2) -> None:
        self.colour = colour
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour else text

    def mark(self, is_good: bool) -> str:
        """Return the sign for success or failure, if colours are supported."""
        sign = self.paint("✓" if is_good else "✗", "good" if is_good else "bad")
        return f"{sign} " if self.colour else ""

    def write(self, text: str, patience: float = WRITE_TIMEOUT_SECONDS) -> None:
        if text:
            self._put(text.rstrip("\n") + "\n", patience)

    def working(self, text: str) -> None:
        """Show the current activity on a terminal; `done` removes it."""
        if terminal_columns():
            self._put(text, 0.0)

    def done(self) -> None:
        if terminal_columns():
            self._put(ERASE_LINE, 0.0)

    def _put(self, text: str, patience: float) -> None:
        shown = text if self.colour or text == ERASE_LINE else ESCAPES.sub("", text)
        # The text of a client may have half of a surrogate pair, which UTF-8 cannot have.
        data = shown.encode("utf-8", "backslashreplace")
        with self._lock:
            for start in range(0, len(data), PIECE_BYTES):
                if not write_within(self._descriptor, data[start : start + PIECE_BYTES], patience):
                    return


class Reporter:
    """Reports builds, and remembers which problems were reported."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._reported: Counter[tuple[str, str, str]] = Counter()
        self._had_problems = self._had_errors = False

    def first(self, build: BuildResult) -> None:
        if build.path is None:
            self._show(build.problems, build.more)
            self._line(False, "; ".join([*summarise_problems(build.problems), "the build failed"]))
            return
        shown = self._unreported(build.problems)
        self._show(shown, build.more)
        self._remember(build)
        text = f"built in {build.seconds:.1f} s: {count_offered(build.facts)}"
        self._line(True, "; ".join([text, *filter(None, [count_problems(shown)])]))

    def failed(self, build: BuildResult) -> None:
        """Report a failed build: its errors, and new warnings."""
        unreported = self._unreported(build.problems)
        errors = [problem for problem in build.problems if problem.severity == "error"]
        shown = [problem for problem in build.problems if problem in unreported or problem.severity == "error"]
        self._show(shown if errors else build.problems, build.more)
        # The larger number of each: a failed build may have ended before it came to problems that persist.
        self._reported |= Counter(problem.key for problem in build.problems)
        self._had_problems = self._had_errors = True
        self._line(False, "; ".join([*summarise_problems(build.problems), STAYS]))

    def rebuilt(self, earlier: BuildFacts, build: BuildResult) -> str:
        """Report a successful build, and return the report's line."""
        shown = self._unreported(build.problems)
        self._show(shown, build.more)
        fixes = self._fixes(build)
        old = len(build.problems) - len(shown)
        counts = [
            *filter(None, [count_problems(shown, "new ")]),
            *([f"{counted(old, 'warning')} unchanged"] if old else []),
        ]
        self._remember(build)
        text = "; ".join([*fixes, describe_changes(earlier, build.facts), *counts])
        line = f"rebuilt in {build.seconds:.1f} s: {text}"
        self._line(True, line)
        return line

    def _fixes(self, build: BuildResult) -> list[str]:
        """Report that problems which are still on the screen are fixed."""
        if self._had_problems and not build.problems and not build.more:
            return ["all problems fixed"]
        return ["all errors fixed"] if self._had_errors else []

    def _unreported(self, problems: Sequence[BuildProblem]) -> list[BuildProblem]:
        left = self._reported.copy()
        unreported = []
        for problem in problems:
            if left[problem.key]:
                left[problem.key] -= 1
            else:
                unreported.append(problem)
        return unreported

    def _remember(self, build: BuildResult) -> None:
        self._reported = Counter(problem.key for problem in build.problems)
        self._had_problems, self._had_errors = bool(build.problems or build.more), False

    def _show(self, problems: Iterable[BuildProblem], more: str) -> None:
        blocks = [problem.painted if self._screen.colour else problem.plain for problem in problems]
        self._screen.write("\n\n".join(filter(None, [*blocks, more.strip("\n")])))

    def _line(self, is_good: bool, text: str) -> None:
        self._screen.write(f"{HEAD}{self._screen.mark(is_good)}{text}")


def describe_changes(earlier: BuildFacts, later: BuildFacts) -> str:
    """Return what a build changed: `+name` for new, `-name` for removed, `~name` for changed definitions."""
    signs: dict[str, list[str]] = {"+": [], "-": [], "~": []}
    for kind in NAME_FIELDS:
        if earlier.lists.get(kind) != later.lists.get(kind):
            old, new = definitions_by_name(earlier, kind), definitions_by_name(later, kind)
            signs["+"] += [name for name in new if name not in old]
            signs["-"] += [name for name in old if name not in new]
            signs["~"] += [name for name, value in new.items() if name in old and old[name] != value]
    names = [f"{sign}{name}" for sign, changed in signs.items() for name in changed]
    if names:
        rest = len(names) - MAX_NAMES
        return ", ".join(names[:MAX_NAMES]) + (f" and {rest} more" if rest > 0 else "")
    if earlier.lists != later.lists:
        return "order changed"
    if earlier.code != later.code:
        return "handlers changed"
    return "nothing changed" if earlier.content == later.content else "contents changed"


def definitions_by_name(facts: BuildFacts, kind: str) -> dict[str, str]:
    word, label = NAME_FIELDS[kind]
    items = json.loads(facts.lists.get(kind, "[]"))
    return {word + visible(str(item.get(label)), MAX_NAME_LENGTH): json.dumps(item) for item in items}


def count_offered(facts: BuildFacts) -> str:
    """Return how many definitions of each kind a built file has; tools are always included."""
    numbers = {"tool": len(facts.names)}
    for kind, (word, _) in NAME_FIELDS.items():
        if word:
            numbers[word.strip()] = numbers.get(word.strip(), 0) + len(json.loads(facts.lists.get(kind, "[]")))
    return ", ".join(counted(number, word) for word, number in numbers.items() if number or word == "tool")


def count_problems(problems: Sequence[BuildProblem], word: str = "") -> str:
    """Return the number of problems of each severity as text; empty if there are none."""
    numbers = Counter(problem.severity for problem in problems)
    return ", ".join(counted(numbers[name], word + name) for name in SEVERITIES if numbers[name])


def summarise_problems(problems: Sequence[BuildProblem]) -> list[str]:
    """Return the number of problems and the command that explains them; empty if there are none."""
    if not problems:
        return []
    worst = min(problems, key=lambda problem: SEVERITIES.index(problem.severity))
    return [count_problems(problems), f"see `mcpc help {worst.code}`"]


class CallLines:
    """Writes the log lines."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def show(self, name: str, status: str, milliseconds: float) -> None:
        """Write the line of a finished call; it is dropped if standard error is not read."""
        screen = self._screen
        now = screen.paint(time.strftime("%H:%M:%S"), "faint")
        ended = screen.paint(status, "good" if status == "ok" else "bad")
        screen.write(f"{now} {visible(name, MAX_NAME_LENGTH)} {ended} {milliseconds:.0f} ms", 0.0)


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call without an answer: its name, and when the server received it."""

    name: str
    since: float


class CallWatch:
    """The open calls of one conversation, derived from its messages.  Memory: O(unanswered requests)."""

    def __init__(self, lines: CallLines) -> None:
        self._lines = lines
        self._begun: dict[str, PendingCall] = {}

    def begin(self, messages: Sequence[Message]) -> None:
        """Record the calls in a message to the server."""
        for message in messages:
            method, params = message.get("method"), params_of(message)
            if method == "notifications/cancelled":
                self.end(id_key(params.get("requestId")), "cancelled")
            elif method in METHODS and "id" in message:
                # One character more than is shown, so that `visible` marks the cut.
                name = METHODS[method] + str(params.get("name"))[: MAX_NAME_LENGTH + 1]
                self._begun[id_key(message["id"])] = PendingCall(name, time.monotonic())

    def finish(self, line: bytes) -> None:
        """Process a line of the server."""
        if not self._begun:
            return
        for identifier, is_done in answered_requests(line):
            if identifier in self._begun:
                self.end(identifier, "ok" if is_done and not is_tool_error(line, identifier) else "error")

    def end(self, identifier: str, status: str) -> None:
        """Write the line of a finished call."""
        begun = self._begun.pop(identifier, None)
        if begun is not None:
            self._lines.show(begun.name, status, (time.monotonic() - begun.since) * 1000)


def is_tool_error(line: bytes, identifier: str) -> bool:
    """Tell whether a result is a tool error; a line is parsed only if it may be one."""
    if IS_ERROR.search(line) is None:
        return False
    for message in parse_messages(line):
        result = message.get("result")
        if id_key(message.get("id")) == identifier and isinstance(result, dict):
            return result.get("isError") is True
    return False


class CallPipe:
    """The call log of HTTP servers, read from a named pipe; a log that the user configured is left alone."""

    def __init__(self, folder: Path, lines: CallLines) -> None:
        self.variables: dict[str, str] = {}
        self._lines = lines
        if CALL_LOG not in os.environ:
            path = folder / "calls"
            stream = open_log_pipe(path)
            self.variables = {CALL_LOG: str(path)}
            threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: Any) -> None:
        buffer = b""
        while data := stream.read(1 << 16):
            *whole, buffer = (buffer + data).split(b"\n")
            # A log without line ends takes no more memory than this; what is cut is no JSON, and is passed over.
            buffer = buffer[:MAX_LINE_LENGTH]
            for line in whole:
                self._take(line)

    def _take(self, line: bytes) -> None:
        """Write the line of a call; nested calls and resources in the log are ignored."""
        try:
            facts = json.loads(line)
            if not isinstance(facts, dict):
                return
            status, took = str(facts["status"]), float(facts["milliseconds"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        for kind, word in (("tool", ""), ("prompt", "prompt ")):
            if kind in facts and not facts.get("chain"):
                self._lines.show(word + str(facts[kind]), STATUSES.get(status, status), took)
