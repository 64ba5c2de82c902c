"""Temporary files of fixed names that a shell file writes: calls that run at once write over each other's.

A name that has the process or a random part in it is not fixed, nor is one that depends on an argument.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.languages.bash.forkable import without_comments
from mcpc.languages.bash.lexer import scan_library

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import Source

WORD = r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s"';|&()<>`])+"""
ASSIGNED = re.compile(rf"(?:^|(?<=[\s;&|({{]))(?P<name>[A-Za-z_]\w*)=(?P<word>{WORD})", re.MULTILINE)
WRITTEN = re.compile(
    rf"""
    (?: (?<![<>]) (?:&>|>[|&]?) [ \t]*                                      # not `>>`, which adds to a log
    | \b tee [ \t]+ (?:-[ip]+[ \t]+)*
    | \b (?:cp|mv|ln|install|rsync) \b [^\n;|&()]{{1,200}}? [ \t]+ (?={WORD}[ \t]*(?:[\n;|&)]|\Z))
    | [ \t] (?:-[oO]|--output(?:-document)?) (?:[ \t]+|=) | \bof= )
    (?P<word>{WORD})
    """,
    re.VERBOSE,
)
VARIABLE = re.compile(r"\$(?:(?P<plain>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})")
SAME_IN_ALL_CALLS = r"\$\{?(?:USER|LOGNAME|UID|EUID|HOSTNAME|FUNCNAME)(?:\[0\])?\}?"
FIXED = re.compile(
    r"(?:/(?:var/)?tmp|/dev/shm|\$TMPDIR|\$\{TMPDIR(?::?-[^}\n]*)?\})"
    rf"(?:/+(?:[\w.@%+,:=-]|{SAME_IN_ALL_CALLS})+)+"
)
LOCKS = re.compile(r"\bflock\b")
PROCESS = re.compile(r"\$\$|\$\{\$\}")
MAX_LENGTH = 1000
HINT = (
    "`work=$(mktemp)` makes one for each call, and `$$` in a name is another number in each; or let calls run one "
    "after the other: `concurrent = false` in `[tool.mcpc]`"
)


def names_process(text: str) -> bool:
    """Tell whether the text of a shell has `$$`, which is the same number in all forks of one shell."""
    return PROCESS.search(without_comments(text, scan_library(text))) is not None


def shared_temporary_files(files: Sequence[Source]) -> Iterator[Diagnostic]:
    """Yield the temporary files that functions of one shell write under a fixed name, each once."""
    texts = [without_comments(source.text, scan_library(source.text)) for source in files]
    if any(map(LOCKS.search, texts)):
        return
    values: dict[str, str] = {}
    reported: set[str] = set()
    for source, text in zip(files, texts, strict=True):
        for found in sorted((*ASSIGNED.finditer(text), *WRITTEN.finditer(text)), key=lambda found: found.start("word")):
            path = resolved(found["word"].replace('"', "").replace("'", ""), values)
            if found.re is ASSIGNED:
                values[found["name"]] = path
            elif FIXED.fullmatch(path) and not path.endswith(".lock") and path not in reported:
                reported.add(path)
                message = f"`{path}` is the same file in all calls, and calls run at once"
                yield diagnose("MCP268", Span(source.path, *found.span("word")), message, "", HINT)


def resolved(word: str, values: dict[str, str]) -> str:
    """Return the beginning of a word with the values that variables were last given, as far as they are known."""
    return VARIABLE.sub(lambda found: values.get(found["plain"] or found["braced"], found[0]), word)[:MAX_LENGTH]
