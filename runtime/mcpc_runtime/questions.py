"""What a handler asks the client, made of what its author wrote; and what is made of the answer.

A form is a flat object: that is all that clients show.  Types, choices and classes are turned into one, and what the
user said is turned back into what was asked for, so that a handler never reads JSON by hand.
"""

from __future__ import annotations

from mcpc_runtime.handler_errors import AskError, UnsupportedError
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.facts import INVALID_PARAMS, MISSING_CAPABILITY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Object = dict[str, Any]
    Shape = tuple[Object, Callable[[Object], Any]]
    """A schema, and what makes a value of the content that fits it."""
    import dataclasses
    from typing import get_args, get_origin, get_type_hints
else:
    get_args = lazy("typing:get_args")
    get_origin = lazy("typing:get_origin")
    get_type_hints = lazy("typing:get_type_hints")
    dataclasses = lazy("dataclasses")

VALUE = "value"
"""The one field of a form that asks for one value."""
MOST_TOKENS = 512
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
    """What the user did: `action` is `accept`, `decline` or `cancel`.

    `data`: what was asked for, None if it was not accepted; `content`: the form's fields as the client sent them.
    """

    __slots__ = ("action", "content", "data")
    __match_args__ = ("action", "data")

    def __init__(self, action: str, data: Any = None, content: Object | None = None) -> None:
        self.action = action
        self.data = data
        self.content = content

    def __repr__(self) -> str:
        """Show what was done, and nothing that was said."""
        return f"<Elicited {self.action}>"


class Sampled:
    """What the client's model wrote: `text`, all of it; `content`, as it came; `model`; `raw`, the whole result."""

    __slots__ = ("content", "model", "raw", "role", "stop_reason", "text")

    def __init__(self, raw: Object) -> None:
        self.raw = raw
        self.content = raw["content"]
        self.model: str = raw["model"]
        self.role: str = raw["role"]
        self.stop_reason: str | None = raw.get("stopReason")
        blocks = self.content if isinstance(self.content, list) else [self.content]
        self.text = "\n".join(block["text"] for block in blocks if block["type"] == "text")


class Root(dict[str, "Any"]):
    """A place where the user works: an object with `uri` and perhaps `name`, which are attributes, too."""

    __slots__ = ()

    @property
    def uri(self) -> str:
        """Where it is."""
        uri: str = self["uri"]
        return uri

    @property
    def name(self) -> str | None:
        """What the user calls it."""
        return self.get("name")


def answered(given: Object) -> Object:
    """Return the answers to what was asked; raise what the client, or the server, says in their place."""
    error = given.get("error")
    if error is None:
        answers: Object = given["answers"]
        return answers
    kind = UnsupportedError if error["code"] == MISSING_CAPABILITY else AskError
    raise kind(error["code"], error["message"], error.get("data"))


def elicitation(message: str, schema: Any = None, url: str = "") -> Object:
    """Return a question for the user."""
    return form(message, schema, url, {})[0]


def form(message: str, schema: Any, url: str, more: Object) -> tuple[Object, Callable[[Object], Elicited]]:
    """Return a question for the user, and what makes an object of the answer."""
    unknown = [name for name in more if name not in FORM_OPTIONS]
    if unknown:
        raise TypeError(f"a question for the user has no {', '.join(unknown)}")
    if url:
        params: Object = {"mode": "url", "message": message, "url": str(url)}
        return {"method": "elicitation/create", "params": params}, lambda raw: Elicited(raw["action"])
    requested, build = shape_of(more.get("response_type") if schema is None else schema)
    for option, keyword in (("response_title", "title"), ("response_description", "description")):
        if more.get(option) is not None and VALUE in requested["properties"]:
            requested["properties"][VALUE][keyword] = more[option]
    question = {"method": "elicitation/create", "params": {"message": message, "requestedSchema": requested}}
    return question, lambda raw: elicited(raw, build)


def elicited(raw: Object, build: Callable[[Object], Any]) -> Elicited:
    """Return what the user did, and said."""
    if raw["action"] != "accept":
        return Elicited(raw["action"])
    content = raw.get("content", {})
    try:
        return Elicited("accept", build(content), content)
    except Exception as problem:
        raise AskError(INVALID_PARAMS, f"The user's answer is not what was asked for: {problem}") from problem


def shape_of(wanted: Any) -> Shape:
    """Return the form that asks for what a handler wants: a schema, a type, choices, or a class."""
    if wanted is None:
        return {"type": "object", "properties": {}}, dict
    if isinstance(wanted, dict) and ("properties" in wanted or wanted.get("type") == "object"):
        return {"type": "object", "properties": {}, **wanted}, dict
    if hasattr(wanted, "model_json_schema"):
        return model_form(wanted.model_json_schema()), wanted.model_validate
    if hasattr(wanted, "__dataclass_fields__"):
        return class_form(wanted)
    field, build = field_of(wanted)
    form = {"type": "object", "properties": {VALUE: field}, "required": [VALUE]}
    return form, lambda content: build(content[VALUE])


def field_of(wanted: Any) -> tuple[Object, Callable[[Any], Any]]:
    """Return the field of a form that asks for one value, and what makes the value of what was said."""
    if wanted in SCALARS if isinstance(wanted, type) else False:
        return {"type": SCALARS[wanted]}, wanted if wanted is float else same
    if isinstance(wanted, dict):
        return titled(wanted), same
    if isinstance(wanted, list):
        return field_of_list(wanted)
    if isinstance(wanted, type) and hasattr(wanted, "__members__"):
        members: list[Any] = list(wanted.__members__.values())
        enum: Object = {"type": "string", "enum": [str(member.value) for member in members]}
        return enum, lambda said: next(member for member in members if str(member.value) == said)
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin is list and arguments:
        one, build = field_of(arguments[0])
        return {"type": "array", "items": one}, lambda said: [build(item) for item in said]
    if arguments and all(isinstance(choice, str) for choice in arguments):  # Literal
        return {"type": "string", "enum": list(arguments)}, same
    raise TypeError(
        f"no form can ask for {wanted!r}: a flat object of texts, numbers, truths and choices is all it can"
    )


