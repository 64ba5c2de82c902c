"""A release: what a project publishes (`[tool.mcpc.release]`), and the files, each a function from the built server.

`files` are products, in any order; `self-contained` are targets of files that contain Python; `options` are those of
`mcpc build`, as on its command line.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.interpreters.launchers.windows_file import PythonChoice, windows_file
from mcpc.interpreters.selfcontained import TARGETS, CannotEmbedError, EmbeddingRequest, embed_server
from mcpc.pack.manifest import readable_json
from mcpc.reading.toml import TomlText, is_string_list, nested_table, read_toml
from mcpc.release.carriers import UnusableValueError
from mcpc.release.carriers.built_server import EXECUTABLE, PLAIN, CarrierFile, archive_bytes
from mcpc.release.carriers.bundle import bundle_archive
from mcpc.release.carriers.image import ImageOptions, image_layout, layout_archive
from mcpc.release.carriers.plugin import plugin_files
from mcpc.release.carriers.registry import Publication, registry_file
from mcpc.release.trust.contents import take_apart
from mcpc.release.trust.statements import outer_bill, provenance_statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.reading import Source
    from mcpc.release.carriers import BuiltServer


BYTECODE = re.compile(r"3\.(\d+)")
PLUGIN, IMAGE, BUNDLE = "-plugin.zip", ".oci.tar", ".mcpb"
"""Ends of the names of files."""


@dataclass(frozen=True, slots=True)
class ReleaseInput:
    """What products are made from.

    `server`: the built file; `programs`: self-contained ones, by target; `made`: the files of earlier products;
    `commit`, `source`: of the sources, and where they are, for the statement of provenance.
    """

    server: BuiltServer
    programs: tuple[tuple[str, BuiltServer], ...] = ()
    made: tuple[CarrierFile, ...] = ()
    commit: str = ""
    source: str = ""

    def named(self, end: str) -> str:
        """Return the name of a file of the release."""
        return f"{self.server.slug}{end}"


@dataclass(frozen=True, slots=True)
class Product:
    """A product: how it is made, what it is, and the products that must be made before it."""

    make: Callable[[ReleaseInput], Iterator[CarrierFile]]
    purpose: str
    needs: tuple[str, ...] = ()


def built_file(release: ReleaseInput) -> Iterator[CarrierFile]:
    yield CarrierFile(release.named(".pyz"), EXECUTABLE, release.server.data)


def windows_program(release: ReleaseInput) -> Iterator[CarrierFile]:
    """Yield the program for Windows that finds Python there."""
    minors = tuple(int(minor) for minor in BYTECODE.findall(release.server.bytecode))
    data = windows_file(release.server.data, "x64", PythonChoice(minors))
    yield CarrierFile(release.named(".exe"), EXECUTABLE, data)


def desktop_bundle(release: ReleaseInput) -> Iterator[CarrierFile]:
    yield CarrierFile(release.named(BUNDLE), PLAIN, bundle_archive(release.server))


def agent_plugin(release: ReleaseInput) -> Iterator[CarrierFile]:
    """Yield the Agent Plugin as an archive with one folder."""
    files = (replace(file, path=f"{release.server.slug}/{file.path}") for file in plugin_files(release.server))
    yield CarrierFile(release.named(PLUGIN), PLAIN, archive_bytes(files))


def container_image(release: ReleaseInput) -> Iterator[CarrierFile]:
    """Yield the container image: one variant for each self-contained file for Linux."""
    servers = tuple(server for target, server in release.programs if target.startswith("linux_"))
    yield CarrierFile(release.named(IMAGE), PLAIN, layout_archive(image_layout(servers, ImageOptions())))


def registry_entry(release: ReleaseInput) -> Iterator[CarrierFile]:
    """Yield the `server.json` of the registry, for the addresses in `[tool.mcpc.registry]`."""
    entry, version = release.server.project.registry, release.server.version
    # What will be at an address is not published yet: its digest is that of the file of this name.
    digests = {file.path: hashlib.sha256(file.data).hexdigest() for file in release.made}
    urls = [url.replace("{version}", version) for url in entry.mcpb]
    missing = next((url for url in urls if url.rpartition("/")[2] not in digests), "")
    if missing:
        raise UnusableValueError(f"`mcpb` of `[tool.mcpc.registry]` names {missing}, which the release does not have")
    bundles = tuple((url, digests[url.rpartition("/")[2]]) for url in urls)
    others = (tuple(text.replace("{version}", version) for text in each) for each in (entry.oci, entry.remotes))
    text = registry_file(release.server, Publication(entry.name, bundles, *others))
    # A lone surrogate becomes the escape that it has in JSON.
    yield CarrierFile("server.json", PLAIN, text.encode("utf-8", "backslashreplace"))


def bills_of_materials(release: ReleaseInput) -> Iterator[CarrierFile]:
    """Yield the SBOM of the built file."""
    bill = outer_bill(take_apart(release.server.data), release.commit)
    yield CarrierFile(release.named(".cdx.json"), PLAIN, readable_json(bill))


def provenance(release: ReleaseInput) -> Iterator[CarrierFile]:
    """Yield the statement of how the built file was made; it is not signed."""
    contents = take_apart(release.server.data)
    statement = provenance_statement(contents, release.named(".pyz"), release.commit, release.source)
    yield CarrierFile(release.named(".provenance.json"), PLAIN, readable_json(statement))


PRODUCTS: dict[str, Product] = {
    "pyz": Product(built_file, "the built file"),
    "exe": Product(windows_program, "a program for Windows that finds Python"),
    "bundle": Product(desktop_bundle, "an MCP Bundle for desktop clients"),
    "plugin": Product(agent_plugin, "an Agent Plugin"),
    "image": Product(container_image, "a container image, as an OCI layout"),
    "registry": Product(registry_entry, "the registry's server.json", ("bundle",)),
    "sbom": Product(bills_of_materials, "the bill of materials", ("pyz",)),
    "provenance": Product(provenance, "how the built file was made, unsigned", ("pyz",)),
}
"""The products in the order in which they are made."""


def self_contained_file(server: BuiltServer, target: str) -> bytes:
    """Return the file of a server that contains Python; raise UnusableValueError if it cannot be made here."""
    try:
        return embed_server(EmbeddingRequest(server.data, target))
    except CannotEmbedError as problem:
        hint = f"; {problem.diagnostic.hint}" if problem.diagnostic.hint else ""
        raise UnusableValueError(f"{target}: {problem}{hint}") from None


def release_files(release: ReleaseInput, names: Sequence[str]) -> tuple[CarrierFile, ...]:
    """Return the files of a release, sorted by name; raise UnusableValueError if one cannot be made."""
    files = tuple(
        CarrierFile(release.named(f"-{target}{'.exe' if target.startswith('win_') else ''}"), EXECUTABLE, server.data)
        for target, server in release.programs
    )
    # In the order of the table, because a product reads the files of those before it.
    for name, product in PRODUCTS.items():
        if name in names:
            files += tuple(product.make(replace(release, made=files)))
    return tuple(sorted(files))


DEFAULT = ("pyz", "sbom", "provenance")
"""The products of a project that declares none: they need no other metadata."""
TABLE = ("tool", "mcpc", "release")
KNOWN = {"files": tuple(PRODUCTS), "self-contained": tuple(TARGETS), "options": ()}
"""The keys of the table, and the words that each may have; none for any."""


@dataclass(frozen=True, slots=True)
class ReleasePlan:
    """What is released; `options`: of the build, as on its command line."""

    files: tuple[str, ...] = DEFAULT
    self_contained: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def read_plan(source: Source | None) -> tuple[ReleasePlan, Diagnostics]:
    """Return the plan of a project's `pyproject.toml`, and what is wrong with it."""
    text = None if source is None else read_toml(source)
    if not isinstance(text, TomlText):
        return ReleasePlan(), () if text is None else (text,)
    table = nested_table(text.table, *TABLE)
    problems = tuple(_problems(table, text))
    if problems:
        return ReleasePlan(), problems
    files = tuple(dict.fromkeys(table.get("files", DEFAULT)))
    plan = ReleasePlan(files, tuple(dict.fromkeys(table.get("self-contained", ()))), tuple(table.get("options", ())))
    return plan, tuple(_unmet(plan, text))


