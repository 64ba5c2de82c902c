"""The official JSON Schema test suite: what fails is exactly what is written down, with a reason.

`schema_suite_expected/` has, by draft and group, how many tests the suite has and which are missed on purpose.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support import suite_adapter
from support.artifact import SOURCES
from support.needs import ROOT
from support.reference import SCHEMA_SUITE
from support.schema_suite import Context, run

EXPECTED = Path(__file__).parent / "schema_suite_expected"
DRAFTS = ("draft2020-12", "draft7")
GROUPS = ("required", "optional", "format")
LEAST = {
    ("draft2020-12", "optional"): 162,
    ("draft2020-12", "format"): 746,
    ("draft7", "optional"): 114,
    ("draft7", "format"): 658,
}
"""As many tests of the suite are passed whatever else is written down; of `required`, all."""
SEEDS = ("0", "5")


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("draft", DRAFTS)
def test_the_suite_is_passed_but_for_what_is_written_down(draft: str, group: str) -> None:
    expected = json.loads((EXPECTED / f"{draft}.json").read_text())[group]
    counts, failures = run(suite_adapter.factory, SCHEMA_SUITE, draft, group)
    missed = expected["misses"]
    assert failures.keys() == missed.keys()
    assert all(missed.values()), "each miss has its reason"
    assert counts["tests"] == expected["tests"]
    assert counts["pass"] >= LEAST.get((draft, group), counts["tests"])


def digest() -> str:
    """Return a digest of everything that is generated for the suite."""
    found = hashlib.sha256()

    def factory(schema: Any, context: Context) -> Callable[[Any], bool]:
        modules = suite_adapter.compiled(schema, context).modules
        found.update(f"{modules.predicate}\0{modules.collector}\0".encode())
        return lambda _instance: True

    for draft in DRAFTS:
        for group in GROUPS:
            run(factory, SCHEMA_SUITE, draft, group)
    return found.hexdigest()


@pytest.mark.slow
def test_what_is_generated_does_not_depend_on_the_order_of_hashes() -> None:
    code = "from compiler import test_schema_suite; print(test_schema_suite.digest())"
    path = os.pathsep.join((SOURCES, str(ROOT / "tests")))
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in SEEDS
    }
    assert len(found) == 1
