"""What the tests of platforms share: the machines, the servers' files, and clients on pipes and over HTTP.

Every test runs on this machine and, where Wine is installed, on Windows under each of its Pythons.  On a machine that
runs Windows or macOS the same tests run directly: `pytest --confcutdir=tests/platforms tests/platforms`.
"""

from __future__ import annotations

import re
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import pytest

from platforms import projects
from support import machines
from support.git_bash import GitBash
from support.pipe_client import HANDSHAKE, STATELESS, PipeClient
from support.scale import FULL
from support.windows_prefix import own_prefix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Any

    from support.machines import Machine
    from support.windows_prefix import Prefix

    Connect = Callable[..., AbstractContextManager[PipeClient]]
    Serve = Callable[[], "Site"]

CLEAN: dict[str, str | None] = {"MCPC_TASKS": "memory:", "MCPC_WITHOUT": None, "MCPC_RUNTIME_CACHE": None}
"""Variables that change a server."""
OLDER = f"wine-{machines.VERSIONS[-1]}"
SHARE = 3
LISTENS = re.compile(rb"serving (http://\S+)\s")


@dataclass(frozen=True)
class Site:
    """A server over HTTP: its address, and its process."""

    url: str
    client: PipeClient

    @property
    def root(self) -> str:
        """The address without the endpoint's path."""
        return self.url.rpartition("/")[0]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run a part of the cases on Windows, where a process costs most; with TESTS_FULL=1 all of them.

    On each Windows a case runs in one era, and of a test's cases one in SHARE, at least one, runs on the older one.
    """
    if FULL:
        return
    dropped = {*in_another_era(items)}
    older = cases(item for item in items if item not in dropped and parameters(item).get("machine") == OLDER)
    dropped |= {item for found in older for item in set(found) - set(found[::SHARE])}
    if dropped:
        config.hook.pytest_deselected(items=[item for item in items if item in dropped])
        items[:] = [item for item in items if item not in dropped]


def in_another_era(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield the cases on Windows that run there in the other era, in turn the first and the second of two."""
    for found in cases(item for item in items if "revision" in parameters(item)):
        on_windows = [item for item in found if parameters(item).get("machine") not in (machines.NATIVE, None)]
        others: dict[tuple[object, ...], int] = {}
        for item in on_windows:
            rest = tuple(sorted((name, str(value)) for name, value in parameters(item).items() if name != "revision"))
            number = others.setdefault(rest, len(others))
            if (parameters(item)["revision"] == STATELESS) == (number % 2 == 0):
                yield item


def cases(items: Iterable[pytest.Item]) -> Iterable[list[pytest.Item]]:
    found: dict[str, list[pytest.Item]] = {}
    for item in items:
        found.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return found.values()


def parameters(item: pytest.Item) -> dict[str, object]:
    """Return the parameters of a case, by their names."""
    spec = getattr(item, "callspec", None)
    return {} if spec is None else spec.params


@pytest.fixture(scope="session", params=machines.NAMES)
def machine(request: pytest.FixtureRequest) -> Machine:
    return machines.machine(request.param)


@pytest.fixture(scope="session")
def file_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("built")
    return lambda name: projects.built(name, folder)


@pytest.fixture(scope="session")
def git_bash(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitBash]:
    """Git Bash for Windows under Wine, in a folder with a blank."""
    with GitBash(tmp_path_factory.mktemp("Program Files") / "Git") as installed:
        yield installed


@pytest.fixture(scope="module")
def prefix() -> Iterator[Prefix]:
    """A prefix without a Python."""
    with own_prefix() as prefix:
        yield prefix


@pytest.fixture(params=(HANDSHAKE, STATELESS))
def revision(request: pytest.FixtureRequest) -> str:
    value: str = request.param
    return value


@pytest.fixture
def connect(machine: Machine, file_of: Callable[[str], Path], tmp_path: Path) -> Connect:
    """Start a server of a project and greet it; it ends with the block."""

    @contextmanager
    def connected(
        name: str = "mixed", *, variables: dict[str, str | None] | None = None, **options: Any
    ) -> Iterator[PipeClient]:
        environment = machine.environment({**CLEAN, **(variables or {})})
        with PipeClient(machine.command(file_of(name)), environment, cwd=tmp_path, **options) as client:
            client.greet()
            yield client

    return connected


@contextmanager
def serving(machine: Machine, artifact: Path, *options: str) -> Iterator[Site]:
    """Serve a file on a free port until the block ends."""
    command = machine.command(artifact, "serve", "--http", "127.0.0.1:0", *options)
    with PipeClient(command, machine.environment(CLEAN)) as client:
        found = client.until(lambda: LISTENS.search(client.errors), 60)
        assert found, f"it does not listen: status {client.process.poll()}, {client.errors!r}"
        site = Site(found[1].decode(), client)
        deadline = time.monotonic() + 60
        while not is_ready(site):
            assert time.monotonic() < deadline, client.errors
            time.sleep(0.05)
        yield site


def is_ready(site: Site) -> bool:
    try:
        with urllib.request.urlopen(f"{site.root}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.fixture(scope="session")
def sites(machine: Machine, file_of: Callable[[str], Path]) -> Iterator[Callable[[str], Site]]:
    """The servers over HTTP of a machine, each started once."""
    with ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(serving(machine, file_of(name))))


@pytest.fixture
def serve(sites: Callable[[str], Site]) -> Serve:
    """A server over HTTP that other tests use, too."""
    return lambda: sites("mixed")


@pytest.fixture
def serve_alone(machine: Machine, file_of: Callable[[str], Path]) -> Iterator[Serve]:
    """A server over HTTP for one test."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(serving(machine, file_of("mixed")))
