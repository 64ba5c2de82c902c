"""The arguments of an operation: flat, under keys that models take, and where the request has the value of each.

A JSON object as the body is spread over the arguments if its root is an object after `allOf` is merged, has at most
FLAT properties, none named as a parameter, and allows no others; forms always are, as far as they can. Anything else is
the one argument `body`. The root of the schema never has `oneOf`, `anyOf` or `allOf`, which models' APIs refuse there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcpc.frontends.openapi.assembly import Assembly
from mcpc.frontends.openapi.keywords import BYTES
from mcpc.frontends.openapi.names import argument_key, free_key
from mcpc.frontends.openapi.operations import known_style
from mcpc.frontends.openapi.texts import clean_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.frontends.openapi.documents import DocumentValue
    from mcpc.frontends.openapi.keywords import Json
    from mcpc.frontends.openapi.operations import Body, Parameter
    from mcpc.frontends.openapi.schemas import Schemas

FLAT = 24
"""How many properties of a body are arguments of their own."""
BRANCHING = ("oneOf", "anyOf", "not", "if", "patternProperties", "dependentSchemas", "$recursiveRef", "$dynamicRef")
ONLY_REQUIRING = frozenset(("required", "type", "title", "description"))
"""Keywords of a branch that says no more than which properties go together."""
MAX_PARTS = 50
PARTS = {"path": "places", "query": "query", "header": "headers", "cookie": "cookies"}
PLACE = re.compile(r"\{([^{}/]+)\}")
ANY = {"description": "any value"}


@dataclass(slots=True)
class OperationArguments:
    """The arguments of one operation, while they are gathered; `plan` has where the request gets them."""

    schemas: Schemas
    given: Mapping[str, Any]
    properties: dict[str, Json] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    plan: dict[str, Any] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()

    def schema(self) -> dict[str, Json]:
        """Return the input schema, with all that it refers to."""
        root: dict[str, Json] = {"type": "object", "properties": self.properties}
        if self.required:
            root["required"] = self.required
        return {**Assembly(self.schemas, root).schema(), "additionalProperties": False}

    def add_parameter(self, parameter: Parameter) -> None:
        """Add one parameter, unless its value is known."""
        setting = self._given(parameter.name)
        if setting is not None:
            self._send(parameter, setting)
            return
        schema = self._described(parameter.schema, parameter.description)
        constants = schema.get("enum", [schema["const"]] if "const" in schema else [])
        # A place with one possible value leaves the model nothing to choose.
        if parameter.where == "path" and len(constants) == 1 and isinstance(constants[0], str):
            self._send(parameter, constants[0])
            return
        key = self.add(parameter.where, parameter.name, schema, is_required=parameter.required)
        self._send(parameter, {"argument": key, **parameter.sent})

    def _given(self, name: str) -> Any:
        """Return the value that an API's file sets instead of an argument, or None."""
        value = self.given.get(name)
        if isinstance(value, str) and value.startswith("$"):
            return {"setting": value[1:]}
        return None if isinstance(value, dict) else value

    def _send(self, parameter: Parameter, value: Any) -> None:
        if parameter.where == "querystring":
            self.plan["querystring"] = value
        else:
            self.plan.setdefault(PARTS[parameter.where], {})[parameter.name] = value

    def add(self, where: str, name: str, schema: dict[str, Json], *, is_required: bool) -> str:
        """Add an argument; return its key."""
        key = free_key(where, name, {*self.properties, *self.reserved})
        if key != name and key != f"{where}_{name}":
            text = schema.get("description", "")
            schema = {**schema, "description": f"{text} (sent as `{clean_text(name, 100)}`)".strip()}
        changes = self.given.get(name)
        if isinstance(changes, dict):
            schema = {**schema, **changes}
        self.properties[key] = schema
        if is_required:
            self.required.append(key)
        return key

    def _described(self, place: DocumentValue, description: str) -> dict[str, Json]:
        """Return the schema of an argument, with the description that its holder has."""
        schema = self.schemas.convert(place)
        text = clean_text(description)
        return {**schema, "description": text} if text else schema

    def add_body(self, body: Body) -> None:
        """Add what is sent as the body."""
        if body.kind in ("form", "multipart"):
            self._add_form(body)
            return
        if body.kind == "json":
            parts = object_parts(self.schemas, body.schema)
            if parts is not None and self._can_be_flat(parts):
                members = {name: {"argument": key} for name, key in self._spread(parts, body).items()}
                self._plan_body({"json": {"members": members}, "type": body.media}, body)
                return
        schema = dict(BYTES) if body.kind == "bytes" else {"type": "string"} if body.kind == "text" else None
        whole = self._described(body.schema, body.description) if schema is None else schema
        if schema is not None and (text := clean_text(body.description)):
            whole["description"] = text
        key = self.add("request", "body", whole or ANY, is_required=body.required)
        self._plan_body({body.kind: {"argument": key}, "type": body.media}, body)

    def _can_be_flat(self, parts: ObjectParts) -> bool:
        is_few = 0 < len(parts.properties) <= FLAT and not parts.takes_more
        return is_few and not any(argument_key(name) in self.properties for name in parts.properties)

    def _plan_body(self, plan: dict[str, Any], body: Body) -> None:
        self.plan["body"] = {**plan, "required": True} if body.required else plan

    def _spread(self, parts: ObjectParts, body: Body) -> dict[str, str]:
        """Add the properties of a body as arguments; return the key of each."""
        keys = {}
        for name, places in parts.properties.items():
            schemas = [self.schemas.convert(place) for place in places]
            schema = schemas[0] if len(schemas) == 1 else {"allOf": schemas}
            keys[name] = self.add("body", name, schema, is_required=body.required and name in parts.required)
        return keys

    def _add_form(self, body: Body) -> None:
        parts = object_parts(self.schemas, body.schema)
        if parts is None or not parts.properties:
            key = self.add("request", "body", self._described(body.schema, body.description), is_required=body.required)
            self._plan_body({body.kind: {key: {"argument": key}}}, body)
            return
        keys = self._spread(parts, body)
        values = {name: self._form_value(body, name, key, parts.properties[name][0]) for name, key in keys.items()}
        self._plan_body({body.kind: values}, body)

    def _form_value(self, body: Body, name: str, key: str, place: DocumentValue) -> dict[str, Any]:
        """Return how one part of a form is written."""
        encoding = body.encoding.get(name)
        encoding = encoding if isinstance(encoding, dict) else {}
        value = {"argument": key, **(known_style(encoding, "form") if body.kind == "form" else {})}
        media = encoding.get("contentType")
        # It may list several types, of which the first one is sent.
        media = media.partition(",")[0].strip() if isinstance(media, str) else ""
        if body.kind == "form":
            is_json = media.endswith("json") and "style" not in value
            return {**value, "content": media} if is_json else value
        if self._is_file(place, media):
            return {**value, "bytes": True, "type": media or "application/octet-stream"}
        return {**value, "type": media} if media else value

    def _is_file(self, place: DocumentValue, media: str) -> bool:
        """Tell whether a part of a multipart body is bytes."""
        schema = self.schemas.follow(place).value
        if isinstance(schema, dict) and schema.get("type") == "array":
            schema = self.schemas.follow(place.at("items")).value if "items" in place.value else {}
        if not isinstance(schema, dict):
            return False
        media_type = schema.get("contentMediaType", media)
        is_bytes = (
            isinstance(media_type, str)
            and bool(media_type)
            and not media_type.startswith("text/")
            and not media_type.endswith("json")
        )
        # Bytes are `format: binary` in 3.0, `type: file` in 2.0, and in 3.1 a media type, often without a type.
        is_untyped = "type" not in schema and "$ref" not in schema and "properties" not in schema
        plain = schema.get("type") in ("string", "file") or (is_untyped and is_bytes)
        return schema.get("format") == "binary" or schema.get("type") == "file" or (plain and is_bytes)


