"""Why code of a project failed during a build: an exception, its place, and the help that its cause has.

    process of the project ─raised_facts─▶ JSON ─parse_raised─▶ Raised ─explained─▶ help

Files of decorated functions (MCP216) and programs of frameworks (MCP286) use one table of causes (`table.py`).
"""

from mcpc.frontends.causes.model import IMPORTED, STARTED, Occasion, Raised, parse_raised
from mcpc.frontends.causes.spans import line_span, span_of
from mcpc.frontends.causes.table import Help, explained

__all__ = ["IMPORTED", "STARTED", "Help", "Occasion", "Raised", "explained", "line_span", "parse_raised", "span_of"]
