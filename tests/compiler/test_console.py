"""Words of a shell, and what is written to a terminal that may not take it, on POSIX systems."""

import os

from mcpc.sandbox.platforms.posix.console import start_of_file, write_within


def test_bytes_are_written_if_they_are_taken_in_time() -> None:
    ours, theirs = os.pipe()
    assert write_within(theirs, b"abc", 0)
    assert os.read(ours, 9) == b"abc"
    os.set_blocking(theirs, False)
    while taken := write_within(theirs, b"x" * 4096, 0):
        pass
    assert os.read(ours, 1 << 20)
    os.close(ours)
    assert (taken, write_within(theirs, b"x", 0)) == (False, False)
    os.close(theirs)


def test_a_file_is_started_by_its_path() -> None:
    found = [start_of_file(path) for path in ("a b.pyz", "/a.pyz", "../a.pyz")]
    assert found == ["'./a b.pyz'", "/a.pyz", "../a.pyz"]
