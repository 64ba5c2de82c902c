"""The checks in the order of a report: what each is about, and its function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.workbench.doctor.built_file import check_file
from mcpc.workbench.doctor.client_files import check_clients
from mcpc.workbench.doctor.client_logs import check_logs
from mcpc.workbench.doctor.entries import check_entries
from mcpc.workbench.doctor.folders import check_cache, check_temporary
from mcpc.workbench.doctor.model import problem
from mcpc.workbench.doctor.pythons import check_environments, check_pythons
from mcpc.workbench.doctor.tools import check_command, check_programs
from mcpc.workbench.doctor.trials import check_starts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.workbench.doctor.model import Examination, Symptom

CHECKS: dict[str, Callable[[Examination], Iterator[Symptom]]] = {
    "the Pythons of this machine": check_pythons,
    "virtual environments": check_environments,
    "other programs": check_programs,
    "the command mcpc": check_command,
    "the cache": check_cache,
    "temporary files": check_temporary,
    "the built file": check_file,
    "the clients' files": check_clients,
    "the entries of servers": check_entries,
    "the start of servers": check_starts,
    "the clients' logs": check_logs,
}


def examine(examined: Examination, tell: Callable[[str], None]) -> Iterator[Symptom]:
    """Yield what all checks found; one that the system stops is a problem.  `tell`: gets the name of each check."""
    for name, check in CHECKS.items():
        tell(name)
        try:
            yield from check(examined)
        except OSError as why:
            text = f"the check stopped: {why.filename or ''}: {why.strerror or why}".replace(": : ", ": ")
            yield problem(name, text, "make that file or folder readable, and try again")
