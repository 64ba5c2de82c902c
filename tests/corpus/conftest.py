"""What the corpus is held against: a server of its own over HTTP, which nobody else has changed anything of."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.serving import Served, served


@pytest.fixture(scope="module")
def http_server(everything_server: Path) -> Iterator[Served]:
    with served(everything_server) as server:
        yield server
