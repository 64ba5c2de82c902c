"""Parameters of a build in its provenance: options, an interpreter inside, a program for Windows; what it used."""

import json
from typing import Any

import pytest

from mcpc.pack.manifest import SBOM
from mcpc.release.trust.contents import ArtifactContents, PackedEntry
from mcpc.release.trust.statements import BUILDER, provenance_statement

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
