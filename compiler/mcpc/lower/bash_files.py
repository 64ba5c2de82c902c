"""Files of the project that a Bash library names by a relative path: Bash looks for them where the server was started.

That is never the folder of the project's files, which are in the built file.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.languages.bash.lexer import scan_library

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import Source

STARTED = re.compile(
    r"(?:(?P<reader>source|\.|bash|sh|python3?|node|perl|ruby)[ \t]+(?:-\w+[ \t]+)*)?"
    r"(?P<quote>[\"']?)(?P<path>[\w.-]+(?:/[\w.-]+)*)(?P=quote)(?=[\s;|&)<>`]|\Z)"
)
FINDS_PLACE = re.compile(
    r"\bcd\b[^\n]*(?:BASH_SOURCE|MCPC_FILES)|\bcd\b[^\n]*\$\{?[A-Za-z_]*(?:DIR|HOME|ROOT|dir|root)\b"
)
"""Matches a change to a folder that the library has computed: relative paths are meant from there."""
OWN_FOLDER = '`"$MCPC_FILES/'


def relative_files(libraries: Sequence[Source], paths: set[str]) -> Iterator[Diagnostic]:
    """Yield the files of the project that libraries start or read by a relative path; `paths`: its files."""
    if not any(FINDS_PLACE.search(source.text) for source in libraries):
        for source in libraries:
            yield from _relative(source, paths)


def _relative(source: Source, paths: set[str]) -> Iterator[Diagnostic]:
    folders = {path.rpartition("/")[0] for path in paths if "/" in path}
    tops = {folder.partition("/")[0] for folder in folders}
    for start in sorted(scan_library(source.text).begun):
        found = STARTED.match(source.text, start)
        path = posixpath.normpath(found["path"]) if found is not None else ""
        if found is None or not (found["reader"] or "/" in found["path"]):
            continue
        is_there = path in paths and path != source.path
        if not is_there and not ("/" in path and path.partition("/")[0] in tops):
            continue
        span, hint = Span(source.path, *found.span("path")), f'write {OWN_FOLDER}{path}"`: the server unpacks its files'
        if is_there:
            message = f"`{path}` is looked for where the server is started, which is not the project's folder"
        else:
            message, hint = f"the project has no file `{path}`", "add it, or correct its name"
        yield diagnose("MCP259", span, message, "", hint)