def _problems(table: Mapping[str, Any], text: TomlText) -> Iterator[Diagnostic]:
    """Yield values that are not lists of known words; a check of the project reports unknown keys."""
    for key, known in KNOWN.items():
        value = table.get(key, [])
        if is_string_list(value):
            yield from _unknown_words(key, value, known, text)
        else:
            span = text.span_of(key, *TABLE)
            yield diagnose("MCP441", span, f"`{key}` is not a list of strings", 'a list, such as `["pyz", "sbom"]`')


def _unknown_words(key: str, words: Sequence[str], known: Sequence[str], text: TomlText) -> Iterator[Diagnostic]:
    for word in words:
        if known and word not in known:
            span = text.span_of(word, *TABLE)
            message = f"`{word}` is not one of the words of `{key}`"
            yield diagnose("MCP441", span, message, f"one of {quoted(known)}", did_you_mean(word, known))


def _unmet(plan: ReleasePlan, text: TomlText) -> Iterator[Diagnostic]:
    """Yield products that need another one, or something that is not chosen."""
    for name in plan.files:
        for needed in PRODUCTS[name].needs:
            if needed not in plan.files:
                yield _lacking(name, f"add `{needed}` to `files`", text.span_of(name, *TABLE))
    if "image" in plan.files and not any(target.startswith("linux_") for target in plan.self_contained):
        span = text.span_of("image", *TABLE)
        hint = 'add `self-contained = ["linux_x86_64"]`: the image has that file, so it needs no base'
        yield _lacking("image", hint, span)


def _lacking(name: str, hint: str, span: Span) -> Diagnostic:
    return diagnose("MCP441", span, f"`{name}` needs another file of the release", "", hint)
