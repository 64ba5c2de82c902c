"""Notes on the stream of errors: whatever the pieces, each note is one and everything else is an error."""

import pytest

from mcpc_runtime.handlers.bash.standard_streams import PrefixedNotes

PREFIX = b"\x1eabc\x1e"
STREAM = (
    b"before" + PREFIX + b'{"n":1}\n' + PREFIX + b"\n" + b"\x1eab, no prefix\n" + PREFIX + b"x" * 50 + b"\nend\x1eab"
)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, len(STREAM)])
def test_notes_are_separated_from_errors(size: int) -> None:
    notes, errors = bytearray(), bytearray()
    stream = PrefixedNotes(PREFIX, notes.extend, errors.extend)
    for start in range(0, len(STREAM), size):
        stream.feed(STREAM[start : start + size])
    stream.close()
    assert bytes(notes) == b'{"n":1}\n\n' + b"x" * 50 + b"\n"
    assert bytes(errors) == b"before\x1eab, no prefix\nend\x1eab"
