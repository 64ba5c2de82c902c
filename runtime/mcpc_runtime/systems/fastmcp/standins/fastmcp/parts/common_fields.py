"""What components have in common by its names in FastMCP."""

from __future__ import annotations

from typing import Any

from mcpc_runtime.lazy import lazy
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.contents import typed, wire
from mcpc_runtime.systems.fastmcp.engine.listing import described
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.tasks import TaskConfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

    from mcpc_runtime.systems.fastmcp.engine import entries
else:
    entries = lazy("mcpc_runtime.systems.fastmcp.engine.entries")

Object = dict[str, Any]
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
    def auth(self) -> Any:
        """What decides who may use the component: a built server does not ask it."""
        return self.options.get("auth")

    @property
    def task_config(self) -> Any:
        """Whether the component runs as a task."""
        return TaskConfig(mode=getattr(self, "task", None) or "forbidden")

    def get_meta(self, **_: Any) -> Object:
        """Return the metadata as clients see it."""
        found: Object = self.meta or {}
        own: Object = {"tags": sorted(self.tags)}
        given = {key: value for key, value in found.get("fastmcp", {}).items() if not key.startswith("_")}
        return {**found, "fastmcp": {**given, **own}}

    def mcpc_meta(self) -> Object | None:
        """Return the metadata for the list: what a project's class makes of it."""
        return self.meta if type(self).get_meta is Described.get_meta else self.get_meta()

    def model_dump(self, *, exclude_none: bool = False, exclude: Container[str] = (), **_: Any) -> Object:
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
        """Compare what lists say of components."""
        return type(other) is type(self) and other.model_dump() == self.model_dump()

    def __hash__(self) -> int:
        """Return the identity."""
        return id(self)
