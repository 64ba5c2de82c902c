"""Which processes belong to a call, in a table of processes that the test makes; no signal is really sent."""

import os
from signal import SIGCONT, SIGKILL, SIGTERM
from typing import Any

import pytest

from mcpc_runtime.transports.platforms.posix.supervision import client, termination
from mcpc_runtime.transports.platforms.posix.supervision.termination import (
    MAX_RECENT,
    PRUNED_FROM,
    ProcessGroups,
    ProcessSnapshot,
    Termination,
    signal_members,
)

ME, SERVER = os.getpid(), 50
LATER = ME + 1000
"""Ids of processes that are none of these."""


class Table:
    """Processes by their ids: parent, group, start, call variable, inherited number, whether it has ended."""

    def __init__(self) -> None:
        self.rows: dict[int, tuple[int, int, int, bytes, int, bool]] = {}
        self.signals: list[tuple[str, int, int]] = []

    def add(
        self,
        pid: int,
        parent: int,
        group: int = 0,
        *,
        mark: str = "",
        number: int = 0,
        start: int = 100,
        ended: bool = False,
    ) -> None:
        self.rows[pid] = parent, group or pid, start, mark.encode(), number, ended

    def process_ids(self) -> list[int]:
        return [*self.rows, 999]  # one that has gone meanwhile

    def process_entry(self, pid: int) -> tuple[bool, int, int, int] | None:
        parent, group, start, _, _, ended = self.rows.get(pid, (0, 0, 0, b"", 0, False))
        return (ended, parent, group, start) if pid in self.rows else None

    def environment_block(self, pid: int) -> bytes:
        mark = self.rows[pid][3] if pid in self.rows else b""
        return b"A=1\0NOT_MCPC_CALL=x\0" + (b"MCPC_CALL=%b\0B=MCPC_CALL=2\0" % mark if mark else b"")

    def signal_group(self, pid: int, number: int) -> bool:
        if pid <= 1 or all(row[1] != pid for row in self.rows.values()):
            return False
        if number:
            self.signals.append(("group", pid, number))
        return True

    def signal_process(self, pid: int, number: int) -> None:
        self.signals.append(("process", pid, number))

    def sent(self) -> list[tuple[str, int, int]]:
        sent, self.signals = sorted(self.signals), []
        return sent


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    made = Table()
    made.add(1, 0)
    made.add(SERVER, 1)
    made.add(ME, SERVER)
    for module in (termination, termination, client):
        monkeypatch.setattr(module, "process_table", lambda: made)
    for module in (termination, client):
        monkeypatch.setattr(module, "signal_group", made.signal_group)
        monkeypatch.setattr(module, "signal_process", made.signal_process)
    monkeypatch.setattr(termination, "inherited_number", lambda pid: made.rows[pid][4])
    return made


def test_a_snapshot_knows_the_living_and_the_ended(table: Table) -> None:
    table.add(10, ME)
    table.add(11, 10, 10)
    table.add(12, 11, ended=True)
    table.add(13, 12)
    now = ProcessSnapshot()
    assert (now.children[10], now.groups[11], now.started[12], now.zombies) == ([11], 10, 100, {12: 11})
    assert (now.below([10]), now.below([11, 13]), now.below([12, 999])) == ({10, 11}, {11, 13}, {13})
    assert (12 in now.groups, 12 in now.children) == (False, True)


def test_the_call_of_a_process_is_in_its_variables(table: Table) -> None:
    table.add(10, ME, mark="50.a")
    table.add(11, ME)
    assert [termination.call_mark(pid) for pid in (10, 11, 12)] == [b"50.a", b"", b""]
    assert [termination.start_time(pid) for pid in (10, 12)] == [100, 0]


def groups(adopts: bool = True) -> ProcessGroups:
    return ProcessGroups(SERVER, adopts=adopts)


def begun(made: ProcessGroups, pid: int, mark: str, number: int = 0) -> None:
    made._numbers = type("Numbers", (), {"next": lambda self: number})()  # type: ignore[assignment]
    made.prepare()
    made.begin(pid, {b"MCPC_CALL": mark.encode()})


