"""What a built file has besides its entries is reported, and a file that would inflate to too much is not read."""

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpc.emit.bytecode import dump_data
from mcpc.pack.archive import (
    EXTRACTED_FOLDER,
    MANIFEST,
    ArchiveEntry,
    archive_of_variants,
    build_archive,
    checksum_line,
    is_variant_archive,
    nest_entries,
    sha256_hex,
)
from mcpc.pack.manifest import FACTS, SBOM
from mcpc.pack.packages import variant_archive
from mcpc.release.trust import contents
from mcpc.release.trust.comparison import (
    COMPRESSED,
    EDITED,
    HEADER,
    LAYOUT,
    CauseFinder,
    Difference,
    changed_definitions,
    changed_packages,
    compare_contents,
    verdict,
)
from mcpc.release.trust.contents import ArtifactContents, PackedEntry, UnreadableArtifactError, take_apart
from mcpc.release.trust.statements import BUILDER, provenance_statement

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


def test_an_archive_of_machine_code_is_compared_by_what_it_contains() -> None:
    name = EXTRACTED_FOLDER + archive_of_variants("nat", "win_amd64")
    packed, _, places = variant_archive({"nat-1/a.so": b"a" * 99, "nat-2/a.so": b"b" * 99, "nat-2/b.so": b"a" * 99})
    assert places == {"nat-1/a.so": (0, 99), "nat-2/a.so": (99, 99), "nat-2/b.so": (0, 99)}
    assert is_variant_archive(name.removeprefix(EXTRACTED_FOLDER))
    data = built(nest_entries({**ENTRIES, f"site/{name}": packed}))
    assert take_apart(data).entries[f"site/{name}"].data == b"a" * 99 + b"b" * 99
    for wrong in (packed + b"0", packed[:-1], packed + packed):
        with pytest.raises(UnreadableArtifactError):
            take_apart(built(nest_entries({**ENTRIES, f"site/{name}": wrong})))


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


EMPTY = ArtifactContents(b"", b"", {}, {}, {}, is_exact=True)
TABLES = json.loads((Path(__file__).parent / "causes.json").read_text("utf-8"))


@pytest.mark.parametrize("is_first", [True, False], ids=["file", "rebuilt"])
def test_a_difference_has_a_cause(is_first: bool) -> None:
    """A fact counts that differs, whichever of the files has it."""
    for row in TABLES["causes"]:
        files = [replace(EMPTY, facts={"same": 1, **dict.fromkeys(row["facts"].split(), 1)}), EMPTY]
        found = CauseFinder(*files[:: 1 if is_first else -1]).with_causes([Difference(row["entry"], "changed")])
        assert found == (Difference(row["entry"], "changed", row["cause"]),), row


@pytest.mark.parametrize(
    ("other", "cause"),
    [("mcpc_app/a.py", "follows"), ("mcpc_app/bytecode", "source"), (MANIFEST, "source"), (f"{FACTS}#mcpc", "follows")],
)
def test_the_digest_of_the_sources_follows_only_from_what_it_covers(other: str, cause: str) -> None:
    file = replace(EMPTY, facts={"python": 1, **({"mcpc": 1} if "mcpc" in other else {})})
    rows = [Difference(f"{FACTS}#sourceDigest", "changed"), Difference(other, "changed")]
    assert CauseFinder(file, EMPTY).with_causes(rows)[0].cause == cause


def test_a_fact_that_both_files_have_is_no_cause() -> None:
    same = replace(EMPTY, facts={"mcpc": "1", "options": {}})
    found = CauseFinder(same, same).with_causes([Difference("mcpc_app/a.py", "changed"), Difference(SBOM, "changed")])
    assert [each.cause for each in found] == ["source", "source"]


