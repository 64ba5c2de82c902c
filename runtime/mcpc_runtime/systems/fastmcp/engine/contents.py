"""Content blocks: recognized, written, made from images, audio and files; JSON as pydantic writes it."""

from __future__ import annotations

import mimetypes
import os
from base64 import b64encode
from json import dumps
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

import pydantic
import pydantic_core

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.schema_types import CONTENT, is_class
from mcpc_runtime.systems.fastmcp.interfaces import Object

TYPES = "mcpc_runtime.systems.fastmcp.standins.sdk_parts.definitions:selected_definitions"
OCTETS = "application/octet-stream"


def wire(value: Any) -> Any:
    """Return what a value is on the wire: models become objects, also those in lists and dictionaries."""
    if hasattr(value, "model_dump"):
        return value.model_dump(by_alias=True, mode="json", exclude_none=True)
    if type(value) in (list, tuple):
        return [wire(each) for each in value]
    if type(value) is dict:
        return {key: wire(each) for key, each in value.items()}
    return value


def is_block(value: object) -> bool:
    return hasattr(value, "model_dump") and is_class(type(value), CONTENT)


def is_content(value: object) -> bool:
    """Tell whether a value is a content block, or becomes one."""
    return isinstance(value, Helper) or is_block(value)


def block_of(value: object) -> Object:
    """Return content, a content block of the SDK or what becomes one, as it is on the wire."""
    if isinstance(value, Helper):
        return value.block()
    block: Object = wire(value)
    return block


def text_block(text: str) -> Object:
    return {"type": "text", "text": text}


def typed(name: str, value: Object) -> Any:
    """Return an object of the wire as the SDK's type with a name."""
    return resolve(TYPES)().find(name).model_validate(value)


BLOCK_TYPES = {
    "text": "TextContent",
    "image": "ImageContent",
    "audio": "AudioContent",
    "resource": "EmbeddedResource",
    "resource_link": "ResourceLink",
}


def typed_block(block: object) -> Any:
    """Return a block of the wire as the SDK's type; others as they are."""
    return (
        typed(BLOCK_TYPES[block["type"]], block) if type(block) is dict and block.get("type") in BLOCK_TYPES else block
    )


class Helper:
    """Bytes, or a file, that a function returns as content.  `formats`: media types by formats."""

    formats: ClassVar[dict[str, str]] = {}
    family = "application"
    default = OCTETS

    def __init__(
        self, path: object = None, data: bytes | None = None, format: str | None = None, annotations: object = None
    ) -> None:
        if path is None and data is None:
            raise ValueError("Either path or data must be provided")
        if path is not None and data is not None:
            raise ValueError("Only one of path or data can be provided")
        self.path = Path(os.path.expandvars(str(path))).expanduser() if path else None
        self.data = data
        self._format = format
        self.annotations = annotations
        self._mime_type = self._get_mime_type()

    def _get_mime_type(self) -> str:
        if self._format:
            name = self._format.lower()
            return self.known_formats().get(name, f"{self.family}/{name}")
        return self.type_of_file(self.path) if self.path else self.default

    def known_formats(self) -> dict[str, str]:
        """Return the media types by formats."""
        return self.formats

    def type_of_file(self, path: Path) -> str:
        """Return the media type of a file by its name."""
        return mimetypes.guess_type(path)[0] or OCTETS

    def content(self) -> bytes:
        return self.path.read_bytes() if self.path is not None else self.data or b""

    def block(self, mime_type: str | None = None, annotations: object = None) -> Object:
        data = b64encode(self.content()).decode()
        block = {"type": self.family, "data": data, "mimeType": mime_type or self._mime_type}
        return self.annotated(block, annotations)

    def annotated(self, block: Object, annotations: object) -> Object:
        found = wire(annotations or self.annotations)
        return {**block, "annotations": found} if found else block


class Image(Helper):
    """An image."""

    __module__ = "fastmcp.utilities.types"

    formats: ClassVar[dict[str, str]] = {"jpg": "image/jpeg", "svg": "image/svg+xml", "tif": "image/tiff"}
    family = "image"
    default = "image/png"

    def known_formats(self) -> dict[str, str]:
        """Return the media types by formats that the version knows."""
        return self.formats if behaviour().image_formats else {}

    def type_of_file(self, path: Path) -> str:
        """Return the media type of a file by its name."""
        return "image/webp" if path.suffix == ".webp" else mimetypes.guess_type(path, strict=False)[0] or OCTETS

    def to_image_content(self, mime_type: str | None = None, annotations: object = None) -> object:
        """Return the SDK's content block."""
        return typed("ImageContent", self.block(mime_type, annotations))

    def to_data_uri(self, mime_type: str | None = None) -> str:
        """Return the image as a `data:` address."""
        return f"data:{mime_type or self._mime_type};base64,{b64encode(self.content()).decode()}"


