"""Invocations and results: what contracts request of runners, and what runners return.

Those of Python functions are in `mcpc_runtime.handlers.python.contract`.

A runner is created with the runner context.  `start(command, done, note)` returns a job; it calls `done(result)` once
and `note(object)` for each message of the running handler; it raises OSError, with nothing left open, if the system has
no room for it now.  `stop(job)` ends everything that the call runs, and `done` is not called.  `close()` is called when
the server ends.  A note is a JSON object:

    {"progress": 3, "total": 10, "message": "…"}    {"log": "info", "data": "…", "logger": "…"}
    {"call": "tool", "arguments": {…}, "reply": 1}   (answered by `answer(job, reply, result)` of the runner)
    {"ask": {"key": {"method": "…", "params": {…}}}, "reply": 2}   (answered in the same way: `answers`, or `error`)
    {"updated": "uri"}    {"changed": "tools"}    {"part": 5}    {"withdraw": true} (withdraws the client request)

What a pipeline calls is a definition instead of a name, for not all of its steps have one.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcpc_runtime.protocol.kept_results import Account

NOTES = "MCPC_NOTES"
"""The environment variable with the number of the descriptor for notes."""


class Command:
    """A process to run: arguments, environment, standard input, working directory, and whether outputs are merged.

    `data` is readable on descriptor 3; `stdin`, unless None, on standard input, which is otherwise empty.
    `environment`: the number of an environment in the index; `exact` replaces it, and `extra` is added to it.
    `refusal`: why it cannot be run at all.  `account`: the memory account that is charged for the stored output.
    """

    __slots__ = ("account", "argv", "data", "directory", "environment", "exact", "extra", "merged", "refusal", "stdin")

    def __init__(self, argv: list[str], environment: int, extra: Mapping[bytes, bytes]) -> None:
        self.account: Account | None = None
        self.argv = argv
        self.environment = environment
        self.exact: Mapping[bytes, bytes] | None = None
        self.extra = extra
        self.data: bytes = b""
        self.stdin: bytes | None = None
        self.merged = False
        self.directory = ""
        self.refusal = ""


class ShellCall:
    """A Bash function to call: its library's file, its name, its only argument, and its options.

    `variables`: shell variables by name, each a text or a list of texts; `exported`: environment variables.
    `merged`: both outputs are one.  `slice`: the part of the libraries that an isolated call needs, empty for all.
    `errexit`: `e` if it holds in the function as the library left it, `f` if only where the function sets it, empty if
    it does not hold.  `refusal`: why it cannot be called at all.  `account`: as that of a command.
    """

    __slots__ = ("account", "argument", "calls_tools", "environment", "errexit", "exported", "file", "function",
                 "isolated", "merged", "refusal", "slice", "traps", "variables")  # fmt: skip

    def __init__(self, file: str, function: str, argument: bytes, environment: int) -> None:
        self.account: Account | None = None
        self.file = file
        self.function = function
        self.argument = argument
        self.environment = environment
        self.variables: dict[str, bytes | list[bytes]] = {}
        self.exported: dict[bytes, bytes] = {}
        self.isolated = False
        self.traps = False
        self.errexit = ""
        self.calls_tools = False
        self.merged = False
        self.slice = b""
        self.refusal = ""


class ProcessResult:
    """The result of a process or a shell function.

    `status`: exit status, or minus the signal; `problem`: why it did not start.

    `output` is what it wrote to both streams in the order it arrived; `printed` and `errors` are those of each stream
    (all is `printed` where the streams were merged).  `sizes`: bytes written to each, including those dropped.
    """

    __slots__ = ("dropped", "errors", "output", "printed", "problem", "sizes", "status")

    def __init__(self, problem: str = "") -> None:
        self.status = -1
        self.output = b""
        self.printed = b""
        self.errors = b""
        self.dropped = 0
        self.sizes = (0, 0)
        self.problem = problem


class FileRead:
    """A file to read: its path below a folder, or below the folder in an environment variable (`$NAME`)."""

    __slots__ = ("folder", "path")

    def __init__(self, folder: str, path: str) -> None:
        self.folder = folder
        self.path = path


class FileResult:
    """The result of reading a file: its bytes, or why it was not read.

    `missing`: the file does not exist, or must not be read (`problem` has the reason in that case).
    """

    __slots__ = ("data", "missing", "problem")

    def __init__(self, data: bytes = b"", problem: str = "", missing: bool = False) -> None:
        self.data = data
        self.problem = problem
        self.missing = missing
