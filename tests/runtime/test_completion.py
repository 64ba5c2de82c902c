"""Completion: what fits what was typed, for what is there, and as much as the protocol allows."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from mcpc_runtime.handlers.python import contract as python
from mcpc_runtime.handlers.python.bindings.named import call_by_names
from mcpc_runtime.protocol.effects import StartHandler
from mcpc_runtime.protocol.session import Session
from support.images import MODERN, archive, ask, image_of, request
from support.messages import HANDSHAKE, STATELESS, valid

if TYPE_CHECKING:
    from mcpc_runtime.image.image import Image

CITIES = ["Paris", "park", "London Park", "Oslo", "PARMA", "Ω", "straße"]
MANY = [f"n{number:03}" for number in range(250)]
PROMPT = {"type": "ref/prompt", "name": "travel"}
TEMPLATE = {"type": "ref/resource", "uri": "users://{id}/{+rest}"}
FILES = {
    "server.json": json.dumps({"serverInfo": {"name": "words", "version": "1"}}),
    "prompts.json": json.dumps(
        {
            "prompts": [
                {
                    "name": "travel",
                    "description": "d",
                    "arguments": [{"name": name} for name in ("city", "number", "alive", "nothing")],
                }
            ]
        }
    ),
    "prompts.py": "def travel(city='', number='', alive='', nothing=''): return city\n",
    "resources.json": json.dumps(
        {
            "resources": [{"uri": "test://one", "name": "one", "description": "d", "text": ""}],
            "resourceTemplates": [{"uriTemplate": "users://{id}/{+rest}", "name": "user", "description": "d"}],
        }
    ),
    "resources.py": "def resource_user(id, rest): return id\n",
    "completions.json": json.dumps(
        {
            "completions": [
                {"ref": PROMPT, "argument": "city", "values": CITIES},
                {"ref": PROMPT, "argument": "number", "values": MANY},
                {"ref": PROMPT, "argument": "alive"},
                {"ref": TEMPLATE, "argument": "id", "values": ["1", "12", "2"]},
            ]
        }
    ),
    "completions.py": "def complete_travel_alive(value, context_arguments): return [value]\n",
}


@cache
def image() -> Image:
    return image_of(archive(FILES).data)


def complete(ref: object, name: object, value: object, revision: str = "2025-11-25", **more: Any) -> Any:
    session = Session(image())
    params = {"ref": ref, "argument": {"name": name, "value": value}, **more}
    if revision == STATELESS:
        return ask(session, request("completion/complete", {**params, "_meta": MODERN}))
    session.wire = image().revision(revision)
    return ask(session, request("completion/complete", params))


@pytest.mark.parametrize("revision", [*HANDSHAKE, STATELESS])
def test_results_are_what_the_revision_says(revision: str) -> None:
    for typed in ("p", "nowhere"):
        valid(revision, "CompleteResult", complete(PROMPT, "city", typed, revision)["result"])
    valid(revision, "CompleteResult", complete(PROMPT, "number", "", revision)["result"])


@pytest.mark.parametrize("revision", [*HANDSHAKE, STATELESS])
def test_a_handler_is_given_what_was_typed_and_what_was_chosen_where_that_is_said(revision: str) -> None:
    started = complete(PROMPT, "alive", "x", revision, context={"arguments": {"city": "Oslo"}})
    assert isinstance(started, StartHandler)
    chosen = {"city": "Oslo"} if revision >= "2025-06-18" else {}
    assert started.call.arguments == {"value": "x", "arguments": chosen}
    invocation = python.build_invocation(started.call, image())  # type: ignore[arg-type]
    assert invocation.arguments == {"value": "x", "context_arguments": chosen}
    assert (invocation.binding, invocation.name) == (["named"], "travel alive")


def test_functions_take_as_much_as_they_name() -> None:
    def one(value: str) -> list[str]:
        return [value]

    def both(context_arguments: dict, *, value: str) -> list[str]:
        return [value, *context_arguments]

    def every(**given: Any) -> list[str]:
        return list(given)

    def none() -> list[str]:
        return []

    def wrapped(*words: Any, **given: Any) -> list[str]:
        return one(*words, **given)

    wrapped.__wrapped__ = one  # type: ignore[attr-defined]
    given = {"value": "x", "context_arguments": {"a": "b"}}
    found = [call_by_names(function, given, {}) for function in (one, both, every, none, wrapped)]
    assert found == [["x"], ["x", "a"], ["value", "context_arguments"], [], ["x"]]
