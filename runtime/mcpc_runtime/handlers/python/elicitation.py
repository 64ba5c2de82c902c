"""Client requests of Python handlers: builds requests from Python values, and Python values from the answers.

A form is a flat object, because clients show nothing else.  Types, choices and classes become a form's schema, and its
content becomes a value of the requested type again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, get_args, get_origin, get_type_hints

from mcpc_runtime.handlers.python.errors import AskError, UnsupportedError
from mcpc_runtime.log import log_failure
from mcpc_runtime.protocol.constants import INVALID_PARAMS, MISSING_CAPABILITY

Object = dict[str, Any]
FormShape = tuple[Object, Callable[[Object], object]]
"""A form's schema, and the function that makes a value of its content."""
FieldShape = tuple[Object, Callable[[Any], object]]
"""The schema of a form's field, and the function that makes a value of its content."""


VALUE = "value"
"""The only field of a form for a single value."""
# `maxTokens` is required in sampling/createMessage (MCP 2025-06-18).
DEFAULT_MAX_TOKENS = 512
SCALARS = {str: "string", bool: "boolean", int: "integer", float: "number"}
FORM_OPTIONS = ("response_type", "response_title", "response_description")
SAMPLING_NAMES = {
    "include_context": "includeContext",
    "max_tokens": "maxTokens",
    "model_preferences": "modelPreferences",
    "stop_sequences": "stopSequences",
    "system_prompt": "systemPrompt",
    "tool_choice": "toolChoice",
}


class Elicited:
    """The user's answer: `action` is `accept`, `decline` or `cancel`.

    `data`: the requested value, None if it was not accepted; `content`: the form's fields as the client sent them.
    """

    __slots__ = ("action", "content", "data")
    __match_args__ = ("action", "data")

    def __init__(self, action: str, data: object = None, content: Object | None = None) -> None:
        self.action = action
        self.data = data
        self.content = content

    def __repr__(self) -> str:
        """Show the action, but no content."""
        return f"<Elicited {self.action}>"


class Sampled:
    """The answer of the client's model: `text`, its joined texts; `content`; `model`; `raw`, the whole result."""

    __slots__ = ("content", "model", "raw", "role", "stop_reason", "text")

    def __init__(self, raw: Object) -> None:
        self.raw = raw
        self.content = raw["content"]
        self.model: str = raw["model"]
        self.role: str = raw["role"]
        self.stop_reason: str | None = raw.get("stopReason")
        blocks = self.content if isinstance(self.content, list) else [self.content]
        self.text = "\n".join(block["text"] for block in blocks if block["type"] == "text")


class Root(dict[str, object]):
    """A root of the client: an object with `uri` and perhaps `name`, which are also attributes."""

    __slots__ = ()

    @property
    def uri(self) -> str:
        """The root's uri."""
        return str(self["uri"])

    @property
    def name(self) -> str | None:
        """The root's name, if it has one."""
        name = self.get("name")
        return name if isinstance(name, str) else None


def answers_of(reply: Object) -> Object:
    """Return the client's answers; raise the error of the client or the server instead of them."""
    error = reply.get("error")
    if error is None:
        answers: Object = reply["answers"]
        return answers
    kind = UnsupportedError if error["code"] == MISSING_CAPABILITY else AskError
    raise kind(error["code"], error["message"], error.get("data"))


def elicitation(message: str, schema: object = None, url: str = "") -> Object:
    """Return an elicitation request."""
    return elicitation_request(message, schema, url, {})[0]


def elicitation_request(
    message: str, schema: object, url: str, options: Object
) -> tuple[Object, Callable[[Object], Elicited]]:
    """Return an elicitation request, and the function that converts its result."""
    unknown = [name for name in options if name not in FORM_OPTIONS]
    if unknown:
        raise TypeError(f"unknown options of elicit: {', '.join(unknown)}")
    if url:
        params: Object = {"mode": "url", "message": message, "url": str(url)}
        return {"method": "elicitation/create", "params": params}, lambda raw: Elicited(raw["action"])
    requested, build = form_of(options.get("response_type") if schema is None else schema)
    for option, keyword in (("response_title", "title"), ("response_description", "description")):
        if options.get(option) is not None and VALUE in requested["properties"]:
            requested["properties"][VALUE][keyword] = options[option]
    question = {"method": "elicitation/create", "params": {"message": message, "requestedSchema": requested}}
    return question, lambda raw: elicited(raw, build)


