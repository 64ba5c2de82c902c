"""What a handler returns is written as pydantic writes it; what has no JSON form is refused with its place."""

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import json
import pathlib
import re
import uuid
from typing import Any

import pydantic_core
import pytest

from mcpc_runtime.handlers.python.bindings.hints import to_result
from mcpc_runtime.handlers.python.contract import FunctionResult, conclude_tool
from mcpc_runtime.handlers.python.execution import json_bytes
from mcpc_runtime.protocol.jsonrpc import parse


class Color(enum.Enum):
    RED = decimal.Decimal("0.50")


class Money:
    def __str__(self) -> str:
        return "3 EUR"


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = None


AS_PYDANTIC: dict[str, Any] = {
    "a decimal number": decimal.Decimal("1.10"), "a UUID": uuid.UUID(int=5), "an address": ipaddress.ip_address("::1"),
    "a network": ipaddress.ip_network("10.0.0.0/8"), "an interface": ipaddress.ip_interface("10.0.0.1/8"),
    "a complex number": 1 + 2j, "a fraction": fractions.Fraction(1, 3), "a pattern": re.compile("a+"),
    "a queue": collections.deque([1, 2]), "a range": range(3),
    "a time in UTC": datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC),
    "a duration": datetime.timedelta(seconds=90), "a path": pathlib.PurePosixPath("/x"),
    "an enumeration of other values": Color.RED,
    "bytes inside": {"a": [b"text", bytearray(b"more")]},
    "an object with a text": [Money()], "an exception": ValueError("no"),
    "keys that are not texts": {(1, "a"): 1, 2.5: 2, datetime.date(2026, 1, 2): 3, uuid.UUID(int=1): 4},
    "all inside": Point({"d": decimal.Decimal("2.0")}, (uuid.UUID(int=2), {datetime.time(1, 2)})),
}  # fmt: skip


@pytest.mark.parametrize("name", AS_PYDANTIC)
def test_the_json_is_that_of_pydantic(name: str) -> None:
    value = AS_PYDANTIC[name]
    assert json.loads(json_bytes(value)) == pydantic_core.to_jsonable_python(value, fallback=str)
    assert to_result(value, ()) == pydantic_core.to_jsonable_python(value, fallback=str)


def test_a_generator_is_read_once() -> None:
    assert json_bytes({1: decimal.Decimal(1), "a": (item for item in (1, 2))}) == b'{"1":"1","a":[1,2]}'


def instance_of(module: str, name: str) -> Any:
    """Return an instance of a class derived from one that a library would have."""
    base = type(name, (), {"__module__": module, "__str__": lambda self: "| a table |"})
    return type("Derived", (base,), {})()


NAN, INFINITE = float("nan"), float("inf")
REFUSED: list[tuple[Any, str, str]] = [
    (object(), "TypeError: the handler returned an object, which cannot", "return texts, numbers, lists, dicts"),
    ([1, {"a": len}], "TypeError: the handler returned a builtin_function_or_method at `/1/a`, which", "a dataclass"),
    (Point, "TypeError: the handler returned the class Point, which cannot", "return an instance: `Point(…)`"),
    ({"rows": Point(1, [object()])}, "an object at `/rows/y/0`, which", "a model of pydantic"),
    (NAN, "ValueError: the handler returned NaN, which JSON does not have", "return None or a text for it"),
    (Point({"mean": [1.5, NAN]}), "ValueError: the handler returned NaN at `/x/mean/1`, which", "return None"),
    ({"a": -INFINITE}, "ValueError: the handler returned an infinite number at `/a`, which", "return None"),
    ({"raw": b"\xff"}, "ValueError: the handler returned bytes at `/raw` that are not UTF-8", "base64.b64encode(…)"),
    (instance_of("PIL.Image", "Image"), "TypeError: the handler returned a Derived, which", '"mimeType": "image/png"'),
    (instance_of("pandas.core.frame", "DataFrame"), "a Derived, which", 'return its `.to_dict("records")`'),
    ({"s": instance_of("pandas", "Series")}, "a Derived at `/s`, which", "return its `.to_list()`"),
    (instance_of("numpy", "ndarray"), "a Derived, which", "return its `.tolist()`"),
    (instance_of("polars.dataframe.frame", "DataFrame"), "a Derived, which", "return its `.to_dicts()`"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "message", "help_text"), REFUSED)
@pytest.mark.parametrize("write", [json_bytes, lambda value: to_result(value, ("wrap",))], ids=["plain", "by hints"])
def test_a_value_without_a_json_form_is_named_with_its_place(
    value: Any, message: str, help_text: str, write: Any
) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        write(value)
    said = f"{caught.type.__name__}: {caught.value}"
    assert message in said
    assert help_text in said.partition("; ")[2]


def test_a_coroutine_is_to_be_awaited() -> None:
    async def later() -> int:
        return 1

    unawaited = later()
    with pytest.raises(TypeError, match=r"a coroutine at `/0`, which cannot be written as JSON; return `await …`"):
        json_bytes([unawaited])
    unawaited.close()


class NoOutput:
    class definition:  # noqa: N801 - a stand-in for a call
        output = None
        name = "a"


@pytest.mark.parametrize(("value", "text"), [(b"abc", "abc"), (b"\0\xff", "AP8="), (memoryview(b"ab"), "ab")])
def test_bytes_of_a_tool_are_a_text_or_its_base64(value: Any, text: str) -> None:
    outcome = conclude_tool(NoOutput, FunctionResult(parse(json_bytes(value))))  # type: ignore[arg-type]
    assert outcome.content == [{"type": "text", "text": text}]  # type: ignore[union-attr]
    assert to_result(value, ("wrap",)) == {
        "content": [{"type": "text", "text": text}],
        "structuredContent": {"result": text},
    }
    assert to_result(value, ("resource",)) is value
