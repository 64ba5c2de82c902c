"""What the whole suite shares: accepting golden files, and a server built once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import uvicorn as _whole  # noqa: F401 - before the server's own way to its parts, for clients that want all of it
from hypothesis import HealthCheck, settings

from artifact import build
from needs import ROOT, needs
from serving import served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from serving import Served

# A machine that does other things as well is slow, and no test of ours says how fast one is.
settings.register_profile("mcpc", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mcpc")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="write golden files instead of comparing with them")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run nothing under `--accept` but what compares with golden files."""
    if config.getoption("--accept"):
        others = [item for item in items if "golden" not in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with a file that holds what it should be; under `--accept` write the file."""

    def compare(path: Path, actual: str) -> None:
        if request.config.getoption("--accept"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(actual, encoding="utf-8")
        elif not path.exists():
            pytest.fail(f"{path.relative_to(ROOT)} is not there; `make golden` writes it, and a person reads the diff")
        else:
            assert actual == path.read_text(encoding="utf-8"), f"differs from {path.relative_to(ROOT)} (`make golden`)"

    return compare


@pytest.fixture(scope="session")
def files_server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The artifact of examples/files."""
    needs("bash", "jq")
    return build(ROOT / "examples/files", tmp_path_factory.mktemp("files") / "files.pyz")


@pytest.fixture(scope="session")
def everything_server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The artifact of examples/everything, which can serve over HTTP, too."""
    needs("bash", "jq")
    return build(ROOT / "examples/everything", tmp_path_factory.mktemp("everything") / "everything.pyz", "--http")


@pytest.fixture(scope="session")
def http_server(everything_server: Path) -> Iterator[Served]:
    """That server, serving over HTTP on a free port."""
    with served(everything_server) as server:
        yield server
