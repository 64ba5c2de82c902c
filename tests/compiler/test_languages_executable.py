"""First lines of files: which system runs them, which interpreter they name, and why none does."""

from collections.abc import Callable
from pathlib import Path

from mcpc.languages.executable import binary_system, how_to_fix, interpreter_of, is_binary, not_runnable
from mcpc.reading import Source
from support.expressions import check_expressions
from support.needs import ROOT


def about(path: str, data: bytes) -> tuple[str, str, str, str]:
    source = Source(path, data)
    system, reason = binary_system(source), not_runnable(source)
    assert is_binary(source) is bool(system)
    return system, interpreter_of(source), reason, how_to_fix(reason) if reason else ""


def test_what_runs_a_file(golden: Callable[[Path, str], None]) -> None:
    check_expressions(golden, ROOT / "tests/golden/bash/executables.txt", about=about)
