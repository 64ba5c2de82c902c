"""The operations of a document, in one form for all versions: OpenAPI 3.0, 3.1, 3.2 and Swagger 2.0.

    parameters   those of the path and the operation, with style and explode as 3.1 says them
    body         the media type that is sent, of those that the operation takes
    accepts      the media types of its successful answers

What Swagger 2.0 says in other words is translated here: `body` and `formData`, `collectionFormat`, `consumes`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcpc.frontends.openapi.documents import DocumentValue, UnresolvedError
from mcpc.frontends.openapi.problems import UnusableError
from mcpc.frontends.openapi.texts import clean_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.frontends.openapi.documents import DocumentFiles

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "query")
NOT_SENT = ("trace",)
# A token of RFC 9110, section 5.6.2, of limited length.
TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}")
LOCATIONS = ("path", "query", "header", "cookie", "querystring")
SENT_BY_CLIENT = frozenset(
    {*("accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "cookie"),
     *("expect", "host", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer"),
     *("transfer-encoding", "upgrade")}
)  # fmt: skip
"""Headers that the request has anyway, or that its connection alone decides."""
IN_QUERY = ("form", "spaceDelimited", "pipeDelimited", "deepObject")
STYLES = {
    "path": ("simple", "label", "matrix"),
    "header": ("simple",),
    "query": IN_QUERY,
    "form": IN_QUERY,
    "cookie": ("form",),
}
"""The styles of each part of a request."""
COLLECTIONS = {"ssv": "spaceDelimited", "pipes": "pipeDelimited"}
FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
OF_RANGES = {"json": "application/json", "text": "text/plain", "bytes": "application/octet-stream"}
"""What is sent of each kind of body where an operation takes a range of types, such as `*/*`."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One value beside the body.  `sent`: its style as data of the request, without what is usual."""

    name: str
    where: str
    required: bool
    description: str
    schema: DocumentValue
    place: DocumentValue
    sent: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Body:
    """What is sent.  `kind`: `json`, `form`, `multipart`, `text` or `bytes`."""

    kind: str
    media: str
    required: bool
    description: str
    schema: DocumentValue
    encoding: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation; `item` is its path."""

    method: str
    path: str
    place: DocumentValue
    item: DocumentValue

    @property
    def identifier(self) -> str:
        """Its `operationId`, or an empty string."""
        written = self.place.value.get("operationId")
        return written if isinstance(written, str) else ""

    @property
    def key(self) -> str:
        """Its method and path, which tell it from all others."""
        return f"{self.method} {self.path}"

    @property
    def called(self) -> str:
        """What people call it."""
        return clean_text(self.identifier or self.key, 100)

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""
        written = self.place.value.get("tags")
        return tuple(tag for tag in written if isinstance(tag, str)) if isinstance(written, list) else ()


def operations_of(root: DocumentValue, files: DocumentFiles) -> Iterator[Operation | UnusableError]:
    """Yield the operations of a document, and the paths that cannot be had."""
    for path, written in root.at("paths").members():
        if path.startswith("x-"):
            continue
        try:
            item = files.follow(written)
        except UnresolvedError as wrong:
            yield UnusableError(written, str(wrong), wrong.hint)
            continue
        if not isinstance(item.value, dict):
            yield UnusableError(written, f"the path `{path}` has no operations")
            continue
        more = item.at("additionalOperations").members()
        own = ((name, item.at(name)) for name in item.value if name in (*METHODS, *NOT_SENT))
        for method, place in [*own, *more]:
            if isinstance(place.value, dict) and method.lower() in METHODS:
                yield Operation(method.upper(), path, place, item)
            else:
                yield UnusableError(place, f"`{method}` of the path `{path}` is no operation that can be sent")


class Reader:
    """Reads the parts of operations of one document."""

    def __init__(self, root: DocumentValue, files: DocumentFiles) -> None:
        self.root = root
        self.files = files
        self.is_swagger = "swagger" in root.value

    def follow(self, place: DocumentValue) -> DocumentValue:
        """Return what a part refers to."""
        try:
            return self.files.follow(place)
        except UnresolvedError as wrong:
            raise UnusableError(place.at("$ref"), str(wrong), wrong.hint) from None

    def parameters(self, operation: Operation) -> list[Parameter]:
        """Return the parameters beside the body, in order; those of the operation replace those of its path."""
        parameters = [
            self._parameter(place) for place in self._written(operation) if place.value.get("in") in LOCATIONS
        ]
        return [each for each in parameters if each.where != "header" or each.name.lower() not in SENT_BY_CLIENT]

    def _written(self, operation: Operation) -> list[DocumentValue]:
        """Return the objects of all parameters."""
        known: dict[tuple[str, str], DocumentValue] = {}
        for holder in (operation.item, operation.place):
            for written in holder.at("parameters").items():
                place = self.follow(written)
                if not isinstance(place.value, dict) or not isinstance(place.value.get("name"), str):
                    raise UnusableError(written, "a parameter has no name")
                if place.value.get("in") not in (*LOCATIONS, "body", "formData"):
                    raise UnusableError(place, f"the parameter `{place.value['name']}` is in no part of a request")
                if place.value["in"] in ("header", "cookie") and not TOKEN.fullmatch(place.value["name"]):
                    raise UnusableError(place.at("name"), "this cannot be the name of a header or a cookie")
                # Name and location together identify a parameter in OpenAPI.
                known[place.value["name"], str(place.value["in"])] = place
        return list(known.values())

    def _parameter(self, place: DocumentValue) -> Parameter:
        value = place.value
        where, name = value["in"], value["name"]
        schema, sent = self._swagger_style(place) if self.is_swagger else self._style(place)
        text = value.get("description")
        return Parameter(
            name=name,
            where=where,
            required=where == "path" or value.get("required") is True,
            description=text if isinstance(text, str) else "",
            schema=schema,
            place=place,
            sent=sent,
        )

    def _style(self, place: DocumentValue) -> tuple[DocumentValue, dict[str, Any]]:
        """Return the schema of a parameter of OpenAPI 3, and how it is written."""
        contents = place.at("content").members()
        if contents:
            media, content = contents[0]
            return self._schema_of(content), {"content": media}
        return self._schema_of(place), known_style(place.value, place.value["in"])

    def _schema_of(self, holder: DocumentValue) -> DocumentValue:
        """Return the schema of a parameter or a content; a text, if none is written."""
        if isinstance(holder.value, dict) and isinstance(holder.value.get("schema"), dict | bool):
            return holder.at("schema")
        return DocumentValue(holder.document, holder.path, {"type": "string"})

    def _swagger_style(self, place: DocumentValue) -> tuple[DocumentValue, dict[str, Any]]:
        """Return the schema that a parameter of Swagger 2.0 is itself, and how it is written."""
        value = place.value
        schema = {key: each for key, each in value.items() if key not in ("description", "required", "in", "name")}
        return DocumentValue(place.document, place.path, schema), collection_style(value)

    def body(self, operation: Operation) -> Body | None:
        """Return what is sent with a request, or None."""
        if self.is_swagger:
            return self._swagger_body(operation)
        written = operation.place.at("requestBody")
        if written.value is None:
            return None
        place = self.follow(written)
        contents = dict(place.at("content").members())
        # It becomes the value of a header, in which a line break would begin another one.
        media = chosen_media([each for each in contents if each.isprintable()])
        if not media:
            return None
        content = contents[media]
        schema = (
            content.at("schema")
            if isinstance(content.value, dict)
            else DocumentValue(place.document, content.path, None)
        )
        kind = kind_of(media, self.follow(schema).value if schema.value is not None else None)
        encoding, text = content.at("encoding").value, place.value.get("description")
        return Body(
            kind=kind,
            media=sent_media(media, kind),
            required=place.value.get("required") is True,
            description=text if isinstance(text, str) else "",
            schema=schema if schema.value is not None else DocumentValue(schema.document, content.path, {}),
            encoding=encoding if isinstance(encoding, dict) else {},
        )

    def _swagger_body(self, operation: Operation) -> Body | None:
        written = self._written(operation)
        consumes = operation.place.value.get("consumes", self.root.value.get("consumes"))
        types = (
            [each for each in consumes if isinstance(each, str) and each.isprintable()]
            if isinstance(consumes, list)
            else []
        )
        for place in written:
            if place.value["in"] == "body":
                media = chosen_media([each for each in types if each not in (FORM, MULTIPART)]) or "application/json"
                schema = place.at("schema")
                kind = kind_of(media, self.follow(schema).value if schema.value is not None else None)
                schema = schema if schema.value is not None else DocumentValue(schema.document, schema.path, {})
                text = place.value.get("description")
                description = text if isinstance(text, str) else ""
                return Body(kind, sent_media(media, kind), place.value.get("required") is True, description, schema)
        return self._swagger_form(operation, [each for each in written if each.value["in"] == "formData"], types)

    def _swagger_form(self, operation: Operation, parts: list[DocumentValue], types: list[str]) -> Body | None:
        """Return the body that parameters in `formData` make."""
        if not parts:
            return None
        has_file = any(part.value.get("type") == "file" for part in parts)
        media = MULTIPART if has_file or (MULTIPART in types and FORM not in types) else FORM
        hidden = ("in", "name", "required")
        properties = {
            part.value["name"]: {key: each for key, each in part.value.items() if key not in hidden} for part in parts
        }
        required = [part.value["name"] for part in parts if part.value.get("required") is True]
        schema = {"type": "object", "properties": properties, "required": required}
        place = DocumentValue(operation.place.document, (*operation.place.path, "parameters"), schema)
        encoding = {part.value["name"]: style for part in parts if (style := collection_style(part.value))}
        return Body("multipart" if media == MULTIPART else "form", media, bool(required), "", place, encoding)

    def accepts(self, operation: Operation) -> list[str]:
        """Return the media types of the successful answers, JSON first."""
        if self.is_swagger:
            produces = operation.place.value.get("produces", self.root.value.get("produces"))
            types = [each for each in produces if isinstance(each, str)] if isinstance(produces, list) else []
        else:
            types = [media for status, answer in self._successes(operation) for media in self._contents(answer)]
        return sorted(filter(str.isprintable, dict.fromkeys(types)), key=lambda media: not is_json(media))

    def answer(self, operation: Operation) -> DocumentValue | None:
        """Return the schema of the one successful answer, if that always is JSON; None for any other operation."""
        answers = self._successes(operation)
        try:
            place = self.files.follow(answers[0][1]) if len(answers) == 1 else None
        except UnresolvedError:
            return None
        if place is None or not self.accepts(operation) or not all(map(is_json, self.accepts(operation))):
            return None
        # `accepts` is not empty, so that the only answer has a content.
        holder = place if self.is_swagger else place.at("content").members()[0][1]
        return holder.at("schema") if isinstance(holder.at("schema").value, dict) else None

    def _successes(self, operation: Operation) -> list[tuple[str, DocumentValue]]:
        answers = operation.place.at("responses").members()
        good = [(status, answer) for status, answer in answers if str(status).startswith("2")]
        return good or [(status, answer) for status, answer in answers if status == "default"]

    def _contents(self, answer: DocumentValue) -> list[str]:
        try:
            return [media for media, _ in self.files.follow(answer).at("content").members()]
        except UnresolvedError:
            return []


def known_style(value: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return style and explode as they are written, as far as a part of a request can have them."""
    sent: dict[str, Any] = {}
    if value.get("style") in STYLES.get(where, ()):
        sent["style"] = value["style"]
    if isinstance(value.get("explode"), bool) and where in STYLES:
        sent["explode"] = value["explode"]
    if value.get("allowReserved") is True and where in ("path", "query", "form"):
        sent["allowReserved"] = True
    return sent


