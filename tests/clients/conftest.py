"""What the tests of TypeScript clients share: their packages, installed as the lock says."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.needs import ROOT
from support.npm import installed_packages

SOURCES = ROOT / "tests/clients/typescript"


@pytest.fixture(scope="session")
def typescript() -> Path:
    """The folder of the clients' scripts, beside the packages they import."""
    return installed_packages(SOURCES)
