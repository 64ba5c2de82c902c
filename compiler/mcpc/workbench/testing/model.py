"""A case, the ways in which it runs, and what was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.reading.json_tree import Node

    Json = Any

ERAS = ("handshake", "stateless")
TRANSPORTS = ("stdio", "http")
BOTH = "both"


class Absent:
    """The type of NOTHING."""


NOTHING = Absent()
"""In place of a value that is not there, since null is a value."""


class Variant(NamedTuple):
    """One way to run a case."""

    transport: str
    era: str


@dataclass(frozen=True, slots=True)
class CompletedArgument:
    """What a case completes: an argument of a prompt, or a variable of a resource template.

    `kind`: prompt or resource; `ref`: the prompt's name, or the template; `value`: what was typed.
    """

    kind: str
    ref: str
    argument: str
    value: str = ""

    @property
    def name(self) -> str:
        """Its name in reports, as in the call log."""
        return f"{self.ref} {self.argument}"


@dataclass(frozen=True, slots=True)
class StubResponse:
    """What a case answers to a request of its tool.  `to`: the method and the target that it is for, empty for any."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    to: str = ""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request that a tool has sent; the names of its headers are small."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def line(self) -> str:
        """The method and the target."""
        return f"{self.method} {self.target}"


@dataclass(frozen=True, slots=True)
class Case:
    """One call and what it has to lead to.

    `kind`: tool, prompt, resource or complete; `target`: its name or URI.  `environment`: variables of the server.
    `headers`: of its requests over HTTP.  `answers`: results for the questions of the server, in order.  `expect`: the
    object of the file, None if it is left out.  `node`: the whole case in its file.  `number`: its place in its file,
    from 1.  `completed`: of a completion only.  `serial`: whether it runs alone, None if the file does not say.
    `responses`: to the requests of its tool, None if these go to the API; `is_repeated`: the one is for all of them.
    """

    name: str
    kind: str
    target: str
    arguments: Mapping[str, Json]
    variants: tuple[Variant, ...]
    environment: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    answers: tuple[Mapping[str, Json], ...]
    expect: Node | None
    node: Node
    number: int
    completed: CompletedArgument | None = None
    serial: bool | None = None
    responses: tuple[StubResponse, ...] | None = None
    is_repeated: bool = False

    @property
    def file(self) -> str:
        """The path of its file, relative to the project."""
        return self.node.path


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call led to.

    `code`: of a JSON-RPC error, None if there is none.  `result`: the whole result.  `structured`: NOTHING if there is
    none.  `questions`: the server's questions for which there was no answer.  `log`: what the server wrote on standard
    error meanwhile.  `requests`: what the tool has sent; `unanswered`: to what of it the case had no response;
    `unused`: responses for which nothing came.
    """

    is_error: bool
    text: str = ""
    code: int | None = None
    structured: Json | Absent = NOTHING
    problems: tuple[Mapping[str, Json], ...] | None = None
    result: Mapping[str, Json] = field(default_factory=dict)
    questions: tuple[str, ...] = ()
    milliseconds: float = 0.0
    log: str = ""
    requests: tuple[SentRequest, ...] = ()
    unanswered: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference between what a case expects and what was found.

    `node`: the expectation in its file, None if the file does not state it.  `update`: the value that would fit there,
    NOTHING if `--update` does not change such an expectation.
    """

    what: str
    expected: Json
    found: Json
    node: Node | None = None
    update: Json | Absent = NOTHING


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case that ran in one way.  `is_repeated`: it failed among others, and this is what it does alone."""

    case: Case
    variant: Variant
    mismatches: tuple[Mismatch, ...]
    reply: Reply
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """What fuzzing has found of a tool: the smallest arguments, what is wrong, and what was answered.

    `variants`: the ways in which a call with these arguments has a fault; `tried`: all that were tried.
    """

    tool: str
    arguments: Mapping[str, Json]
    problem: str
    found: str
    is_accepted: bool
    variants: tuple[Variant, ...] = ()
    tried: tuple[Variant, ...] = ()

    @property
    def case(self) -> dict[str, Json]:
        """The fault as a case, which fails until it is corrected."""
        kind = "accepts" if self.is_accepted else "refuses"
        case = {"name": f"{self.tool} {kind} what fuzzing found", "tool": self.tool, "arguments": dict(self.arguments)}
        for at, field_name in enumerate(Variant._fields):
            names = {each[at] for each in self.variants}
            # A case runs in all ways that it does not exclude; it names one only if the fault was not in another.
            if len(names) == 1 and len({each[at] for each in self.tried}) > 1:
                case[field_name] = names.pop()
        return case if self.is_accepted else {**case, "expect": {"error": True}}