def elicited(raw: Object, build: Callable[[Object], object]) -> Elicited:
    """Return the user's answer of an elicitation result; `build` makes a value of its content."""
    if raw["action"] != "accept":
        return Elicited(raw["action"])
    content = raw.get("content", {})
    try:
        return Elicited("accept", build(content), content)
    except Exception as problem:
        if not isinstance(problem, ValueError):  # else the type refuses the answer, as types do
            log_failure(problem, "a handler's type failed on the user's answer")
        raise AskError(INVALID_PARAMS, f"The user's answer does not match the request: {problem}") from problem


def form_of(requested: Any) -> FormShape:
    """Return the form for a schema, a type, a list of choices, or a class."""
    if requested is None:
        return {"type": "object", "properties": {}}, dict
    if isinstance(requested, dict) and ("properties" in requested or requested.get("type") == "object"):
        return {"type": "object", "properties": {}, **requested}, dict
    if hasattr(requested, "model_json_schema"):
        return model_form(requested.model_json_schema()), requested.model_validate
    if hasattr(requested, "__dataclass_fields__"):
        return class_form(requested)
    field, build = field_of(requested)
    form = {"type": "object", "properties": {VALUE: field}, "required": [VALUE]}
    return form, lambda content: build(content[VALUE])


def field_of(requested: object) -> FieldShape:
    """Return the form field for one value, and the function that converts its content."""
    if isinstance(requested, type) and requested in SCALARS:
        # JSON does not tell 1 from 1.0, so a number may arrive as an int.
        return {"type": SCALARS[requested]}, requested if requested is float else unchanged
    if isinstance(requested, dict):
        return field_of_titled_choices(requested), unchanged
    if isinstance(requested, list):
        return field_of_list(requested)
    if isinstance(requested, type) and hasattr(requested, "__members__"):
        members = list(requested.__members__.values())
        # The enumerations of a form are strings: members are found again by the text of their values.
        enum: Object = {"type": "string", "enum": [str(member.value) for member in members]}
        return enum, lambda text: next(member for member in members if str(member.value) == text)
    origin, arguments = get_origin(requested), get_args(requested)
    if origin is list and arguments:
        items, build = field_of(arguments[0])
        return {"type": "array", "items": items}, lambda values: [build(value) for value in values]
    if arguments and all(isinstance(choice, str) for choice in arguments):  # Literal
        return {"type": "string", "enum": list(arguments)}, unchanged
    raise TypeError(
        f"cannot build a form for {requested!r}: only flat objects of string, number, boolean and enum fields"
    )


def field_of_list(requested: list[object]) -> FieldShape:
    """Return the form field for a list of choices; a list in a list allows any number of them."""
    if len(requested) == 1 and isinstance(requested[0], list):
        return {
            "type": "array",
            "items": {"type": "string", "enum": [str(choice) for choice in requested[0]]},
        }, unchanged
    if len(requested) == 1 and isinstance(requested[0], dict):
        return {"type": "array", "items": {"anyOf": field_of_titled_choices(requested[0])["oneOf"]}}, unchanged
    return {"type": "string", "enum": [str(choice) for choice in requested]}, unchanged


def field_of_titled_choices(choices: Object) -> Object:
    """Return the form field for choices with titles."""
    titles = {
        name: choice.get("title", name) if isinstance(choice, dict) else str(choice) for name, choice in choices.items()
    }
    return {"type": "string", "oneOf": [{"const": name, "title": title} for name, title in titles.items()]}


def unchanged(value: object) -> object:
    """Return the value unchanged."""
    return value