def field_of_list(wanted: list[Any]) -> tuple[Object, Callable[[Any], Any]]:
    """Return the field for a list of choices; in another list, for any number of them."""
    if len(wanted) == 1 and isinstance(wanted[0], list):
        return {"type": "array", "items": {"type": "string", "enum": [str(choice) for choice in wanted[0]]}}, same
    if len(wanted) == 1 and isinstance(wanted[0], dict):
        return {"type": "array", "items": {"anyOf": titled(wanted[0])["oneOf"]}}, same
    return {"type": "string", "enum": [str(choice) for choice in wanted]}, same


def titled(choices: Object) -> Object:
    """Return the field for choices that have titles."""
    said = {name: one.get("title", name) if isinstance(one, dict) else str(one) for name, one in choices.items()}
    return {"type": "string", "oneOf": [{"const": name, "title": title} for name, title in said.items()]}


def same(value: Any) -> Any:
    """Return a value as it is."""
    return value


def class_form(kind: Any) -> Shape:
    """Return the form of a dataclass: a field for each of its fields, required if it has no default."""
    hints = get_type_hints(kind, include_extras=True)
    missing = dataclasses.MISSING
    properties: Object = {}
    builds: dict[str, Callable[[Any], Any]] = {}
    required = []
    for name, field in kind.__dataclass_fields__.items():
        if not field.init:
            continue
        wanted, is_optional, says = bare(hints[name])
        properties[name], builds[name] = field_of(wanted)
        properties[name].update(says)
        has_default = field.default is not missing
        if has_default and field.default is not None:
            properties[name]["default"] = getattr(field.default, "value", field.default)
        if not has_default and field.default_factory is missing and not is_optional:
            required.append(name)
    form: Object = {"type": "object", "properties": properties}
    if required:
        form["required"] = required
    return form, lambda content: kind(
        **{name: build(content[name]) for name, build in builds.items() if name in content},
        **{name: None for name in builds if name not in content and is_without(kind, name, missing)},
    )


def is_without(kind: Any, name: str, missing: Any) -> bool:
    """Tell whether a field of a dataclass has no default."""
    field = kind.__dataclass_fields__[name]
    return field.default is missing and field.default_factory is missing


def bare(hint: Any) -> tuple[Any, bool, Object]:
    """Return a type without what is said beside it, whether it may be None, and what is said beside it."""
    says: Object = {}
    for said in getattr(hint, "__metadata__", ()):
        found = {name: getattr(said, name, None) for name in ("title", "description")}
        found["description"] = said if isinstance(said, str) else found["description"]
        says.update({name: text for name, text in found.items() if isinstance(text, str)})
    hint = getattr(hint, "__origin__", hint) if says or hasattr(hint, "__metadata__") else hint
    arguments = get_args(hint)
    if type(None) in arguments:
        (wanted,) = (one for one in arguments if one is not type(None))
        return wanted, True, says
    return hint, False, says


def model_form(schema: Object) -> Object:
    """Return a pydantic model's schema as a form: what it refers to is put in its place, and None is left out."""
    known = schema.get("$defs", {})
    properties = {name: model_field(field, known) for name, field in schema.get("properties", {}).items()}
    form: Object = {"type": "object", "properties": properties}
    if schema.get("required"):
        form["required"] = schema["required"]
    return form


def model_field(field: Object, known: Object) -> Object:
    """Return a field of a model as one of a form."""
    found = dict(field)
    parts = [part for keyword in ("anyOf", "allOf") for part in found.get(keyword, ()) if part != {"type": "null"}]
    if len(parts) == 1:
        found = {**parts[0], **{name: found[name] for name in found if name not in ("anyOf", "allOf")}}
    name = found.pop("$ref", "").removeprefix("#/$defs/")
    if name in known:
        found = {**known[name], **found}
    if "const" in found:
        found["enum"] = [found.pop("const")]
    if isinstance(found.get("items"), dict):
        found["items"] = model_field(found["items"], known)
    if found.get("default", "") is None:
        del found["default"]
    return found


def sampling(messages: Any, params: Object) -> Object:
    """Return a question for the client's model."""
    given = messages if isinstance(messages, list | tuple) else [messages]
    made: Object = {"messages": [message_of(message) for message in given], "maxTokens": MOST_TOKENS}
    for name, value in params.items():
        if value is not None:
            made[SAMPLING_NAMES.get(name, name)] = preferences(value) if name == "model_preferences" else plain(value)
    return {"method": "sampling/createMessage", "params": made}


def preferences(value: Any) -> Any:
    """Return which model is preferred: names are hints."""
    names = [value] if isinstance(value, str) else value
    return {"hints": [{"name": name} for name in names]} if isinstance(names, list | tuple) else plain(value)


def message_of(message: Any) -> Object:
    """Return a message to a model: a text is the user's."""
    if isinstance(message, str):
        return {"role": "user", "content": {"type": "text", "text": message}}
    made: Object = dict(plain(message))
    if isinstance(made.get("content"), str):
        made["content"] = {"type": "text", "text": made["content"]}
    return made


def plain(value: Any) -> Any:
    """Return a model's object as JSON would have it, without what it does not say."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def roots_of(raw: Object) -> list[Root]:
    """Return where the user works."""
    return [Root(root) for root in raw["roots"]]
