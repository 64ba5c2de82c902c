"""The door from values to source text: everything that goes through comes back as it was, and nothing else goes."""

import ast
import enum
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mcpc.schema
from mcpc.schema.code import NESTING_LIMIT, PythonCode, fill, indented, join_code, literal, numbered

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters()),
    st.binary(),
)
KEYS = st.one_of(st.text(st.characters()), st.integers(), st.binary(), st.none())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple), st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)


def same(one: Any, other: Any) -> bool:
    """Compare with types: `True` is not 1, and `-0.0` is not 0.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return repr(one) == repr(other)


@settings(max_examples=400, deadline=None)
@given(VALUES)
def test_a_literal_means_the_value_it_was_made_of(value: Any) -> None:
    written = literal(value)
    assert type(written) is PythonCode
    assert written.isascii()
    assert written.isprintable()
    assert same(ast.literal_eval(written), value)


@pytest.mark.parametrize(
    "text",
    [
        "", "'", '"', "'\"", "'''", '"""', "\\", "\\'", "\\\\", "\n", "\r\n", "\0", "\x1b[0m", "{", "}", "{0}", "%s", "%(a)s", "#",
        "\u2028", "\u202e", "\ud800", "\udfff\ud800", "\U0001f600", "\N{DIGIT ONE}", "\\N{DIGIT ONE}", "\\u0041", "\\x41",
        "');import os;('", "\ufeff", "é" * 5_000,
    ],
)  # fmt: skip
def test_no_text_escapes_from_its_literal(text: str) -> None:
    for value in (text, [text], (text,), {text: text}):
        written = literal(value)
        assert written.isascii()
        assert "\n" not in written
        tree = ast.parse(written, mode="eval")
        kinds = {type(node) for node in ast.walk(tree)}
        assert kinds <= {ast.Expression, ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Load}
        assert ast.literal_eval(written) == value


def test_integers_of_any_length_come_back() -> None:
    for number in (10**3999, 10**4000, -(10**5000), 2**20000, -(2**20000) + 1):
        assert ast.literal_eval(literal(number)) == number


class Text(str):
    __slots__ = ()


class Color(enum.IntEnum):
    RED = 1


@pytest.mark.parametrize(
    "value",
    [
        float("nan"), float("inf"), -float("inf"), [float("nan")], {1, 2}, frozenset(), object(), print, 1j, bytearray(b"a"),
        range(3), ..., Text("a"), Color.RED, PythonCode("x"), [PythonCode("x")], {PythonCode("x"): 1}, {"a": Text("b")}, iter(()),
    ],
)  # fmt: skip
def test_what_has_no_literal_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        literal(value)


def test_nesting_is_limited_to_what_python_can_read() -> None:
    value: object = 1
    for _ in range(NESTING_LIMIT - 1):
        value = [value]
    assert ast.literal_eval(literal(value)) == value
    with pytest.raises(ValueError, match="nested deeper"):
        literal([value])


def test_templates_take_code_and_nothing_else() -> None:
    x = fill("x")
    assert fill("%s in %s", literal("a%s{}"), x) == "'a%s{}' in x"
    assert join_code(" and ", [x, literal(1)]) == "x and 1"
    assert join_code(", ", []) == ""
    assert numbered("v", 3) == "v3"
    assert indented(2, x) == "        x"
    wrong: Any
    for wrong in ("x", Text("x"), 1, None):
        with pytest.raises(TypeError):
            fill("%s", wrong)
        with pytest.raises(TypeError):
            join_code(" ", [x, wrong])


def test_code_is_made_in_one_module_only() -> None:
    folder = Path(mcpc.schema.__file__).parent
    makers = [path.name for path in sorted(folder.rglob("*.py")) if re.search(r"\bPythonCode\(", path.read_text())]
    assert makers == ["code.py"]
