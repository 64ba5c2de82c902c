"""What the corpus is held against: a server of its own over HTTP, which nobody else has changed anything of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.serving import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.serving import Served


@pytest.fixture(scope="module")
def http_server(everything_server: Path) -> Iterator[Served]:
    """The everything server, serving over HTTP on a free port."""
    with served(everything_server) as server:
        yield server
