# ruff: noqa: B006, B008, N803, RUF013, RUF100, UP006, UP007, UP045
"""Tools, prompts, resources and templates that use what lists can show, for any framework.

`frameworks` is a module that whoever imports this one provides: the names below from the framework that is asked.
A row: the kind of component, its function, the options of its decorator.
"""

import datetime
import decimal
import enum
import functools
import pathlib
import typing
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, Required, TypedDict, Union

import typing_extensions
from frameworks import (
    Audio,
    CallToolResult,
    Context,
    EmbeddedResource,
    File,
    Image,
    ImageContent,
    ResourceLink,
    TextContent,
    ToolResult,
)
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, computed_field


class Color(enum.Enum):
    """A color."""

    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Address(BaseModel):
    """Where someone lives."""

    street: str
    zip_code: str | None = Field(default=None, description="The code", pattern=r"^\d+$")


class Person(BaseModel):
    name: str = Field(description="The name", min_length=1, max_length=80)
    age: int = Field(ge=0, le=150, title="Years")
    address: Address
    others: list[Address] = []
    color: Color = Color.RED
    extra: dict[str, Any] = Field(default_factory=dict)


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    title: str
    type: str = "x"


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    first_name: str = Field(alias="firstName")
    last: str = Field(serialization_alias="lastName", default="")


class NotByAlias(BaseModel):
    model_config = ConfigDict(serialize_by_alias=False)
    first_name: str = Field(alias="firstName")


class ByAlias(BaseModel):
    model_config = ConfigDict(serialize_by_alias=True)
    first_name: str = Field(alias="firstName")


class Node(BaseModel):
    value: int
    children: list["Node"] = []


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    bark: bool = True


class Computed(BaseModel):
    width: int

    @computed_field
    @property
    def area(self) -> int:
        """The area."""
        return self.width**2


class Plain:
    name: str
    count: int = 3

    def __init__(self, name: str) -> None:
        self.name = name


class Unannotated:
    def __init__(self, name):
        self.name = name


@dataclass
class Point:
    x: float
    y: float = 0.0
    labels: list[str] = field(default_factory=list)


@dataclass
class Line:
    """Two points."""

    start: Point
    end: Point


class Movie(TypedDict):
    title: str
    year: int


class Partial(TypedDict, total=False):
    """Some of it."""

    title: Required[str]
    year: Annotated[int, Field(description="When")]


class Mixed(TypedDict):
    title: str
    year: NotRequired[int]


class Film(typing_extensions.TypedDict):
    """A film."""

    title: str
    year: Annotated[int, Field(description="When")]


class FilmParts(typing_extensions.TypedDict, total=False):
    title: typing_extensions.Required[str]
    year: int


class Pair(NamedTuple):
    left: int
    right: str


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


def nothing():
    pass


def untyped(a, b=1, *, c=None):
    """Take anything."""


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def defaults(a: int = 1, b: float = 2.5, c: str = "x", d: bool = True, e: None = None) -> str:
    return ""


def optional(a: str | None, b: Optional[int] = None, c: str = None, d: Union[int, str, None] = 3) -> str | None:
    return None


def keyword_only(a: int, *, b: Annotated[int, Field(description="B")], c: str = "x") -> bool:
    return True


def positional_only(a: int, /, b: int = 2) -> int:
    return a


def containers(
    a: list[int],
    b: dict[str, float],
    c: set[str],
    d: tuple[int, str],
    e: Sequence[str],
    f: frozenset[int] = frozenset(),
    g: tuple[int, ...] = (),
    h: Mapping[str, list[int]] | None = None,
    i: list = [],
    j: dict = {},
) -> list[dict[str, int]]:
    return []


def typing_containers(
    a: typing.List[int], b: typing.Dict[str, int], c: typing.Tuple[int, int] = (1, 2)
) -> typing.List[str]:
    return []


def typing_dict() -> typing.Dict[str, int]:
    return {}


def literals(a: Literal["x", "y"], b: Literal[1, 2, None] = None, c: Literal["only"] = "only") -> Literal["p", "q"]:
    return "p"


def enums(a: Color, b: Level = Level.LOW, c: Color | None = None, d: list[Color] = [Color.RED]) -> Color:
    return a


def times(
    a: datetime.datetime,
    b: datetime.date = datetime.date(2020, 1, 2),
    c: datetime.timedelta = datetime.timedelta(seconds=3),
    d: uuid.UUID | None = None,
    e: decimal.Decimal = decimal.Decimal("1.5"),
    f: pathlib.Path = pathlib.Path("/tmp"),
) -> datetime.datetime:
    return a


