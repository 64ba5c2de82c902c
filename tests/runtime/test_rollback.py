"""What a block opened or began is undone if the block fails, and only then."""

import os

import pytest

from mcpc_runtime.transports.platforms.cleanup import OpenDescriptors, Rollback


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


@pytest.mark.parametrize(("always", "fails"), [(False, False), (False, True), (True, False), (True, True)])
def test_descriptors_are_closed_when_the_block_fails_or_always(always: bool, fails: bool) -> None:
    ends = os.pipe()
    try:
        with OpenDescriptors(always=always) as opened:
            opened += ends
            if fails:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert fails
    assert [is_open(end) for end in ends] == [not (always or fails)] * 2
    for end in ends:
        if is_open(end):
            os.close(end)


def test_a_descriptor_that_is_closed_already_keeps_no_other_from_being_closed() -> None:
    ends = os.pipe()
    os.close(ends[0])
    with pytest.raises(SystemExit), OpenDescriptors() as opened:
        opened += ends
        raise SystemExit
    assert not is_open(ends[1])


def test_a_block_that_fails_is_undone_once_and_its_exception_goes_on() -> None:
    undone: list[str] = []
    with Rollback(lambda: undone.append("kept")):
        pass
    with pytest.raises(LookupError), Rollback(lambda: undone.append("failed")):
        raise LookupError
    assert undone == ["failed"]
