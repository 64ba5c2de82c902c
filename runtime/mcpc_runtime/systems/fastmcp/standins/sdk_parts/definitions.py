"""Makes the protocol's pydantic models of a version of the SDK (`table.py`), each when its name is first used."""

from __future__ import annotations

import ast
import re
import types as python_types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Generic, Literal, TypeVar

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Object
from mcpc_runtime.systems.fastmcp.standins.exports import placeholder
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.types_table import BOTH, SDK1, SDK2, TABLE

HANDSHAKE_PROTOCOL_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
TYPE_CHECKING = False
OBJECT = dict[str, Any]


class ContentAsList:
    """What models have whose content is one block or several."""

    if TYPE_CHECKING:
        content: Any

    @property
    def content_as_list(self) -> list[object]:
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
        "Uri": Annotated[pydantic.AnyUrl, networks.UrlConstraints(host_required=False)],
        "MethodT": TypeVar("MethodT", bound=str),
        "NotificationParamsT": TypeVar("NotificationParamsT"),
        "RequestParamsT": TypeVar("RequestParamsT"),
    }


@dataclass(eq=False)
class Definitions:
    """The models of one version of the SDK (`1` or `2`), by name.

    `module`: where the models say that they are from; `config`: pydantic's configuration of the model with a name;
    `extra`: functions that make what a table cannot say.
    """

    version: str
    module: str
    descriptions: Mapping[str, str]
    config: Callable[[str], Object]
    extra: Mapping[str, Callable[[Definitions], object]]
    leaves: Object = field(default_factory=dict)
    made: Object = field(default_factory=dict)

    @cached_property
    def rows(self) -> dict[str, tuple[str, str, str]]:
        """The definitions of the version by name: kind, bases, body."""
        # A definition goes on in lines that are indented by two blanks.
        texts = [of_version(text, self.version) for text in TABLE.strip().replace("\n  ", " ").split("\n")]
        return {name: row for text in texts if text for name, row in rows_of(text, self.version)}

    def names(self) -> list[str]:
        return sorted({name for name in (*self.rows, *self.extra) if not name.startswith("_") and "." not in name})

    def find(self, name: str) -> Any:
        """Return a model or an alias, made now if it is not; `KeyError`: there is none."""
        if name not in self.made:
            self.made[name] = self.extra[name](self) if name in self.extra else self.make(name)
        return self.made[name]

    def leaf(self, name: str) -> object:
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
        return self.model(name, bases or BASES[self.version], fields_of(body))

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
        resolved = self.evaluate(f"({bases},)")
        namespace: Object = {"__module__": self.module, "__qualname__": name, "__annotations__": {}}
        # pydantic refuses `extra` for a RootModel.
        if (config := self.config(name)) and not bases.startswith("RootModel"):
            namespace["model_config"] = config
        if name in self.descriptions:
            namespace["__doc__"] = self.descriptions[name]
        # `Outer.Inner` is a row of its own, and becomes an attribute of the outer class.
        for inner in self.rows:
            if inner.startswith(f"{name}."):
                namespace[inner.rpartition(".")[2]] = self.find(inner)
        for name_of_field, text in fields:
            self.add_field(namespace, name_of_field, text)
        # `type` refuses a base such as `Generic[T]`, which has to be resolved first.
        return python_types.new_class(name.rpartition(".")[2], resolved, {}, lambda into: into.update(namespace))

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


BASES = {"1": "BaseModel", "2": "MCPModel"}
"""What a model without bases has as its base, by version."""
EARLIER_BASES = {"CacheableResult": "Result", "InputResponseRequestParams": "RequestParams", "MCPModel": "BaseModel"}
"""Bases that only version 2 has, with what version 1 has in their place where there is no other base."""


def of_version(text: str, version: str) -> str:
    """Return a definition, a field or a type without its mark; nothing if it is one of the other version."""
    return text if text[:2] not in ("1 ", "2 ") else text[2:] if text[0] == version else ""


