"""What a contract asks of a runner, and what a runner brings back."""

from __future__ import annotations

from _signal import SIGPIPE  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mcpc_runtime.protocol.jsonrpc import Json


DEFAULT_SIGNALS = (SIGPIPE, 25)
"""What a child is to take as usual again (25 is SIGXFSZ): the interpreter ignores both, and children inherit that."""


class Command:
    """What to run: words, the text for descriptor 3, the whole environment, and whether both outputs are one."""

    __slots__ = ("argv", "environment", "input", "merged")

    def __init__(self, argv: list[str], data: bytes, environment: Mapping[Any, Any], merged: bool) -> None:
        self.argv = argv
        self.input = data
        self.environment = environment
        self.merged = merged


class Completed:
    """What became of it.  `status`: exit status, or minus the signal; `problem`: why it did not even start.

    `output` is what it wrote to both streams in the order it arrived; `printed` and `errors` are its two parts (all is
    `printed` where the streams were merged).
    """

    __slots__ = ("dropped", "errors", "output", "printed", "problem", "status")

    def __init__(self, problem: str = "") -> None:
        self.status = -1
        self.output = b""
        self.printed = b""
        self.errors = b""
        self.dropped = 0
        self.problem = problem


class Invocation:
    """A Python function to call: the module's file, its name, the arguments, and how it takes them.

    `binding`: nothing for keywords, else a row of `mcpc_runtime.bindings.BINDINGS` and what that needs.
    """

    __slots__ = ("arguments", "binding", "file", "function")

    def __init__(self, file: str, function: str, arguments: dict[str, Json], binding: list[str]) -> None:
        self.file = file
        self.function = function
        self.arguments = arguments
        self.binding = binding


class Returned:
    """What became of it: a JSON value, or the text of the exception that was raised.

    `refused`: why it was not even called, because an argument is not what its type wants.
    """

    __slots__ = ("problem", "refused", "value")

    def __init__(self, value: Json = None, problem: str = "", refused: str = "") -> None:
        self.value = value
        self.problem = problem
        self.refused = refused
