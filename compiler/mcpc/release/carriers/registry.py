"""The `server.json` of the official MCP registry: under which name a server is published, and where its packages are.

A project's own `server.json` has `serverInfo`; this one has `$schema`, by which `mcpc` tells them apart.  The rules
that the registry has beside its schema are checked here, so that a publication does not fail at its last step.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcpc.model.ir.project import variable_text
from mcpc.release.carriers.built_server import UnusableValueError, json_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.release.carriers.built_server import BuiltServer, DeclaredSetting

    Item = dict[str, Any]

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
# A namespace and a name with one `/` between them, 3 to 200 characters in all.
NAME = re.compile(r"(?=.{3,200}\Z)[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
# Operators, wildcards, spaces between alternatives, or `x` in the place of a number.
VERSION_RANGE = re.compile(r"[\^~<>=*|\s]|(?:^|\.)[xX](?:\.|$)")
SHA256 = re.compile(r"[a-f0-9]{64}")
URL = re.compile(r"https?://[^\s]+")
HOSTS = {"github.com": "/releases/download/", "gitlab.com": "/releases/"}
"""Hosts of bundles, and what the path of a release has."""
OCI_HOSTS = ("docker.io", "ghcr.io", "quay.io", "mcr.microsoft.com")
OCI_SUFFIXES = (".pkg.dev", ".azurecr.io")
OCI = re.compile(r"(?:[a-z0-9.-]+(?::[0-9]+)?/)?[a-z0-9._/-]+(?::[\w][\w.-]{0,127}|@sha256:[a-f0-9]{64})")
FORMATS = {"integer": "number", "number": "number", "boolean": "boolean", "file": "filepath", "directory": "filepath"}
SOURCES = {"github.com": "github", "gitlab.com": "gitlab"}
IMAGE_TYPES = ("image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp")
MAX_DESCRIPTION, MAX_TITLE, MAX_VERSION, MAX_ICON = 100, 100, 255, 255
WHERE = "in `[tool.mcpc.registry]` of `pyproject.toml`"


@dataclass(frozen=True, slots=True)
class Publication:
    """What is published: `mcpb` bundles by address, each with the SHA-256 of its file, images, and running servers."""

    name: str
    mcpb: tuple[tuple[str, str], ...] = ()
    oci: tuple[str, ...] = ()
    remotes: tuple[str, ...] = ()


def registry_file(server: BuiltServer, publication: Publication) -> str:
    """Return the text of `server.json`; raise UnusableValueError with everything that the registry would refuse."""
    problems = [*_server_problems(server, publication), *_package_problems(publication)]
    if problems:
        raise UnusableValueError("the registry would refuse this: " + "; ".join(problems))
    variables = [*map(environment_variable, server.settings)]
    environment = {"environmentVariables": variables} if variables else {}
    transport: Item = {"transport": {"type": "stdio"}}
    packages: list[Item] = [
        {"registryType": "mcpb", "identifier": url, "fileSha256": digest, **transport, **environment}
        for url, digest in publication.mcpb
    ]
    packages += [{"registryType": "oci", "identifier": image, **transport, **environment} for image in publication.oci]
    members: Item = {
        "$schema": SCHEMA,
        "name": publication.name,
        "title": server.title[:MAX_TITLE],
        "description": server.summary,
        "version": server.version,
        "repository": repository_of(server),
        "websiteUrl": server.link("homepage"),
        "icons": [*filter(None, map(published_icon, server.icons))],
        "packages": packages,
        "remotes": [{"type": "streamable-http", "url": url} for url in publication.remotes],
        "_meta": {"io.modelcontextprotocol.registry/publisher-provided": {"tool": "mcpc"}},
    }
    return json_text({name: value for name, value in members.items() if value})


def _server_problems(server: BuiltServer, publication: Publication) -> Iterator[str]:
    """Yield what is wrong with the description of a server."""
    if not publication.name:
        yield f'it has no name: write `name = "io.github.ACCOUNT/{server.slug}"` {WHERE}, or use --name'
    elif not NAME.fullmatch(publication.name):
        yield f"the name `{publication.name}` is not of the form `io.github.ACCOUNT/NAME`"
    if not server.summary:
        yield 'it has no description: write `description = "…"` in `[project]` of `pyproject.toml`'
    elif len(server.summary) > MAX_DESCRIPTION:
        yield f"its description has {len(server.summary)} characters; expected at most {MAX_DESCRIPTION}"
    if server.version == "latest" or VERSION_RANGE.search(server.version) or len(server.version) > MAX_VERSION:
        yield f"`{server.version}` is not one version"
    if not (publication.mcpb or publication.oci or publication.remotes):
        where = f"name `mcpb`, `oci` or `remotes` {WHERE}, or use --mcpb, --oci or --remote"
        yield f"it does not say where to get the server: {where}"


def _package_problems(publication: Publication) -> Iterator[str]:
    """Yield what is wrong with packages and remotes."""
    for url, digest in publication.mcpb:
        yield from _bundle_problems(url, digest)
    for image in publication.oci:
        yield from _image_problems(image)
    for url in publication.remotes:
        if not URL.fullmatch(url) or urlsplit(url).hostname in (None, "localhost", "127.0.0.1"):
            yield f"`{url}` is not the public address of a server"


def _bundle_problems(url: str, digest: str) -> Iterator[str]:
    """Yield what is wrong with a bundle: it is a file of a release on GitHub or GitLab."""
    parts = urlsplit(url)
    if parts.scheme != "https" or parts.hostname not in HOSTS or HOSTS[parts.hostname] not in parts.path:
        yield f"`{url}` is not a file of a release on {' or '.join(HOSTS)}"
    elif "mcp" not in url:
        yield f"`{url}` does not contain `mcp`: let the name of the file end in `.mcpb`"
    if not SHA256.fullmatch(digest):
        yield f"there is no file for `{url}`, whose SHA-256 is needed: use `--mcpb URL=FILE`"


def _image_problems(image: str) -> Iterator[str]:
    """Yield what is wrong with the name of an image."""
    host = image.partition("/")[0]
    # A first part without a dot or a port is no host, but an account of Docker Hub.
    known = host in OCI_HOSTS or host.endswith(OCI_SUFFIXES) or not re.search(r"[.:]", host)
    if not OCI.fullmatch(image):
        yield f"`{image}` is not an image with a tag or a digest, as `ghcr.io/account/name:1.0.0`"
    elif not known:
        yield f"`{host}` is not a registry of images that it accepts: {', '.join((*OCI_HOSTS, *OCI_SUFFIXES))}"


def environment_variable(setting: DeclaredSetting) -> Item:
    """Return the input of a setting."""
    members: Item = {
        "name": setting.name,
        "description": setting.description or setting.label,
        "isRequired": setting.required,
        "isSecret": setting.secret,
        "format": FORMATS.get(setting.type, "string"),
        "default": None if setting.default is None else variable_text(setting.default),
        "choices": [*map(variable_text, setting.choices)],
    }
    # An empty text stays, since it may be a default.
    return {name: value for name, value in members.items() if value not in (None, False, [])}


def repository_of(server: BuiltServer) -> Mapping[str, str] | None:
    """Return the repository, if it is on a host that the registry knows."""
    url = server.link("repository")
    source = SOURCES.get(urlsplit(url).hostname or "")
    return {"url": url, "source": source} if source else None


def published_icon(icon: Item) -> Item | None:
    """Return an icon that the registry accepts, without unknown members; None for any other."""
    source = str(icon.get("src", ""))
    if not source.startswith("https://") or len(source) > MAX_ICON:
        return None
    published: Item = {"src": source}
    if icon.get("mimeType") in IMAGE_TYPES:
        published["mimeType"] = icon["mimeType"]
    sizes = [size for size in icon.get("sizes", ()) if re.fullmatch(r"\d+x\d+|any", size)]
    if sizes:
        published["sizes"] = sizes
    return published | ({"theme": icon["theme"]} if icon.get("theme") in ("light", "dark") else {})
