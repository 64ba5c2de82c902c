"""Which tests take the processor's time: `--cpu-durations=COUNT` lists that many, and what each file took together.

A test's time is that of its process and of all that it has started, waited for or still running.  What has detached
itself, as the services of Wine do, is nobody's.
"""

import os
from collections import Counter
from collections.abc import Iterator

import pytest

from support.processes import of_process

OPTION = "--cpu-durations"
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PARENT, FIRST_TIME, AFTER_TIMES = 1, 11, 15
"""Where a process's parent, and its four times, stand in /proc/PID/stat after its name."""


class ProcessorTime:
    """Takes the time of every phase of every test, and reports it in the end."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.before = taken()
        self.tests: Counter[str] = Counter()

    def pytest_runtest_logstart(self) -> None:
        """Start the first phase of a test."""
        self.before = taken()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        """Note what a phase has taken."""
        report = yield
        now = taken()
        report.processor_time = now - self.before
        self.before = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a phase, which may have been run by another process."""
        self.tests[report.nodeid] += getattr(report, "processor_time", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print what was taken, the most first."""
        files: Counter[str] = Counter()
        numbers: Counter[str] = Counter()
        for name, seconds in self.tests.items():
            files[name.partition("::")[0]] += seconds
            numbers[name.partition("::")[0]] += 1
        terminalreporter.section(f"processor time: {sum(files.values()):.1f} s")
        for name, seconds in self.tests.most_common(self.count):
            terminalreporter.write_line(f"{seconds:7.2f} s  {name}")
        terminalreporter.section("processor time of each file, and its number of tests")
        for name, seconds in files.most_common():
            terminalreporter.write_line(f"{seconds:7.2f} s  {numbers[name]:5}  {name}")


def taken() -> float:
    """Return the processor time of this process, of its children that were waited for, and of descendants that run."""
    return sum(os.times()[:4]) + sum(times for times in running_descendants().values())


def running_descendants() -> dict[int, float]:
    """Return the descendants of this process and the time of each, with that of its own children that it waited for."""
    children: dict[int, list[int]] = {}
    times: dict[int, float] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        fields = of_process(name, "stat").rpartition(b") ")[2].split() if name.isdecimal() else []
        if fields:
            children.setdefault(int(fields[PARENT]), []).append(int(name))
            times[int(name)] = sum(map(int, fields[FIRST_TIME:AFTER_TIMES])) / TICKS
    found, queue = {}, [os.getpid()]
    while queue:
        for child in children.get(queue.pop(), ()):
            found[child] = times[child]
            queue.append(child)
    return found
