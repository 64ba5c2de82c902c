"""What the whole suite shares: accepting golden files, and a server built once."""

import gc
import os
import shutil
import signal
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import pytest
import uvicorn as _whole  # noqa: F401 - before the server's own way to its parts, for clients that want all of it
from hypothesis import HealthCheck, settings

from mcpc_runtime.handlers.python import execution
from mcpc_runtime.lazy import resolved_rows
from support.artifact import STORE, build
from support.needs import ROOT, needs
from support.processor_time import OPTION, ProcessorTime
from support.scale import REACHED, ROTATION, TIER, scaled
from support.serving import Served, served

# A machine that does other things as well is slow, and no test of ours says how fast one is.
settings.register_profile(
    "mcpc", max_examples=scaled(100, 50), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("mcpc")
# A shell starts what runs in its background with SIGINT ignored, `nohup` with SIGHUP, and what we start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends a run as Ctrl-C does: what it made is removed
# Runners that are closed within a process of tests call what was registered with `atexit`: not what the tests have.
execution._ncallbacks = lambda: 0
CONFIGS: list[pytest.Config] = []
"""That of this process, unless it is a worker."""
MOST_WORKERS = 8
"""Each takes half a gigabyte of memory, with what its tests start."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="write golden files instead of comparing with them")
    parser.addoption(OPTION, type=int, help="list that many tests, and every file, by the processor time they took")


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of what is built in this run, which every process of it knows by a variable."""
    if not hasattr(config, "workerinput"):
        CONFIGS.append(config)
        folder = os.environ[STORE] = tempfile.mkdtemp(prefix="mcpc-builds-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    count = config.getoption(OPTION)
    if count is not None:
        config.pluginmanager.register(ProcessorTime(count))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many tests run at once: half of their time is waiting for processes and clocks, less within one process."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min((processors * 3 + 1) // 2 if os.environ.get(TIER) == "test" else processors * 2, MOST_WORKERS)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run nothing under `--accept` but what compares with golden files, and one test of those that lack a checkout."""
    mark_slow(items)
    others = {*without_checkout(items), *left_out(items)}
    if config.getoption("--accept"):
        others |= {item for item in items if "golden" not in getattr(item, "fixturenames", ())}
    if others:
        config.hook.pytest_deselected(items=[item for item in items if item in others])
        items[:] = [item for item in items if item not in others]


def mark_slow(items: list[pytest.Item]) -> None:
    """Of tests that are `sampled(COUNT)`, leave one case in COUNT to `make test`, and enough to `make check`."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    rotation = int(os.environ.get(ROTATION, "0"))
    for name, group in cases.items():
        mark = group[0].get_closest_marker("sampled")
        assert mark is not None
        count = min(mark.args[0], len(group))
        first = (zlib.crc32(name.encode()) + rotation) % count
        daily = group[first::count]
        enough = {*daily, *in_pairs([*group[first:], *group[:first]])}
        for item in group:
            if item not in daily:
                item.add_marker(pytest.mark.slow)
            if item not in enough:
                item.add_marker(pytest.mark.nightly)


def in_pairs(group: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield cases of a product that have each pair of values of two parameters; of one parameter, every second value."""
    seen: set[tuple[object, ...]] = set()
    for number, item in enumerate(group):
        values = getattr(item, "callspec").indices.items() if hasattr(item, "callspec") else ()  # noqa: B009 - no attribute of Item
        pairs = {*combinations(sorted(values), 2)} if len(values) > 1 else {(number // 2,)}
        if pairs - seen:
            seen |= pairs
            yield item


def left_out(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield what a tier leaves out: nightly tests of a check, and slow ones of files that the change does not reach."""
    listed = os.environ.get(REACHED)
    reached = None if listed is None else Path(listed).read_text().splitlines()
    for item in items if os.environ.get(TIER) == "check" else ():
        unreached = reached is not None and item.nodeid.partition("::")[0] not in reached
        if item.get_closest_marker("nightly") or (unreached and item.get_closest_marker("slow")):
            yield item


def without_checkout(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield the tests marked `checkout(VARIABLE)` whose variable is not set, but the first, which is skipped for all."""
    lacking: set[str] = set()
    for item in items:
        for mark in item.iter_markers("checkout"):
            variable = mark.args[0]
            if not os.environ.get(variable):
                if variable in lacking:
                    yield item
                lacking.add(variable)
                item.add_marker(pytest.mark.skip(reason=f"{variable} names no checkout of the system to compare with"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name once whatever tests were skipped for, with their number."""
    reports = terminalreporter.getreports("skipped")
    reasons = Counter(str(report.longrepr[2]) for report in reports if isinstance(report.longrepr, tuple))
    for reason, number in sorted(reasons.items()):
        terminalreporter.write_line(f"skipped {number}: {reason.removeprefix('Skipped: ')}")


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Print a failure when it happens, in one line; its traceback comes at the end."""
    terminal = CONFIGS[0].pluginmanager.get_plugin("terminalreporter") if CONFIGS else None
    if terminal is not None and report.outcome == "failed":
        crash = getattr(report.longrepr, "reprcrash", None)
        words = (crash.message if crash else str(report.longrepr)).partition("\n")[0]
        terminal.ensure_newline()
        terminal.write_line(f"FAILED {report.nodeid} ({report.when}): {words[:300]}", red=True)


def pytest_collection_finish() -> None:
    """Keep what was collected out of the collector's sight: looking through it after a test would take seconds."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def closes_what_it_opens() -> Iterator[None]:
    """Collect the garbage of a test that left descriptors open, so that an unclosed socket fails its own test.

    Without it the warning comes whenever the collector runs next, which is in the middle of another test.  What is alive
    after that is not looked through again, which would take half a second after some thousands of tests.
    """
    before = descriptors()
    yield
    if descriptors() - before:
        gc.collect()
        gc.freeze()


@pytest.fixture(autouse=True)
def forgets_handlers() -> Iterator[None]:
    """Forget the modules of inline handlers, which servers in this process import: the next server has others so called."""
    yield
    folders = tuple(path for path in sys.path if path.endswith(".pyz/handlers"))
    if folders:
        sys.path[:] = [path for path in sys.path if path not in folders]
        origins = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
        for name in (name for name, origin in origins.items() if origin.startswith(folders)):
            del sys.modules[name]
            for row in [row for row in resolved_rows if row.startswith(f"{name}:")]:
                del resolved_rows[row]


def descriptors() -> set[str]:
    """Return the names of this process's open descriptors; the one that reads them is among them."""
    return set(os.listdir("/dev/fd"))


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