def described(
    a: Annotated[int, Field(description="The first", ge=0, lt=10)],
    b: int = Field(description="The second", default=3),
    c: Annotated[str, "Just text"] = "c",
    d: Annotated[str, "Text", "more"] = "d",
    e: str = Field("e", title="The E", examples=["x", "y"], json_schema_extra={"x-ui": {"title": "T", "type": "q"}}),
    f: list[Annotated[str, Field(max_length=3)]] = Field(default_factory=list, description="F", max_length=2),
) -> Annotated[str, Field(description="What comes out")]:
    return ""


def required_field(a: str = Field(..., description="Needed"), b: str = Field(description="Needed too")) -> str:
    return a


def aliased_field(a: Annotated[str, Field(alias="theA")], b: int = Field(default=1, alias="theB")) -> str:
    return a


def model_argument(person: Person) -> Person:
    return person


def model_described(
    person: Annotated[Person, Field(description="Who")],
    address: Address = Field(title="At"),
    more: Person | None = None,
) -> Address | None:
    return None


def model_default(address: Address = Address(street="s")) -> Address:
    return address


def strict_model(value: Strict) -> Strict:
    return value


def alias_model(value: Aliased) -> Aliased:
    return value


def alias_not_used() -> NotByAlias:
    return NotByAlias(firstName="x")


def alias_used() -> ByAlias:
    return ByAlias(firstName="x")


def alias_nested() -> list[NotByAlias | ByAlias]:
    return []


def recursive(node: Node) -> Node:
    return node


def recursive_list(nodes: list[Node]) -> list[Node]:
    return nodes


def union_models(pet: Cat | Dog, pets: list[Cat | Dog]) -> Cat | Dog:
    return pet


def discriminated(pet: Pet, more: list[Pet] = []) -> Pet:
    return pet


def computed() -> Computed:
    return Computed(width=1)


def dataclass_argument(point: Point, line: Line | None = None) -> Point:
    return point


def dataclass_nested() -> Line:
    raise NotImplementedError


def dataclass_list() -> list[Point]:
    return []


def typed_dict(movie: Movie) -> Movie:
    return movie


def typed_dict_partial() -> Partial:
    return {"title": ""}


def typed_dict_mixed(value: Mixed) -> list[Mixed]:
    return [value]


def film(film: Film) -> Film:
    return film


def film_parts(films: list[FilmParts]) -> FilmParts:
    return films[0]


def named_tuple(pair: Pair) -> Pair:
    return pair


def plain_class() -> Plain:
    return Plain("")


def unannotated_class() -> Unannotated:
    return Unannotated("")


def returns_none() -> None:
    pass


def returns_any(a: Any) -> Any:
    return a


def returns_object(a: object) -> object:
    return a


def returns_str() -> str:
    return ""


def returns_bytes() -> bytes:
    return b""


def returns_bytes_or_str() -> bytes | str:
    return b""


def returns_dict() -> dict:
    return {}


def returns_dict_any() -> dict[str, Any]:
    return {}


def returns_dict_int() -> dict[int, str]:
    return {}


def returns_dict_annotated() -> Annotated[dict[str, int], Field(description="By name")]:
    return {}


def returns_list() -> list:
    return []


def returns_list_any() -> list[Any]:
    return []


def returns_list_str() -> list[str]:
    return []


def returns_tuple() -> tuple[int, str]:
    return (1, "")


def returns_tuple_any() -> tuple[Any, ...]:
    return ()


def returns_set() -> set[int]:
    return set()


def returns_optional() -> int | None:
    return None


def returns_union() -> Union[int, str]:
    return 1


def returns_union_list() -> list[int] | dict[str, int]:
    return []


def returns_callable() -> typing.Callable[[int], int]:
    return int


def returns_date() -> datetime.date:
    return datetime.date.today()


def returns_sequence() -> Sequence[int]:
    return []


def returns_iterator() -> typing.Iterator[int]:
    return iter(())


def returns_image() -> Image:
    raise NotImplementedError


def returns_images() -> list[Image]:
    return []


def returns_image_or_text() -> Image | str:
    return ""


def returns_audio() -> Audio:
    raise NotImplementedError


def returns_file() -> File:
    raise NotImplementedError


def returns_text_content() -> TextContent:
    raise NotImplementedError


def returns_text_contents() -> list[TextContent]:
    return []


def returns_contents() -> list[TextContent | ImageContent | EmbeddedResource]:
    return []


def returns_content_tuple() -> tuple[TextContent, ResourceLink]:
    raise NotImplementedError


def returns_optional_content() -> TextContent | None:
    return None


def returns_call_result() -> CallToolResult:
    raise NotImplementedError


def returns_call_result_of() -> Annotated[CallToolResult, Person]:
    raise NotImplementedError


def returns_call_result_of_dict() -> Annotated[CallToolResult, dict[str, int]]:
    raise NotImplementedError


def returns_tool_result() -> ToolResult:
    raise NotImplementedError


