"""The cases of a folder that failed when they last ran, kept in the user's cache."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from mcpc.sandbox.cache_dir import load_entry, store_entry

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mcpc.workbench.testing.model import Case
    from mcpc.workbench.testing.results import CaseResult

KIND = "failed-cases"


def failed_cases(folder: Path, cases: Iterable[Case]) -> list[Case]:
    """Return those of the cases of a folder that failed when they last ran."""
    names = _load(folder)
    return [case for case in cases if _name(case) in names]


def remember_failed(folder: Path, results: Iterable[CaseResult]) -> None:
    """Note which cases failed now; what is known of cases that did not run stays."""
    found = {_name(result.case): bool(result.failures) for result in results}
    before = _load(folder)
    names = {name for name in before if name not in found} | {name for name, failed in found.items() if failed}
    if names != before:
        store_entry(KIND, _key(folder), json.dumps(sorted(names)).encode())


def _load(folder: Path) -> set[str]:
    data = load_entry(KIND, _key(folder))
    return set(json.loads(data)) if data else set()


def _key(folder: Path) -> str:
    return hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()


def _name(case: Case) -> str:
    return f"{case.file}\n{case.name}"
