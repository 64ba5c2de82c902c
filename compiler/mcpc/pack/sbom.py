"""The bill of materials of an artifact, in CycloneDX 1.6: the server, what it is made with, and what it contains.

It depends on the sources and on the versions of packages only, so that the same sources have the same bytes with every
Python, at any time, and whatever installed the packages. So it has no time, no commit and no address of a registry; and
of a package the digest of its files, and that of its wheel only where a lock names it: files that were copied from an
installation have no wheel any more. `mcpc attest sbom` adds what is known beside the file: its digest, and a commit.
"""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass
from email.parser import HeaderParser
from typing import TYPE_CHECKING
from urllib.parse import quote

from packaging.requirements import InvalidRequirement, Requirement

from mcpc import DISTRIBUTION, __version__
from mcpc.pack.archive import EXTRACTED_FOLDER, sha256_hex
from mcpc.packages.pep508 import normalised_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from mcpc.model.ir import Layer, Package, ResolvedPackage, Server
    from mcpc.reading import Json

    Object = dict[str, Json]

NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
"""The standard namespace of URLs (RFC 9562, section 6.6)."""
SERVER, RUNTIME, COMPILER = "server", "mcpc-runtime", "mcpc"
"""References to the components that are not packages."""
SOURCE_DIGEST, FILES_DIGEST = "mcpc:sourceDigest", "mcpc:filesDigest"
METADATA = re.compile(r"[^/]+\.dist-info/METADATA")
BILL = re.compile(r"[^/]+\.dist-info/sboms/.+")
"""The bills of materials that a wheel has itself (PEP 770)."""


@dataclass(frozen=True, slots=True)
class PlacedPackage:
    """A package in a folder of the artifact, with its requirements, and the rows of a lock.

    `files`: the digests of its files, by their paths below the folder.
    """

    folder: str
    package: Package
    files: Mapping[str, str]
    requirements: frozenset[str]
    locked: tuple[ResolvedPackage, ...] = ()

    @property
    def url(self) -> str:
        """Its package URL, by which other components refer to it."""
        return package_url(self.package.name, self.package.version)


def bill_of_materials(server: Server, source: str) -> Object:
    """Return the bill of materials of a server; `source`: the digest of its sources."""
    handlers, serving = placed_packages("site/", server.layer), placed_packages("serving/", server.serving)
    by_url: dict[str, list[PlacedPackage]] = {}
    for placed in (*handlers, *serving):
        by_url.setdefault(placed.url, []).append(placed)
    asked = {item.name for item in server.layer.asked} if server.layer else frozenset()
    needs: dict[str, set[str]] = {
        SERVER: {RUNTIME, *(direct(handlers, asked))},
        RUNTIME: direct(serving, frozenset()),
        **{url: set() for url in sorted(by_url)},
    }
    for group in (handlers, serving):
        for name, others in needs_of(group).items():
            needs[name] |= others
    return with_serial_number(
        {
            "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {
                "tools": {"components": [compiler_component()]},
                "component": server_component(server, source),
            },
            "components": [runtime_component(), *(package_component(by_url[url]) for url in sorted(by_url))],
            # A package may require itself, with an extra.
            "dependencies": [graph_row(name, needs[name] - {name}) for name in needs],
        }
    )


def placed_packages(folder: str, layer: Layer | None) -> list[PlacedPackage]:
    """Return the packages of a layer with their files.  O(files of the layer)."""
    if layer is None:
        return []
    owners = {path: package.name for package in layer.packages for path in package.paths}
    for package in layer.packages:
        # The folder of extracted files has one of the tags of its wheel in its name.
        owners.update({f"{EXTRACTED_FOLDER}{package.name}-{tag}/": package.name for tag in package.tags})
    files: dict[str, dict[str, str]] = {package.name: {} for package in layer.packages}
    named: dict[str, frozenset[str]] = {}
    for path, digest in sorted(layer.digests.items()):
        # A package has the whole folder, or single files in one that several packages share.
        owner = next((owners[place] for place in (*folders_above(path), path) if place in owners), None)
        if owner is not None:
            files[owner][path] = digest
            if METADATA.fullmatch(path):
                named[owner] = frozenset(requirements(layer.files[path]))
    locked = {
        package.name: tuple(row for row in layer.resolved if row.name == package.name) for package in layer.packages
    }
    return [
        PlacedPackage(folder, item, files[item.name], named.get(item.name, frozenset()), locked[item.name])
        for item in layer.packages
    ]


def with_serial_number(bill: Object) -> Object:
    """Return a bill with a serial number that is derived from its content, and so is the same for the same content."""
    content = {key: value for key, value in bill.items() if key != "serialNumber"}
    number = uuid.uuid5(NAMESPACE, json.dumps(content, sort_keys=True))
    head = ("$schema", "bomFormat", "specVersion")
    first: Object = {key: content.pop(key) for key in head if key in content}
    return {**first, "serialNumber": f"urn:uuid:{number}", **content}


def with_components(bill: Object, added: Sequence[Object]) -> Object:
    """Return a bill with further components, of which the server depends."""
    listed, graph = bill["components"], bill["dependencies"]
    if not isinstance(listed, list) or not isinstance(graph, list):
        raise ValueError("the bill of materials has no components")
    names: list[Json] = [component["bom-ref"] for component in added]
    rows: list[Json] = []
    for row in graph:
        before = row.get("dependsOn") if isinstance(row, dict) and row.get("ref") == SERVER else None
        rows.append({"ref": SERVER, "dependsOn": [*before, *names]} if isinstance(before, list) else row)
    rows += [{"ref": name} for name in names]
    return with_serial_number({**bill, "components": [*listed, *added], "dependencies": rows})


