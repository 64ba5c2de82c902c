"""Makes the protocol's pydantic models from a table of definitions, each when its name is first used.

A table is text, one definition after another; a line that begins with a blank continues the one above:

    Name = expression                    an alias, or a constant
    Name: field: Type; field: Type = 1   a model on the table's base
    Name(Base, …): field: Type?          a model on these bases; `Type?` is `Type | None = None`
    Name << method Params?               a request (or a notification, by its name): its method, and its parameters

A field `meta` without a type is an optional object; its alias is `_meta`.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Generic, Literal, TypeVar

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Object

TYPE_CHECKING = False
OBJECT = dict[str, Any]


class ContentAsList:
    """What models have whose content is one block or several."""

    if TYPE_CHECKING:
        content: Any

    @property
    def content_as_list(self) -> list[Any]:
        """The content as a list of blocks."""
        return self.content if isinstance(self.content, list) else [self.content]


def leaves() -> Object:
    """Return what the tables' expressions name that is not in a table; pydantic is imported here."""
    pydantic = __import__("pydantic")
    networks = __import__("pydantic.networks", fromlist=["UrlConstraints"])
    leaf_types = {each.__name__: each for each in (str, int, float, bool, dict, list, ContentAsList)}
    return leaf_types | {
        "Any": Any,
        "BaseModel": pydantic.BaseModel,
        "Count": Annotated[int, pydantic.Field(ge=0)],
        "FileUrl": pydantic.FileUrl,
        "Generic": Generic,
        "Literal": Literal,
        "Object": OBJECT,
        "RootModel": pydantic.RootModel,
        "Share": Annotated[float, pydantic.Field(ge=0.0, le=1.0)],
        "StrictInt": Annotated[int, pydantic.Field(strict=True)],
        "TypeAdapter": Adapters(),
        "Uri": Annotated[pydantic.AnyUrl, networks.UrlConstraints(host_required=False)],
        "MethodT": TypeVar("MethodT", bound=str),
        "NotificationParamsT": TypeVar("NotificationParamsT"),
        "RequestParamsT": TypeVar("RequestParamsT"),
        "datetime": __import__("datetime").datetime,
    }


class Adapters:
    """`TypeAdapter[Type]` in a table: the adapter itself."""

    def __getitem__(self, of: Any) -> Any:
        return __import__("pydantic").TypeAdapter(of)


