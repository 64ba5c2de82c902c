"""The glossary is kept: no new offence, no allowed one that is gone, and the check finds what it should."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vocabulary.check import find_offences, read_allowed
from vocabulary.rules import GLOSSARY, HEADING, ROOT, read_rules

if TYPE_CHECKING:
    from pathlib import Path

MOST_TERMS = 60
TABLE = f"""{HEADING}

| not | but | in | except |
|---|---|---|---|
| `said`, `at_once` | a noun | names | |
| `is no X` | is not a | text | `there is no` |
| `mend` | fix | text | |
"""


def test_offences_are_exactly_the_allowed_ones() -> None:
    assert find_offences() == read_allowed()


def test_glossary_has_few_terms_of_one_sentence() -> None:
    terms = (ROOT / GLOSSARY).read_text(encoding="utf-8").partition(HEADING)[0]
    rows = [line for line in terms.splitlines() if line.startswith("| ")][1:]
    assert 40 <= len(rows) <= MOST_TERMS
    assert all(row.endswith(". |") and row.count(". ") == 1 for row in rows)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("this is no file", ["is no file"]),
        ("it IS\nno `uri`", ["is no `uri`"]),
        ("there is no file", []),
        ("Mend the mended amendment", ["mend"]),
        ("is not a file", []),
    ],
)
def test_refused_phrases(text: str, found: list[str]) -> None:
    assert read_rules(TABLE).refused_phrases(text) == found


def test_row_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="unreadable row"):
        read_rules(TABLE + "| said | a noun | names | |\n")


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def test_each_kind_of_offence_is_found(tmp_path: Path) -> None:
    write(tmp_path, GLOSSARY, TABLE)
    write(tmp_path, "README.md", "Mend it.\n\n```\nmend\n```\n\n    mend\n\nThe option `mend`.\n")
    write(
        tmp_path,
        "compiler/mcpc/a.py",
        '"""A module.\n\nMend."""\nclass AtOnce:\n    def said(self) -> None:\n        """Mend."""\n',
    )
    write(tmp_path, "compiler/mcpc/said.py", "class Twice: ...\nclass _Private: ...\n")
    write(tmp_path, "compiler/mcpc/b.py", "class Twice: ...\nclass _Private: ...\n")
    write(tmp_path, "runtime/mcpc_runtime/b.py", "class Twice: ...\n")
    write(tmp_path, "compiler/mcpc/cli/c.py", 'HELP = "Mend it."\n')
    assert find_offences(tmp_path) == [
        "README.md: 'mend'",
        "compiler/mcpc/a.py: class AtOnce",
        "compiler/mcpc/a.py: docstring of function said: 'mend'",
        "compiler/mcpc/a.py: function said",
        "compiler/mcpc/cli/c.py: text: 'mend'",
        "compiler/mcpc/said.py: module said",
        "compiler/mcpc: class Twice is defined 2 times",
    ]
