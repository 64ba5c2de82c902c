"""What keeps calls of Bash scripts from sharing a shell or running at once: what forks cannot do, files, errexit.

Only scripts that cannot observe the difference are forkable; any other one just starts later. The child reads the
script with `source`, in its folder, under its name, without arguments, options or input.

A name that has the process or a random part in it is not fixed, nor is one that depends on an argument.
"""

from __future__ import annotations

import re
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.languages.bash.lexer import scan_library

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic
    from mcpc.languages.bash.lexer_state import Scan
    from mcpc.reading import Source

SHEBANG = re.compile(r"#![ \t]*(?:/usr/bin/env[ \t]+bash|/[^\s]*/bash)[ \t]*\n")
SUFFIXES = (".sh", ".bash")
SDK = frozenset({"tool-sdk.sh", "ui-sdk.sh"})
COMMAND = r"(?:^|[;&|({`!]|\b(?:if|then|elif|else|while|until|do|time|builtin|command)\b)[ \t]*"
END = r"[ \t]*(?:[;|&)>\n]|\Z)"
BODY = r"""(?:'[^'\n]{0,200}'|"(?:[^"\\\n]|\\.){0,200}"|[\w./:-]+)"""
TRAP = rf"""\btrap\b(?!(?:[ \t]+--)?[ \t]+{BODY}(?:[ \t]+["']?%s["']?){{1,12}}[ \t]*(?:[\n;&|)}}\#]|\Z))"""
"""A trap, unless it is certainly set only for certain signals, whose pattern replaces `%s`."""
OF_SHELL = TRAP % r"(?!(?i:(?:SIG)?(?:ERR|DEBUG|RETURN))\b)[A-Za-z0-9]{1,12}"
OBSERVES_PROCESS = re.compile(
    rf"""
    \$\$ | \$- | \$\{{-                 # a process, and options: `c` is one of a shell that was given its text
    | \b(?:BASHPID|PPID|SHLVL|BASH_SUBSHELL|BASH_ARG[CV]0?|BASH_LINENO|BASH_COMMAND|BASH_EXECUTION_STRING|DIRSTACK)\b
    | \bFUNCNAME\[(?!0\]) | \bcaller\b  # who called: `source`, and not `main`
    | {OF_SHELL} | \bextdebug\b    # `source` is a command, too
    | \b(?:trap|kill)\b[^\n]{{200}}    # not to look at the rest of a long line from each of its words
    | \btrap\s+-[lp] | \bset\s+-\w*[ETmxv] | \bPS4\b
    | [-+]\w*o\w*\s+(?:errtrace|functrace|history|monitor|posix|verbose|xtrace)\b | \bPOSIXLY_CORRECT\b
    | \b(?:declare|typeset|local|export|readonly)\s+-\w*[pfF]
    | {COMMAND}(?:declare|typeset|local|export|readonly)(?:[ \t]+-\w+){{0,4}}{END}    # which show all variables
    | {COMMAND}set{END} | \bset\s+[-+]\w*o{END}
    | {COMMAND}(?:compgen|complete|coproc|jobs|fg|bg|suspend|disown|hash|enable|trap[ \t]*$)\b
    | \bkill\b[^\n;|&]{{0,200}}\s-?(?:0\b|-\s*[\$\d]|\d+\s*$)    # its group, of which the one that watches it is
    | \bexec\s+-\w | /proc/self | __mcpc
    """,
    re.VERBOSE | re.MULTILINE,
)
LAST_JOB = re.compile(r"\$!|\$\{!\}")
BACKGROUND = re.compile(r"(?<![&<>|\\])&(?![&>])")
READS = re.compile(rf"{COMMAND}(?:source|\.)[ \t]+([^\n;|&]*)", re.MULTILINE)
NAMED = re.compile(r"""[^\n]*[/"']([\w.-]+)["']?[ \t]*\Z""")
RETURN = re.compile(r"\breturn\b")
SDK_FUNCTION = re.compile(r"\bmcp_\w")


NO_FILES: Mapping[str, Sequence[Source]] = MappingProxyType({})


