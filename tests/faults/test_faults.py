"""Every fault of the table, as a test named by its id, form and era.

Each runs in two of its forms and in each of its eras, which change with each commit; with TESTS_FULL=1 in each pair.
The second, and those of LONG, are slow.
"""

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from faults.client import Fault
from faults.table import CASES
from faults.trial import FULL, Case, Lacking, close_shared, perform
from support.needs import lacking, needs
from support.scale import ROTATION

LONG = frozenset(
    [
        "D02", "D21", "D21b", "G02", "G05", "G06", "H20", "H20b", "H25", "H29", "R04.race", "S11.places", "T02", "T03",
        "T04", "T05", "T06", "T07", "X03", "X09", "X09b", "X09c", "X09d", "X11", "X11b", "Y01.memfd_create.first",
        "Y01.pipe.first", "Y01.sendmsg.first", "Y01.socketpair.first", "Y02.any", "Y02.bash", "Y02.supervisor",
        "Y03.without-proc-memfd-pidfd-subreaper-seqpacket", "Y04.gibibyte", "Y05.limits", "Y05.progress", "Y05.unread",
    ]
)  # fmt: skip
"""The ids of cases that take some seconds in any form."""


def pairs(case: Case) -> list[tuple[str, str]]:
    """Return the forms and eras that a case runs in."""
    if FULL:
        return [(form, era) for form in case.forms for era in case.eras]
    chance = int.from_bytes(sha256(case.id.encode()).digest()[:4]) + int(os.environ.get(ROTATION, "0"))
    number = min(2, max(len(case.forms), len(case.eras)))
    # Two rounds of forms begin with another era each.
    eras = [case.eras[(chance // len(case.forms) + at) % len(case.eras)] for at in range(number)]
    return [(case.forms[(chance + at) % len(case.forms)], era) for at, era in enumerate(eras)]


def rows(case: Case) -> Iterator[ParameterSet]:
    """Yield a case in its forms and eras."""
    for number, (form, era) in enumerate(pairs(case)):
        marks = [pytest.mark.slow] if number or case.id in LONG else []
        yield pytest.param(case, form, era, id=f"{case.id}-{form}-{era}", marks=marks)


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    needs("bash", "setsid", "head", "tr", "seq")
    yield tmp_path_factory.mktemp("faults")
    close_shared()


@pytest.mark.parametrize(("case", "form", "era"), [row for case in CASES for row in rows(case)])
def test_fault(case: Case, form: str, era: str, builds: Path) -> None:
    try:
        perform(case, form, era, builds)
    except Lacking as reason:
        lacking(str(reason)) if reason.program else pytest.skip(str(reason))
    except Fault as fault:
        pytest.fail(str(fault), pytrace=False)
