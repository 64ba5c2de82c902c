"""The server of the pytest plugin: calls in either era over either transport, and cases as tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from mcpc.diagnostics.formats import render_text
from mcpc.reading import Source
from mcpc.workbench.testing.case_files import read_cases
from mcpc.workbench.testing.client import call_params, completed_values, completion_params
from mcpc.workbench.testing.model import Absent, CompletedArgument, Variant
from mcpc.workbench.testing.reports import mismatch_lines
from mcpc.workbench.testing.running import OutputValidators, connection_for, place_of, run_case
from mcpc.workbench.testing.servers import CallRoute, Connection, has_http

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import ExitStack
    from pathlib import Path

    from mcpc.workbench.testing.api_stub import AnsweredConnection
    from mcpc.workbench.testing.model import Case, Reply
    from mcpc.workbench.testing.servers import Served


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a call led to.

    `text`: all text of the result, or of the error.  `structured`: the structured content, None if there is none.
    `code`: of a JSON-RPC error.  `problems`: the refused arguments.  `raw`: the result.  `values`: of completions.
    """

    text: str
    structured: Any
    is_error: bool
    code: int | None
    problems: Sequence[Mapping[str, Any]]
    raw: Mapping[str, Any]
    values: Sequence[str] = ()


class CallableServer:
    """A built server, started when it is first called.  `stack`: ends its processes."""

    def __init__(self, served: Served, facts: Mapping[str, Any], stack: ExitStack) -> None:
        self._served, self._facts, self._stack = served, facts, stack
        self._servers: dict[tuple[tuple[tuple[str, str], ...], bool], Connection | AnsweredConnection] = {}
        self._outputs = OutputValidators({tool["name"]: tool.get("outputSchema") for tool in facts["tools"]})
        self._variant = Variant("stdio", "stateless")
        self._answers: tuple[Mapping[str, Any], ...] = ()
        self._environment: tuple[tuple[str, str], ...] = ()
        self._headers: tuple[tuple[str, str], ...] = ()

    def _changed(self, **values: Any) -> CallableServer:
        # Not by `__init__`: the copy shares the servers that are running, and those yet to start.
        other = CallableServer.__new__(CallableServer)
        other.__dict__.update(self.__dict__)
        other.__dict__.update({f"_{name}": value for name, value in values.items()})
        return other

    def era(self, name: str) -> CallableServer:
        """Return the same server, called in an era: `handshake` or `stateless`."""
        return self._changed(variant=self._variant._replace(era=name))

    def over(self, name: str) -> CallableServer:
        """Return the same server, called over a transport: `stdio` or `http`."""
        return self._changed(variant=self._variant._replace(transport=name))

    def answering(self, *answers: Mapping[str, Any]) -> CallableServer:
        """Return the same server, whose questions get these results, in order."""
        return self._changed(answers=answers)

    def with_environment(self, **variables: str) -> CallableServer:
        """Return a server with these environment variables, such as its settings."""
        return self._changed(environment=tuple(sorted({**dict(self._environment), **variables}.items())))

    def with_headers(self, headers: Mapping[str, str]) -> CallableServer:
        """Return the same server, called with these headers over HTTP."""
        return self._changed(headers=tuple(sorted(headers.items())))

    @property
    def tools(self) -> list[str]:
        """The names of the tools."""
        return [str(tool["name"]) for tool in self._facts["tools"]]

    def is_served_over(self, transport: str) -> bool:
        """Whether the file has what it needs for a transport."""
        return transport != "http" or has_http(self._facts)

    def call(self, tool: str, /, **arguments: Any) -> CallResult:
        """Return the result of a tool."""
        return self._request("tool", call_params("tool", tool, arguments))

    def prompt(self, name: str, /, **arguments: str) -> CallResult:
        """Return a prompt: its text is that of all messages."""
        return self._request("prompt", call_params("prompt", name, arguments))

    def read(self, uri: str) -> CallResult:
        """Return a resource."""
        return self._request("resource", call_params("resource", uri, {}))

    def complete(self, ref: str, argument: str, value: str = "", /, **arguments: str) -> CallResult:
        """Return the completion of an argument.

        `ref`: the name of a prompt, or a resource template; `value`: what was typed; `arguments`: what was chosen for
        other arguments.
        """
        kind = "resource" if ref in self._templates else "prompt"
        return self._request("complete", completion_params(CompletedArgument(kind, ref, argument, value), arguments))

    @property
    def _templates(self) -> list[str]:
        listed = self._facts.get("resourceTemplates")
        return [str(each["uriTemplate"]) for each in listed] if isinstance(listed, list) else []

    def failures(self, case: Case, variant: Variant) -> list[str]:
        """Return how a case fails in one variant, in lines; empty if it passes."""
        outcome = run_case(case, variant, self._servers_of(*place_of(case)), self._outputs)
        return [
            line
            for mismatch in outcome.mismatches
            for line in (mismatch.what, *(f"  {each}" for each in mismatch_lines(mismatch)))
        ]

    def _request(self, kind: str, params: dict[str, Any]) -> CallResult:
        # Only cases have responses, so that this is never an AnsweredConnection.
        connection = cast("Connection", self._servers_of(self._environment))
        route = CallRoute(self._variant, self._headers)
        return result_of(connection.request(route, kind, params, self._answers))

    def _servers_of(
        self, environment: tuple[tuple[str, str], ...], is_answered: bool = False
    ) -> Connection | AnsweredConnection:
        key = environment, is_answered
        if key not in self._servers:
            servers = connection_for(self._served, dict(environment), is_answered=is_answered)
            self._servers[key] = self._stack.enter_context(servers)
        return self._servers[key]


def result_of(reply: Reply) -> CallResult:
    """Return a reply as tests see it."""
    structured = None if isinstance(reply.structured, Absent) else reply.structured
    values = completed_values(reply.result.get("completion"))
    return CallResult(reply.text, structured, reply.is_error, reply.code, reply.problems or (), reply.result, values)


@dataclass(frozen=True, slots=True)
class PlacedCase:
    """A case, and the line of its file at which it begins."""

    case: Case
    line: int


def cases_of_file(path: Path) -> list[PlacedCase]:
    """Return the cases of a file; raise ValueError with all of its problems."""
    source = Source(path.name, path.read_bytes())
    cases, problems = read_cases({path.name: source})
    if problems:
        raise ValueError(render_text(problems, {path.name: source}, colour=False))
    return [PlacedCase(case, source.position(case.node.start)[0]) for case in cases]
