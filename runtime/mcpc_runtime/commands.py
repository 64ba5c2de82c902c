"""What a contract asks of a runner, and what a runner brings back.

A runner is made with the host.  `start(command, done, note)` returns a job, and calls `done(result)` once and
`note(object)` whenever the handler says something meanwhile; it raises OSError, with nothing left open, if the system
has no room for it now.  `stop(job)`: nobody waits for the result any more; whatever the call runs is to be ended, and
`done` is not called.  `close()`: the server ends.  A note is a JSON object:

    {"progress": 3, "total": 10, "message": "…"}    {"log": "info", "data": "…", "logger": "…"}
    {"call": "tool", "arguments": {…}, "reply": 1}   (answered by `answer(job, reply, result)` of the runner)
    {"ask": {"key": {"method": "…", "params": {…}}}, "reply": 2}   (answered in the same way: `answers`, or `error`)
    {"updated": "uri"}    {"changed": "tools"}    {"part": 5}    {"withdraw": true} (what was asked)
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc_runtime.protocol.accounts import Account
    from mcpc_runtime.protocol.jsonrpc import Json

MARK = "MCPC_CALL"
"""The variable that says for which call a process runs: by it, whatever a call started can be found and ended."""
NOTES = "MCPC_NOTES"
"""The variable that names the descriptor for notes."""


class Command:
    """A process to run: words, its environment, its standard input, whether both outputs are one, and where.

    `data` comes on descriptor 3; `told`, if it is not None, on standard input, which is otherwise at its end.
    `environment`: the number of one in the index, in whose place `exact` may be another; `more` is put on top of it.
    `refusal`: why it cannot be run at all.  `account`: what is charged for the output while it is kept.
    """

    __slots__ = ("account", "argv", "data", "directory", "environment", "exact", "merged", "more", "refusal", "told")

    def __init__(self, argv: list[str], environment: int, more: Mapping[bytes, bytes]) -> None:
        self.account: Account | None = None
        self.argv = argv
        self.environment = environment
        self.exact: Mapping[bytes, bytes] | None = None
        self.more = more
        self.data: bytes = b""
        self.told: bytes | None = None
        self.merged = False
        self.directory = ""
        self.refusal = ""


class ShellCall:
    """A Bash function to call: its library's file, its name, its one argument, and what else it wants.

    `variables`: shell variables by name, each a text or a list of texts; `exported`: texts that programs find too.
    `merged`: both outputs are one.  `slice`: as much of the libraries as an isolated one needs, nothing for all.
    `refusal`: why it cannot be called at all.  `account`: as that of a command.
    """

    __slots__ = ("account", "argument", "calls_tools", "environment", "exported", "file", "function", "isolated",
                 "merged", "refusal", "slice", "traps", "variables")  # fmt: skip

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
        self.calls_tools = False
        self.merged = False
        self.slice = b""
        self.refusal = ""


class Completed:
    """What became of a process or a shell function.

    `status`: exit status, or minus the signal; `problem`: why it did not even start.

    `output` is what it wrote to both streams in the order it arrived; `printed` and `errors` are its two parts (all is
    `printed` where the streams were merged).  `sizes`: how much it wrote to each, also of what was dropped.
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


class Invocation:
    """A Python function to call: the module's file, its name, the arguments, and how it takes them.

    `binding`: nothing for keywords, else a row of `mcpc_runtime.bindings.BINDINGS` and what that needs.  `context`: the
    parameter for the call's context, if it wants one; `meta` the request's `_meta`, for that, and `more` what else that
    knows: `client`, what the client can be asked, and `answers`, what it was asked already.
    """

    __slots__ = ("arguments", "binding", "context", "environment", "file", "function", "is_async", "meta", "more",
                 "name")  # fmt: skip

    def __init__(self, file: str, function: str, arguments: dict[str, Json], binding: list[str]) -> None:
        self.file = file
        self.function = function
        self.arguments = arguments
        self.binding = binding
        self.context = ""
        self.is_async = False
        self.environment = 0
        self.meta: dict[str, Json] = {}
        self.more: dict[str, Json] = {}
        self.name = ""


class Reading:
    """A file to read: its path below a folder, or below the one that a variable (`$NAME`) of the environment has."""

    __slots__ = ("folder", "path")

    def __init__(self, folder: str, path: str) -> None:
        self.folder = folder
        self.path = path


class Found:
    """What became of it: its bytes, or why there are none.

    `missing`: there is no such file, or none that may be read (`problem` says why, if there is more to say than that).
    """

    __slots__ = ("data", "missing", "problem")

    def __init__(self, data: bytes = b"", problem: str = "", missing: bool = False) -> None:
        self.data = data
        self.problem = problem
        self.missing = missing


class Returned:
    """What became of it: a JSON value, or the text of the exception that was raised.

    `refused`: why it was not even called, because an argument is not what its type wants.  `raised`: the JSON-RPC error
    that the request is to end with: `code`, `message`, and perhaps `data`.
    """

    __slots__ = ("problem", "raised", "refused", "value")

    def __init__(self, value: Json = None, problem: str = "", refused: str = "") -> None:
        self.value = value
        self.raised: dict[str, Json] | None = None
        self.problem = problem
        self.refused = refused
