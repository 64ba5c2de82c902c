"""Client-visible metadata of definitions: titles, icons, annotations, `_meta`, in the specification's terms.

Every object keeps the order of its fields and the fields that MCP does not define, because clients see both; `fields()`
returns it as JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Span
    from mcpc.reading import Json

    JsonObject = dict[str, Json]


@dataclass(frozen=True, slots=True)
class FieldOrder:
    """The client-visible fields of an object: `keys` in the order written, `others` unknown to MCP."""

    keys: tuple[str, ...] = ()
    others: tuple[tuple[str, Json], ...] = field(default=(), hash=False)

    def arranged(self, known: Mapping[str, Json]) -> JsonObject:
        """Return the object with these values of known fields; fields without a value are left out."""
        values = {**known, **dict(self.others)}
        return {key: values[key] for key in self.keys if key in values}


@dataclass(frozen=True, slots=True)
class Icon:
    """One icon (`Icon` of the specification)."""

    source: str
    mime: str = ""
    sizes: tuple[str, ...] = ()
    theme: str = ""
    order: FieldOrder = FieldOrder()

    def fields(self) -> JsonObject:
        """Return it as JSON."""
        known: JsonObject = {"src": self.source, "mimeType": self.mime, "sizes": [*self.sizes], "theme": self.theme}
        return self.order.arranged(known)


@dataclass(frozen=True, slots=True)
class ToolAnnotations:
    """Hints on a tool's behaviour (`ToolAnnotations`); None for a hint that is not given."""

    title: str = ""
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    order: FieldOrder = FieldOrder()

    @property
    def repeatable(self) -> bool:
        """Whether running it twice is as safe as once: it is read-only or idempotent."""
        return self.read_only is True or self.idempotent is True

    def fields(self) -> JsonObject:
        """Return them as JSON."""
        known: JsonObject = {
            "title": self.title,
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }
        return self.order.arranged(known)


@dataclass(frozen=True, slots=True)
class Annotations:
    """Audience, priority and modification time of a resource (`Annotations`)."""

    audience: tuple[str, ...] = ()
    priority: float | None = None
    last_modified: str = ""
    order: FieldOrder = FieldOrder()

    def fields(self) -> JsonObject:
        """Return them as JSON."""
        known: JsonObject = {
            "audience": [*self.audience],
            "priority": self.priority,
            "lastModified": self.last_modified,
        }
        return self.order.arranged(known)


@dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata of definitions of every kind; a missing `description` is stored as None.

    `meta`: `_meta` without the keys that only the compiler reads, None if nothing remains. `order`: the keys of the
    whole definition, including those of its kind.
    """

    title: str = ""
    description: str | None = None
    icons: tuple[Icon, ...] = ()
    meta: JsonObject | None = field(default=None, hash=False)
    order: FieldOrder = FieldOrder()

    def fields(self, own: Mapping[str, Json]) -> JsonObject:
        """Return the definition as JSON; `own` are the fields of its kind."""
        common: JsonObject = {
            "title": self.title,
            "description": self.description,
            "icons": [icon.fields() for icon in self.icons],
            "_meta": self.meta,
        }
        return self.order.arranged({**common, **own})


@dataclass(frozen=True, slots=True)
class Implementation:
    """Name and version of the server (`serverInfo`)."""

    name: str
    version: str
    website: str = ""
    metadata: Metadata = Metadata()

    def fields(self) -> JsonObject:
        """Return it as JSON."""
        return self.metadata.fields({"name": self.name, "version": self.version, "websiteUrl": self.website})


@dataclass(frozen=True, slots=True)
class Capability:
    """A declared capability: `settings` is its whole value, from which the hints are read.

    `list_changed`, `subscribe`: the declared notifications; `list_changed_span`: the position of the former.
    """

    name: str
    span: Span
    settings: JsonObject = field(default_factory=dict, hash=False)
    list_changed: bool = False
    subscribe: bool = False
    list_changed_span: Span | None = None


@dataclass(frozen=True, slots=True)
class Located:
    """A value of a definition and its position, for a pass that checks it."""

    value: Json = field(hash=False)
    span: Span = field()


@dataclass(frozen=True, slots=True)
class UserInterface:
    """`_meta.ui` of a tool or a resource (`io.modelcontextprotocol/ui`).

    `uris`: the named resources, `visibility`: who sees the tool, `keys`: all fields of the object. `is_object` is false
    for a malformed value.
    """

    span: Span
    is_object: bool = True
    uris: tuple[Located, ...] = ()
    visibility: tuple[Located, ...] = ()
    keys: tuple[Located, ...] = ()
