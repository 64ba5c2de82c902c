"""How a file was built, as an unsigned in-toto statement with an SLSA provenance predicate.

It is made of the file alone, and so is the same wherever it is made: it has no time, machine or user. Whoever signs it
states that. An unsigned statement proves nothing: it is what a signer takes as predicate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc import DISTRIBUTION
from mcpc.release.trust.bill import inner_bill

if TYPE_CHECKING:
    from mcpc.reading import Json
    from mcpc.release.trust.contents import ArtifactContents

    Object = dict[str, Json]

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILDER = f"pkg:pypi/{DISTRIBUTION}"
BUILD_TYPE = f"{BUILDER}#buildtypes/build/v1"


def provenance_statement(contents: ArtifactContents, name: str, commit: str = "", uri: str = "") -> Object:
    """Return the statement about a file with this name; `commit` and `uri`: of its sources, if they are known."""
    facts = contents.facts
    source: Object = {"digest": {"sha256": str(facts.get("sourceDigest", ""))}}
    parameters: Object = {"source": source}
    parameters.update({key: facts[key] for key in ("options", "selfContained") if key in facts})
    if not contents.program.startswith(b"#!") and "selfContained" not in facts:
        parameters["program"] = "windows"
    return {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": contents.sha256}}],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": parameters,
                "internalParameters": {"python": facts.get("python")},
                "resolvedDependencies": [*sources_of(commit, uri), *dependencies(contents)],
            },
            "runDetails": {"builder": {"id": BUILDER, "version": {"mcpc": str(facts.get("mcpc", ""))}}, "metadata": {}},
        },
    }


def sources_of(commit: str, uri: str) -> list[Json]:
    """Return the descriptor of the sources in a repository; none if no commit is known."""
    if not commit:
        return []
    return [{**({"uri": uri} if uri else {}), "digest": {"gitCommit": commit}}]


def dependencies(contents: ArtifactContents) -> list[Json]:
    """Return the descriptors of the packages in a file: of each wheel that a lock names, else of the package."""
    found: list[Json] = []
    for component in inner_bill(contents)["components"]:
        if component.get("purl", "").startswith(f"{BUILDER}@"):
            continue
        found += descriptors(component)
    return found


def descriptors(component: dict[str, Any]) -> list[Json]:
    """Return the descriptors of a component of an SBOM."""
    uri = component.get("purl") or component["bom-ref"]
    wheels = [row for row in component.get("externalReferences", ()) if row["type"] == "distribution"]
    if wheels:
        return [{"name": row["url"], "uri": uri, "digest": {"sha256": row["hashes"][0]["content"]}} for row in wheels]
    digests = {row["name"]: row["value"] for row in component.get("properties", ())}
    return [{"uri": uri, **({"annotations": digests} if digests else {})}]