def test_what_the_manifest_of_the_file_says_comes_first() -> None:
    """Only the file's own manifest counts: the rebuilt file has none, and so would be altered."""
    kept, bad = (PackedEntry(data, data) for data in (b"kept", b"bad"))
    text = "".join(f"{checksum_line(name, sha256_hex(b'kept'))}\n" for name in ("kept", "bad")).encode()
    top = {MANIFEST: PackedEntry(text, text), "kept": kept, "bad": bad}
    rows = [
        ("bad", COMPRESSED),
        ("kept", COMPRESSED),
        ("kept", HEADER),
        ("kept", EDITED),
        (LAYOUT, "changed"),
        (MANIFEST, "changed"),
    ]
    finder = CauseFinder(replace(EMPTY, top=top), replace(EMPTY, top={"kept": bad}))
    causes = [each.cause for each in finder.with_causes([Difference(*row) for row in rows])]
    assert causes == ["altered", "zlib", "hidden", "hidden", "hidden", "altered"]


@pytest.mark.parametrize("row", TABLES["verdicts"], ids=str)
def test_the_verdict(row: dict[str, Any]) -> None:
    differences = [Difference("a", "changed", cause) for cause in row["causes"].split()]
    assert verdict(differences, same_lists=row["same_lists"]) == row["verdict"]


def test_definitions_and_packages_that_differ_are_named() -> None:
    for name, changed in (("definitions", changed_definitions), ("packages", changed_packages)):
        table = TABLES[name]
        assert changed(table["file"], table["rebuilt"]) == table["changed"]
        assert changed(table["file"], table["file"]) == []


STORED, DEFLATED = (0o644, 0), (0o644, 8)
ONE = ArtifactContents(b"1", b"#!", {}, {}, {}, is_exact=True)
TWO = replace(ONE, data=b"2")
LAYOUT_CHANGED = ("(layout of the archive)", "changed")


def packed(data: bytes, stored: bytes = b"", header: tuple[object, ...] = DEFLATED) -> PackedEntry:
    return PackedEntry(data, stored or data, header)


SQUEEZED = (packed(b"a", b"1" * 8), packed(b"a", b"2" * 8))
PAIRS: dict[str, tuple[str, PackedEntry | None, PackedEntry | None, tuple[str, str]]] = {
    "missing": ("a", None, packed(b"a"), ("a", "missing")),
    "added": ("a", packed(b"a"), None, ("a", "added")),
    "header before data": ("a", packed(b"a", header=STORED), packed(b"b"), ("a", "header")),
    "data": ("a", packed(b"a"), packed(b"b"), ("a", "changed")),
    "compressed": ("a", *SQUEEZED, ("a", "compressed")),
    "compressed to another length": ("a", packed(b"a", b"1"), packed(b"a", b"12"), ("a", "compressed")),
    "seven bytes of a stream": ("a", packed(b"a", b"1" * 7 + b"0"), packed(b"a", b"2" * 7 + b"0"), ("a", "edited")),
    "stored bytes differ": ("a", packed(b"a", b"1", STORED), packed(b"a", b"2", STORED), ("a", "edited")),
    "same": ("a", packed(b"a"), packed(b"a"), LAYOUT_CHANGED),
    "nested, deflated": ("site/sources.zip", *SQUEEZED, ("site/sources.zip", "compressed")),
    "nested, stored": ("site/sources.zip", packed(b"", b"1", STORED), packed(b"", b"2", STORED), LAYOUT_CHANGED),
    "facts of the same meaning": (FACTS, packed(b"{}"), packed(b"{ }"), (FACTS, "changed")),
}


@pytest.mark.parametrize("name", PAIRS)
def test_an_entry_that_differs(name: str) -> None:
    entry, one, other, expected = PAIRS[name]
    first, second = (
        replace(file, entries={} if each is None else {entry: each}) for file, each in ((ONE, one), (TWO, other))
    )
    assert compare_contents(first, second) == (Difference(*expected),)


def test_a_stream_may_differ_little_if_another_differs_much() -> None:
    first = replace(ONE, entries={"a": SQUEEZED[0], "b": packed(b"b", b"1")})
    second = replace(TWO, entries={"a": SQUEEZED[1], "b": packed(b"b", b"2")})
    assert compare_contents(first, second) == (Difference("a", "compressed"), Difference("b", "compressed"))