@dataclass(eq=False)
class Definitions:
    """The models of one generation of the SDK, by name.

    `module`: where the models say that they are from; `base`: what a model without bases has as its base; `config`:
    pydantic's configuration of the model with a name; `extra`: functions that make what a table cannot say.
    """

    module: str
    table: str
    base: str
    descriptions: Mapping[str, str]
    config: Callable[[str], Object]
    extra: Mapping[str, Callable[[Definitions], Any]]
    leaves: Object = field(default_factory=dict)
    made: Object = field(default_factory=dict)

    @cached_property
    def rows(self) -> dict[str, tuple[str, str, str]]:
        """The table's definitions by name: kind, bases, body."""
        return dict(row(text) for text in unfold(self.table))

    def names(self) -> list[str]:
        """Return the public names, sorted."""
        return sorted({name for name in (*self.rows, *self.extra) if not name.startswith("_") and "." not in name})

    def find(self, name: str) -> Any:
        """Return a model or an alias, made now if it is not; `KeyError`: there is none."""
        if name not in self.made:
            self.made[name] = self.extra[name](self) if name in self.extra else self.make(name)
        return self.made[name]

    def leaf(self, name: str) -> object:
        """Return what is in no table."""
        self.leaves = self.leaves or leaves()
        return self.leaves[name]

    def make(self, name: str) -> Any:
        """Make what a row of the table defines."""
        if name not in self.rows:
            return self.leaf(name)
        kind, bases, body = self.rows[name]
        if kind == "=":
            return self.evaluate(body)
        if kind == "<<":
            return self.message(name, body)
        return self.model(name, bases or self.base, fields_of(body))

    def message(self, name: str, body: str) -> Any:
        """Make a request or a notification; `body`: its method, and its parameters; it is paginated if it has none."""
        method, _, parameters = body.partition(" ")
        literal = f"Literal[{method!r}]"
        base = "Notification" if name.endswith("Notification") else "Request"
        own = [("method", f"{literal} = {method!r}")]
        if not parameters:
            return self.model(name, f"PaginatedRequest[{literal}]", own)
        given = f"{parameters[:-1]} | None" if parameters.endswith("?") else parameters
        return self.model(name, f"{base}[{given}, {literal}]", [*own, ("params", parameters)])

    def model(self, name: str, bases: str, fields: list[tuple[str, str]]) -> Any:
        """Make a model class."""
        resolved = self.evaluate(f"({bases},)")
        namespace: Object = {"__module__": self.module, "__qualname__": name, "__annotations__": {}}
        if (config := self.config(name)) and not bases.startswith("RootModel"):
            namespace["model_config"] = config
        if name in self.descriptions:
            namespace["__doc__"] = self.descriptions[name]
        for inner in self.rows:
            if inner.startswith(f"{name}."):
                namespace[inner.rpartition(".")[2]] = self.find(inner)
        for name_of_field, text in fields:
            self.add_field(namespace, name_of_field, text)
        return types.new_class(name.rpartition(".")[2], resolved, {}, lambda into: into.update(namespace))

    def add_field(self, namespace: Object, name: str, text: str) -> None:
        """Add a field to the namespace of a class; `text`: its type, and perhaps ` = ` and its default value."""
        annotation, has_default, default = text.partition(" = ")
        if annotation.endswith("?"):
            annotation, has_default, default = f"{annotation[:-1]} | None", "=", "None"
        namespace["__annotations__"][name] = self.evaluate(annotation)
        if name == "meta":
            namespace[name] = __import__("pydantic").Field(alias="_meta", default=None)
        elif has_default:
            namespace[name] = ast.literal_eval(default)

    def evaluate(self, text: str) -> Any:
        """Return what an expression of the table means."""
        return self.value(ast.parse(text, mode="eval").body)

    def value(self, node: ast.expr) -> Any:
        """Return what a part of an expression means."""
        match node:
            case ast.Name(id=name):
                return self.find(name)
            case ast.Attribute(attr=attribute, value=ast.Name(id=owner)):
                return self.find(f"{owner}.{attribute}")
            case ast.Subscript(value=of, slice=argument):
                return self.value(of)[self.value(argument)]
            case ast.BinOp(left=left, right=right):
                return self.value(left) | self.value(right)
            case ast.Tuple(elts=elements):
                return tuple(self.value(each) for each in elements)
            case _:
                return ast.literal_eval(node)


def unfold(table: str) -> list[str]:
    """Return a table's definitions, those on several lines joined."""
    return table.strip().replace("\n  ", " ").split("\n")


def row(text: str) -> tuple[str, tuple[str, str, str]]:
    """Return a definition's name, and its kind, bases and body."""
    head = text.split(maxsplit=2)
    if len(head) == 3 and head[1] in ("=", "<<"):
        return head[0], (head[1], "", head[2])
    name, _, body = split_head(text)
    name, _, bases = name.partition("(")
    return name, (":", bases[:-1], body.strip())


def split_head(text: str) -> tuple[str, str, str]:
    """Split a model's definition at the colon after its name and bases."""
    end = text.find("):") + 1 if "(" in text.partition(":")[0] else text.index(":")
    return text[:end], ":", text[end + 1 :]


def fields_of(body: str) -> list[tuple[str, str]]:
    """Return the names and texts of a model's fields."""
    pairs = [text.partition(": ") for text in body.split("; ") if text]
    return [(name, text or "Object?") for name, _, text in pairs]


def selected_definitions() -> Definitions:
    """Return the definitions of the selected generation's SDK."""
    found: Definitions = resolve(f"{__package__}.{selected().sdk}:DEFINITIONS")
    return found


