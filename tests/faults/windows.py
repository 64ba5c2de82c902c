"""Which cases are for Windows as well: all but those that name what only POSIX systems have, or only Bash does.

The cases of a protocol's lines are written for the Bash form; on Windows the Python form answers them.
"""

from collections.abc import Iterator

from faults.forms import BASH, INLINE, PYTHON
from faults.table import CASES
from faults.trial import Case

POSIX: dict[str, str] = {
    "D09": "setsid", "D18": "SIGKILL", "D18d": "exec", "D18e": "process groups", "D18g": "fork", "D23": "SIGTERM",
    "E07": "SIGTERM", "E08": "SIGINT", "E09": "SIGHUP", "E10": "SIGTERM", "E12": "SIGSTOP",
    "E13": "descriptors that are inherited", "F01": "HOME", "F02": "TMPDIR", "F03": "HOME", "F05": "locales",
    "F06": "locales", "F08": "limits of descriptors", "G05": "counts of descriptors", "G06": "zombies",
    "H21": "counts of connections in /proc", "H25": "signals", "H29": "SIGTERM", "P9": "strace",
    "R04.links": "symbolic links", "R04.race": "symbolic links", "R06": "FIFOs and devices",
    "R07": "names that are not text", "S11.hostile": "the interpreter of this machine",
    "S11.isolated": "the interpreter of this machine", "S11.places": "symbolic links and modes",
    "S11.replaced": "files that are replaced while they are open", "S11.strict": "the interpreter of this machine",
    "T06": "Bash", "X03": "modes and owners", "X09": "counts of connections in /proc",
    "X09c": "counts of connections in /proc", "X10": "limits of descriptors", "X11": "network namespaces",
    "X11b": "network namespaces", "Y01": "functions of POSIX that fail", "Y02": "signals",
    "Y03": "limits, signals, descriptors", "Y05.progress": "Bash",
}  # fmt: skip
"""What a case names that Windows does not have, by its id or by how its id begins before a dot."""


def cases() -> Iterator[tuple[Case, str]]:
    """Yield the cases for Windows, each with the form that it runs in there."""
    for case in CASES:
        if case.id not in POSIX and case.id.partition(".")[0] not in POSIX:
            found = [form for form in case.forms if form != BASH] or [PYTHON]
            yield case, PYTHON if PYTHON in found else INLINE
