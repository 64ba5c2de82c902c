"""Imports that are done late: the first use imports, and puts what is imported in the stand-in's place."""

import shlex
import sys
from fractions import Fraction
from typing import Any

import pytest

from mcpc_runtime import lazy as module
from mcpc_runtime.lazy import lazy


def test_the_first_call_puts_the_function_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    scope = {"lazy": lazy, "__name__": "scope"}
    exec('quote = lazy("shlex:quote")\nother = lazy("shlex:quote", "other")\nshlex = lazy("shlex")', scope)
    assert (scope["quote"]("a b"), scope["other"]("a"), scope["shlex"].quote("c d")) == ("'a b'", "a", "'c d'")
    assert scope["quote"] is scope["other"] is shlex.quote
    assert scope["shlex"] is shlex


def test_what_is_not_there_is_an_import_error_each_time() -> None:
    scope = {"lazy": lazy, "__name__": "scope"}
    exec('missing = lazy("mcpc_runtime.no_such_module:name")\nno = lazy("mcpc_runtime.no_such_module")', scope)
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError):
            scope["missing"]()
        with pytest.raises(ModuleNotFoundError):
            assert scope["no"].anything


def test_rows_of_tables_are_imported_once() -> None:
    assert module.resolve("shlex:quote") is module.resolve("shlex:quote")


def test_nothing_is_of_a_class_before_its_module_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    scope: dict[str, Any] = {"lazy": lazy, "__name__": "scope"}
    exec('Third = lazy("colorsys:ONE_THIRD")\nFraction = lazy("fractions:Fraction")', scope)
    assert not isinstance(1, scope["Third"])
    assert "colorsys" not in sys.modules
    assert isinstance(Fraction(1), (str, scope["Fraction"])) and not isinstance(1, scope["Fraction"])
