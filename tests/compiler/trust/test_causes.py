"""The cause of each difference, the verdict on all of them, and what of definitions and packages differs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mcpc.pack.archive import MANIFEST, sha256_hex
from mcpc.pack.manifest import FACTS, SBOM, checksum_line
from mcpc.trust.causes import CauseFinder, changed_definitions, changed_packages, verdict
from mcpc.trust.comparison import COMPRESSED, HEADER, LAYOUT, PROGRAM, Difference
from mcpc.trust.contents import ArtifactContents, PackedEntry

EMPTY = ArtifactContents(b"", b"", {}, {}, {}, is_exact=True)
CODE, PACKAGE, COMPILED = "mcpc_app/index.py", "site/a.py", "site/a.pyc"


def entry(data: bytes) -> PackedEntry:
    return PackedEntry(data, data)


@pytest.mark.parametrize(
    ("facts", "name", "cause"),
    [
        ("", f"{FACTS}#python", "python"),
        ("", f"{FACTS}#sourceDigest", "follows"),
        ("", f"{FACTS}#serving", "packages"),
        ("", f"{FACTS}#name", "source"),
        ("", FACTS, "source"),
        ("", MANIFEST, "follows"),
        ("", "site/.directory.cpython-312", "follows"),
        ("", SBOM, "source"),
        ("mcpc selfContained lock", SBOM, "packages"),
        ("mcpc selfContained", SBOM, "interpreter"),
        ("mcpc options", SBOM, "mcpc"),
        ("", LAYOUT, "hidden"),
        ("", PROGRAM, "unknown"),
        ("python mcpc selfContained options", PROGRAM, "options"),
        ("python mcpc selfContained", PROGRAM, "interpreter"),
        ("python mcpc", PROGRAM, "mcpc"),
        ("python", PROGRAM, "python"),
        ("", PACKAGE, "packages"),
        ("platforms python", PACKAGE, "platform"),
        ("platforms python", COMPILED, "python"),
        ("platforms python packages", COMPILED, "packages"),
        ("platforms", COMPILED, "platform"),
        ("python", "mcpc_app/bytecode", "python"),
        ("python", CODE, "source"),
        ("", "mcpc_app/bytecode", "source"),
        ("options mcpc", CODE, "mcpc"),
        ("options", CODE, "options"),
        ("mcpc", "handlers/a.py", "source"),
        ("mcpc", "handlers/.mcpc/a.py", "mcpc"),
        ("mcpc", "python/a.py", "interpreter"),
    ],
)
@pytest.mark.parametrize("is_first", [True, False], ids=["file", "rebuilt"])
def test_a_difference_has_a_cause(facts: str, name: str, cause: str, is_first: bool) -> None:
    """A fact counts that differs, whichever of the files has it."""
    files = [replace(EMPTY, facts={"same": 1, **dict.fromkeys(facts.split(), 1)}), replace(EMPTY, facts={"same": 1})]
    finder = CauseFinder(*(files if is_first else files[::-1]))
    assert finder.with_causes([Difference(name, "changed")]) == (Difference(name, "changed", cause),)


def test_a_fact_that_both_files_have_is_no_cause() -> None:
    same = replace(EMPTY, facts={"mcpc": "1", "options": {}})
    found = CauseFinder(same, same).with_causes([Difference(CODE, "changed"), Difference(SBOM, "changed")])
    assert [each.cause for each in found] == ["source", "source"]


def test_what_the_manifest_of_the_file_says_comes_first() -> None:
    """Only the file's own manifest counts: the rebuilt file has none, and so would be altered."""
    kept, bad = entry(b"kept"), entry(b"bad")
    text = "".join(f"{checksum_line(name, sha256_hex(b'kept'))}\n" for name in ("kept", "bad"))
    top = {MANIFEST: entry(text.encode()), "kept": kept, "bad": bad}
    rows = [
        ("bad", COMPRESSED),
        ("kept", COMPRESSED),
        ("kept", HEADER),
        (LAYOUT, "changed"),
        ("site/.directory", "added"),
    ]
    finder = CauseFinder(replace(EMPTY, top=top), replace(EMPTY, top={"kept": bad}))
    causes = [each.cause for each in finder.with_causes([Difference(*row) for row in rows])]
    assert causes == ["altered", "zlib", "hidden", "hidden", "altered"]


@pytest.mark.parametrize(
    ("causes", "same_lists", "expected"),
    [
        ("", False, "identical"),
        ("zlib", False, "equivalent"),
        ("zlib follows", False, "equivalent"),
        ("follows", True, "same-sources"),
        ("follows", False, "different"),
        ("python mcpc zlib", True, "same-sources"),
        ("python zlib", False, "different"),
        ("zlib unknown", True, "different"),
    ],
)
def test_the_verdict(causes: str, same_lists: bool, expected: str) -> None:
    differences = [Difference("a", "changed", cause) for cause in causes.split()]
    assert verdict(differences, same_lists=same_lists) == expected


def test_definitions_that_differ_are_named_with_their_members() -> None:
    file = {
        "tools": [
            {"name": "same"},
            {"name": "b", "title": 1, "x": 1, "old": 2},
            {"name": "a"},
            {"name": "new", "x": 1},
        ],
        "prompts": 2,
        "resources": [{"uri": "u", "name": "n"}],
        "resourceTemplates": [{"uriTemplate": "t", "name": "1"}],
    }
    rebuilt = {
        "tools": [{"name": "z"}, {"name": "same"}, {"name": "b", "title": 2, "x": 1, "new": 3}],
        "prompts": [{"name": "p"}],
        "resources": [{"uri": "v", "name": "n"}],
        "resourceTemplates": [{"uriTemplate": "t", "name": "2"}],
    }
    rows = [
        ("tools", "a", "file", []), ("tools", "b", "", ["new", "old", "title"]), ("tools", "new", "file", []),
        ("tools", "z", "project", []), ("prompts", "p", "project", []), ("resources", "u", "file", []),
        ("resources", "v", "project", []), ("resourceTemplates", "t", "", ["name"]),
    ]  # fmt: skip
    assert changed_definitions(file, rebuilt) == [
        dict(zip(("kind", "name", "only", "members"), row, strict=True)) for row in rows
    ]


def test_packages_that_differ_have_both_versions() -> None:
    file: dict[str, Any] = {"packages": ["z 1", "same 1", "a 1"], "serving": ["uvicorn 1.0"]}
    rebuilt: dict[str, Any] = {"packages": ["same 1", "a 2", "b 1"], "serving": ["uvicorn 1.1"]}
    rows = [("a", "1", "2"), ("b", "", "1"), ("uvicorn", "1.0", "1.1"), ("z", "1", "")]
    assert changed_packages(file, rebuilt) == [dict(zip(("name", "file", "project"), row, strict=True)) for row in rows]
    assert changed_packages({}, {}) == []
