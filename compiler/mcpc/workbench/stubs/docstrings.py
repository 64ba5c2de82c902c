"""Docstrings: texts of definitions in source, and what is said about members.

Only printable characters are written, and nothing ends the docstring that it is in.
"""

from __future__ import annotations

import ast
import json
import textwrap
from typing import TYPE_CHECKING

from mcpc.schema.code import literal
from mcpc.schema.models.view_schemas import UNLIMITED, visible_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.schema.models.view_schemas import Shape

OTHER_MEMBERS = "Other members are allowed."
WIDTH = 100


def docstring(text: str, indent: str) -> str:
    """Return a text as a docstring, with the indentation of its lines."""
    shown = visible_text(text).strip()
    lines = [line.rstrip() for line in shown.split("\n")]
    escaped = "\n".join(line and f"{indent}{line}" for line in lines).strip().replace("\\", "\\\\")
    body = escaped.replace('"""', '\\"\\"\\"')
    if body.endswith('"'):
        body = body[:-1] + '\\"'
    found = f'"""{body}\n{indent}"""' if len(lines) > 1 else f'"""{body}"""'
    return found if is_docstring(found, shown) else literal(shown)


def is_docstring(source: str, text: str) -> bool:
    """Tell whether a source is one string, with the words of a text."""
    try:
        found = ast.literal_eval(source)
    except (SyntaxError, ValueError, MemoryError):
        return False
    return isinstance(found, str) and found.split() == text.split()


def member_lines(members: Mapping[str, Shape]) -> Iterator[str]:
    """Yield a line for each member that has something to say."""
    for name, shape in members.items():
        if words := member_text(shape):
            yield from textwrap.wrap(
                f"{name}: {words}", WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
            )


def member_text(shape: Shape) -> str:
    """Return what a type does not say about a member, in one line."""
    said = " ".join(str(shape.get("description", "")).split())
    limits = [f"{key} {json.dumps(shape[key])}" for key in sorted(UNLIMITED & shape.keys())]
    if "default" in shape:
        limits.append(f"default {json.dumps(shape['default'])}")
    return f"{said} ({', '.join(limits)})".strip() if limits else said


def full_text(shape: Shape, members: Mapping[str, Shape]) -> str:
    """Return the text of an object with names: its description, its members, and what else it may have."""
    extras = shape.get("additionalProperties")
    others = OTHER_MEMBERS if isinstance(extras, dict) and extras else ""
    paragraphs = (str(shape.get("description", "")), "\n".join(member_lines(members)), others)
    return "\n\n".join(part for part in paragraphs if part)
