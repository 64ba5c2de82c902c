"""The file `.env` beside a project: what is read of it, and that the environment counts more."""

from pathlib import Path

import click
import pytest

from mcpc.cli.dotenv import MAX_BYTES, parse, project_variables

TEXT = """# a comment
PLAIN=a b # comment
 export OWN = 'a "b" # c\\n'
HASH=a#b
EMPTY=
DOUBLE="a \\"b\\"\\nc" # comment
LINES="one
two=2
"
UNDER_1=${HOME}
TWICE=1
TWICE=2
1WRONG=x
no variable
"""


def test_rows_are_variables() -> None:
    assert parse(TEXT.replace("HASH=a#b\n", "HASH=a#b\r\n")) == {
        "PLAIN": "a b",
        "OWN": 'a "b" # c\\n',
        "HASH": "a#b",
        "EMPTY": "",
        "DOUBLE": 'a "b"\nc',
        "LINES": "one\ntwo=2\n",
        "UNDER_1": "${HOME}",
        "TWICE": "2",
    }


def test_a_project_has_variables_that_the_environment_has_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWN", "own")
    file = tmp_path / ".env"
    assert project_variables(tmp_path) == {}
    file.write_bytes(b"\xef\xbb\xbfNEW=\xff\nKNOWN=x\n")
    assert project_variables(tmp_path) == {"NEW": "\udcff"}
    assert project_variables(file) == {}
    file.write_bytes(b"A=" + b"a" * (MAX_BYTES - 2))
    assert len(project_variables(tmp_path)["A"]) == MAX_BYTES - 2
    for content in (b"A=" + b"a" * (MAX_BYTES - 1), b"A=\0"):
        file.write_bytes(content)
        with pytest.raises(click.UsageError):
            project_variables(tmp_path)