def test_a_call_is_its_group_its_descendants_its_mark_and_its_number(table: Table) -> None:
    made = groups()
    for pid, mark, number in ((10, "50.a", 5000), (20, "50.b", 6000)):
        begun(made, pid, mark, number)
        table.add(pid, ME, mark=mark, number=number)
        table.add(pid + 1, pid, pid)  # in its group
        table.add(pid + 2, pid + 1)  # a descendant in its own group
        table.add(pid + 3, ME, mark=mark)  # an orphan with the mark
        table.add(pid + 4, ME, number=number)  # an orphan with the number
    table.add(30, ME)
    table.add(31, 1, mark="50.a")  # not below the supervisor
    ending = Termination(10, b"50.a")
    assert made.signal_calls([ending], SIGTERM) == [ending]
    expected = [("group", pid, number) for pid in (10, 12, 13, 14) for number in (SIGTERM, SIGCONT)]
    assert table.sent() == sorted(expected)
    assert ending.known == dict.fromkeys((10, 11, 12, 13, 14), 100)
    for pid in (10, 11, 13, 14):
        del table.rows[pid]
    table.add(14, ME, start=200)  # the number of a process that has ended
    assert made.signal_calls([ending], SIGKILL) == [ending]
    assert table.sent() == [("group", 12, SIGKILL)]


def test_calls_without_processes_are_done(table: Table) -> None:
    made = groups()
    begun(made, 10, "50.a")
    table.add(10, ME, mark="50.a")
    done, left = Termination(11, b"50.x"), Termination(0, b"50.a")
    assert made.signal_calls([done, left, Termination(0, b"")], SIGTERM) == [left]
    assert table.sent() == [("group", 10, SIGTERM), ("group", 10, SIGCONT)]


def test_the_server_and_the_supervisor_are_never_signalled(table: Table) -> None:
    table.rows[SERVER] = (1, SERVER, 100, b"50.a", 0, False)
    table.rows[ME] = (SERVER, ME, 100, b"50.a", 0, False)
    for adopts in (True, False):
        made = groups(adopts)
        assert made.signal_calls([Termination(pid, b"50.a") for pid in (0, 1, ME, SERVER)], SIGKILL) == []
        made.signal_all(SIGKILL)
    assert table.sent() == []


def test_a_group_that_is_mixed_is_signalled_one_by_one(table: Table) -> None:
    for pid, group in ((10, 10), (11, 10), (12, 12), (13, 10)):
        table.add(pid, ME, group)
    signal_members(ProcessSnapshot(), {10, 11, 12}, SIGTERM)
    ones = [("process", pid, number) for pid in (10, 11) for number in (SIGTERM, SIGCONT)]
    assert table.sent() == sorted([*ones, ("group", 12, SIGTERM), ("group", 12, SIGCONT)])
    signal_members(ProcessSnapshot(), {10, 12}, SIGKILL)
    assert table.sent() == [("group", 12, SIGKILL), ("process", 10, SIGKILL)]


@pytest.mark.parametrize("adopts", [True, False])
def test_all_processes_are_those_below_or_those_with_a_mark(table: Table, adopts: bool) -> None:
    made = groups(adopts)
    begun(made, 40, "50.z")
    assert made.is_any_left() is False
    table.add(10, ME)
    table.add(20, 1, mark="50.b")
    table.add(30, 1, mark="51.b")
    table.add(41, 1, 40)
    made.signal_all(SIGKILL)
    assert [pid for _, pid, _ in table.sent()] == ([10] if adopts else [10, 20, 40])
    assert made.is_any_left() is not adopts


