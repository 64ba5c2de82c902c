"""Values of settings: where they come from, what is valid, and what is told of those that are not."""

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from mcpc_runtime.artifact import settings
from mcpc_runtime.artifact.settings import READ, Row, apply_settings
from support.expressions import check_expressions
from support.needs import ROOT

ROW: Row = ("X", "string", False, False, "the default", (), "what it is for")


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
        assert apply_settings([ROW], given) == []
        found.append(given[b"X"])
        environ.pop(name, None)
    assert found == [b"of the variable", b"of the file", b"of the settings file", b"the default"]


def test_a_placeholder_that_a_client_left_is_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    secret: Row = ("KEY", "string", True, True, None, (), "")
    plain: Row = ("PLAIN", "string", False, False, None, (), "")
    for text in (b"", b"${user_config.key}", b"${}", b"${input:key}"):
        monkeypatch.setenv("PLAIN", text.decode())
        given = {b"X": text, b"KEY": text, b"PLAIN": text}
        assert apply_settings([ROW, secret, plain], given) == ["KEY is not set"]
        assert (given, "PLAIN" in os.environ) == ({b"X": b"the default"}, False)
    for text in (b"${a} b", b"x${a}", b"${a}${b}", b"${a", b"$a"):
        given = {b"X": text}
        assert (apply_settings([ROW], given), given) == ([], {b"X": text})


def test_a_program_may_have_what_it_reads_from_a_file_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows: list[Row] = [("KEY", kind, True, True, None, (), "") for kind in (READ, "string")]
    assert apply_settings(rows, {}) == ["KEY is not set"] * 2
    (tmp_path / ".env").write_text("")
    assert apply_settings(rows, {}) == ["KEY is not set"]


def test_values(golden: Callable[[Path, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(settings, "log_line", logged.append)
    monkeypatch.setattr(settings.system, "environ", {})
    for name in "ABCDEX":
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    known = {"folder": tmp_path, "logged": logged, "Image": SimpleNamespace}
    check_expressions(golden, ROOT / "tests/golden/runtime/settings.txt", settings, **known)
