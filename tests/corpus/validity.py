"""Whether a message is what its revision's schema says: its kind, and what its method says of it."""

from functools import cache
from typing import Any

import jsonschema

from support.reference import protocol_schema

EMPTY = {"PingRequest", "SetLevelRequest", "SubscribeRequest", "UnsubscribeRequest"}
"""Requests whose answer says nothing."""


@cache
def schema(revision: str) -> tuple[dict[str, Any], str]:
    document = protocol_schema(revision)
    return document, "$defs" if "$defs" in document else "definitions"


@cache
def validator(revision: str, name: str) -> Any:
    document, key = schema(revision)
    whole = {**document, "$ref": f"#/{key}/{name}"}
    return jsonschema.validators.validator_for(document)(whole)


@cache
def named(revision: str) -> dict[str, str]:
    document, key = schema(revision)
    found = {}
    for name, definition in document[key].items():
        method = definition.get("properties", {}).get("method", {}).get("const")
        if method:
            found[method] = name
    return found


def judge(revision: str, message: dict[str, Any], asked: str = "") -> None:
    """Raise ValidationError unless a message is valid; `asked`: the method it answers.

    Where an id could not be read it is null, as JSON-RPC 2.0 has it, or left out, as MCP's newer schemas have it.
    """
    unread = "error" in message and message.get("id") is None
    validator(revision, "JSONRPCMessage").validate({**message, "id": 0} if unread else message)
    names = named(revision)
    if "method" in message and message["method"] in names:
        validator(revision, names[message["method"]]).validate(message)
    if "result" in message and asked in names:
        validator(revision, result_name(revision, names[asked], message["result"])).validate(message["result"])


def result_name(revision: str, request: str, result: dict[str, Any]) -> str:
    if result.get("resultType") == "input_required":
        return "InputRequiredResult"
    return "EmptyResult" if request in EMPTY else request.removesuffix("Request") + "Result"