def find_in(module: str, name: str, definitions: Definitions) -> Any:
    """Return a name of a module whose names the definitions have, as its `__getattr__` does."""
    if name == "__all__":
        return definitions.names()
    try:
        return definitions.find(name)
    except KeyError:
        raise AttributeError(f"module {module!r} has no attribute {name!r}") from None


BOTH = {
    "BlobResourceContents": "Binary contents of a resource.",
    "Completion": "Completion information.",
    "ElicitResult": "The client's response to an elicitation request.",
    "EmbeddedResource": (
        "The contents of a resource, embedded into a prompt or tool call result.\n"
        "\n"
        "It is up to the client how best to render embedded resources for the benefit\n"
        "of the LLM and/or the user."
    ),
    "GetPromptResult": "The server's response to a prompts/get request from the client.",
    "ListPromptsResult": "The server's response to a prompts/list request from the client.",
    "ListResourceTemplatesResult": "The server's response to a resources/templates/list request from the client.",
    "ListResourcesResult": "The server's response to a resources/list request from the client.",
    "ListToolsResult": "The server's response to a tools/list request from the client.",
    "Prompt": "A prompt or prompt template that the server offers.",
    "PromptReference": "Identifies a prompt.",
    "ReadResourceResult": "The server's response to a resources/read request from the client.",
    "Resource": "A known resource that the server is capable of reading.",
    "ResourceContents": "The contents of a specific resource or sub-resource.",
    "ResourceLink": (
        "A resource that the server is capable of reading, included in a prompt or tool call result.\n"
        "\n"
        "Note: resource links returned by tools are not guaranteed to appear in the results of "
        "`resources/list` requests."
    ),
    "ResourceTemplate": "A template description for resources available on the server.",
    "ResourceTemplateReference": "A reference to a resource or resource template definition.",
    "SamplingMessage": "Describes a message issued to or received from an LLM API.",
    "TextResourceContents": "Text contents of a resource.",
    "Tool": "Definition for a tool the client can call.",
    "ToolAnnotations": (
        "Additional properties describing a Tool to clients.\n"
        "\n"
        "NOTE: all properties in ToolAnnotations are **hints**.\n"
        "They are not guaranteed to provide a faithful description of\n"
        "tool behavior (including descriptive properties like `title`).\n"
        "\n"
        "Clients should never make tool use decisions based on ToolAnnotations\n"
        "received from untrusted servers."
    ),
}
"""Both versions of the SDK say this."""
SDK1 = {
    "AudioContent": "Audio content for a message.",
    "CallToolResult": "The server's response to a tool call.",
    "CompleteResult": "The server's response to a completion/complete request",
    "CreateTaskResult": "A response to a task-augmented request.",
    "GetTaskResult": "The response to a tasks/get request.",
    "Icon": "An icon for display in user interfaces.",
    "ImageContent": "Image content for a message.",
    "Implementation": "Describes the name and version of an MCP implementation.",
    "ListRootsResult": (
        "The client's response to a roots/list request from the server.\n"
        "This result contains an array of Root objects, each representing a root directory\n"
        "or file that the server can operate on."
    ),
    "PromptArgument": "An argument for a prompt template.",
    "PromptMessage": "Describes a message returned as part of a prompt.",
    "Root": "Represents a root directory or file that the server can operate on.",
    "Task": "Data associated with a task.",
    "TaskMetadata": (
        "Metadata for augmenting a request with task execution.\n"
        "Include this in the `task` field of the request parameters."
    ),
    "TextContent": "Text content for a message.",
    "ToolExecution": "Execution-related properties for a tool.",
}
"""Version 1 of the SDK says this."""
SDK2 = {
    "AudioContent": "Audio provided to or from an LLM.",
    "ImageContent": "An image provided to or from an LLM.",
    "PromptArgument": "Describes an argument that a prompt can accept.",
    "TextContent": "Text provided to or from an LLM.",
}
"""Version 2 of the SDK says this."""
