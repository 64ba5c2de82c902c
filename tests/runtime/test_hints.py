"""JSON becomes what a hint names, and what a function returns becomes JSON: row by row, and by calls."""

import asyncio
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import functools
import ipaddress
import pathlib
import re
import time
import typing
import uuid
import zoneinfo
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, NewType, Optional, TypedDict

import pydantic
import pytest
import typing_extensions

from mcpc_runtime.handlers.python.authoring import Field
from mcpc_runtime.handlers.python.bindings import hints
from mcpc_runtime.handlers.python.bindings.conversion import UnsupportedTypeError, conversion, from_text
from mcpc_runtime.handlers.python.bindings.dumping import to_json
from mcpc_runtime.handlers.python.bindings.hints import ArgumentError, call_with_hints


class Color(enum.Enum):
    RED = "red"
    PAIR = (1, 2)


class Level(enum.IntEnum):
    LOW = 1


@dataclasses.dataclass
class Point:
    x: int
    y: float = 1.0
    next: Optional["Point"] = None
    kind: ClassVar[str] = "point"
    area: float = dataclasses.field(init=False, default=0.0)


@dataclasses.dataclass
class Named:
    x: int
    name: str


@dataclasses.dataclass
class Label:
    text: str


class Title(TypedDict):
    text: str


class Shape(TypedDict, total=False):
    sides: typing.Required[int]
    at: datetime.date


Json = typing_extensions.TypeAliasType("Json", "dict[str, Json] | list[Json] | str | int | None")
T = typing_extensions.TypeVar("T")
Twice = typing_extensions.TypeAliasType("Twice", tuple[T, T], type_params=(T,))
Words = Annotated[list[str], pydantic.BeforeValidator(lambda text: text.split() if isinstance(text, str) else text)]


class Sibling(typing_extensions.TypedDict):
    name: str
    born: datetime.date


class Pair(NamedTuple):
    a: int
    b: str = "b"


class Model(pydantic.BaseModel):
    n: int
    at: datetime.date | None = None


Number = NewType("Number", int)
DAY = datetime.date(2026, 7, 28)

