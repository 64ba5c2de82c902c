"""What is published beside a built file: its bill of materials, a statement of provenance, and checksums.

The bill is the one inside, with what only is known when the file is finished: the digest of the file, the digest of its
content, and, if asked for, the commit of its sources and the time of SOURCE_DATE_EPOCH. None of them is inside the
file, where they would change its bytes without a change of its sources.

The statement (in-toto, with an SLSA provenance predicate) is made of the file alone, and so is the same wherever it is
made: it has no time, machine or user. Whoever signs it states that. An unsigned statement proves nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc import DISTRIBUTION
from mcpc.pack.archive import ArchiveEntry, checksum_line, content_digest
from mcpc.pack.manifest import SBOM
from mcpc.pack.sbom import sha256_hash, with_serial_number
from mcpc.release.trust.contents import UnreadableArtifactError
from mcpc.sandbox import programs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mcpc.reading import Json
    from mcpc.release.trust.contents import ArtifactContents

    Object = dict[str, Json]


# What a repository's configuration could start, and what `git status` could write, is switched off.
SETTINGS = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false")
VARIABLES = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
SECONDS = 60


class NoCommitError(Exception):
    """A folder has no commit that describes it; the message says why."""


def commit_of(project: Path) -> str:
    """Return the commit of a project; raise NoCommitError if it is not committed as it is."""
    commit = run_git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", folder=project).strip()
    # Changes outside of the project's folder do not matter.
    changed = run_git("status", "--porcelain", "--untracked-files=normal", "--", ".", folder=project)
    if changed:
        raise NoCommitError(f"it differs from commit {commit[:12]}: {changed.splitlines()[0].strip()}")
    return commit


def run_git(*words: str, folder: Path) -> str:
    """Return what git prints; raise NoCommitError if it fails."""
    try:
        done = programs.run_program("git", ["git", *SETTINGS, *words], SECONDS, cwd=folder, more=VARIABLES)
    except (OSError, TimeoutError) as problem:
        raise NoCommitError(f"git does not run: {problem}") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise NoCommitError(lines[-1] if lines else "it is not in a git repository with a commit")
    return done.stdout.decode(errors="replace")


CONTENT_DIGEST = "mcpc:contentDigest"


def inner_bill(contents: ArtifactContents) -> dict[str, Any]:
    """Return the SBOM inside a file; raise UnreadableArtifactError."""
    try:
        bill: Any = json.loads(contents.top[SBOM].data)
    except (KeyError, ValueError, RecursionError):
        raise UnreadableArtifactError(f"{SBOM} is missing or damaged") from None
    component = bill.get("metadata", {}).get("component") if isinstance(bill, dict) else None
    if not isinstance(component, dict) or not isinstance(bill.get("components"), list):
        raise UnreadableArtifactError(f"{SBOM} is not a bill of materials of mcpc")
    return {**bill}


def outer_bill(contents: ArtifactContents, commit: str = "", epoch: str = "") -> dict[str, Json]:
    """Return the SBOM beside a file; `epoch`: the value of SOURCE_DATE_EPOCH, a number of seconds."""
    bill = inner_bill(contents)
    entries = [ArchiveEntry(name, entry.data) for name, entry in contents.top.items()]
    metadata = bill["metadata"]
    component = {
        **metadata["component"],
        "hashes": [sha256_hash(contents.sha256)],
        **({"pedigree": {"commits": [{"uid": commit}]}} if commit else {}),
        "properties": [
            *metadata["component"].get("properties", ()),
            {"name": CONTENT_DIGEST, "value": content_digest(entries)},
        ],
    }
    moment = {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(epoch)))} if epoch else {}
    return with_serial_number({**bill, "metadata": {**moment, **metadata, "component": component}})


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
    # Without `#!` and without Python inside, it is the program for Windows that looks for Python.
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
    descriptions: list[Json] = []
    for component in inner_bill(contents)["components"]:
        if component.get("purl", "").startswith(f"{BUILDER}@"):
            continue
        descriptions += descriptors(component)
    return descriptions


def descriptors(component: dict[str, Any]) -> list[Json]:
    uri = component.get("purl") or component["bom-ref"]
    wheels = [row for row in component.get("externalReferences", ()) if row["type"] == "distribution"]
    if wheels:
        return [{"name": row["url"], "uri": uri, "digest": {"sha256": row["hashes"][0]["content"]}} for row in wheels]
    digests = {row["name"]: row["value"] for row in component.get("properties", ())}
    return [{"uri": uri, **({"annotations": digests} if digests else {})}]


# As `sha256sum` writes it: a backslash first if the name has escapes, and `*` for binary files.
LINE = re.compile(r"(?P<escaped>\\?)(?P<digest>[0-9a-fA-F]{64})(?: [ *])(?P<name>.+)")
ESCAPES = {"\\\\": "\\", "\\n": "\n", "\\r": "\r"}
CHUNK = 1 << 20
RIGHT, WRONG, ABSENT = "ok", "differs", "missing"


class ChecksumError(ValueError):
    """A list of checksums cannot be written or read; the message says why."""


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A line of a list, and whether the file is the one that it names."""

    name: str
    status: str


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        summary = hashlib.sha256()
        while chunk := file.read(CHUNK):
            summary.update(chunk)
    return summary.hexdigest()


def write_checksums(paths: Iterable[Path]) -> bytes:
    """Return the list of some files, sorted by name; raise ChecksumError for two files with one name."""
    files: dict[str, Path] = {}
    for path in paths:
        if path.name in files:
            raise ChecksumError(f"two files have the name {path.name}")
        files[path.name] = path
    return "".join(f"{checksum_line(name, file_digest(files[name]))}\n" for name in sorted(files)).encode()


def check_checksums(sums: Path) -> tuple[CheckedFile, ...]:
    """Compare the files beside a list with it; raise ChecksumError if it is not such a list."""
    return tuple(
        CheckedFile(name, status_of(sums.parent / name, digest)) for name, digest in listed_digests(sums).items()
    )


def status_of(path: Path, digest: str) -> str:
    if not path.is_file():
        return ABSENT
    return RIGHT if file_digest(path) == digest else WRONG


def listed_digests(sums: Path) -> dict[str, str]:
    try:
        lines = sums.read_bytes().decode().splitlines()
    except UnicodeDecodeError:
        raise ChecksumError("it is not a text in UTF-8") from None
    digests: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        row = LINE.fullmatch(line)
        if row is None:
            raise ChecksumError(f"line {number} is not a SHA-256, two spaces and a name")
        name = re.sub(r"\\[\\nr]", lambda each: ESCAPES[each[0]], row["name"]) if row["escaped"] else row["name"]
        if "/" in name or "\\" in name or name in ("", ".", ".."):
            raise ChecksumError(f"line {number} names a file in another folder")
        if name in digests:
            raise ChecksumError(f"line {number} names {name} again")
        digests[name] = row["digest"].lower()
    if not digests:
        raise ChecksumError("it lists no file")
    return digests
