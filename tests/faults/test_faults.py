"""Every fault of the table, as a test named by its id, form and era."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from faults.client import Fault
from faults.table import CASES
from faults.trial import Lacking, close_shared, perform
from needs import lacking, needs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faults.trial import Case

ROWS = [
    pytest.param(case, form, era, id=f"{case.id}-{form}-{era}")
    for case in CASES
    for form in case.forms
    for era in case.eras
]


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    needs("bash", "setsid", "head", "tr", "seq")
    yield tmp_path_factory.mktemp("faults")
    close_shared()


@pytest.mark.parametrize(("case", "form", "era"), ROWS)
def test_fault(case: Case, form: str, era: str, builds: Path) -> None:
    try:
        perform(case, form, era, builds)
    except Lacking as reason:
        lacking(str(reason)) if reason.program else pytest.skip(str(reason))
    except Fault as fault:
        pytest.fail(str(fault), pytrace=False)
