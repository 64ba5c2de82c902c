"""The variables of the file `.env` beside a project, for `mcpc dev` and `mcpc call`: no build reads it.

API_KEY=abc            # what follows a space and `#` is a comment
export NAME='as it is'
TEXT="in double quotes, with escapes"
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click

from mcpc.cli import messages
from mcpc_runtime.artifact.settings import DOTENV

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 1 << 20
# A name, `=`, and a value: all up to the next `'`; or up to the next `"` without a backslash; or the rest of the
# line. A `#` begins a comment only behind a blank, so that `KEY=a#b` has it in its value.
ROW = re.compile(
    r"^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*"
    r"(?:'(?P<raw>[^']*)'|\"(?P<text>(?:[^\"\\]|\\.)*)\"|(?P<plain>[^\r\n]*?))[ \t]*(?:(?<=[ \t])#[^\r\n]*)?\r?$",
    re.MULTILINE | re.DOTALL,
)
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def project_variables(target: Path) -> dict[str, str]:
    """Return the variables of a project's file `.env` that this process does not have; none for a built file."""
    path = target / DOTENV
    if not path.is_file():
        return {}
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES or b"\0" in content:
        raise click.UsageError(messages.NOT_DOTENV.format(path=path))
    # Bytes that are not UTF-8 come back as they were when the variable is set.
    text = content.decode("utf-8-sig", "surrogateescape")
    return {name: value for name, value in parse(text).items() if name not in os.environ}


def parse(text: str) -> dict[str, str]:
    """Return the variables of a text; of one that is set twice the last value counts."""
    return {row["name"]: value_of(row) for row in ROW.finditer(text)}


def value_of(row: re.Match[str]) -> str:
    """Return the value of a row: in double quotes with the escapes of a shell's `$'…'` that are usual here."""
    if row["text"] is not None:
        return ESCAPED.sub(lambda match: ESCAPES.get(match[1], match[1]), row["text"])
    return row["plain"] if row["raw"] is None else row["raw"]
