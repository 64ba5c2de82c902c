"""Each module of formats at its limits: the texts that a function accepts (`*.txt`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

import pytest

from mcpc_runtime.protocol.validation import patterns
from mcpc_runtime.protocol.validation.formats import addresses, characters, domains, times, uris
from support.expressions import check_expressions
from support.needs import ROOT

GOLDEN = ROOT / "tests" / "golden" / "runtime" / "validation"
MODULES = [addresses, characters, domains, domains, characters, patterns, uris, uris, times, uris]


def accepted(function: Callable[[str], object], texts: Iterable[str]) -> list[str]:
    return [text for text in texts if function(text)]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_values(golden: Callable[[Path, str], None], module: ModuleType) -> None:
    check_expressions(golden, GOLDEN / f"{module.__name__.rpartition('.')[2]}.txt", module, accepted=accepted)
