"""Where a shell file sets errexit (`set -e`): for all that follows, or in a function."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span
from mcpc.languages.bash.lexer import scan_library

if TYPE_CHECKING:
    from mcpc.reading import Source

SETS = re.compile(r"\bset[ \t]+(?:[-+][\w-]+[ \t]+)*?-(?:[A-Za-z]*e[A-Za-z]*|[A-Za-z]*o[ \t]+errexit)\b")


def places_of_errexit(source: Source) -> tuple[list[Span], list[Span]]:
    """Return where a file sets errexit when it is read, and where its functions do."""
    scanned = scan_library(source.text)
    at_top = {command[0].start for command in scanned.commands}
    when_read: list[Span] = []
    in_functions: list[Span] = []
    for start in sorted(scanned.begun):
        found = SETS.match(source.text, start)
        if found is not None:
            (when_read if start in at_top else in_functions).append(Span(source.path, *found.span()))
    return when_read, in_functions