def returns_tool_result_or_none() -> ToolResult | None:
    return None


async def asynchronous(a: int) -> dict[str, float]:
    return {}


async def with_context(a: int, ctx: Context, b: str = "x") -> str:
    """Use the context.

    In two paragraphs.
    """
    return b


def only_context(ctx: Context) -> str:
    return ""


def optional_context(a: int, ctx: Context | None = None) -> str:
    return ""


def reserved(copy: int, json: str, schema: str = "x", model_dump: bool = False) -> int:
    return copy


def keywords_as_names(
    title: str, type: str, properties: int, items: list[str], default: int = 1, enum: Color = Color.RED
) -> str:
    return title


def odd_names(camelCase: int, with_123_digits: int, UPPER: int = 1, x: int = 0, ünï: str = "") -> str:
    return ""


def not_json_default(a: float = float("inf"), b: Any = object, c: Point = Point(1.0)) -> str:
    return ""


def validated(a: Annotated[int, BeforeValidator(int)], b: Annotated[list[int], Field(min_length=1)]) -> int:
    return a


def nested(a: dict[str, list[dict[str, Person | None]]]) -> dict[str, list[Address]]:
    return {}


def excluded(a: int, secret: str = "s", other: Unannotated = None) -> str:
    return secret


def google(a: int, b: str = "x", c: Annotated[str, Field(description="Kept")] = "") -> str:
    """Do something.

    And more of it.

    Args:
        a: The first
            over two lines.
        b (str): The second.
        c: Ignored.

    Returns:
        Some text.
    """
    return b


def numpy(a: int, b: str = "x") -> str:
    """Do something.

    Parameters
    ----------
    a : int
        The first.
    b : str, optional
        The second,
        in two lines.

    Returns
    -------
    str
        Some text.
    """
    return b


def sphinx(a: int, b: str = "x") -> str:
    """Do something.

    :param a: The first.
    :param str b: The second.
    :returns: Some text.
    """
    return b


def returns_section() -> int:
    """Do something.

    Returns:
        A number.
    """
    return 1


def no_section(a: int) -> int:
    """Do something: a lot.

    Note that this is only text.
    """
    return a


def model_with_docs(person: Person, node: Node) -> str:
    """Do something.

    Args:
        person: Who it is.
        node: The root.
    """
    return ""


class Calls:
    """A class of things that are called."""

    def __call__(self, a: int, b: Annotated[str, "text"] = "x") -> dict[str, int]:
        """Call it.

        Args:
            a: The first.
        """
        return {}

    def method(self, a: int, ctx: Context) -> str:
        """Be a method."""
        return ""

    @classmethod
    def of_class(cls, a: int) -> str:
        return ""

    @staticmethod
    def static(a: int, b: Annotated[int, "B"] = 2) -> str:
        return ""


def wrapping(function):
    @functools.wraps(function)
    def wrapper(*arguments, **named):
        return function(*arguments, **named)

    return wrapper


@wrapping
def wrapped(a: int, b: Annotated[str, "B"] = "x") -> list[str]:
    """Be wrapped."""
    return []


def arguments_tuple(*args: int) -> int:
    return 0


def arguments_dict(a: int, **kwargs: int) -> int:
    return 0


def underscore(_a: int) -> int:
    return 0


def message(topic: str) -> str:
    """Say something.

    About a topic.
    """
    return topic


def message_described(
    topic: Annotated[str, Field(description="About what")],
    count: Annotated[int, Field(description="How often", ge=1)] = 1,
    c: Annotated[str, "Just text"] = "c",
    tone: Literal["a", "b"] = "a",
) -> str:
    return topic


def message_typed(a: int, b: list[int], c: dict[str, str] | None = None, d: Color = Color.RED, e: Person = None) -> str:
    """Say.

    Args:
        a: The first.
        b: The second.
    """
    return ""


def message_untyped(a, b=1):
    return ""


def message_context(a: str, ctx: Context) -> str:
    return a


def data() -> str:
    """Give data."""
    return ""


def data_bytes() -> bytes:
    return b""


def item(name: str) -> str:
    """Give an item."""
    return name


def item_context(name: str, number: int, ctx: Context) -> dict[str, Any]:
    return {}


ICON = {"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"]}
HINTS = {"readOnlyHint": True, "openWorldHint": False}
REFERENCES = {
    "type": "object",
    "title": "Given",
    "properties": {"at": {"$ref": "#/$defs/At", "description": "Where"}, "more": {"$ref": "#/$defs/At"}},
    "$defs": {"At": {"type": "object", "title": "At", "properties": {"x": {"type": "integer"}}}},
}

