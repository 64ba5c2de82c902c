"""The texts of commands: each has its own name, so that none stands in the place of another."""

import re

import pytest

from support.needs import ROOT

FILES = sorted(path for root in ("compiler", "runtime") for path in (ROOT / root).rglob("messages.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_text_is_defined_twice(path) -> None:
    names = re.findall(r"^([A-Z][A-Z_0-9]*) = ", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert names and sorted(set(names)) == sorted(names)