def test_without_a_table_only_groups_are_known(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    made = groups(adopts=False)
    for pid, mark in ((10, "50.a"), (20, "50.b")):
        begun(made, pid, mark)
        table.add(pid, ME)
    for module in (termination, termination):
        monkeypatch.setattr(module, "process_table", lambda: None)
    by_mark, by_pid, none = Termination(0, b"50.a"), Termination(20, b""), Termination(0, b"")
    assert made.signal_calls([by_mark, none], SIGTERM) == [by_mark]
    assert table.sent() == [("group", 10, SIGTERM), ("group", 10, SIGCONT)]
    assert made.signal_calls([by_pid], SIGKILL) == [by_pid]
    assert table.sent() == [("group", 20, SIGKILL)]
    made.signal_all(SIGKILL)
    assert ([pid for _, pid, _ in table.sent()], made.is_any_left()) == ([10, 20], True)
    table.rows.clear()
    assert (made.is_any_left(), made.signal_calls([by_pid], SIGKILL)) == (False, [])
    assert (ProcessSnapshot().groups, termination.start_time(ME), termination.call_mark(ME)) == ({}, 0, b"")


def test_an_ended_leader_is_remembered_for_what_is_left(table: Table) -> None:
    made = groups()
    begun(made, 10, "50.a", 5000)
    assert made.reaped(11) is False
    table.add(11, ME, 10)
    assert made.reaped(10) is True
    del table.rows[11]
    assert (made.reaped(10), made.reaped(10)) == (False, False)
    table.add(12, ME, number=5000)
    ending = Termination(0, b"50.a")
    assert made.signal_calls([ending], SIGKILL) == [ending]
    assert table.sent() == [("group", 12, SIGKILL)]
    for pid in range(LATER, LATER + MAX_RECENT - 1):
        begun(made, pid, f"50.{pid}", 1)
        made.reaped(pid)
    assert made.signal_calls([ending], SIGKILL) == [ending]
    begun(made, LATER + 9000, "50.last", 1)
    made.reaped(LATER + 9000)
    other = Termination(0, b"50.a")
    assert made.signal_calls([other], SIGKILL) == []


@pytest.mark.parametrize(("leaders", "kept"), [(PRUNED_FROM, PRUNED_FROM), (PRUNED_FROM + 1, 1)])
def test_groups_that_have_gone_are_forgotten_when_there_are_many(table: Table, leaders: int, kept: int) -> None:
    made = groups()
    for pid in range(LATER, LATER + leaders):
        begun(made, pid, "50.a")
    table.add(9, ME, LATER)
    assert made.reaped(LATER) is True
    assert len(Termination(0, b"50.a").led_groups(made._led)) == kept


@pytest.mark.parametrize(
    ("environment", "mark"),
    [({}, b""), ({b"MCPC_CALL": b"1"}, b"1"), ({"MCPC_CALL": "é"}, "é".encode()), ({"MCPC_CALL": ""}, b"")],
)
def test_the_mark_in_an_environment(environment: Any, mark: bytes) -> None:
    assert ProcessGroups.call_mark_in(environment) == mark


def test_a_sweep_kills_what_a_supervisor_left(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    reaped: list[int] = []
    monkeypatch.setattr(client, "reap", reaped.append)
    mark = f"{ME}.a"
    table.add(10, ME, start=99)
    table.add(11, ME, start=100)
    table.add(12, 11, start=98)
    table.add(13, 1, start=100, mark=mark)
    table.add(14, 1, start=99, mark=mark)
    table.add(15, 1, start=100, mark="1.a")
    table.add(16, ME, start=100, ended=True)
    table.add(17, ME, start=99, ended=True)
    table.add(18, 11, start=100, ended=True)
    assert client.sweep_once(100) == [11, 13]
    assert table.sent() == [("process", pid, SIGKILL) for pid in (11, 12, 13)]
    assert reaped == [16]


def test_a_process_has_a_number_where_the_system_lets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    set_to: list[Any] = []
    limits = [(0, termination.resource.RLIM_INFINITY)]
    monkeypatch.setattr(termination.resource, "getrlimit", lambda name: limits[0])
    monkeypatch.setattr(termination.resource, "setrlimit", lambda name, values: set_to.append((name, values)))
    numbers = termination.ProcessNumbers()
    first = termination.FIRST
    assert [numbers.next(), numbers.next()] == [first + 1, first + 2]
    assert set_to == [(10, (first + number, termination.resource.RLIM_INFINITY)) for number in (1, 2)]
    limits[0] = (0, 5)
    assert numbers.next() == 0
    limits[0] = (0, termination.resource.RLIM_INFINITY)
    assert (numbers.next(), len(set_to)) == (0, 2)

    def refuse(*words: object) -> None:
        raise ValueError

    monkeypatch.setattr(termination.resource, "setrlimit", refuse)
    assert termination.ProcessNumbers().next() == 0
    monkeypatch.setattr(termination.resource, "prlimit", lambda pid, name: (pid, 7))
    assert [termination.inherited_number(pid) for pid in (5, -1)] == [5, 0]
    monkeypatch.setattr(termination.resource, "prlimit", refuse)
    assert termination.inherited_number(5) == 0