def class_form(kind: Any) -> FormShape:
    """Return the form of a dataclass: a field for each of its fields, required if it has no default."""
    hints = get_type_hints(kind, include_extras=True)
    properties: Object = {}
    builds: dict[str, Callable[[Any], object]] = {}
    required = []
    for name, field in kind.__dataclass_fields__.items():
        if not field.init:
            continue
        requested, is_optional, keywords = unwrap_hint(hints[name])
        properties[name], builds[name] = field_of(requested)
        properties[name].update(keywords)
        if field.default is not dataclasses.MISSING and field.default is not None:
            properties[name]["default"] = getattr(field.default, "value", field.default)
        if has_no_default(field) and not is_optional:
            required.append(name)
    form: Object = {"type": "object", "properties": properties}
    if required:
        form["required"] = required
    return form, lambda content: kind(
        **{name: build(content[name]) for name, build in builds.items() if name in content},
        # An optional field that the user left out, and that has no default.
        **{name: None for name in builds if name not in content and has_no_default(kind.__dataclass_fields__[name])},
    )


def has_no_default(field: dataclasses.Field[object]) -> bool:
    """Return whether a field of a dataclass has no default."""
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def unwrap_hint(hint: object) -> tuple[object, bool, Object]:
    """Return the type of an annotation, whether it may be None, and its title and description as schema keywords."""
    keywords: Object = {}
    for metadata in getattr(hint, "__metadata__", ()):
        texts = {name: getattr(metadata, name, None) for name in ("title", "description")}
        texts["description"] = metadata if isinstance(metadata, str) else texts["description"]
        keywords.update({name: text for name, text in texts.items() if isinstance(text, str)})
    hint = getattr(hint, "__origin__", hint) if keywords or hasattr(hint, "__metadata__") else hint
    arguments = get_args(hint)
    if type(None) in arguments:
        (requested,) = (argument for argument in arguments if argument is not type(None))
        return requested, True, keywords
    return hint, False, keywords


def model_form(schema: Object) -> Object:
    """Return a pydantic model's schema as a form: references are replaced by their targets, and null is removed."""
    definitions = schema.get("$defs", {})
    properties = {name: model_field(field, definitions) for name, field in schema.get("properties", {}).items()}
    form: Object = {"type": "object", "properties": properties}
    if schema.get("required"):
        form["required"] = schema["required"]
    return form


def model_field(field: Object, definitions: Object) -> Object:
    """Return a field of a model as a form field."""
    merged = dict(field)
    # An optional field is `anyOf` with null; `allOf` with one part is a reference beside other keywords.
    parts = [part for keyword in ("anyOf", "allOf") for part in merged.get(keyword, ()) if part != {"type": "null"}]
    if len(parts) == 1:
        merged = {**parts[0], **{name: merged[name] for name in merged if name not in ("anyOf", "allOf")}}
    name = merged.pop("$ref", "").removeprefix("#/$defs/")
    if name in definitions:
        merged = {**definitions[name], **merged}
    # Forms have no `const`.
    if "const" in merged:
        merged["enum"] = [merged.pop("const")]
    if isinstance(merged.get("items"), dict):
        merged["items"] = model_field(merged["items"], definitions)
    if merged.get("default", "") is None:
        del merged["default"]
    return merged


def sampling(messages: object, params: Object) -> Object:
    """Return a sampling request."""
    items = messages if isinstance(messages, list | tuple) else [messages]
    request: Object = {"messages": [message_of(message) for message in items], "maxTokens": DEFAULT_MAX_TOKENS}
    for name, value in params.items():
        if value is not None:
            request[SAMPLING_NAMES.get(name, name)] = (
                model_preferences(value) if name == "model_preferences" else as_json(value)
            )
    return {"method": "sampling/createMessage", "params": request}


def model_preferences(value: object) -> object:
    """Return model preferences; names of models are hints."""
    names = [value] if isinstance(value, str) else value
    return {"hints": [{"name": name} for name in names]} if isinstance(names, list | tuple) else as_json(value)


def message_of(message: object) -> Object:
    """Return a message to a model; a string is a user message."""
    if isinstance(message, str):
        return {"role": "user", "content": {"type": "text", "text": message}}
    result: Object = dict(as_json(message))
    if isinstance(result.get("content"), str):
        result["content"] = {"type": "text", "text": result["content"]}
    return result


def as_json(value: object) -> Any:
    """Return a model's object as JSON values, without null members."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return [as_json(item) for item in value] if isinstance(value, list | tuple) else value


def roots_of(raw: Object) -> list[Root]:
    """Return the client's roots."""
    return [Root(root) for root in raw["roots"]]