FUNCTIONS = [
    value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__ and not isinstance(value, type)
]
PROMPTS = [each for each in FUNCTIONS if each.__name__.startswith("message")]
OTHERS = {"wrapping", "data", "data_bytes", "item", "item_context", "excluded"}
TOOLS = [each for each in FUNCTIONS if each not in PROMPTS and each.__name__ not in OTHERS]

Row = tuple[str, str, Any, dict[str, Any]]
ROWS: list[Row] = [
    *(("tool", each.__name__, each, {}) for each in TOOLS),
    *(("prompt", each.__name__, each, {}) for each in PROMPTS),
    ("tool", "named", add, {"name": "other-name", "description": "Given."}),
    ("tool", "no_description", add, {"name": "nd", "description": ""}),
    ("tool", "titled", add, {"name": "t1", "title": "A title"}),
    ("tool", "title_in_annotations", add, {"name": "t2", "annotations": {"title": "From hints", **HINTS}}),
    ("tool", "titles", add, {"name": "t3", "title": "A title", "annotations": {"title": "From hints"}}),
    ("tool", "annotated", add, {"name": "t4", "annotations": HINTS}),
    ("tool", "icons", add, {"name": "t5", "icons": [ICON]}),
    ("tool", "meta", add, {"name": "t6", "meta": {"a": {"b": None}, "z": 1}}),
    ("tool", "tags", add, {"name": "t7", "tags": {"b", "a"}}),
    (
        "tool",
        "meta_tags",
        add,
        {"name": "t8", "tags": {"b"}, "meta": {"z": 1, "fastmcp": {"q": 1}, "_fastmcp": {"r": 2}}},
    ),
    ("tool", "all", add, {"name": "t10", "title": "T", "icons": [ICON], "annotations": HINTS, "meta": {"m": 1}}),
    ("tool", "structured_off", add, {"name": "t11", "structured_output": False}),
    ("tool", "structured_on", add, {"name": "t12", "structured_output": True}),
    ("tool", "structured_content", returns_text_content, {"name": "t13", "structured_output": True}),
    ("tool", "output_none", add, {"name": "t14", "output_schema": None}),
    (
        "tool",
        "output_given",
        add,
        {"name": "t15", "output_schema": {"type": "object", "properties": {"x": {"title": "X"}}}},
    ),
    ("tool", "output_given_references", add, {"name": "t17", "output_schema": REFERENCES}),
    ("tool", "excluded", excluded, {"exclude_args": ["secret", "other"]}),
    ("tool", "excluded_one", google, {"name": "t16", "exclude_args": ["b"]}),
    ("tool", "lambda", lambda a: a, {"name": "lambda_tool"}),
    ("tool", "instance", Calls(), {"name": "instance"}),
    ("tool", "method", Calls().method, {}),
    ("tool", "class_method", Calls.of_class, {}),
    ("tool", "static", Calls.static, {}),
    ("tool", "partial", functools.partial(add, b=2), {"name": "partial", "description": "Add two."}),
    ("prompt", "prompt_named", message, {"name": "p1", "description": "Given.", "title": "T"}),
    ("prompt", "prompt_icons", message, {"name": "p2", "icons": [ICON]}),
    ("prompt", "prompt_meta", message, {"name": "p3", "meta": {"a": 1}, "tags": {"x"}}),
    ("prompt", "prompt_numpy", numpy, {}),
    ("prompt", "prompt_google", google, {}),
    ("resource", "resource", data, {"uri": "data://one"}),
    ("resource", "resource_bytes", data_bytes, {"uri": "data://bytes", "mime_type": "image/png"}),
    ("resource", "resource_host", data, {"uri": "https://Example.com", "name": "host"}),
    ("resource", "resource_path", data, {"uri": "FILE:///a b/ü.txt", "description": "Given."}),
    ("resource", "resource_opaque", data, {"uri": "config:main", "title": "Main"}),
    ("resource", "resource_icons", data, {"uri": "data://icons", "icons": [ICON]}),
    (
        "resource",
        "resource_hints",
        data,
        {"uri": "data://hints", "annotations": {"audience": ["user"], "priority": 0.5}},
    ),
    ("resource", "resource_meta", data, {"uri": "data://meta", "meta": {"a": 1}}),
    ("resource", "resource_tags", data, {"uri": "data://tags", "tags": {"b", "a"}}),
    ("template", "template", item, {"uri": "items://{name}"}),
    (
        "template",
        "template_mime",
        item,
        {"uri": "https://Example.com/{name}", "mime_type": "application/json", "title": "T"},
    ),
    ("template", "template_context", item_context, {"uri": "items://{name}/{number}", "description": "Given."}),
    ("template", "template_meta", item, {"uri": "meta://{name}", "meta": {"a": 1}}),
    ("template", "template_tags", item, {"uri": "tags://{name}", "tags": {"q"}}),
]
"""The components: kind, name in the recorded answers, function, options."""