def collection_style(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the style that `collectionFormat` says; without one a list is separated by commas."""
    if value.get("type") != "array":
        return {}
    collection, where = str(value.get("collectionFormat", "csv")), value.get("in")
    if collection == "multi":
        return {"explode": True}
    style = {"style": COLLECTIONS[collection]} if collection in COLLECTIONS and where in ("query", "formData") else {}
    return {**style, "explode": False} if where in ("query", "formData") else {}


def is_json(media: str) -> bool:
    """Tell whether a media type is JSON."""
    essence = media.partition(";")[0].strip().lower()
    return essence in ("application/json", "text/json") or essence.endswith("+json")


def chosen_media(types: list[str]) -> str:
    """Return the media type that is sent, of those that an operation takes."""
    return min(types, key=lambda media: (_rank(media), types.index(media)), default="")


def _rank(media: str) -> int:
    essence = media.partition(";")[0].strip().lower()
    if essence == "application/json":
        return 0
    if is_json(media):
        return 1
    known = {"*/*": 2, "application/*": 2, FORM: 3, MULTIPART: 4}
    return known.get(essence, 5 if essence.startswith("text/") else 6)


def sent_media(media: str, kind: str) -> str:
    """Return the media type with which a body is sent."""
    return OF_RANGES[kind] if "*" in media else media


def kind_of(media: str, schema: Any) -> str:
    """Return the kind of a body by its media type, and of an unknown type by its schema."""
    essence = media.partition(";")[0].strip().lower()
    if is_json(media):
        return "json"
    if essence in (FORM, MULTIPART):
        return "form" if essence == FORM else "multipart"
    if essence.startswith("text/") or essence.endswith(("/xml", "+xml", "/yaml", "+yaml")):
        return "text"
    if "*" in essence and isinstance(schema, dict) and schema.get("format") != "binary":
        return "json"
    return "bytes"