@dataclass(slots=True)
class ObjectParts:
    """The properties of an object, each with all schemas that say something of it."""

    properties: dict[str, list[DocumentValue]] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    takes_more: bool = False
    hidden: set[str] = field(default_factory=set)


def object_parts(schemas: Schemas, place: DocumentValue) -> ObjectParts | None:
    """Return the parts of an object whose properties are all known; None for any other schema."""
    parts, seen = ObjectParts(), set()
    waiting = [place]
    while waiting:
        # From the front, so that the arguments are in the order of the document.
        part = schemas.follow(waiting.pop(0))
        if part.identity in seen:
            continue
        seen.add(part.identity)
        if len(seen) > MAX_PARTS or not _is_plain_object(part.value):
            return None
        for name, written in part.at("properties").members():
            if schemas.is_left_out(written):
                parts.hidden.add(name)
            else:
                parts.properties.setdefault(name, []).append(written)
        required = part.value.get("required")
        parts.required.update(name for name in required if isinstance(name, str)) if isinstance(
            required, list
        ) else None
        # Left out, it allows anything in JSON Schema; a document that means this usually says so.
        more = part.value.get("additionalProperties", False)
        parts.takes_more = parts.takes_more or more is True or (isinstance(more, dict) and bool(more))
        waiting += part.at("allOf").items()
    return parts


def _is_plain_object(value: Json) -> bool:
    if not isinstance(value, dict) or value.get("type", "object") not in ("object", ["object"]):
        return False
    if value.get("nullable") is True and "properties" not in value:
        return False
    branches = [branch for word in ("oneOf", "anyOf") for branch in (value.get(word) or ())]
    others = any(word in value for word in BRANCHING if word not in ("oneOf", "anyOf"))
    return not others and all(isinstance(branch, dict) and ONLY_REQUIRING.issuperset(branch) for branch in branches)
