"""A confined program is ended at each limit and not before (`watching.txt`); what is measured of its processes."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc.sandbox.confinement import limits, model, watching
from mcpc.sandbox.confinement.posix import launcher, processes
from support.expressions import check_expressions
from support.needs import ROOT

SMALL = {"ANSWER_BYTES": 4, "OUTPUT_BYTES": 6, "MAX_OUTPUT_KEPT": 3, "FOLDER_BYTES": 600, "FOLDER_FILES": 10}


def test_output_and_use_have_limits(
    golden: Callable[[Path, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SMALL.items():
        monkeypatch.setattr(limits, name, value)

    def watched(
        *rounds: list[tuple[str, bytes]],
        use: tuple[int, int] = (1, 1),
        whole: bytes = b"none",
        lost: tuple[int, int] = (0, 0),
        used: tuple[int, int] = (0, 0),
    ) -> model.ProgramOutcome:
        """The outcome of a program with this output; each look at the clock is a fifth of a second after the last."""
        clock, free, reads = iter(range(999)), iter([(5000, 500)]), iter(rounds)
        left = 5000 - lost[0], 500 - lost[1]
        monkeypatch.setattr(watching, "time", SimpleNamespace(monotonic=lambda: next(clock) / 5))
        monkeypatch.setattr(watching, "free_space", lambda _: next(free, left))
        monkeypatch.setattr(watching, "used_space", lambda _: used)
        program = SimpleNamespace(read=lambda _: next(reads, []), usage=lambda: use)
        job = model.ConfinedProgram((), tmp_path, tmp_path, 30.0, is_whole=lambda answer: answer == whole)
        found = watching.WatchedProgram(job, program)
        found.follow()
        return found.outcome()

    check_expressions(golden, ROOT / "tests/golden/confinement/watching.txt", model, watched=watched)


def test_without_the_call_an_option_is_minus_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ctypes", SimpleNamespace(CDLL=lambda _: object()))
    assert processes.prctl(processes.GET_DUMPABLE, 0) == -1


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_what_is_measured_of_a_process() -> None:
    itself = processes.memory_of(os.getpid())
    assert (itself > 1 << 20, itself % processes.PAGE, processes.memory_of(0)) == (True, 0, 0)
    threads = len(os.listdir("/proc/self/task"))
    assert processes.tasks_of_user() >= threads
    before = processes.children()
    pid = os.posix_spawn("/bin/sleep", ["sleep", "100"], {})
    assert processes.children() - before == {pid}
    found = processes.Descendants(before, pid)
    assert found.now()[1] == {pid}
    assert found.count()[0] == 1
    found.end()
    assert os.waitpid(pid, 0)[1] == 9


def test_each_group_is_killed_that_a_descendant_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    groups, killed = {9: 8, 10: 10, 11: 11, 12: 11, os.getpgrp(): os.getpgrp()}, list[tuple[str, int]]()
    snapshot = SimpleNamespace(children={}, started={}, zombies={}, groups=groups)
    rounds = iter([{*groups}, set()])
    snapshot.below = lambda _: next(rounds)
    monkeypatch.setattr(processes, "HAS_PROC", True)
    monkeypatch.setattr(processes, "ProcessSnapshot", lambda: snapshot)
    for name in ("signal_group", "signal_process"):
        monkeypatch.setattr(processes, name, lambda pid, _, kind=name[7:]: killed.append((kind, pid)))
    processes.Descendants(frozenset(), 10).end()
    assert sorted(killed) == [
        ("group", 10),
        ("group", 10),
        ("group", 11),
        *(("process", pid) for pid in sorted(groups)),
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="there is no Landlock")
def test_only_what_has_a_rule_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules, restricted = list[str](), list[int]()

    def syscall(number: int, *words: Any) -> int:
        if number == launcher.CREATE_RULESET:
            return 7 if words[0] is None else os.open("/dev/null", os.O_RDONLY)
        if number == launcher.ADD_RULE:
            rules.append(os.readlink(f"/proc/self/fd/{int.from_bytes(words[2][8:], sys.byteorder)}"))
        else:
            restricted.append(len(rules))
        return 0

    monkeypatch.setattr(launcher, "LIBC", SimpleNamespace(syscall=syscall))
    launcher.restrict(str(tmp_path), ("/",), launcher.BIND_AND_CONNECT)
    assert (rules, restricted) == ([str(tmp_path), "/", "/dev/null"], [3])
