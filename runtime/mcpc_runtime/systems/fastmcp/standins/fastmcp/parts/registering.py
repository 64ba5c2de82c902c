"""Decorators and other methods that register components, as FastMCP's servers have them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.contents import wire
from mcpc_runtime.systems.fastmcp.engine.errors import UnsupportedFeatureError
from mcpc_runtime.systems.fastmcp.engine.registration import Registration
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts import facades
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.components import CLASSES
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.metas import (
    PromptMeta,
    ResourceMeta,
    ToolMeta,
    attach,
    get_fastmcp_meta,
)

Object = dict[str, Any]
METAS: dict[str, Any] = {"tool": ToolMeta, "prompt": PromptMeta, "resource": ResourceMeta}


class Registering(Registration):
    """What registers components."""

    classes = CLASSES
    mcpc_serializer: Any = None

    def mcpc_decorate(self, kind: str, given: Any, name: str | None, options: Object) -> Any:
        """Be a decorator; what it was given is attached to the function."""
        found = super().mcpc_decorate(kind, given, name, options)
        if given is not None and not isinstance(given, str):
            attach_options(kind, given, name, options)
        return found

    def mcpc_make(self, kind: str, function: Any, name: str | None, options: Object) -> Any:
        """Make a component from a function, with the serializer."""
        if kind == "tool" and self.mcpc_serializer is not None:
            options = {"serializer": self.mcpc_serializer, **options}
        return super().mcpc_make(kind, function, name, with_interface(options))

    def mcpc_add(self, component: Any) -> Any:
        """Register a component; from FastMCP 3 on one that is not enabled is hidden by a rule."""
        if behaviour().versioned and not component.enabled:
            component.enabled = True
            self.mcpc_hide(component.key)
        return super().mcpc_add(component)

    @abstractmethod
    def mcpc_hide(self, key: str) -> None:
        """Hide a component."""

    @property
    def _components(self) -> facades.ComponentsByKey:
        return facades.ComponentsByKey(self)

    def _add_component(self, component: Any) -> Any:
        return self.mcpc_add(component)

    def _get_component(self, key: str) -> Any:
        return self._components.get(key)


def with_interface(options: Object) -> Object:
    """Return the options of a component, its user interface (`app`) in `meta`; True is one that Prefab makes."""
    app = options.get("app")
    if app is True:
        raise UnsupportedFeatureError("fastmcp.FastMCP.tool(app=True)")
    if app is None or app is False:
        return options
    kept = {key: value for key, value in options.items() if key != "app"}
    return {**kept, "meta": {**(options.get("meta") or {}), "ui": wire(app)}}


def attach_options(kind: str, function: Any, name: str | None, options: Object) -> None:
    """Attach what a decorator was given to its function, from FastMCP 3 on."""
    if behaviour().decorators_return_components or get_fastmcp_meta(function) is not None:
        return
    known = METAS[kind].__dataclass_fields__
    attach(function, METAS[kind](name=name, **{key: value for key, value in options.items() if key in known}))
