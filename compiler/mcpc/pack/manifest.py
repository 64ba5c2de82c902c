"""Metadata of an artifact: META-INF contains the digest of every entry, the build facts, and the SBOM.

Recorded are the options that differ from their defaults and decide what the file contains. Values of `--build-env` may
be secrets, and are not: only their names are. Options that decide only whether a build succeeds, or where packages are
looked for, are not recorded; nor is that a file is for every Python, as all are that `mcpc build` writes.
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from importlib.resources import files
from typing import TYPE_CHECKING

from mcpc import __version__
from mcpc.emit.interpreters import full_version
from mcpc.model.ir.handlers import DEFAULT, HttpHandler, PipelineHandler, default_options
from mcpc.model.revisions import REVISIONS
from mcpc.options import Options, minor_versions
from mcpc.pack.archive import (
    MANIFEST,
    PACKAGES,
    ArchiveEntry,
    checksum_line,
    content_digest,
    sha256_hex,
    without_tag,
)
from mcpc.pack.sbom import bill_of_materials

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpc.model.ir import Handler, HandlerOptions, Layer, Package, Server
    from mcpc.reading import Json


PYTHON = ">=3.11"
REQUESTS = "requests"
"""The fact that has the requests of tools."""
FACTS, SBOM = "META-INF/build.json", "META-INF/sbom.cdx.json"
RUNTIME_LICENCE = "META-INF/licenses/mcpc-runtime.txt"


def manifest_entries(
    server: Server, entries: Sequence[ArchiveEntry], minors: Sequence[str], options: Options
) -> tuple[ArchiveEntry, ...]:
    """Return the entries of META-INF; the manifest covers all others, including those beside it."""
    # Wheels depend on the Python and the machine of the build.
    own = [entry for entry in entries if not is_bytecode(entry.name) and not entry.name.startswith(PACKAGES)]
    source = content_digest(own)
    chosen = recorded_options(options)
    built = build_facts(server, source, minors)
    facts = ArchiveEntry(FACTS, readable_json({**built, **({"options": chosen} if chosen else {})}))
    bill = ArchiveEntry(SBOM, readable_json(bill_of_materials(server, source)))
    licence = ArchiveEntry(RUNTIME_LICENCE, files("mcpc_runtime").joinpath("LICENSE").read_bytes())
    lines = sorted((entry.name, sha256_hex(entry.data)) for entry in (*entries, facts, bill, licence))
    manifest = "".join(f"{checksum_line(name, checksum)}\n" for name, checksum in lines)
    return facts, bill, licence, ArchiveEntry(MANIFEST, manifest.encode())


def is_bytecode(name: str) -> bool:
    """Tell whether an entry depends on the Python of the build."""
    name = without_tag(name)
    return name.endswith(".pyc") or name in ("mcpc_app/bytecode", "mcpc_app/program", "mcpc_runtime/bytecode")


def readable_json(value: object) -> bytes:
    """Return indented JSON."""
    # A lone surrogate, which UTF-8 lacks, becomes `\udc80`, and that is an escape in JSON.
    return json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def build_facts(server: Server, source: str, minors: Sequence[str]) -> dict[str, Json]:
    """Return what was built, by which compiler and for which Python; no time and no place."""
    facts: dict[str, Json] = {
        "name": server.name,
        "version": server.version,
        "format": server.format,
        "dialect": server.dialect,
        "revisions": [revision.version for revision in REVISIONS],
        "tools": len(server.tools),
        "prompts": len(server.prompts),
        "handlers": [*sorted({definition.handler.contract for definition in server.definitions})],
        "python": {"requires": PYTHON, "bytecode": full_version(minors[0]) if len(minors) == 1 else ", ".join(minors)},
        "runsOn": server.runs_on,
        "mcpc": __version__,
        "sourceDigest": source,
    }
    others = {"resources": server.resources, "resourceTemplates": server.templates, "completions": server.completions}
    facts.update({name: len(items) for name, items in others.items() if items})
    if server.settings:
        facts["settings"] = [setting.as_json() for setting in server.settings]
    facts.update(publishing_facts(server))
    facts.update(request_facts(server))
    if server.virtual_servers:
        facts["paths"] = [each.path for each in server.virtual_servers]
    unusual = handler_facts(server)
    if unusual:
        facts["running"] = unusual
    if server.traits.notes:
        facts["notes"] = [*server.traits.notes]
    if server.serving is not None:
        facts["serving"] = [f"{package.name} {package.version}" for package in server.serving.packages]
    if server.layer is not None:
        facts["packages"] = [f"{package.name} {package.version}" for package in server.layer.packages]
        facts["platforms"] = [*native_tags(server.layer)]
        facts.update(lock_facts(server.layer))
    if all_packages(server):
        facts["packagePaths"] = {package.name: [*package.paths] for package in all_packages(server)}
    return facts


def lock_facts(layer: Layer) -> dict[str, Json]:
    """Return the lock that the packages were installed from, and its files with what they need; none without a lock."""
    if layer.lock is None:
        return {}
    resolved: list[Json] = [
        {
            "name": item.name,
            "version": item.version,
            "file": item.file,
            "sha256": item.sha256,
            "dependencies": [*item.needs],
        }
        for item in layer.resolved
    ]
    return {"lock": {"file": layer.lock.file, "sha256": layer.lock.sha256}, "resolvedDependencies": resolved}


def publishing_facts(server: Server) -> dict[str, Json]:
    """Return the metadata of a server's project, for its carriers."""
    if server.project is None:
        return {}
    facts: dict[str, Json] = {"project": server.project.as_json(), "registry": server.project.registry.as_json()}
    return {name: members for name, members in facts.items() if members}


