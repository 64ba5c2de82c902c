"""What is wrong with a text that is not TOML: the place, the message and the fix of common mistakes."""

import ast
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpc.reading.toml import toml_mistake
from support.needs import ROOT

CASES = ROOT / "tests/golden/sources/toml_mistakes.cases"


def printed(text: str) -> str:
    with pytest.raises(tomllib.TOMLDecodeError) as raised:
        tomllib.loads(text)
    found = toml_mistake(raised.value, text)
    return f"{text!r}\n  {text[found.start : found.end]!r} at {found.start}: {found.message}; {found.hint}\n"


def test_mistakes_are_named_where_they_are(golden: Callable[[Path, str], None]) -> None:
    cases = [ast.literal_eval(line) for line in CASES.read_text("utf-8").splitlines()]
    golden(CASES.with_suffix(".txt"), "\n".join(map(printed, cases)))


def test_what_is_not_known_is_said_as_the_parser_says_it() -> None:
    assert toml_mistake(ValueError("Something else (at line 2, column 3)"), "a = 1\nb = 2\n") == (
        8,
        9,
        "Something else",
        "",
    )
    assert toml_mistake(ValueError("It is odd (at end of document)"), "a") == (1, 1, "It is odd", "")
    assert toml_mistake(ValueError("it is nested too deeply"), "") == (0, 0, "it is nested too deeply", "")
