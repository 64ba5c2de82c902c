"""A tool of mcp-bash to run, and what became of it: what its contract and its runner say to each other."""

from __future__ import annotations

from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.jsonrpc import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.commands import Completed
    from mcpc_runtime.mcp_bash.settings import Settings
    from mcpc_runtime.protocol.accounts import Account
    from mcpc_runtime.protocol.jsonrpc import Json

    Roots = list[tuple[str, str, str]]
    """Each root's uri, name and path."""
    from mcpc_runtime.protocol.asks import canonical
else:
    canonical = lazy("mcpc_runtime.protocol.asks:canonical")


class Script:
    """A tool to run: where it is, and everything that it is told.

    `file`: its path below the project.  `arguments` and `meta` are JSON, `token` is that of the client's wish to hear
    of progress.  `elicits`: the client can be asked for input; `asks_roots`: and for its roots, which `roots` are if it
    was asked before, and `remember` takes if it was not.  `account`: what is charged for what it writes.
    """

    __slots__ = ("account", "arguments", "asks_roots", "elicits", "facts", "file", "meta", "name", "remember", "roots",
                 "settings", "token")  # fmt: skip

    def __init__(self, settings: Settings, file: str, name: str, facts: dict[str, Any]) -> None:
        self.account: Account | None = None
        self.settings = settings
        self.file = file
        self.name = name
        self.facts = facts
        self.arguments = self.meta = b"{}"
        self.token = ""
        self.elicits = self.asks_roots = False
        self.roots: Roots | None = None
        self.remember: Callable[[Roots], None] | None = None


class Embedded:
    """A file that a tool wants in its answer: its path, its type if the tool said one, its uri, and its bytes."""

    __slots__ = ("data", "mime", "path", "uri")

    def __init__(self, path: str, mime: str, uri: str) -> None:
        self.path = path
        self.mime = mime
        self.uri = uri
        self.data = b""


class Ran:
    """What became of it.

    `refused`: the code, the message and the data of the error with which it was not run.  `error`: what it wrote to its
    file for that, and `embedded` what it named in the one for those; `warnings`: what was not taken, and why.
    """

    __slots__ = ("completed", "embedded", "error", "problem", "refused", "warnings")

    def __init__(self, completed: Completed | None = None, problem: str = "") -> None:
        self.completed = completed
        self.problem = problem
        self.refused: tuple[int, str, Json] | None = None
        self.error = b""
        self.embedded: list[Embedded] = []
        self.warnings: list[str] = []


def sorted_json(value: Json) -> bytes:
    """Return a value as JSON, its keys in order."""
    written: bytes = canonical(value)
    return written or encode(value)