def is_forkable(source: Source, beside: Mapping[str, Sequence[Source]] = NO_FILES) -> bool:
    """Tell whether a script may run so; `beside`: the project's files by name, which it may read."""
    text = source.text
    if text.startswith("#!"):
        if not SHEBANG.match(text):
            return False
    elif not source.path.endswith(SUFFIXES):
        return False
    files = script_closure(source, beside)
    if files is None or not all(ignores_process(file) for file in files):
        return False
    texts = [file.text for file in files]
    reads_sdk = any("tool-sdk.sh" in item for item in texts)
    return reads_sdk or not any(SDK_FUNCTION.search(item) for item in texts)


def script_closure(source: Source, beside: Mapping[str, Sequence[Source]]) -> list[Source] | None:
    """Return a script and the files that it reads, None if they cannot be determined."""
    files: list[Source] = [source]
    # The list grows while it is read: what a file reads may read others.
    for item in files:
        for name in read_files(item):
            sources = () if name in SDK else beside.get(name)
            if sources is None:
                return None
            files += (file for file in sources if file not in files)
    return files


@lru_cache(maxsize=256)  # many scripts read one library
def read_files(source: Source) -> tuple[str, ...]:
    """Return the names of the files that a script reads, an empty one for a name that is only known when it runs."""
    return tuple(_names(source))


def _names(source: Source) -> Iterator[str]:
    for match in READS.finditer(without_comments(source.text, scan_library(source.text))):
        named = NAMED.match(match[1])
        yield named[1] if named is not None else ""


def without_comments(text: str, scanned: Scan) -> str:
    """Return a script without its comments; text in quotes, or in a here-document, may be run."""
    pieces, last = [], 0
    for start, end in sorted(scanned.literal):
        if text.startswith("#", start) and start >= last and text.find("\n", start, end) < 0:
            # As many blanks, so that places in the result are places in the script.
            pieces += [text[last:start], " " * (end - start)]
            last = end
    return "".join([*pieces, text[last:]])


@lru_cache(maxsize=256)
def ignores_process(source: Source) -> bool:
    """Tell whether a script reads nothing that shows which process runs it."""
    if "\0" in source.text or source.text.startswith("\ufeff") or "\r" in source.text:
        return False
    scanned = scan_library(source.text)
    text = without_comments(source.text, scanned)
    # Without a job of its own, `$!` would be a job of the shell that forks.
    if OBSERVES_PROCESS.search(text) or (LAST_JOB.search(text) and not BACKGROUND.search(text)):
        return False
    # Outside functions `return` ends a file that is read, and is a mistake in a script.
    chunks = (chunk for chunk in scanned.chunks if chunk.joined or not chunk.definitions)
    return not scanned.unclosed and not any(RETURN.search(text, chunk.start, chunk.end) for chunk in chunks)


SETS = re.compile(r"\bset[ \t]+(?:[-+][\w-]+[ \t]+)*?-(?:[A-Za-z]*e[A-Za-z]*|[A-Za-z]*o[ \t]+errexit)\b")


def places_of_errexit(source: Source) -> tuple[list[Span], list[Span]]:
    """Return where a file sets errexit when it is read, and where its functions do."""
    scanned = scan_library(source.text)
    at_top = {command[0].start for command in scanned.commands}
    when_read: list[Span] = []
    in_functions: list[Span] = []
    for start in sorted(scanned.begun):
        match = SETS.match(source.text, start)
        if match is not None:
            (when_read if start in at_top else in_functions).append(Span(source.path, *match.span()))
    return when_read, in_functions


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
    # Files that are locked are provided for calls that run at once.
    if any(map(LOCKS.search, texts)):
        return
    values: dict[str, str] = {}
    reported: set[str] = set()
    for source, text in zip(files, texts, strict=True):
        # In the order of the text, so that a word has the values that were assigned above it.
        for match in sorted((*ASSIGNED.finditer(text), *WRITTEN.finditer(text)), key=lambda match: match.start("word")):
            path = resolved(match["word"].replace('"', "").replace("'", ""), values)
            if match.re is ASSIGNED:
                values[match["name"]] = path
            elif FIXED.fullmatch(path) and not path.endswith(".lock") and path not in reported:
                reported.add(path)
                message = f"`{path}` is the same file in all calls, and calls run at once"
                yield diagnose("MCP268", Span(source.path, *match.span("word")), message, "", HINT)


def resolved(word: str, values: dict[str, str]) -> str:
    """Return the beginning of a word with the values that variables were last given, as far as they are known."""
    return VARIABLE.sub(lambda match: values.get(match["plain"] or match["braced"], match[0]), word)[:MAX_LENGTH]
