"""What a docstring says: what the function is for, and what each parameter means; Google's, NumPy's, reST's, epytext.

Runs in the process of the project.
"""

from __future__ import annotations

import inspect
import re

from docstring_parser import ParseError, parse

MISREAD = (ParseError, AttributeError, LookupError, TypeError, ValueError)
"""What is raised for a text that looks like a section and is none."""


SUMMARY = "-"
SECTION = re.compile(r"(?:Args|Arguments|Parameters|Params)(?::|[ \t]*\n-{3,}[ \t]*)$", re.MULTILINE)


def read(text: str) -> tuple[str, dict[str, str]]:
    """Return the description, which is what comes before the sections, and the text of each parameter."""
    text = inspect.cleandoc(text)
    try:
        # A section at the very beginning is found only below something.
        parsed = parse(f"{SUMMARY}\n\n{text}") if SECTION.match(text) else parse(text)
    except MISREAD:
        return text, {}
    if not parsed.meta:
        return text, {}
    documented: dict[str, str] = {}
    for parameter in parsed.params:
        for name in parameter.arg_name.split(","):
            documented[name.strip().lstrip("*")] = (parameter.description or "").strip()
    return (parsed.description or "").removeprefix(SUMMARY).strip(), documented
