"""What tests of bundled packages share: import paths that are as before afterwards."""

import sys
from pathlib import Path

import pytest

from mcpc_runtime.artifact import packages


@pytest.fixture
def import_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder is a new one; what a test adds to the paths of imports is gone afterwards."""
    monkeypatch.chdir(tmp_path)
    for name in ("path", "path_hooks", "meta_path"):
        monkeypatch.setattr(sys, name, [*getattr(sys, name)])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    monkeypatch.setattr(packages, "activated", set())
