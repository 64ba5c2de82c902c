"""The invocation of a mcp-bash tool and its result: the types between its contract and its runner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpc_runtime.handlers.invocations import ProcessResult
from mcpc_runtime.protocol.accounts import Account
from mcpc_runtime.protocol.client_requests.handler_requests import canonical_json
from mcpc_runtime.protocol.jsonrpc import Json, encode
from mcpc_runtime.systems.mcp_bash.settings import McpBashSettings

Roots = list[tuple[str, str, str]]
"""Each root's uri, name and path."""


class ScriptCall:
    """A tool to run, with its inputs.

    `file`: its path below the project.  `arguments` and `meta` are JSON, `token` is the progress token.  `elicits`: the
    client supports elicitation; `asks_roots`: it supports roots, which are in `roots` if they are known, and else are
    passed to `remember`.  `account`: the memory account that is charged for its output.
    """

    __slots__ = ("account", "arguments", "asks_roots", "elicits", "facts", "file", "meta", "name", "remember", "roots",
                 "settings", "token")  # fmt: skip

    def __init__(self, settings: McpBashSettings, file: str, name: str, facts: dict[str, Any]) -> None:
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


class EmbeddedFile:
    """A file to embed in a result: its path, its media type if the tool named one, its uri, and its bytes."""

    __slots__ = ("data", "mime", "path", "uri")

    def __init__(self, path: str, mime: str, uri: str) -> None:
        self.path = path
        self.mime = mime
        self.uri = uri
        self.data = b""


class ScriptResult:
    """The result of a script.

    `refused`: code, message and data of the error if it was not run.  `error`: the content of its error file;
    `embedded`: the files named in its resources file; `warnings`: which of them were left out, and why.
    """

    __slots__ = ("completed", "embedded", "error", "problem", "refused", "warnings")

    def __init__(self, completed: ProcessResult | None = None, problem: str = "") -> None:
        self.completed = completed or ProcessResult("it was not run")
        self.problem = problem
        self.refused: tuple[int, str, Json] | None = None
        self.error = b""
        self.embedded: list[EmbeddedFile] = []
        self.warnings: list[str] = []


def sorted_json(value: Json) -> bytes:
    """Return a value as JSON, its keys in order."""
    return canonical_json(value) or encode(value)