def request_facts(server: Server) -> dict[str, Json]:
    """Return the request of each tool that sends one (`GET $PETS_URL/pets/{id}`), and the default of each address."""
    bases: dict[str, Json] = {}
    lines: dict[str, Json] = {}
    for tool in server.tools:
        steps = tool.handler.steps if isinstance(tool.handler, PipelineHandler) else ()
        if isinstance(tool.handler, HttpHandler):
            lines[tool.name] = tool.handler.line
        for handler in (tool.handler, *(step.handler for step in steps)):
            if isinstance(handler, HttpHandler) and handler.base[0]:
                bases.setdefault(*handler.base)
    return {REQUESTS: {"bases": bases, "tools": lines}} if lines or bases else {}


def handler_facts(server: Server) -> list[Json]:
    """Return the handler options that differ from the defaults, grouped by equal options."""
    groups: dict[str, dict[str, Json]] = {}
    named: dict[str, list[Json]] = {}
    for definition in server.definitions:
        if definition.running != default_options(definition.handler):
            options = handler_options_as_written(definition.running, definition.handler)
            key = json.dumps(options)
            groups[key] = options
            named.setdefault(key, []).append(definition.name)
    return [{"of": named[key], **options} for key, options in groups.items()]


def handler_options_as_written(running: HandlerOptions, handler: Handler) -> dict[str, Json]:
    """Return handler options in the form of a definition, without defaults."""
    options: dict[str, Json] = {}
    if running.timeout != DEFAULT.timeout:
        options["timeout"] = running.timeout
    options.update({field: getattr(running, field) for field in ("inline", "isolated") if getattr(running, field)})
    if running.environment != default_options(handler).environment:
        names: list[Json] = [*running.environment.names]
        options["environment"] = "inherit" if running.environment.inherit else names or "minimal"
    if running.requires:
        options["requires"] = [*map(str, running.requires)]
    if running.task:
        options["task"] = running.task
    if running.max_result:
        options["maxResult"] = running.max_result
    if running.asks:
        options["asks"] = [f"{key}: {method}" for key, method, _ in running.asks]
    return options


def native_tags(layer: Layer) -> tuple[str, ...]:
    """Return the Python and platform tags of the bundled native modules' wheels."""
    tags = {tag for package in layer.packages for tag in package.tags}
    return tuple(sorted(tag for tag in tags if not tag.endswith("-any")))


def all_packages(server: Server) -> list[Package]:
    """Return the distinct bundled packages of an artifact, sorted by name."""
    layers = [layer for layer in (server.layer, server.serving) if layer is not None]
    return sorted(
        {package for layer in layers for package in layer.packages},
        key=lambda item: (item.name, item.version, item.tags),
    )


UNRECORDED = frozenset(
    {"allow_empty", "build_environment", "every_python", "find_links", "imports", "locked", "offline", "strict"}
)
BUILD_ENVIRONMENT = "build_environment"
ADDED_PARTS = frozenset({"http", "ui", "oauth", "otel", "redis", "live", "compact", "platforms"})
CHECKS = frozenset({"validate", "assert_formats", "defaults"})
PAGES = frozenset({"tools_page_size", "prompts_page_size", "resources_page_size"})
ACCEPTED = ADDED_PARTS | CHECKS | PAGES
"""Options that a file may be built with and still do only what its project says. Any other one chooses what is run, or
what may be called: whoever verifies a file must give it, too.
"""


def is_accepted(name: str, value: Json) -> bool:
    """Tell whether an option counts that only the file records."""
    return name in ACCEPTED or (name == "python" and isinstance(value, str) and bool(minor_versions(value)))


def recorded_options(options: Options) -> dict[str, Json]:
    """Return the options of a build as facts; none for a build with the defaults."""
    facts: dict[str, Json] = {}
    default = Options()
    for field in fields(Options):
        value = getattr(options, field.name)
        if field.name not in UNRECORDED and value != getattr(default, field.name):
            facts[field.name] = [*value] if isinstance(value, tuple) else value
    if options.build_environment:
        facts[BUILD_ENVIRONMENT] = [*sorted({name for name, _ in options.build_environment})]
    return facts


def repeated_options(facts: Mapping[str, Json]) -> Options:
    """Return the options that facts record; raise ValueError naming one that this compiler does not have."""
    default = Options()
    known = {field.name for field in fields(Options)} - UNRECORDED
    chosen: dict[str, object] = {}
    for name, value in facts.items():
        if name == BUILD_ENVIRONMENT:
            continue
        restored = tuple(value) if isinstance(value, list) else value
        # Not by `isinstance`, for which `true` is an integer.
        if name not in known or type(restored) is not type(getattr(default, name)):
            raise ValueError(f"this mcpc does not know the option `{name}`")
        chosen[name] = restored
    return replace(default, **chosen)  # type: ignore[arg-type]
