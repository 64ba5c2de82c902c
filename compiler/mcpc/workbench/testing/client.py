"""Calls of a case: in both eras, with the server's questions answered from the case, in order.

A question without an answer is declined, and is reported with the reply.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mcpc.client.client import (
    STATELESS,
    AnsweredError,
    ConversationError,
    Deadline,
    ServerClient,
    Transport,
    refusal,
)
from mcpc.client.http import header_value, name_header
from mcpc.client.processes import Beginning
from mcpc.workbench.testing.model import NOTHING, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpc.workbench.testing.model import CompletedArgument

    Object = dict[str, Any]

METHODS = {
    "tool": ("tools/call", "name"),
    "prompt": ("prompts/get", "name"),
    "resource": ("resources/read", "uri"),
    "complete": ("completion/complete", ""),
}
"""The method that calls each kind of definition, and the parameter that names it, if one does."""
REFERENCES = {"prompt": ("ref/prompt", "name"), "resource": ("ref/resource", "uri")}
"""How a request for completion refers to what has the argument."""
CAPABILITIES: Object = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
DECLINED: Mapping[str, Object] = {
    "elicitation/create": {"action": "decline"},
    "roots/list": {"roots": []},
    "sampling/createMessage": {
        "role": "assistant",
        "model": "none",
        "stopReason": "endTurn",
        "content": {"type": "text", "text": ""},
    },
}
"""What a question gets for which a case has no answer."""
MARKS = {"elicitation/create": "action", "roots/list": "roots", "sampling/createMessage": "content"}
"""A member that every answer to a question has."""
PROBLEMS = "mcpc/problems"
MAX_ROUNDS = 32
HEADER_KEYWORD = "x-mcp-header"


@dataclass(slots=True)
class AnswerList:
    """The answers of one case, and the questions for which it had none."""

    answers: list[Mapping[str, Any]] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def answer(self, method: str, params: Object) -> Mapping[str, Any]:
        """Return the answer to a question: the first one left that is of its kind."""
        member = MARKS.get(method)
        for answer in self.answers:
            if member is None or member in answer:
                self.answers.remove(answer)
                return answer
        # A client without roots is usual: an empty list is an answer.
        if method != "roots/list":
            self.open.append(f"{method}: {str(params.get('message', ''))[:200]}".rstrip(": "))
        return DECLINED.get(method, {})

    def respond(self, request: Object) -> Object:
        """Return the response to a request of a server of the handshake era."""
        if request["method"] not in DECLINED:
            return refusal(request)
        params = request.get("params")
        answer = self.answer(request["method"], params if isinstance(params, dict) else {})
        return {"jsonrpc": "2.0", "id": request["id"], "result": answer}


class EraClient:
    """One era over one transport.  `tools`: the input schemas of tools by name, for headers that repeat arguments."""

    def __init__(self, transport: Transport, era: str, tools: Mapping[str, Any]) -> None:
        self._client = ServerClient(transport, Deadline(1), capabilities=CAPABILITIES)
        self._client.is_stateless = era == "stateless"
        self._beginning: Beginning = getattr(transport, "beginning", None) or Beginning()
        transport.use_revision(STATELESS if self._client.is_stateless else "")
        if hasattr(transport, "headers_of"):
            transport.headers_of = lambda message: repeated_headers(message, tools)

    def call(self, kind: str, params: Object, answers: Sequence[Mapping[str, Any]], seconds: float) -> Reply:
        """Return the reply to a call; raise ConversationError if there is none."""
        client, questions = self._client, AnswerList([*answers])
        client.deadline = Deadline(seconds)
        if not client.is_stateless:
            self._begin()
        client.transport.answer = questions.respond
        start = time.perf_counter()
        try:
            reply = reply_of(kind, self._result(METHODS[kind][0], params, questions))
        except AnsweredError as problem:
            code = problem.code if isinstance(problem.code, int) else 0
            reply = Reply(is_error=True, text=problem.text, code=code)
        spent = (time.perf_counter() - start) * 1000
        if getattr(client.transport, "is_undecided", False):
            questions.open.append("a question, while several calls were made at a time")
        return replace(reply, milliseconds=spent, questions=tuple(questions.open))

    def _begin(self) -> None:
        # Conversations over one process share it, and with it the handshake.
        with self._beginning.lock:
            if not self._beginning.is_done:
                self._client.initialize()
                self._beginning.is_done = True

    def _result(self, method: str, params: Object, questions: AnswerList) -> Object:
        """Return the final result; the stateless era asks by results, and is called again with the answers."""
        more: Object = {}
        for _ in range(MAX_ROUNDS):
            result = self._client.request(method, {**params, **more})
            if result.get("resultType") != "input_required":
                return result
            asked = result.get("inputRequests")
            responses = {
                key: questions.answer(str(each.get("method")), each.get("params") or {})
                for key, each in (asked if isinstance(asked, dict) else {}).items()
            }
            more = {"inputResponses": responses, "requestState": result.get("requestState")}
        raise ConversationError(f"it asked {MAX_ROUNDS} times without an end")


def call_params(kind: str, target: str, arguments: Mapping[str, Any]) -> Object:
    named = {METHODS[kind][1]: target}
    return named if kind == "resource" else {**named, "arguments": dict(arguments)}


def completion_params(completed: CompletedArgument, arguments: Mapping[str, Any]) -> Object:
    """Return the parameters of a request for completion; `arguments`: what was chosen for the other arguments."""
    kind, member = REFERENCES[completed.kind]
    argument = {"name": completed.argument, "value": completed.value}
    params: Object = {"ref": {"type": kind, member: completed.ref}, "argument": argument}
    return {**params, "context": {"arguments": dict(arguments)}} if arguments else params


def reply_of(kind: str, result: Object) -> Reply:
    meta, completion = result.get("_meta"), result.get("completion", NOTHING)
    problems = meta.get(PROBLEMS) if isinstance(meta, dict) else None
    return Reply(
        is_error=result.get("isError") is True,
        text="\n".join(_texts(kind, result)),
        structured=completion if kind == "complete" else result.get("structuredContent", NOTHING),
        problems=tuple(problems) if isinstance(problems, list) else None,
        result=result,
    )


def _texts(kind: str, result: Object) -> list[str]:
    """Return the texts of a result: of a tool's content, a prompt's messages, a resource's contents, or the values."""
    if kind == "complete":
        return [*map(str, completed_values(result.get("completion")))]
    parts = result.get({"tool": "content", "prompt": "messages", "resource": "contents"}[kind])
    texts = []
    for part in parts if isinstance(parts, list) else ():
        block = part.get("content") if kind == "prompt" and isinstance(part, dict) else part
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            texts.append(block["text"])
    return texts


def completed_values(completion: Any) -> list[Any]:
    """Return the values of a completion; none if it has not the protocol's form."""
    values = completion.get("values") if isinstance(completion, dict) else None
    return values if isinstance(values, list) else []


def repeated_headers(message: Object, tools: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that repeat the name of a stateless request, and those arguments that a schema names."""
    headers, params = name_header(message), message.get("params")
    if not headers or not isinstance(params, dict):
        return {}
    arguments = params.get("arguments")
    schema = tools.get(str(params.get("name")))
    headers.update(_argument_headers(schema, arguments if isinstance(arguments, dict) else {}))
    return headers


def _argument_headers(schema: Any, arguments: Mapping[str, Any]) -> dict[str, str]:
    headers: dict[str, str] = {}
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, part in (properties if isinstance(properties, dict) else {}).items():
        value = arguments.get(name)
        if not isinstance(part, dict):
            continue
        if HEADER_KEYWORD in part and isinstance(value, str | int | float):
            headers[f"Mcp-Param-{part[HEADER_KEYWORD]}"] = header_value(value)
        if isinstance(value, dict):
            headers.update(_argument_headers(part, value))
    return headers
