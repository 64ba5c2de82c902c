"""What a built file has besides its entries is reported, and a file that would inflate to too much is not read."""

import zipfile
from collections.abc import Callable

import pytest

from mcpc.emit.bytecode import dump_data
from mcpc.pack.archive import ArchiveEntry, build_archive, nest_entries
from mcpc.pack.manifest import FACTS
from mcpc.release.trust import contents
from mcpc.release.trust.contents import UnreadableArtifactError, take_apart

ENTRIES = {
    FACTS: b"{}",
    "site/.layer": b"",
    "site/a.py": b"text " * 40,
    "site/a.pyc": b"code",
    "site/a.pyc.cpython-312": b"more",
    "site/.extracted/a.so": b"so",
    "n\u00e4me": b"",
}


def built(entries: dict[str, bytes], **options: object) -> bytes:
    rows = [ArchiveEntry(name, data) for name, data in entries.items()]
    return build_archive(rows, "#!/bin/sh\n", **options)  # type: ignore[arg-type]


NESTED = nest_entries(ENTRIES)
WHOLE = built(NESTED)


def with_nested(change: Callable[[bytes], bytes]) -> bytes:
    return built({**NESTED, "site/bytecode.zip": change(NESTED["site/bytecode.zip"])})


def test_a_file_as_it_is_built_is_exact() -> None:
    found = take_apart(WHOLE)
    assert found.is_exact
    assert (found.program, {name: entry.data for name, entry in found.entries.items() if name in ENTRIES}) == (
        b"#!/bin/sh\n",
        ENTRIES,
    )
    assert take_apart(built(NESTED, deflates=True)).is_exact


@pytest.mark.parametrize("count", [3, 4])
def test_a_file_of_more_entries_than_the_smaller_form_has_is_exact(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert contents.MAX_COUNT == zipfile.ZIP_FILECOUNT_LIMIT
    assert contents.MAX_PLACE == zipfile.ZIP64_LIMIT
    for module, name in ((contents, "MAX_COUNT"), (zipfile, "ZIP_FILECOUNT_LIMIT")):
        monkeypatch.setattr(module, name, 3)
    data = built({FACTS: b"{}", **{f"{number:05}": b"" for number in range(count - 1)}})
    assert (b"PK\6\6" in data) is (count > 3)
    assert (take_apart(data).is_exact, len(take_apart(data).top)) == (True, count)


OTHERS: dict[str, bytes] = {
    "a local name": WHOLE.replace(b"\0\0site/.layer", b"\0\0site/.later", 1),
    "a date": WHOLE.replace(b"\0\0\x21\0", b"\0\0\x22\0", 1),
    "bytes behind the archive": WHOLE[:-2] + b"\4\0evil",
    "another table of places": built({**NESTED, "site/.directory": dump_data({"bytecode.zip": {"a.pyc": (1, 2, -1)}})}),
    "another table for a Python": built({**NESTED, "site/.directory.cpython-312": dump_data({})}),
    "a table of no Python": built({**NESTED, "site/.directory.cpython-399": dump_data({})}),
    "no table": built({name: data for name, data in NESTED.items() if name != "site/.directory"}),
    "a nested archive with a program": with_nested(lambda data: build_archive([ArchiveEntry("a.pyc", b"code")], "#!")),
    "a nested archive with a local name": with_nested(lambda data: data.replace(b"a.pyc", b"b.pyc", 1)),
    "a nested archive with a comment": with_nested(lambda data: data[:-2] + b"\1\0#"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_bytes_that_no_build_writes_are_found(name: str) -> None:
    assert not take_apart(OTHERS[name]).is_exact


def test_all_that_a_file_inflates_to_has_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry that is deflated twice counts twice; what is stored is as long as the file, at most."""
    data = built(NESTED, deflated=("site/sources.zip",))
    limit = len(NESTED["site/sources.zip"]) + len(ENTRIES["site/a.py"]) + len(ENTRIES["site/.extracted/a.so"])
    monkeypatch.setattr(contents, "MAX_BYTES", limit)
    assert take_apart(data).is_exact
    monkeypatch.setattr(contents, "MAX_BYTES", limit - 1)
    with pytest.raises(UnreadableArtifactError, match="compressed content"):
        take_apart(data)


@pytest.mark.parametrize("name", ["site/sources.zip.cpython-312", "site/extracted.zip.cpython-312"])
def test_an_archive_that_no_build_writes_is_not_opened(name: str) -> None:
    assert name in take_apart(built({**NESTED, name: b"no archive"})).entries


def test_entries_that_share_bytes_are_refused() -> None:
    """Each of many rows of a directory could name the same large entry."""
    one = build_archive([ArchiveEntry("a", b"x" * 100)], "")
    start = one.index(b"PK\1\2")
    row, end = one[start:-22], one[-22:]
    rows = [row.replace(b"a", name) for name in (b"a", b"b", b"c")]
    count = len(rows).to_bytes(2, "little")
    size = sum(map(len, rows)).to_bytes(4, "little")
    with pytest.raises(UnreadableArtifactError, match="its entries overlap"):
        take_apart(one[:start] + b"".join(rows) + end[:8] + count * 2 + size + end[16:])


def test_a_version_of_the_format_that_nobody_reads_is_refused() -> None:
    with pytest.raises(UnreadableArtifactError):
        take_apart(WHOLE.replace(b"PK\1\2\x14\3\x14", b"PK\1\2\x14\3\xff"))


def test_a_stored_entry_is_as_long_as_it_says() -> None:
    place = WHOLE.index(b"PK\1\2") + 24
    length = int.from_bytes(WHOLE[place : place + 4], "little")
    changed = WHOLE[:place] + (length + 1).to_bytes(4, "little") + WHOLE[place + 4 :]
    with pytest.raises(UnreadableArtifactError, match="wrong checksum"):
        take_apart(changed)