class Audio(Helper):
    """Audio."""

    __module__ = "fastmcp.utilities.types"

    formats: ClassVar[dict[str, str]] = {"mp3": "audio/mpeg", "m4a": "audio/mp4"}
    family = "audio"
    default = "audio/wav"
    suffixes: ClassVar[dict[str, str]] = {
        "wav": "audio/wav",
        "mp3": "audio/mpeg",
        "ogg": "audio/ogg",
        "m4a": "audio/mp4",
        "flac": "audio/flac",
    }

    def type_of_file(self, path: Path) -> str:
        """Return the media type of a file by its name."""
        return self.suffixes.get(path.suffix.lower().lstrip("."), OCTETS)

    def to_audio_content(self, mime_type: str | None = None, annotations: object = None) -> object:
        """Return the SDK's content block."""
        return typed("AudioContent", self.block(mime_type, annotations))


class File(Helper):
    """A file, as an embedded resource."""

    __module__ = "fastmcp.utilities.types"

    formats: ClassVar[dict[str, str]] = {
        "plain": "text/plain",
        "txt": "text/plain",
        "text": "text/plain",
        "csv": "text/csv",
        "html": "text/html",
        "htm": "text/html",
        "md": "text/markdown",
        "markdown": "text/markdown",
    }

    def __init__(
        self,
        path: object = None,
        data: bytes | None = None,
        format: str | None = None,
        name: str | None = None,
        annotations: object = None,
    ) -> None:
        super().__init__(path, data, format, annotations)
        self._name = name

    def address(self) -> str:
        if self.path is not None:
            return self.path.resolve().as_uri()
        known = self._format.lower() if self._format and behaviour().names_by_format else ""
        extension = f".{known or self._mime_type.partition('/')[2]}"
        if not self._name:
            return f"file:///resource{extension}"
        return f"file:///{quote(self._name if Path(self._name).suffix else self._name + extension)}"

    def block(self, mime_type: str | None = None, annotations: object = None) -> Object:
        kind = mime_type or self._mime_type
        raw = self.content()
        resource = {"uri": self.address(), "mimeType": kind}
        if kind.startswith("text/"):
            try:
                resource["text"] = raw.decode()
            except UnicodeDecodeError:
                # It has a character for each byte, so this cannot fail.
                resource["text"] = raw.decode("latin-1")
        else:
            resource["blob"] = b64encode(raw).decode()
        return self.annotated({"type": "resource", "resource": resource}, annotations)

    def to_resource_content(self, mime_type: str | None = None, annotations: object = None) -> object:
        """Return the SDK's content block."""
        return typed("EmbeddedResource", self.block(mime_type, annotations))


ATOMS = frozenset({str, int, bool, type(None)})


def is_plain(value: object) -> bool:
    """Tell whether a value is JSON as it is, and Python writes it as pydantic does."""
    kind = type(value)
    if kind in ATOMS:
        return True
    if kind is float:
        return not set("en") & set(repr(value))  # pydantic writes exponents, nan and inf in its own way
    if isinstance(value, list) and kind is list:
        return all(map(is_plain, value))
    if isinstance(value, dict) and kind is dict:
        return all(type(key) is str for key in value) and all(map(is_plain, value.values()))
    return False


def json_text(value: object, *, indented: bool = False, by_alias: bool = True, own_aliases: bool = False) -> str:
    """Return JSON text; what has no JSON form becomes its text.

    `own_aliases`: each model decides whether its fields are written with aliases, not `by_alias`.
    """
    if is_plain(value):
        if indented:
            return dumps(value, ensure_ascii=False, indent=2)
        return dumps(value, ensure_ascii=False, separators=(",", ":"))
    written: bytes
    if own_aliases:
        written = pydantic.TypeAdapter(Any_()).dump_json(value, fallback=str)
    else:
        written = pydantic_core.to_json(value, fallback=str, indent=2 if indented else None, by_alias=by_alias)
    return written.decode()


def json_value(value: object, *, by_alias: bool = True, own_aliases: bool = False, kind: Any = None) -> Any:
    """Return the JSON value of anything; pydantic's PydanticSerializationError for what has none.

    `own_aliases`: as above; `kind`: the annotation by which the value is written then, if any.
    """
    if is_plain(value):
        return value
    if not own_aliases:
        return pydantic_core.to_jsonable_python(value, by_alias=by_alias)
    if kind is not None:
        try:
            return pydantic.TypeAdapter(kind).dump_python(value, mode="json")
        except pydantic.errors.PydanticSchemaGenerationError:
            pass
    return pydantic.TypeAdapter(Any_()).dump_python(value, mode="json")


def Any_() -> Any:  # noqa: N802 - it stands for `typing.Any`
    """Return the annotation of a value of any type."""
    return __import__("typing").Any
