"""Values of settings: where they come from, what is valid, and what is told of those that are not."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from mcpc_runtime import settings
from mcpc_runtime.settings import apply_settings, refusal_text
from support.expressions import check_expressions
from support.needs import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcpc_runtime.settings import Row


def row(
    kind: str = "string", *, required: bool = False, default: str | None = None, choices: tuple[str, ...] = ()
) -> Row:
    return ("X", kind, required, False, default, choices, "what it is for")


VALUES = [
    ("string", "a b", "a b", ""),
    ("string", "\udce4", "\udce4", ""),
    ("integer", " 12 ", "12", ""),
    ("integer", "1_000", "1000", ""),
    ("integer", "1.5", None, "X is not an integer"),
    ("number", "1e3", "1e3", ""),
    ("number", "much", None, "X is not a number"),
    ("number", "nan", None, "X is not a finite number"),
    ("number", "-inf", None, "X is not a finite number"),
    ("boolean", "YES", "true", ""),
    ("boolean", "0", "false", ""),
    ("boolean", "perhaps", None, "X is neither true nor false"),
    ("directory", "/", "/", ""),
    ("directory", "/nowhere/at/all", None, "X: there is no directory of this name"),
    ("file", "/", None, "X: there is no file of this name"),
]


@pytest.mark.parametrize(("kind", "given", "text", "problem"), VALUES)
def test_a_value_has_the_type_of_its_setting(kind: str, given: str, text: str | None, problem: str) -> None:
    environ = {b"X": given.encode("utf-8", "surrogateescape")}
    assert apply_settings([row(kind)], environ) == ([problem] if problem else [])
    if text is not None:
        assert environ[b"X"] == text.encode("utf-8", "surrogateescape")
    if given not in ("/", "0", "nan"):
        assert given not in problem, "a value may be secret, so it is never told"


def test_a_value_is_one_of_the_choices() -> None:
    rows = [row(choices=("metric", "imperial"))]
    assert apply_settings(rows, {b"X": b"metric"}) == []
    assert apply_settings(rows, {b"X": b"other"}) == ["X has an unknown value; expected one of metric, imperial"]
    assert apply_settings([row("integer", choices=("1", "2"))], {b"X": b" 2"}) == []


def test_a_required_setting_is_missing_if_it_is_empty_too() -> None:
    for environ in ({}, {b"X": b""}):
        assert apply_settings([row(required=True)], environ) == ["X is not set (what it is for)"]
    assert apply_settings([row()], {}) == []


def test_a_value_comes_from_the_variable_then_a_file_then_the_settings_file_then_the_default(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("of the file\n")
    (tmp_path / "settings.json").write_text('{"X": "of the settings file", "OTHER": 1}')
    environ = {
        b"X": b"of the variable",
        b"X_FILE": bytes(tmp_path / "x"),
        b"MCPC_SETTINGS_FILE": bytes(tmp_path / "settings.json"),
    }
    found = []
    for name in (b"X", b"X_FILE", b"MCPC_SETTINGS_FILE", b"none"):
        given = dict(environ)
        assert apply_settings([row(default="the default")], given) == []
        found.append(given[b"X"])
        environ.pop(name, None)
    assert found == [b"of the variable", b"of the file", b"of the settings file", b"the default"]


@pytest.mark.parametrize(("value", "text"), [(True, b"true"), (12, b"12"), (1.5, b"1.5"), ("a", b"a")])
def test_the_settings_file_has_values_of_json(tmp_path: Path, value: object, text: bytes) -> None:
    (tmp_path / "settings.json").write_text(json.dumps({"X": value}))
    environ = {b"MCPC_SETTINGS_FILE": bytes(tmp_path / "settings.json")}
    assert apply_settings([row()], environ) == []
    assert environ[b"X"] == text


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "MCPC_SETTINGS_FILE: the file that it names cannot be read: No such file or directory"),
        ("[]", "MCPC_SETTINGS_FILE: the file has no JSON object with names and values"),
        ("{", "MCPC_SETTINGS_FILE: the file is not JSON"),
        ("x" * (1 << 20 | 1), "MCPC_SETTINGS_FILE: the file that it names is larger than 1 MiB"),
    ],
)
def test_a_settings_file_that_cannot_be_used_is_named(tmp_path: Path, content: str | None, problem: str) -> None:
    path = tmp_path / "settings.json"
    if content is not None:
        path.write_text(content)
    environ = {b"MCPC_SETTINGS_FILE": bytes(path)}
    assert apply_settings([row(default="1")], environ) == [problem]
    assert environ[b"X"] == b"1"


def test_a_file_of_a_secret_that_is_missing_is_named_by_its_variable() -> None:
    problem = "X_FILE: the file that it names cannot be read: No such file or directory"
    assert apply_settings([row()], {b"X_FILE": b"/nowhere/secret"}) == [problem]


def test_the_error_of_a_call_names_all_problems_and_the_next_step() -> None:
    assert refusal_text([]) == ""
    text = refusal_text(["A is not set", "B is not an integer"])
    assert text.startswith("A is not set; B is not an integer. Set it as a variable of this server")


def test_values(golden: Callable[[Path, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(settings, "log_line", logged.append)
    monkeypatch.setattr(settings.system, "environ", {})
    for name in "ABCDEX":
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    known = {"folder": tmp_path, "logged": logged, "Image": SimpleNamespace}
    check_expressions(golden, ROOT / "tests/golden/runtime/settings.txt", settings, **known)
