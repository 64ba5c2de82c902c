"""What the system offers, what is switched off, and what a full table of files says about neither."""

import errno
import os
import posix
import select

import pytest

from mcpc_runtime.transports.platforms.posix import system_features as ways


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "probed", {})
    monkeypatch.delitem(posix.environ, ways.WITHOUT, raising=False)


@pytest.mark.parametrize("name", sorted(ways.PROBES))
def test_linux_has_every_way(name: str) -> None:
    assert ways.has(name)


@pytest.mark.parametrize("name", sorted(ways.PROBES))
def test_each_can_be_switched_off(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ways.has(name)
    monkeypatch.setitem(posix.environ, ways.WITHOUT, b"nothing," + name.encode())
    assert not ways.has(name)
    assert all(ways.has(other) for other in ways.PROBES if other != name)


@pytest.mark.parametrize("name", ["memfd", "pidfd"])
def test_what_this_python_lacks_is_not_there(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(posix, {"memfd": "memfd_create", "pidfd": "pidfd_open"}[name])
    assert not ways.has(name)


def refusing(number: int):
    def refuse(*_: object) -> int:
        raise OSError(number, posix.strerror(number))

    return refuse


def test_what_is_forbidden_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posix, "memfd_create", refusing(errno.EPERM))
    assert not ways.has("memfd")
    monkeypatch.undo()


def test_a_full_table_of_files_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posix, "memfd_create", refusing(errno.EMFILE))
    assert ways.has("memfd")
    assert "memfd" not in ways.probed


def test_a_probe_that_fails_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.listdir("/proc/self/fd")
    monkeypatch.setattr(select, "poll", refusing(errno.ENOMEM))
    assert ways.has("hangup")
    assert os.listdir("/proc/self/fd") == before
