"""Every fault of the table, as a test named by its id, form and era.

Each runs in each of its forms and in each of its eras, but not in each pair of them; with TESTS_FULL=1 in each pair.
`make test` runs each in one form and era, which its id decides, but none of LONG; the others are slow.
"""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from faults.client import Fault
from faults.table import CASES
from faults.trial import FULL, Case, Lacking, close_shared, perform
from support.needs import lacking, needs

LONG = frozenset(
    [
        "D02", "D21", "D21b", "G02", "G05", "G06", "H20", "H20b", "H25", "H29", "R04.race", "S11.places", "T02", "T03",
        "T04", "T05", "T06", "T07", "X03", "X09", "X09b", "X09c", "X09d", "X11", "X11b", "Y01.memfd_create.first",
        "Y01.pipe.first", "Y01.sendmsg.first", "Y01.socketpair.first", "Y02.any", "Y02.bash", "Y02.supervisor",
        "Y03.without-proc-memfd-pidfd-subreaper-seqpacket", "Y04.gibibyte", "Y05.limits", "Y05.progress", "Y05.unread",
    ]
)  # fmt: skip
"""The ids of cases that take some seconds in any form."""


def pairs(case: Case, chance: int) -> list[tuple[str, str]]:
    """Return the forms and eras that a case runs in: `chance` decides which form meets which era."""
    if FULL:
        return [(form, era) for form in case.forms for era in case.eras]
    number = max(len(case.forms), len(case.eras))
    return [(case.forms[at % len(case.forms)], case.eras[(at + chance) % len(case.eras)]) for at in range(number)]


def rows(case: Case) -> Iterator[ParameterSet]:
    """Yield a case in its forms and eras, marked as slow in all but one of them, or in all."""
    chance = int.from_bytes(sha256(case.id.encode()).digest()[:4])
    chosen = pairs(case, chance)
    quick = chance % len(chosen)
    for number, (form, era) in enumerate(chosen):
        marks = [] if number == quick and case.id not in LONG else [pytest.mark.slow]
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
