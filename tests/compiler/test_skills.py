"""Tests of skills: frontmatter as JSON, what the extension asks of a skill, and what is written of each for clients."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from mcpc.emit import resources as emitted
from mcpc.lower.skills import read_frontmatter
from mcpc.reading import Source
from mcpc.reading.yaml_tree import MAX_NODES
from support.projects import lowered

SERVER = '{"serverInfo": {"name": "demo", "version": "1.0.0"}}'

TABLES = json.loads(Path(__file__).with_name("frontmatter.json").read_text("utf-8"))
SCALARS: dict[str, Any] = TABLES["scalars"]
"""What YAML 1.2's core schema makes of a value."""


@pytest.mark.parametrize("text", SCALARS)
def test_values_are_read_by_the_core_schema(text):
    read, problems = read_frontmatter(Source("SKILL.md", f"---\nkey: {text}\n---\n".encode()))
    assert not problems and read is not None
    assert read.value == {"key": SCALARS[text]}
    assert type(read.value["key"]) is type(SCALARS[text])


WHOLE: dict[str, Any] = TABLES["whole"]


@pytest.mark.parametrize("text", WHOLE)
def test_frontmatter_ends_at_the_second_line_of_hyphens(text):
    read, problems = read_frontmatter(Source("SKILL.md", text.encode()))
    assert not problems and read is not None and read.value == WHOLE[text]


BROKEN: dict[str, str] = TABLES["broken"]


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_what_json_has_no_word_for_is_a_problem(text):
    read, problems = read_frontmatter(Source("SKILL.md", text.encode()))
    assert [problem.code for problem in problems] == [code for code in (BROKEN[text],) if code]
    assert (read is None) == bool(problems)
    for problem in problems:
        assert problem.span is not None and 0 <= problem.span.start <= problem.span.end <= len(text)


def test_a_problem_stands_at_its_line():
    source = Source("SKILL.md", b"---\nname: a\nsize: 1\nname: b\n---\n")
    _, (problem,) = read_frontmatter(source)
    assert source.position(problem.span.start) == (4, 1)


def test_many_nodes_are_refused_before_they_cost_anything():
    text = "---\na: [" + "x," * (MAX_NODES + 1) + "]\n---\n"
    _, problems = read_frontmatter(Source("SKILL.md", text.encode()))
    assert [problem.code for problem in problems] == ["MCP131"]


def skill(name: str = "notes", *more: str, description: str = "How we take notes.") -> str:
    return "\n".join(("---", f"name: {name}", f"description: {description}", *more, "---", "# Text", ""))


@pytest.mark.parametrize(
    ("most", "files"),
    [
        (1024, lambda count: {"skills/notes/SKILL.md": skill(description="x" * count)}),
        (64, lambda count: {f"skills/{'n' * count}/SKILL.md": skill("n" * count)}),
        (512, lambda count: {f"skills/notes/{number}.txt": "x" for number in range(count - 1)}),
        (16 << 20, lambda count: {"skills/notes/a.bin": b"\0" * (count - len(skill()))}),
    ],
)
def test_a_skill_may_have_so_much_and_no_more(most, files):
    for count, code in ((most, 0), (most + 1, 1)):
        _, problems = lowered({"server.json": SERVER, "skills/notes/SKILL.md": skill(), **files(count)})
        assert len([problem for problem in problems if problem.code in ("MCP133", "MCP134", "MCP135")]) == code


FILES = {
    "server.json": SERVER,
    "skills/acme/refunds/SKILL.md": skill("refunds"),
    "skills/acme/refunds/templates/mail.txt": "Dear …",
    "skills/acme/refunds/templates/deep/logo.png": b"\x89PNG\0",
    "skills/acme/refunds/a b.md": "# Spaces",
    "skills/acme/refunds/inner/SKILL.md": skill("inner"),
    "skills/README.md": "Not a skill.",
}


def test_an_entry_lists_every_file_with_digest_and_size():
    server, problems = lowered(FILES)
    assert not problems and server is not None
    refunds, inner = sorted(server.skills, key=lambda one: len(one.uri))
    entry = emitted.skill_entry(refunds)
    assert entry["frontmatter"] == {"name": "refunds", "description": "How we take notes."}
    assert [file["uri"] for file in entry["resources"]] == [
        "skill://acme/refunds/SKILL.md",
        "skill://acme/refunds/a%20b.md",
        "skill://acme/refunds/inner/SKILL.md",
        "skill://acme/refunds/templates/deep/logo.png",
        "skill://acme/refunds/templates/mail.txt",
    ]
    mail = "Dear …".encode()
    digest = hashlib.sha256(mail).hexdigest()
    assert entry["resources"][-1] == {
        "uri": "skill://acme/refunds/templates/mail.txt",
        "digest": f"sha256:{digest}",
        "size": len(mail),
    }
    assert [file["uri"] for file in emitted.skill_entry(inner)["resources"]] == ["skill://acme/refunds/inner/SKILL.md"]


def test_folders_have_their_children_once():
    server, _ = lowered(FILES)
    assert server is not None
    folders = emitted.directory_children(server)
    assert {
        folder: [child["uri"].rpartition("/")[2] for child in children] for folder, children in folders.items()
    } == {
        "skill://acme/refunds": ["SKILL.md", "a%20b.md", "inner", "templates"],
        "skill://acme/refunds/inner": ["SKILL.md"],
        "skill://acme/refunds/templates": ["deep", "mail.txt"],
        "skill://acme/refunds/templates/deep": ["logo.png"],
    }
    kinds = {child["uri"]: child["mimeType"] for children in folders.values() for child in children}
    assert kinds["skill://acme/refunds/templates"] == "inode/directory"
    assert kinds["skill://acme/refunds/SKILL.md"] == "text/markdown"
    assert kinds["skill://acme/refunds/templates/deep/logo.png"] == "image/png"


SKILL = "---\nname: demo\ndescription: Says {}.\n---\nBody {}.\n"
