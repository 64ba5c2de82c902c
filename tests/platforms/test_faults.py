"""The fault suite on Windows: every case that names nothing of POSIX.

Its client counts processes and descriptors by the process table of Linux, so it needs Wine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support import machines
from support.needs import lacking

pytest.importorskip("resource", reason="the client of the fault suite needs Linux")

from faults import windows
from faults.client import Fault
from faults.test_faults import LONG
from faults.trial import FULL, Lacking, close_shared, perform

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from _pytest.mark.structures import ParameterSet

    from faults.trial import Case

ROWS = tuple(windows.cases())
AT_LEAST = 40


def params() -> Iterator[ParameterSet]:
    """Yield each case on one Windows in one era, which alternate; with TESTS_FULL=1 on each in each."""
    for number, (case, form) in enumerate(ROWS):
        pairs = [(era, version) for version in machines.VERSIONS for era in case.eras]
        marks = [pytest.mark.slow] if case.id in LONG else []
        for era, version in pairs if FULL else [pairs[number % len(pairs)]]:
            yield pytest.param(
                case, form, era, f"wine-{version}", id=f"{case.id}-{form}-{era}-wine-{version}", marks=marks
            )


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield tmp_path_factory.mktemp("faults")
    close_shared()


def test_most_cases_are_for_windows() -> None:
    assert len({case.id for case, _ in ROWS}) >= AT_LEAST


@pytest.mark.parametrize(("case", "form", "era", "name"), [*params()])
def test_fault(case: Case, form: str, era: str, name: str, builds: Path) -> None:
    machine = machines.machine(name)
    try:
        perform(case, form, era, builds, machine)
    except Lacking as reason:
        lacking(str(reason)) if reason.program else pytest.skip(str(reason))
    except Fault as fault:
        pytest.fail(str(fault), pytrace=False)
