"""The cause of each difference, the verdict on all of them, and what of definitions and packages differs."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpc.pack.archive import MANIFEST, sha256_hex
from mcpc.pack.manifest import FACTS, SBOM, checksum_line
from mcpc.release.trust.comparison import (
    COMPRESSED,
    EDITED,
    HEADER,
    LAYOUT,
    CauseFinder,
    Difference,
    changed_definitions,
    changed_packages,
    verdict,
)
from mcpc.release.trust.contents import ArtifactContents, PackedEntry

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
