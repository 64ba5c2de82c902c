"""Variables that begin with MCPC_: each that the runtime reads is known, and any other is told of when serving begins."""

from __future__ import annotations

import re

import pytest

from mcpc_runtime.http.settings import COMPILER, GIVEN, OPTIONS, READ, known_variables, unknown_variables
from support.needs import ROOT

NAME = re.compile(r"MCPC_[A-Z]+(?:_[A-Z]+)*")
LISTED = "runtime/mcpc_runtime/http/settings.py"


def named(folder: str, endings: tuple[str, ...]) -> set[str]:
    files = [file for file in (ROOT / folder).rglob("*") if file.suffix in endings and file != ROOT / LISTED]
    return {name for file in files for name in NAME.findall(file.read_text(encoding="utf-8"))}


def test_what_the_runtime_names_is_what_is_known() -> None:
    options = {option.variable for option in OPTIONS.values()}
    mentioned = named("runtime", (".py",)) | (
        named("templates", (".py", ".bash", ".sh", ".mjs", ".j2")) & known_variables()
    )
    assert mentioned - known_variables() == set(), "a variable that is read, and that a server would call unknown"
    assert (READ | GIVEN) - mentioned == set(), "a variable that nothing reads any more"
    assert not (READ | GIVEN | COMPILER) & options


def test_what_the_compiler_reads_is_known() -> None:
    text = "".join(file.read_text() for file in (ROOT / "compiler/mcpc").rglob("*.py"))
    read = set(re.findall(r"environ(?:\.get)?[\[(]\"(MCPC_[A-Z_]+)", text))
    assert read <= known_variables()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("MCPC_TOKENFILE", "MCPC_TOKEN_FILE"),
        ("MCPC_TOKEN", "MCPC_TOKENS"),
        ("MCPC_ISSUERS", "MCPC_ISSUER"),
        ("MCPC_ALLOWHOST", "MCPC_ALLOW_HOST"),
        ("MCPC_CALLLOG", "MCPC_CALL_LOG"),
    ],
)
def test_a_misspelt_name_is_told_with_the_right_one(name: str, meant: str) -> None:
    said = list(unknown_variables([name, "MCPC_PATH", "PATH"], guarded=True))
    assert said == [f"the variable {name} means nothing to this server; did you mean {meant}?"]


def test_what_is_like_no_name_is_told_without_one() -> None:
    assert list(unknown_variables(["MCPC_QQQQQQ\n"], guarded=False)) == [
        "the variable MCPC_QQQQQQ? means nothing to this server"
    ]
