"""The plugin of pytest: the fixture `mcp_server`, and the cases of `mcpc test` as tests.

It is loaded by every pytest of an environment that has mcpc, so that it imports nothing of mcpc before it is used.

    [tool.pytest.ini_options]
    mcp_project = "."         # the project's folder, or a built file; the folder of this file by default
    mcp_cases = true          # collect the cases of `tests/*.yaml`, `.yml` and `.json`
"""

from __future__ import annotations

import importlib
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from mcp_compiler import other_project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mcpc.workbench.testing.fixture import CallableServer

SUFFIXES = (".yaml", ".yml", ".json")
FOLDER = "tests"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    parser.getgroup("mcpc").addoption("--mcp-project", help="The MCP server that is tested: a project or a built file.")
    parser.addini("mcp_project", "The MCP server that is tested: a project or a built file.", default="")
    parser.addini("mcp_cases", "Collect the cases of `mcpc test` as tests.", type="bool", default=False)


def project_of(config: pytest.Config) -> Path:
    """Return the project or file that is tested."""
    given = config.getoption("--mcp-project") or config.getini("mcp_project")
    return config.rootpath / given if given else config.rootpath


class TestedServer:
    """The server of one run of pytest: built when a test needs it, ended with the run."""

    # Its name begins as those of test classes do: pytest would collect it wherever it is imported.
    __test__ = False
    KEY = pytest.StashKey["TestedServer"]()

    def __init__(self, config: pytest.Config) -> None:
        self._stack = ExitStack()
        self._project = project_of(config)
        self._server: CallableServer | None = None
        config.add_cleanup(self._stack.close)

    @classmethod
    def of(cls, config: pytest.Config) -> TestedServer:
        """Return the server of a run."""
        if cls.KEY not in config.stash:
            config.stash[cls.KEY] = cls(config)
        return config.stash[cls.KEY]

    def started(self) -> CallableServer:
        """Return the server; fail the test with what is wrong if it cannot be built."""
        if self._server is None:
            problem = other_project()
            if problem:
                pytest.fail(problem, pytrace=False)
            exceptions = importlib.import_module("click.exceptions")
            steps = importlib.import_module("mcpc.cli.test")
            fixture = importlib.import_module("mcpc.workbench.testing.fixture")
            try:
                served, facts = self._stack.enter_context(steps.served_target(self._project, {}, 60.0))
            except exceptions.Exit:
                pytest.fail(f"{self._project} does not build; see its errors on standard error", pytrace=False)
            except exceptions.ClickException as failure:
                pytest.fail(f"{self._project}: {failure.format_message()}", pytrace=False)
            self._server = fixture.CallableServer(served, facts, self._stack)
        return self._server


@pytest.fixture(scope="session")
def mcp_server(pytestconfig: pytest.Config) -> Iterator[CallableServer]:
    """The built server of the project: `mcp_server.call("greet", name="Ada").text`."""
    yield TestedServer.of(pytestconfig).started()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a file of cases, if the configuration says so."""
    if file_path.suffix not in SUFFIXES or file_path.parent.name != FOLDER or not parent.config.getini("mcp_cases"):
        return None
    return CaseFile.from_parent(parent, path=file_path)


class CaseFile(pytest.File):
    """A file of cases."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for each way in which each case runs."""
        collecting = importlib.import_module("mcpc.workbench.testing.fixture")
        try:
            cases = collecting.cases_of_file(self.path)
        except ValueError as problem:
            raise self.CollectError(str(problem)) from None
        for placed in cases:
            for variant in placed.case.variants:
                name = f"{placed.case.name}[{'-'.join(variant)}]"
                yield CaseItem.from_parent(self, name=name, placed=placed, variant=variant)


class CaseItem(pytest.Item):
    """A case in one way."""

    def __init__(self, *, placed: Any, variant: Any, **given: Any) -> None:
        super().__init__(**given)
        self._placed, self._variant = placed, variant

    def runtest(self) -> None:
        """Run the case; fail with what differs, skip it where the server does not have its transport."""
        server = TestedServer.of(self.config).started()
        if not server.is_served_over(self._variant.transport):
            pytest.skip("the built file has no HTTP support; build it with `mcpc build --http`")
        lines = server.failures(self._placed.case, self._variant)
        if lines:
            pytest.fail("\n".join(lines), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place and the name of the case."""
        # pytest counts lines from 0.
        return self.path, self._placed.line - 1, self.name
