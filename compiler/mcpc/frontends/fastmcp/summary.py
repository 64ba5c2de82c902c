"""What `mcpc check` says of a program: what will be the same in the built server, and what will not.

Five rows, each of at most two lines in a terminal of 80 columns, and only what holds for this program.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from mcpc.frontends.fastmcp.frameworks import Framework, is_recorded, latest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostics
    from mcpc.model.ir import Server

SETTINGS = "fastmcp"
"""The key of the index with the program's entry."""
NAMES = {"sdk": "the official SDK", "fastmcp": "FastMCP"}
CHOSEN = {
    "locked": "locked",
    "required": "required",
    "newest": "nothing pins it",
}
"""Why a version was taken (`Framework.chosen`)."""
SAME = "schemas, results and errors of that version, lifespan, environment"
SAME_PATCH = "schemas, results and errors of {known}, the last patch that was recorded; lifespan, environment"
SAME_UNKNOWN = "schemas, results and errors of {known}; {version} is not known; lifespan, environment"
SAME_ORIGINAL = "all that the framework does in a call: it is bundled, and handles it"
DIFFERENT = "lists are made at build; the first call starts the program;"
DIFFERENT_ORIGINAL = "lists are made at build; the first call starts the original;"
LOW_LEVEL = "arguments are refused by the compiled schemas;"
TRANSPORTS = {
    True: "pipes or `serve --http` instead of its transport, host and port",
    False: "pipes instead of its transport, host and port (HTTP: `--http`)",
}
WIDTH, LABEL = 78, 11
MAX_PACKAGES = 3
NOTE, MISSING = "MCP287", "MCP297"


def summary(server: Server, problems: Diagnostics) -> tuple[str, ...]:
    """Return the lines; `problems`: what was found in the project."""
    return tuple(line for label, text in rows(server, problems) for line in lines_of(label, text))


def rows(server: Server, problems: Diagnostics) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of each row."""
    row: Any = dict(server.runtime_settings)[SETTINGS]
    words = " ".join([str(row["target"]), *map(str, row["arguments"])])
    is_original = bool(server.traits.notes)
    yield "program", f"{words}, for {NAMES[row['generation'][:-1]]} {row['version']} ({CHOSEN[row['chosen']]})"
    yield "the same", SAME_ORIGINAL if is_original else same(row["generation"], row["version"])
    low_level = {getattr(tool.handler, "arguments", "handler") for tool in server.tools} == {"schema"}
    has_http = server.serving is not None and "uvicorn" in server.serving.modules
    different = [made_lists(server, is_original=is_original), *([LOW_LEVEL] if low_level else []), TRANSPORTS[has_http]]
    yield "different", " ".join(different)
    yield "noted", noted(problems)
    yield "packages", packages(server, is_original=is_original)


def same(generation: str, version: str) -> str:
    """Return what is the same as with a version of a framework, or as with the last one that is known."""
    known = latest(generation)
    if not is_recorded(Framework(generation, version)):
        return SAME_UNKNOWN.format(known=known, version=version)
    return SAME_PATCH.format(known=known) if Version(version) > Version(known) else SAME


def made_lists(server: Server, *, is_original: bool) -> str:
    """Return when lists are made, and what the first call starts."""
    kinds = sorted(server.run_time.kinds) if server.run_time is not None else []
    if kinds:
        return f"lists of {', '.join(kinds)} are made at run time; the first of them starts the program;"
    return DIFFERENT_ORIGINAL if is_original else DIFFERENT


def noted(problems: Diagnostics) -> str:
    """Return how many parts of the program have no effect or may fail."""
    notes, missing = (sum(problem.code == code for problem in problems) for code in (NOTE, MISSING))
    parts = [
        *([f"{counted(notes, 'part')} with another effect or none ({NOTE} above)"] if notes else []),
        *([f"{counted(missing, 'import')} that will fail ({MISSING} above)"] if missing else []),
    ]
    return "; ".join(parts) or "nothing that the program uses is left out"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def packages(server: Server, *, is_original: bool) -> str:
    """Return which packages the built file has: first those that the project requires itself."""
    layer = server.layer
    asked = {item.name for item in server.requirements or () if item.span is not None}
    found = [] if layer is None else sorted((item.name not in asked, item.name) for item in layer.packages)
    names = [name for _, name in found]
    more = f" and {len(names) - MAX_PACKAGES} more" if names[MAX_PACKAGES:] else ""
    framework = "with the framework" if is_original else "without the framework"
    return f"{', '.join(names[:MAX_PACKAGES]) or 'none'}{more}, {framework}"


def lines_of(label: str, text: str) -> list[str]:
    """Return the lines of a row."""
    return textwrap.wrap(
        f"{label:<{LABEL}}{text}", WIDTH, subsequent_indent=" " * LABEL, break_long_words=False, break_on_hyphens=False
    )