def rows_of(text: str, version: str) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Yield the names that a definition defines, each with its kind, bases and body."""
    name, kind, body = [*text.split(maxsplit=2), "", ""][:3]
    if kind == "|=":
        union = " | ".join(filter(None, (of_version(each, version) for each in body.split(" | "))))
        if version == "1":
            yield f"{name}Type", ("=", "", union)
            yield name, (":", f"RootModel[{name}Type]", "")
        else:
            yield name, ("=", "", union)
    elif kind in ("=", "<<"):
        yield name, (kind, "", body)
    else:
        head, _, body = split_head(text)
        name, _, bases = head.partition("(")
        fields = filter(None, (of_version(each, version) for each in body.strip().split("; ")))
        yield name, (":", own_bases(bases[:-1], version), "; ".join(own_field(each, version) for each in fields))


def own_bases(bases: str, version: str) -> str:
    if version == "2":
        return bases
    first, *others = bases.split(", ")
    kept = [EARLIER_BASES.get(first, first), *(each for each in others if each != "CacheableResult")]
    return ", ".join(EARLIER_BASES.get(each, each) for each in kept)


def own_field(text: str, version: str) -> str:
    if version == "2":
        return text.replace(" =2 ", " = ")
    name, colon, kind = text.partition(" =2 ")[0].partition(": ")
    # The table has the names of version 2, with underscores; version 1 has those of the protocol.
    return re.sub("_([a-z])", lambda found: found[1].upper(), name) + colon + kind


def split_head(text: str) -> tuple[str, str, str]:
    """Split a model's definition at the colon after its name and bases."""
    end = text.find("):") + 1 if "(" in text.partition(":")[0] else text.index(":")
    return text[:end], ":", text[end + 1 :]


def fields_of(body: str) -> list[tuple[str, str]]:
    """Return the names and texts of a model's fields."""
    pairs = [text.partition(": ") for text in body.split("; ") if text]
    return [(name, text or "Object?") for name, _, text in pairs]


CLOSED = frozenset({"BaseMetadata", "NotificationParams", "PaginatedRequestParams", "RequestParams"})
"""The models of version 1 that do not keep other fields."""
LACKING = re.compile(
    r"^((Get|Cancel|List)Task|Task(Status|ExecutionMode|$)|CreateTaskResult$|TASK_|RelatedTask|JSONRPC|ServerRequest"
    r"|Client(Request|Notification|Result)|Subscriptions?(Filter|Listen|Acknowledged)|Discover"
    r"|(UnsupportedProtocolVersion|MissingRequiredClientCapability)ErrorData)|_adapter$"
)
"""Types of tasks, messages, subscriptions and clients, which the adapter does not have."""


def config1(name: str) -> Object:
    """Return the configuration of a model of version 1."""
    return {} if name in CLOSED else {"extra": "allow"}


def config2(name: str) -> Object:
    """Return the configuration of a model of version 2."""
    if name == "MCPModel":
        return {"alias_generator": resolve("pydantic.alias_generators:to_camel"), "populate_by_name": True}
    return {}


def request_meta(definitions: Definitions) -> object:
    """Make the type of a request's `_meta`: an open dictionary."""
    extensions = __import__("typing_extensions")
    fields = {"progress_token": extensions.NotRequired[definitions.find("ProgressToken")]}
    return extensions.TypedDict("RequestParamsMeta", fields, extra_items=Any)


def requires_one(_: Definitions) -> object:
    """Make the base of the result that asks for input: it has requests, or a state."""
    pydantic = __import__("pydantic")

    def require_one_field(self: Any) -> object:
        if not self.input_requests and self.request_state is None:
            raise ValueError("InputRequiredResult requires at least one of input_requests or request_state")
        return self

    namespace = {"require_one_field": pydantic.model_validator(mode="after")(require_one_field)}
    return type("RequiresOne", (pydantic.BaseModel,), {"__module__": __name__, **namespace})


DEFINITIONS = {
    "sdk1": Definitions(
        "1",
        "mcp.types",
        {**BOTH, **SDK1},
        config1,
        {"AnyFunction": lambda _: __import__("collections.abc").abc.Callable[..., Any]},
    ),
    "sdk2": Definitions(
        "2",
        "mcp_types",
        {**BOTH, **SDK2},
        config2,
        {
            "CORE_RESULT_TYPES": lambda _: frozenset({"complete", "input_required"}),
            "RequestParamsMeta": request_meta,
            "RequiresOne": requires_one,
        },
    ),
}
"""The models of each generation of the SDK."""


def selected_definitions() -> Definitions:
    """Return the definitions of the selected generation's SDK."""
    return DEFINITIONS[selected().sdk]


def find_type(name: str) -> object:
    """Return a name of a module that has all types, as its `__getattr__` does."""
    definitions = selected_definitions()
    if name == "__all__":
        return definitions.names()
    try:
        return definitions.find(name)
    except KeyError:
        if LACKING.search(name):
            return placeholder(f"{definitions.module}.{name}")
        raise AttributeError(f"module {definitions.module!r} has no attribute {name!r}") from None


class SelectedTypes:
    """The types, aliases and constants of the selected generation's SDK; one is made when it is first used."""

    def __getattr__(self, name: str) -> object:
        return find_type(name)


types: Any = SelectedTypes()
