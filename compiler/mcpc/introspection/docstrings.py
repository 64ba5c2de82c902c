"""Parser of docstrings in the styles of Google, NumPy, reST and epytext: a function's purpose and parameters.

Runs in the process of the project.
"""

from __future__ import annotations

import inspect
import re

from docstring_parser import ParseError, parse

PARSER_ERRORS = (ParseError, AttributeError, LookupError, TypeError, ValueError)
"""What the parser raises for a text that only looks like a section."""


PLACEHOLDER = "-"
SECTION = re.compile(r"(?:Args|Arguments|Parameters|Params)(?::|[ \t]*\n-{3,}[ \t]*)$", re.MULTILINE)


def parse_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Return the description, which precedes the sections, and the text of each parameter."""
    text = inspect.cleandoc(text)
    try:
        # A section at the very beginning is found only below something.
        parsed = parse(f"{PLACEHOLDER}\n\n{text}") if SECTION.match(text) else parse(text)
    except PARSER_ERRORS:
        return text, {}
    if not parsed.meta:
        return text, {}
    documented: dict[str, str] = {}
    for parameter in parsed.params:
        for name in parameter.arg_name.split(","):
            documented[name.strip().lstrip("*")] = (parameter.description or "").strip()
    return (parsed.description or "").removeprefix(PLACEHOLDER).strip(), documented