ROWS: list[tuple[Any, Any, Any]] = [
    (int, 1.0, 1), (int, 10**30, 10**30), (float, 1, 1.0), (str, "x", "x"), (bool, True, True), (None, None, None),
    (Any, [1.0], [1.0]),
    (object, {"a": 1}, {"a": 1}),
    (Literal["a", 1], 1, 1),
    (Annotated[int, "text"], 2.0, 2),
    (Number, 3.0, 3),
    (Color, "red", Color.RED),
    (Color, [1, 2], Color.PAIR),
    (Level, 1.0, Level.LOW),
    (Point, {"x": 1.0, "next": {"x": 2, "y": 3}}, Point(1, 1.0, Point(2, 3.0))),
    (Point, {"x": 1, "unknown": True}, Point(1)),
    (Shape, {"sides": 3.0, "at": "2026-07-28"}, {"sides": 3, "at": DAY}),
    (Shape, {"sides": 3, "more": None}, {"sides": 3}),
    (Sibling, {"name": "Ada", "born": "2026-07-28"}, {"name": "Ada", "born": DAY}),
    (Pair, [1.0], Pair(1)),
    (Pair, [1, "c"], Pair(1, "c")),
    (Model, {"n": 1, "at": "2026-07-28"}, Model(n=1, at=DAY)),
    (datetime.date, "2026-07-28", DAY),
    (datetime.datetime, "2026-07-28T01:02:03Z", datetime.datetime(2026, 7, 28, 1, 2, 3, tzinfo=datetime.UTC)),
    (datetime.time, "01:02:03.5", datetime.time(1, 2, 3, 500000)),
    (datetime.timedelta, "P1DT2H3M4.5S", datetime.timedelta(1, 4.5, 0, 0, 3, 2)),
    (datetime.timedelta, "-PT1S", datetime.timedelta(seconds=-1)),
    (datetime.timedelta, "P2W", datetime.timedelta(14)),
    (uuid.UUID, "12345678-1234-5678-1234-567812345678", uuid.UUID("12345678123456781234567812345678")),
    (decimal.Decimal, 1.1, decimal.Decimal("1.1")),
    (decimal.Decimal, "1.10", decimal.Decimal("1.10")),
    (pathlib.Path, "/x/y", pathlib.Path("/x/y")),
    (pathlib.PurePosixPath, "x", pathlib.PurePosixPath("x")),
    (ipaddress.IPv4Address, "127.0.0.1", ipaddress.IPv4Address("127.0.0.1")),
    (bytes, "é", "é".encode()),
    (list, [1, "a"], [1, "a"]),
    (list[int], [1.0, 2], [1, 2]),
    (set[int], [1, 2], {1, 2}),
    (frozenset[str], ["a"], frozenset({"a"})),
    (tuple, [1], (1,)),
    (tuple[int, str], [1.0, "a"], (1, "a")),
    (tuple[int, ...], [1.0, 2.0, 3], (1, 2, 3)),
    (tuple[()], [], ()),
    (dict, {"a": 1}, {"a": 1}),
    (dict[str, float], {"a": 1}, {"a": 1.0}),
    (dict[int, Color], {"1": "red"}, {1: Color.RED}),
    (dict[datetime.date, int], {"2026-07-28": 1}, {DAY: 1}),
    (collections.abc.Sequence[Point], [{"x": 1}], [Point(1)]),
    (collections.abc.Mapping[str, datetime.date], {"a": "2026-07-28"}, {"a": DAY}),
    (int | None, 1.0, 1), (int | None, None, None), (int | float, 1.5, 1.5),
    (datetime.date | None, "2026-07-28", DAY),
    (datetime.date | str, "2026-07-28", "2026-07-28"),
    (datetime.date | int, "2026-07-28", DAY),
    (Point | Named, {"x": 1, "name": "n"}, Named(1, "n")),
    (Named | Shape, {"sides": 3}, {"sides": 3}),
    (list[Point] | Point, {"x": 1}, Point(1)),
    (pydantic.HttpUrl, "https://example.org/", pydantic.HttpUrl("https://example.org/")),
    (Annotated[str, pydantic.StringConstraints(to_upper=True)], "x", "X"),
    (Annotated[int, pydantic.AfterValidator(abs)], -1, 1),
    (Annotated[int, pydantic.Field(ge=1)], 1.0, 1),
    (Json, {"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
    (Twice[int], [1.0, 2], (1, 2)),
    (pydantic.JsonValue, {"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
    (dict[str, pydantic.JsonValue], {"a": [1.5]}, {"a": [1.5]}),
    (Words, "a b", ["a", "b"]),
    (dict[str, Words] | None, {"a": "b c"}, {"a": ["b", "c"]}),
    (collections.deque[int], [1.0, 2], collections.deque([1, 2])),
    (collections.deque, [1], collections.deque([1])),
    (re.Pattern[str], "a+", re.compile("a+")),
    (zoneinfo.ZoneInfo, "UTC", zoneinfo.ZoneInfo("UTC")),
    (Label, {"text": "a"}, Label("a")),
    (Title, {"text": "a"}, {"text": "a"}),
    (ipaddress.IPv4Network, "10.0.0.0/8", ipaddress.IPv4Network("10.0.0.0/8")),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "value", "wanted"), ROWS)
def test_json_becomes_what_the_hint_names(hint: Any, value: Any, wanted: Any) -> None:
    made = conversion(hint).convert(value)
    assert made == wanted
    assert type(made) is type(wanted)


@pytest.mark.parametrize(("hint", "value", "wanted"), ROWS)
def test_what_was_made_is_the_same_json_again(hint: Any, value: Any, wanted: Any) -> None:
    """Dumping what was converted, and converting that, ends where it began."""
    assert conversion(hint).convert(to_json(wanted)) == wanted


@pytest.mark.parametrize(("hint", "value", "wanted"), ROWS)
def test_inert_is_what_changes_nothing(hint: Any, value: Any, wanted: Any) -> None:
    if conversion(hint).inert:
        assert wanted is value or (type(wanted) is type(value) and wanted == value)


@pytest.mark.parametrize(
    "hint",
    [
        str,
        bool,
        None,
        Any,
        list,
        dict,
        list[str],
        dict[str, bool],
        str | None,
        Literal["a", None],
        dict[str, Any],
        Title,
    ],
)
def test_json_of_no_number_needs_nothing(hint: Any) -> None:
    assert conversion(hint).inert


BAD: list[tuple[Any, Any]] = [
    (int, 1.5), (int, True), (int, "1"), (float, "1"), (str, 1),
    (datetime.date, "yesterday"),
    (datetime.date, 3),
    (datetime.timedelta, "P"),
    (datetime.timedelta, "PT"),
    (datetime.timedelta, "1 day"),
    (decimal.Decimal, "one"), (uuid.UUID, "x"), (Color, "green"), (Level, True), (Literal["a"], "b"),
    (list[int], {"a": 1}), (list[int], ["a"]), (tuple[int, str], [1]), (Pair, [1, "b", 3]),
    (dict[int, str], {"a": "b"}),
    (Point, []),
    (Shape, {"at": "2026-07-28"}),
    (int | None, "x"), (Json, {"a": {1}}), (Twice[int], [1]),
    (pydantic.JsonValue, object()),
    (Words, [1]),
    (collections.deque[int], "a"),
    (re.Pattern, "("),
    (zoneinfo.ZoneInfo, "Nowhere/At_all"),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "value"), BAD)
def test_what_cannot_be_meant_is_refused(hint: Any, value: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        conversion(hint).convert(value)


@pytest.mark.parametrize(
    ("hint", "named"),
    [
        (complex, "complex"),
        (range, "range"),
        (collections.abc.Callable[[], int], "Callable"),
        (list[complex], "complex"),
        (dict[str, range] | None, "range"),
        (type, "type"),
    ],
)
def test_a_type_without_a_row_is_named(hint: Any, named: str) -> None:
    with pytest.raises(UnsupportedTypeError, match=named):
        conversion(hint)


def test_a_class_that_failed_is_asked_again() -> None:
    @dataclasses.dataclass
    class Bad:
        it: complex

    for _ in range(2):
        with pytest.raises(UnsupportedTypeError, match="complex"):
            conversion(Bad)


@pytest.mark.parametrize(
    ("hint", "text", "wanted"),
    [
        (int, "3", 3),
        (float, "3", 3.0),
        (bool, "true", True),
        (str, "3", "3"),
        (str | None, "null", "null"),
        (int | None, "null", None),
        (Color, "red", Color.RED),
        (Color, '"red"', Color.RED),
        (datetime.date, "2026-07-28", DAY),
        (list[int], "[1, 2]", [1, 2]),
        (Point, '{"x": 1}', Point(1)),
        (pathlib.Path, "/x", pathlib.Path("/x")),
    ],
)
def test_the_text_of_a_prompts_argument_is_read(hint: Any, text: str, wanted: Any) -> None:
    assert from_text(conversion(hint), text) == wanted


class Text(str):
    __slots__ = ()


DUMPED: list[tuple[Any, Any]] = [
    (Text("x"), "x"),
    (datetime.timedelta(0), "PT0S"),
    (datetime.timedelta(microseconds=1), "PT0.000001S"),
    (datetime.timedelta(days=-1), "-P1D"),
    (datetime.datetime(2026, 7, 28, tzinfo=datetime.UTC), "2026-07-28T00:00:00Z"),
    (datetime.datetime(2026, 7, 28), "2026-07-28T00:00:00"),
    ({3, 1, 2}, [1, 2, 3]),
    ({"b", 1}, ["b", 1]),
    ((1, (2,)), [1, [2]]),
    ({1: 2, None: 3, False: 4}, {"1": 2, "None": 3, "false": 4}),
    ({Color.RED: {Level.LOW}}, {"red": [1]}),
    ([Model(n=1)], [{"n": 1, "at": None}]),
    (Point(1), {"x": 1, "y": 1.0, "next": None, "area": 0.0}),
    (Pair(1), [1, "b"]),
    (b"x", "x"),
]


@pytest.mark.parametrize(("value", "wanted"), DUMPED)
def test_what_is_returned_becomes_json(value: Any, wanted: Any) -> None:
    assert to_json(value) == wanted


@pytest.mark.parametrize(
    "value", [value for value, _ in DUMPED if not isinstance(value, dict | set | Text) or value == {3, 1, 2}]
)
def test_it_is_the_json_that_pydantic_writes(value: Any) -> None:
    kind = type(value)
    assert to_json(value) == pydantic.TypeAdapter(kind).dump_python(value, mode="json")


@pytest.mark.parametrize("value", [object(), int, Point, len], ids=["object", "int", "class", "function"])
def test_what_json_cannot_carry_is_said(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot be written as JSON"):
        to_json(value)


def test_a_call_converts_and_wraps() -> None:
    def add(day: datetime.date, days: int = 1) -> datetime.date:
        return day + datetime.timedelta(days)

    assert call_with_hints(add, {"day": "2026-07-28", "days": 2.0}, {}) == "2026-07-30"
    assert call_with_hints(add, {"day": "2026-07-28"}, {}, "wrap") == {
        "content": [{"type": "text", "text": "2026-07-29"}],
        "structuredContent": {"result": "2026-07-29"},
    }


def test_nothing_is_no_content() -> None:
    assert call_with_hints(lambda: None, {}, {}, "wrap") == {"content": [], "structuredContent": {"result": None}}


def test_what_is_no_text_is_shown_as_json() -> None:
    assert call_with_hints(lambda: [1, {"a": "é"}], {}, {}, "wrap")["content"][0]["text"] == '[1,{"a":"é"}]'


def test_a_call_that_has_to_be_awaited() -> None:
    async def day() -> datetime.date:
        await asyncio.sleep(0)
        return DAY

    assert asyncio.run(call_with_hints(day, {}, {}, "wrap"))["structuredContent"] == {"result": "2026-07-28"}


def test_stated_defaults_take_the_place_of_what_is_missing() -> None:
    def search(
        words: list[str] = Field(default_factory=list),  # noqa: B008
        limit: int = Field(3, ge=1),
        *,
        deep: bool = Field(False),
    ):
        words.append("x")
        return [words, limit, deep]

    assert call_with_hints(search, {}, {}) == [["x"], 3, False]
    assert call_with_hints(search, {"limit": 4.0, "deep": True}, {}) == [["x"], 4, True]

    def modern(limit: int = pydantic.Field(default=5)) -> int:
        return limit

    assert call_with_hints(modern, {}, {}) == 5


def test_the_argument_that_is_wrong_is_named() -> None:
    def show(day: datetime.date) -> str:
        return str(day)

    with pytest.raises(ArgumentError, match=r'^/day: received "2026-02-30"; day (30 must be in|is out of) range'):
        call_with_hints(show, {"day": "2026-02-30"}, {})


def test_a_result_and_what_the_server_adds_need_no_conversion() -> None:
    def function(a: int, b: complex) -> complex:
        return a * int(b.imag)

    assert call_with_hints(function, {"a": 2.0}, {"b": 1j}) == 2


def test_every_argument_of_a_prompt_is_read() -> None:
    def ask(topic: str, count: int, style: Literal["short", "long"] = "short") -> str:
        return f"{count!r} {topic} {style}"

    assert call_with_hints(ask, {"topic": "1", "count": "2"}, {}, "prompt") == "2 1 short"
    with pytest.raises(ArgumentError, match="/style"):
        call_with_hints(ask, {"topic": "1", "count": "2", "style": "middling"}, {}, "prompt")


def test_the_hints_of_a_wrapped_function_are_its_own() -> None:
    def twice(function):
        @functools.wraps(function)
        def wrapper(*arguments, **keywords):
            return [function(*arguments, **keywords)] * 2

        return wrapper

    @twice
    def show(day: datetime.date, limit: int = Field(2)) -> str:
        return f"{type(day).__name__} {limit}"

    assert call_with_hints(show, {"day": "2026-07-28"}, {}) == ["date 2", "date 2"]


def test_hints_are_read_by_one_thread_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A type that is being read refers to itself until it is complete, so that no other thread may use it."""
    running: list[int] = []
    most: list[int] = []

    class SlowHints(hints.Hints):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            running.append(1)
            most.append(len(running))
            time.sleep(0.05)
            super().__init__(*arguments, **options)
            running.pop()

    monkeypatch.setattr(hints, "Hints", SlowHints)

    def double(value: int) -> int:
        return value * 2

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda value: hints.call_with_hints(double, {"value": value}, {}), range(4)))
    assert results == [0, 2, 4, 6]
    assert most == [1]


@dataclasses.dataclass
class Tagged:
    words: Words
    count: Annotated[int, pydantic.Field(ge=1)] = 1


def test_what_was_not_validated_is_judged_by_pydantic() -> None:
    """All of it: a part that the schema would have refused is, too."""

    def count(tagged: Tagged, other: int = 0) -> list[object]:
        return [tagged.words, tagged.count, other]

    mode = f"{hints.UNCHECKED}tagged"
    assert call_with_hints(count, {"tagged": {"words": "a b"}}, {}, mode) == [["a", "b"], 1, 0]
    with pytest.raises(ArgumentError, match=r"(?s)/tagged: .*greater than or equal to 1"):
        call_with_hints(count, {"tagged": {"words": "a", "count": 0}}, {}, mode)


def test_a_type_that_is_not_whole_is_refused_when_it_is_read() -> None:
    alias = typing_extensions.TypeAliasType("Unknown", Annotated[list["NotThere"], pydantic.Field()])  # noqa: F821
    with pytest.raises(NameError, match="NotThere"):
        conversion(alias)
