"""What the tests of the page share: the everything server with its page, opened in Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.artifact import build
from support.needs import ROOT, needs
from support.page_steps import opened
from support.serving import Served, served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from playwright.sync_api import Page


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The everything server, which listens and has the page."""
    needs("chromium")
    artifact = build(ROOT / "examples/everything", tmp_path_factory.mktemp("page") / "server.pyz", "--ui")
    with served(artifact, "--ui") as server:
        yield server


@pytest.fixture(scope="session")
def page(everything: Served) -> Callable[..., AbstractContextManager[Page]]:
    """Open the page of the everything server: `with page() as tab`."""
    return lambda **options: opened(f"{everything.root}/ui/", **options)
