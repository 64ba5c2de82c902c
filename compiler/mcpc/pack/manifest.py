"""What an artifact says of itself: META-INF holds the digest of every entry, the facts of its build, and its SBOM."""

from __future__ import annotations

import json
import platform
import uuid
from typing import TYPE_CHECKING

from mcpc import DISTRIBUTION, __version__
from mcpc.ir.usual import USUAL, usual_environment
from mcpc.pack.archive import Entry, content_digest, digest
from mcpc.revisions import REVISIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.ir import Handler, Layer, Package, Running, Server
    from mcpc.sources import Json

PYTHON = ">=3.11"
INSTALLED = ("site/", "serving/")
"""Where packages lie: which wheels they come from depends on the Python and the machine of the build."""
NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
"""The standard namespace of URLs (RFC 9562, section 6.6)."""


def manifest_entries(server: Server, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries of META-INF; the manifest covers all others, the two beside it included."""
    source = content_digest([entry for entry in entries if is_source(entry.name)])
    facts = Entry("META-INF/build.json", text(build_facts(server, source)))
    bill = Entry("META-INF/sbom.cdx.json", text(bill_of_materials(server, source)))
    lines = sorted((entry.name, digest(entry.data)) for entry in (*entries, facts, bill))
    manifest = "".join(f"{line(name, checksum)}\n" for name, checksum in lines)
    return facts, bill, Entry("META-INF/manifest.sha256", manifest.encode())


def is_source(name: str) -> bool:
    """Tell whether an entry is the same whichever Python builds it: packages are not, what asks for them is."""
    return not is_bytecode(name) and not name.startswith(INSTALLED)


def is_bytecode(name: str) -> bool:
    """Tell whether an entry depends on the Python that built it."""
    return name.endswith(".pyc") or name in ("mcpc_app/bytecode", "mcpc_runtime/bytecode", "serving/bytecode.zip")


def line(name: str, checksum: str) -> str:
    """Return a line as `sha256sum` writes it: a name that would break the line is escaped, and the line says so."""
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"{checksum}  {name}" if escaped == name else f"\\{checksum}  {escaped}"


def text(value: Json) -> bytes:
    """Return JSON for people to read."""
    return json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def build_facts(server: Server, source: str) -> Json:
    """Return what was built, by what, for what; nothing of where or when."""
    facts: dict[str, Json] = {
        "name": server.name,
        "version": server.version,
        "format": server.format,
        "dialect": server.dialect,
        "revisions": [revision.version for revision in REVISIONS],
        "tools": len(server.tools),
        "prompts": len(server.prompts),
        "handlers": [*sorted({definition.handler.contract for definition in server.definitions})],
        "python": {"requires": PYTHON, "bytecode": platform.python_version()},
        "mcpc": __version__,
        "sourceDigest": source,
    }
    others = {"resources": server.resources, "resourceTemplates": server.templates, "completions": server.completions}
    facts.update({name: len(found) for name, found in others.items() if found})
    if server.facets:
        facts["paths"] = [facet.path for facet in server.facets]
    unusual = running_facts(server)
    if unusual:
        facts["running"] = unusual
    if server.serving is not None:
        facts["serving"] = [f"{package.name} {package.version}" for package in server.serving.packages]
    if server.layer is not None:
        facts["packages"] = [f"{package.name} {package.version}" for package in server.layer.packages]
        facts["platforms"] = [*native_tags(server.layer)]
    return facts


def running_facts(server: Server) -> list[Json]:
    """Return what is unusual about running handlers, in the words of projects: once for all that are run alike."""
    groups: dict[str, dict[str, Json]] = {}
    named: dict[str, list[Json]] = {}
    for definition in server.definitions:
        said = as_said(definition.running, definition.handler)
        if said:
            key = json.dumps(said)
            groups[key] = said
            named.setdefault(key, []).append(definition.name)
    return [{"of": named[key], **said} for key, said in groups.items()]


def as_said(running: Running, handler: Handler) -> dict[str, Json]:
    """Return how a handler is run as a definition would say it, without what is usual."""
    said: dict[str, Json] = {}
    if running.timeout != USUAL.timeout:
        said["timeout"] = running.timeout
    said.update({way: getattr(running, way) for way in ("inline", "isolated") if getattr(running, way)})
    if running.environment != usual_environment(handler):
        names: list[Json] = [*running.environment.names]
        said["environment"] = "inherit" if running.environment.inherit else names or "minimal"
    if running.requires:
        said["requires"] = [*map(str, running.requires)]
    if running.task:
        said["task"] = running.task
    if running.asks:
        said["asks"] = [f"{key}: {method}" for key, method, _ in running.asks]
    return said


def native_tags(layer: Layer) -> tuple[str, ...]:
    """Return the Pythons and platforms that native modules are carried for, as the tags of their wheels."""
    tags = {tag for package in layer.packages for tag in package.tags}
    return tuple(sorted(tag for tag in tags if not tag.endswith("-any")))


def bill_of_materials(server: Server, source: str) -> Json:
    """Return a CycloneDX bill of materials: the server, the runtime and the packages it carries."""
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(NAMESPACE, source)}",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": server.name, "version": server.version}},
        "components": [
            {
                "type": "library",
                "name": "mcpc-runtime",
                "version": __version__,
                "licenses": [{"license": {"id": "MIT"}}],
                "purl": f"pkg:pypi/{DISTRIBUTION}@{__version__}",
            },
            *(component(package) for package in carried(server)),
        ],
    }


def carried(server: Server) -> list[Package]:
    """Return every package that an artifact carries, once each, in the order of their names."""
    layers = [layer for layer in (server.layer, server.serving) if layer is not None]
    return sorted(
        {package for layer in layers for package in layer.packages}, key=lambda one: (one.name, one.version, one.tags)
    )


def component(package: Package) -> Json:
    """Return a package as a component of the bill of materials; a licence that is no expression of SPDX is a name."""
    licence: Json = {"expression": package.licence} if package.is_spdx else {"license": {"name": package.licence}}
    return {
        "type": "library",
        "name": package.name,
        "version": package.version,
        **({"licenses": [licence]} if package.licence else {}),
        "purl": f"pkg:pypi/{package.name}@{package.version}",
    }
