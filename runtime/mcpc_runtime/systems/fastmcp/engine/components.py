"""Tools, prompts, resources and templates as a project registered them.

What the lists of a server say of them is made from these attributes (`listing.py`); what they do is in `running.py`.
The frameworks' public classes are subclasses.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from copy import copy as shallow_copy
from dataclasses import dataclass
from typing import Any, Self

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.server import UnsupportedFeatureError
from mcpc_runtime.systems.fastmcp.engine.uris import uri_template
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object


class Unset:
    """The type of the value that stands for an argument that was not given."""

    def __repr__(self) -> str:
        return "NotSet"

    def __bool__(self) -> bool:
        return False


UNSET: object = Unset()
ENTRIES = "mcpc_runtime.systems.fastmcp.engine.listing"
"""What makes schemas of components; it knows their classes."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a component of a mounted server runs: the server, and its name or address there."""

    server: Any
    key: str

    def entered(self) -> AbstractContextManager[object]:
        """Enter the context of the server, if the version has one for each."""
        context: AbstractContextManager[object] = (
            self.server.mcpc_entered() if behaviour().inner_contexts else nullcontext()
        )
        return context

    async def call(self, arguments: Object) -> Any:
        with self.entered():
            return await self.server.mcpc_tool_result(self.key, arguments)

    async def render(self, arguments: Object | None) -> Any:
        """Get the prompt."""
        with self.entered():
            return await self.server.mcpc_prompt_result(self.key, arguments)

    async def read(self) -> Any:
        with self.entered():
            return await self.server.mcpc_resource_result(self.key)

    async def read_template(self, values: Object) -> Any:
        """Read the resource of the template with some values."""
        with self.entered():
            return await self.server.mcpc_resource_result(uri_template(self.key).expanded(values))


class Component:
    """What all components have.

    `function`: what is called, or None; `injected`: the names of its parameters that clients do not see; `options`:
    what the project said that has no attribute here; `origin`: where it runs if its server is mounted in another one;
    `shown`: whether clients see it, as a project has said it last (None: nothing).
    """

    kind = "component"
    origin: Origin | None = None
    shown: bool | None = None

    def __init__(  # noqa: PLR0913 - the fields of components
        self,
        name: str = "",
        *,
        function: Function | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[object] | None = None,
        meta: Object | None = None,
        tags: Iterable[str] | None = None,
        version: object = None,
        annotations: object = None,
        enabled: bool | None = None,
        injected: frozenset[str] = frozenset(),
        **options: object,
    ) -> None:
        self.name = name
        self.function = function
        self.title = title
        self.description = description
        self.icons = icons
        self.meta = meta
        self.tags: set[str] = set(tags or ())
        if version is not None:
            raise UnsupportedFeatureError("versions of components")
        self.annotations = annotations
        self.enabled = enabled is not False
        self.injected = injected
        self.options: Object = options
        self.plan: Any = None

    @property
    def fn(self) -> Any:
        """The function, by its public name."""
        return self.function

    @fn.setter
    def fn(self, function: Function) -> None:
        self.function = function
        # A plan of calls is made of the function's signature.
        self.plan = None

    @property
    def identifier(self) -> str:
        """The name, or the address: what the component is registered under."""
        return self.name

    @property
    def key(self) -> str:
        """The same as the framework gives it: in some versions with the kind and the version."""
        return f"{self.kind}:{self.identifier}@" if behaviour().whole_keys else self.identifier

    def copy(self, update: Object | None = None, **changes: object) -> Self:
        """Return a copy with some attributes changed."""
        made = shallow_copy(self)
        # Not shared: a project that changes the tags of the copy must not change the original's.
        made.tags = set(self.tags)
        for name, value in {**(update or {}), **changes}.items():
            setattr(made, name, value)
        return made

    def model_copy(self, *, update: Object | None = None, **_: object) -> Self:
        """Return a copy with some attributes changed."""
        return self.copy(update)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r})"


class Tool(Component):
    """A tool.

    `given_parameters`: the schema of its arguments where it is not made from the function; `given_output`: that of its
    result: UNSET (made from the function), None (there is none) or a schema; `structured_output`: what the project
    asked for (SDK); `seconds`: its time limit, or None.
    """

    kind = "tool"

    def __init__(  # noqa: PLR0913 - the fields of tools
        self,
        name: str = "",
        *,
        given_parameters: Object | None = None,
        given_output: object = UNSET,
        structured_output: bool | None = None,
        exclude_args: Iterable[str] | None = None,
        seconds: float | None = None,
        **common: Any,
    ) -> None:
        super().__init__(name, **common)
        self.given_parameters = given_parameters
        self.given_output = given_output
        self.structured_output = structured_output
        self.exclude_args = frozenset(exclude_args or ())
        self.seconds = seconds

    @property
    def parameters(self) -> Object:
        """The schema of the arguments."""
        schema: Object = resolve(f"{ENTRIES}:tool_parameters")(self, selected())
        return schema

    @parameters.setter
    def parameters(self, schema: Object) -> None:
        self.given_parameters = schema

    @property
    def output_schema(self) -> Object | None:
        schema: Object | None = resolve(f"{ENTRIES}:tool_output")(self, selected())
        return schema

    @output_schema.setter
    def output_schema(self, schema: Object | None) -> None:
        self.given_output = schema
        self.plan = None


class Prompt(Component):
    """A prompt.  `given_arguments`: its arguments where they are not made from the function."""

    kind = "prompt"

    def __init__(self, name: str = "", *, given_arguments: list[Object] | None = None, **common: Any) -> None:
        super().__init__(name, **common)
        self.given_arguments = given_arguments


class Resource(Component):
    """A resource.  `content`: what it is read as where it has no function."""

    kind = "resource"

    def __init__(
        self,
        uri: object = "",
        *,
        name: str = "",
        mime_type: str | None = None,
        size: int | None = None,
        content: object = None,
        **common: Any,
    ) -> None:
        super().__init__(name, **common)
        self.uri = str(uri)
        self.mime_type = mime_type
        self.size = size
        self.content = content

    @property
    def identifier(self) -> str:
        return self.uri


class Template(Component):
    """A template of resources: a function whose arguments are in the address."""

    kind = "template"

    def __init__(self, uri_template: str = "", *, name: str = "", mime_type: str | None = None, **common: Any) -> None:
        super().__init__(name, **common)
        self.uri_template = uri_template
        self.mime_type = mime_type

    @property
    def identifier(self) -> str:
        return self.uri_template