def server_component(server: Server, source: str) -> Object:
    """Return the server itself."""
    return {
        "type": "application",
        "bom-ref": SERVER,
        "name": server.name,
        "version": server.version,
        "properties": [{"name": SOURCE_DIGEST, "value": source}],
    }


def compiler_component() -> Object:
    """Return the tool that built the server."""
    url = package_url(DISTRIBUTION, __version__)
    return {"type": "application", "bom-ref": COMPILER, "name": DISTRIBUTION, "version": __version__, "purl": url}


def runtime_component() -> Object:
    """Return the runtime, which every artifact contains."""
    return {
        "type": "library",
        "bom-ref": RUNTIME,
        "name": RUNTIME,
        "version": __version__,
        "licenses": [{"license": {"id": "MIT"}}],
        "purl": package_url(DISTRIBUTION, __version__),
        "evidence": {"occurrences": [{"location": "mcpc_runtime/"}]},
    }


def package_url(name: str, version: str) -> str:
    """Return the package URL of a package of Python."""
    # A local version has a `+`, which a package URL escapes.
    return f"pkg:pypi/{name}@{quote(version, safe='.-_~')}"


def package_component(places: Sequence[PlacedPackage]) -> Object:
    """Return a package as a component; a licence that is not an SPDX expression is a name.

    `places`: the folders of the artifact that contain it.
    """
    placed = places[0]
    package = placed.package
    lines = "".join(f"{digest}  {path}\n" for path, digest in placed.files.items())
    licence: Json = {"expression": package.licence} if package.is_spdx else {"license": {"name": package.licence}}
    wheels = sorted({(row.file, row.sha256) for row in placed.locked})
    references: list[Json] = [*map(wheel_reference, wheels), *bill_references(placed)]
    locations = sorted(location for place in places for location in occurrences(place))
    hashes: list[Json] = [sha256_hash(digest) for digest in sorted({digest for _, digest in wheels})]
    return {
        "type": "library",
        "bom-ref": placed.url,
        "name": package.name,
        "version": package.version,
        **({"hashes": hashes} if hashes else {}),
        **({"licenses": [licence]} if package.licence else {}),
        "purl": placed.url,
        **({"externalReferences": references} if references else {}),
        "evidence": {"occurrences": [{"location": location} for location in locations]},
        "properties": [{"name": FILES_DIGEST, "value": sha256_hex(lines.encode())}],
    }


def sha256_hash(digest: str) -> Object:
    """Return a digest as CycloneDX has it."""
    return {"alg": "SHA-256", "content": digest}


def wheel_reference(wheel: tuple[str, str]) -> Object:
    """Return the reference to a wheel, by its name: which registry it comes from is a matter of the build machine."""
    name, digest = wheel
    return {"type": "distribution", "url": quote(name), "hashes": [sha256_hash(digest)]}


def bill_references(placed: PlacedPackage) -> Iterator[Object]:
    """Yield references to the bills of materials that a package has itself, by their places in the artifact."""
    for path, digest in placed.files.items():
        if BILL.fullmatch(path):
            yield {"type": "bom", "url": quote(placed.folder + path), "hashes": [sha256_hash(digest)]}


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders that contain a file, the highest first, each with a slash."""
    parts = path.split("/")[:-1]
    return ("/".join(parts[: number + 1]) + "/" for number in range(len(parts)))


def occurrences(placed: PlacedPackage) -> Iterator[str]:
    """Yield the folders and files of the artifact that are a package's."""
    plain = (path for path in placed.package.paths if any(file.startswith(path) for file in placed.files))
    extracted = {"/".join(path.split("/")[:2]) + "/" for path in placed.files if path.startswith(EXTRACTED_FOLDER)}
    yield from (placed.folder + path for path in (*plain, *extracted))


def graph_row(name: str, others: Iterable[str]) -> Object:
    """Return a row of the graph of dependencies."""
    sorted_names: list[Json] = [*sorted(others)]
    return {"ref": name, "dependsOn": sorted_names} if sorted_names else {"ref": name}


def needs_of(group: Sequence[PlacedPackage]) -> dict[str, set[str]]:
    """Return the packages of a layer that each of its packages needs, by their references.

    A lock decides what needs what. Without one, a requirement of the metadata counts if it is there, whatever its
    marker: what is there is used.
    """
    urls = {placed.package.name: placed.url for placed in group}
    needs: dict[str, set[str]] = {}
    for placed in group:
        named = {name for row in placed.locked for name in row.needs} if placed.locked else placed.requirements
        needs[placed.url] = {urls[name] for name in named if name in urls} - {placed.url}
    return needs


def direct(group: Sequence[PlacedPackage], asked: Collection[str]) -> set[str]:
    """Return what is required of a layer: what the project asks for, else what no other package of it needs."""
    needed = {name for others in needs_of(group).values() for name in others}
    urls = {placed.url for placed in group if placed.package.name in asked}
    return urls or {placed.url for placed in group if placed.url not in needed}


def requirements(data: bytes) -> Iterator[str]:
    """Yield the normalised names that the metadata of a package requires."""
    # It reads the fields only, and not the description behind them.
    for text in HeaderParser().parsestr(data.decode("utf-8", "replace")).get_all("Requires-Dist", ()):
        try:
            yield normalised_name(Requirement(text).name)
        except InvalidRequirement:
            continue