def test_facts_of_both_files_are_named_in_order() -> None:
    first = replace(ONE, entries={FACTS: packed(b"1")}, facts={"z": 1, "same": 2, "first": 3})
    second = replace(TWO, entries={FACTS: packed(b"2")}, facts={"z": 0, "same": 2, "second": 4})
    expected = [Difference(f"{FACTS}#{key}", "changed") for key in ("first", "second", "z")]
    assert [*compare_contents(first, second)] == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (ONE, ONE, []),
        (replace(ONE, is_exact=False), ONE, []),
        (ONE, TWO, [LAYOUT_CHANGED]),
        (ONE, replace(TWO, program=b""), [("(program before the archive)", "changed")]),
        (ONE, replace(TWO, entries={"a": packed(b"a")}), [("a", "missing")]),
        (replace(ONE, is_exact=False), replace(TWO, entries={"a": packed(b"a")}), [LAYOUT_CHANGED, ("a", "missing")]),
        (ONE, replace(TWO, is_exact=False, entries={"a": packed(b"a")}), [("a", "missing")]),
    ],
)
def test_what_is_outside_the_entries(
    first: ArtifactContents, second: ArtifactContents, expected: list[tuple[str, str]]
) -> None:
    assert [*compare_contents(first, second)] == [Difference(*each) for each in expected]


BILL = json.dumps({"metadata": {"component": {}}, "components": []}).encode()
TOP = {SBOM: PackedEntry(BILL, BILL)}
SOURCE = {"source": {"digest": {"sha256": "12"}}}


@pytest.mark.parametrize(
    ("program", "facts", "parameters"),
    [
        (b"#!/bin/sh\n", {}, {}),
        (b"#!/bin/sh\n", {"options": {"http": True}, "python": "3.11"}, {"options": {"http": True}}),
        (b"#!/bin/sh\n", {"selfContained": {"target": "t"}}, {"selfContained": {"target": "t"}}),
        (b"\x7fELF", {"selfContained": {"target": "t"}}, {"selfContained": {"target": "t"}}),
        (b"MZ", {}, {"program": "windows"}),
    ],
)
def test_what_a_build_was_given(program: bytes, facts: dict[str, Any], parameters: dict[str, Any]) -> None:
    contents = ArtifactContents(b"", program, TOP, {}, {"sourceDigest": "12", **facts}, is_exact=True)
    statement: dict[str, Any] = provenance_statement(contents, "server.pyz")
    assert statement["predicate"]["buildDefinition"]["externalParameters"] == {**SOURCE, **parameters}


def test_what_a_build_used() -> None:
    wheel = {"type": "distribution", "url": "a.whl", "hashes": [{"content": "34"}]}
    components = [
        {"purl": f"{BUILDER}@1"},
        {"purl": "pkg:pypi/a@1", "externalReferences": [{"type": "vcs"}, wheel]},
        {"bom-ref": "b", "properties": [{"name": "n", "value": "v"}]},
        {"bom-ref": "c"},
    ]
    bill = json.dumps({"metadata": {"component": {}}, "components": components}).encode()
    contents = ArtifactContents(b"", b"#!", {SBOM: PackedEntry(bill, bill)}, {}, {}, is_exact=True)
    packages = [
        {"name": "a.whl", "uri": "pkg:pypi/a@1", "digest": {"sha256": "34"}},
        {"uri": "b", "annotations": {"n": "v"}},
        {"uri": "c"},
    ]
    digest = {"digest": {"gitCommit": "56"}}
    for given, sources in (((), []), (("", "u"), []), (("56",), [digest]), (("56", "u"), [{"uri": "u", **digest}])):
        statement: dict[str, Any] = provenance_statement(contents, "server.pyz", *given)
        assert statement["predicate"]["buildDefinition"]["resolvedDependencies"] == [*sources, *packages]
