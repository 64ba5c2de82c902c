"""What a docstring says: what the function is for, and what each parameter means; Google's, NumPy's, reST's, epytext.

Runs in the process of the project.
"""

from __future__ import annotations

import inspect

from docstring_parser import ParseError, parse

MISREAD = (ParseError, AttributeError, LookupError, TypeError, ValueError)
"""What is raised for a text that looks like a section and is none."""


def read(text: str) -> tuple[str, dict[str, str]]:
    """Return the description, which is what comes before the sections, and the text of each parameter."""
    text = inspect.cleandoc(text)
    try:
        parsed = parse(text)
    except MISREAD:
        return text, {}
    if not parsed.meta:
        return text, {}
    documented: dict[str, str] = {}
    for parameter in parsed.params:
        for name in parameter.arg_name.split(","):
            documented[name.strip().lstrip("*")] = (parameter.description or "").strip()
    return (parsed.description or "").strip(), documented
