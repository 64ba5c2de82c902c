"""What components have in common by its names in FastMCP: fields of subclasses, user interfaces, tasks."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from datetime import timedelta
from inspect import get_annotations
from typing import Any, ClassVar

from mcpc_runtime.systems.fastmcp.engine import entries
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.contents import typed, wire
from mcpc_runtime.systems.fastmcp.engine.listing import described
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Object

OWN = __name__.partition(".")[0]
LATE = ("FieldInfo", "ModelPrivateAttr")
"""The classes of pydantic that stand for a default which is made for each object."""


def take_fields(component: object, options: Object) -> Object:
    """Set what a project's class declares; return the options that are left, with the class's defaults for ours."""
    fields = declared(type(component))
    for name, default in fields.items():
        if name in options or default is MISSING:
            continue
        value = default_of(default)
        options = {**options, name: value} if name in KNOWN else options
        if name not in KNOWN:
            component.__dict__[name] = value
    for name in [name for name in options if name in fields and name not in KNOWN]:
        component.__dict__[name] = options[name]
    return {name: value for name, value in options.items() if name in KNOWN or name not in fields}


KNOWN = frozenset(
    {
        "name",
        "title",
        "description",
        "icons",
        "meta",
        "tags",
        "annotations",
        "parameters",
        "output_schema",
        "arguments",
        "uri",
        "uri_template",
        "mime_type",
        "size",
        "enabled",
        "timeout",
        "serializer",
    }
)
"""The fields that components have."""
MISSING = object()


def declared(cls: type) -> Object:
    """Return the fields of a class that a project declares, with their defaults."""
    found: Object = {}
    for each in reversed(cls.__mro__):
        if each is object or each.__module__.partition(".")[0] == OWN:
            continue
        values = vars(each)
        names = [name for name, value in values.items() if type(value).__name__ in LATE]
        for name in [*get_annotations(each), *names]:
            if not name.startswith("model_"):
                found[name] = values.get(name, MISSING)
    return found


def default_of(value: Any) -> Any:
    kind = type(value).__name__
    if kind == "FieldInfo":
        return value.get_default(call_default_factory=True)
    return value.get_default() if kind == "ModelPrivateAttr" else value


@dataclass
class TaskConfig:
    """Whether a component may, must or cannot be run as a task."""

    mode: str = "optional"
    poll_interval: timedelta = timedelta(seconds=5)

    @classmethod
    def from_bool(cls, value: bool) -> TaskConfig:
        """Return the configuration that a flag stands for."""
        return cls("optional" if value else "forbidden")


FIELDS = (
    "name",
    "title",
    "description",
    "icons",
    "tags",
    "meta",
    "uri",
    "uri_template",
    "mime_type",
    "parameters",
    "output_schema",
    "arguments",
    "annotations",
)
"""The fields of components that have them."""
REMOVED = "Component.{name}() was removed in FastMCP 3.0. Use server.{name}(keys=['{key}']) instead."


def entry(component: Any, overrides: Object) -> Object:
    """Return a component's entry in a list."""
    make = getattr(entries, f"{component.kind}_entry")
    given = {key: value for key, value in overrides.items() if key != "include_fastmcp_meta"}
    changed = component.copy({"name": given["name"]}) if "name" in given else component
    found: Object = make(described(changed), selected())
    title = (wire(given.get("annotations")) or {}).get("title")
    return {**found, **({"title": title} if title and "title" not in given else {}), **given}


class Annotated:
    """What has annotations: a dictionary becomes the SDK's type when it is first asked for."""

    annotation_type = "Annotations"
    _annotations: Any = None

    @property
    def annotations(self) -> Any:
        """The annotations, as the SDK's type."""
        if type(self._annotations) is dict:
            self._annotations = typed(self.annotation_type, self._annotations)
        return self._annotations

    @annotations.setter
    def annotations(self, annotations: Any) -> None:
        self._annotations = annotations


class Described:
    """What all components have."""

    kind: str
    name: str
    key: str
    tags: set[str]
    meta: Object | None
    options: Object
    enabled: bool

    @classmethod
    def make_key(cls, identifier: str) -> str:
        """Return the key of a component with a name or an address."""
        return f"{cls.kind}:{identifier}"

    @property
    def auth(self) -> object:
        """What decides who may use the component: a built server does not ask it."""
        return self.options.get("auth")

    @property
    def task_config(self) -> TaskConfig:
        """Whether the component runs as a task."""
        return TaskConfig(mode=getattr(self, "task", None) or "forbidden")

    def get_meta(self, **_: object) -> Object:
        """Return the metadata as clients see it."""
        found: Object = self.meta or {}
        own: Object = {"tags": sorted(self.tags)}
        given = {key: value for key, value in found.get("fastmcp", {}).items() if not key.startswith("_")}
        return {**found, "fastmcp": {**given, **own}}

    def mcpc_meta(self) -> Object | None:
        """Return the metadata for the list: what a project's class makes of it."""
        return self.meta if type(self).get_meta is Described.get_meta else self.get_meta()

    def model_dump(self, *, exclude_none: bool = False, exclude: Container[str] = (), **_: object) -> Object:
        """Return the fields of the component."""
        found: Object = {name: getattr(self, name) for name in FIELDS if hasattr(self, name)}
        found["task_config"] = vars(self.task_config)
        function = getattr(self, "function", None)
        if function is not None:
            found["fn"] = function
            if self.kind == "tool":
                found["run_in_thread"] = self.options.get("run_in_thread", True)
        kept = {name: each for name, each in found.items() if name not in exclude}
        return {name: each for name, each in kept.items() if each is not None or not exclude_none}

    def enable(self) -> None:
        """Show the component; in FastMCP 3 and later NotImplementedError."""
        self._switch("enable", True)

    def disable(self) -> None:
        """Hide the component; in FastMCP 3 and later NotImplementedError."""
        self._switch("disable", False)

    def _switch(self, name: str, enabled: bool) -> None:
        if behaviour().versioned:
            raise NotImplementedError(REMOVED.format(name=name, key=self.key))
        self.enabled = enabled

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.model_dump() == self.model_dump()

    def __hash__(self) -> int:
        return id(self)


UI_MIME_TYPE = "text/html;profile=mcp-app"
UI_EXTENSION_ID = "io.modelcontextprotocol/ui"


class MetaValue:
    """What is written with the protocol's names."""

    names: ClassVar[dict[str, str]] = {}

    def __init__(self, **values: object) -> None:
        self.__dict__.update(values)

    def model_dump(self, **_: object) -> Object:
        """Return what was given, with the protocol's names."""
        return {self.names.get(key, key): dumped(value) for key, value in vars(self).items() if value is not None}


def dumped(value: object) -> object:
    """Return a value on the wire."""
    return value.model_dump() if isinstance(value, MetaValue) else value


class AppConfig(MetaValue):
    """The user interface of a component."""

    names: ClassVar[dict[str, str]] = {"resource_uri": "resourceUri", "prefers_border": "prefersBorder"}


class ResourceCSP(MetaValue):
    """What a user interface may load."""

    names: ClassVar[dict[str, str]] = {
        "connect_domains": "connectDomains",
        "resource_domains": "resourceDomains",
        "frame_domains": "frameDomains",
        "base_uri_domains": "baseUriDomains",
    }


class ResourcePermissions(MetaValue):
    """What a user interface may use."""

    names: ClassVar[dict[str, str]] = {"clipboard_write": "clipboardWrite"}
