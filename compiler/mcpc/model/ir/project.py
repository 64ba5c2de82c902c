"""Metadata of a project for its publication: `[project]` and `[tool.mcpc.registry]` of `pyproject.toml`.

It changes nothing of how a server works; it is part of the build facts, from which bundles, plugins, images and the
registry's file are made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.reading import Json


@dataclass(frozen=True, slots=True)
class Author:
    """A person or an organisation; one of the two fields may be empty."""

    name: str = ""
    email: str = ""

    def as_json(self) -> Json:
        """Return it as JSON."""
        return {key: value for key, value in (("name", self.name), ("email", self.email)) if value}


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """How a server is named and published in the official registry; `{version}` in a text is the server's version.

    `name`: such as `io.github.me/weather`.  `mcpb`: the addresses of bundles.  `oci`: the names of images.  `remotes`:
    the addresses of running servers.
    """

    name: str = ""
    mcpb: tuple[str, ...] = ()
    oci: tuple[str, ...] = ()
    remotes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Json]:
        """Return it as JSON; empty members are left out."""
        lists = {"mcpb": self.mcpb, "oci": self.oci, "remotes": self.remotes}
        named: dict[str, Json] = {"name": self.name} if self.name else {}
        return named | {key: [*values] for key, values in lists.items() if values}


@dataclass(frozen=True, slots=True)
class ProjectMetadata:
    """The metadata of a project; what it does not have is empty.  `urls`: labels and addresses, as written."""

    description: str = ""
    authors: tuple[Author, ...] = ()
    license: str = ""
    urls: tuple[tuple[str, str], ...] = ()
    keywords: tuple[str, ...] = ()
    registry: RegistryEntry = RegistryEntry()

    def as_json(self) -> dict[str, Json]:
        """Return it as JSON, with the names of `[project]`; empty members are left out."""
        facts: dict[str, Json] = {
            "description": self.description,
            "authors": [author.as_json() for author in self.authors],
            "license": self.license,
            "urls": dict(self.urls),
            "keywords": [*self.keywords],
        }
        return {key: value for key, value in facts.items() if value}


def metadata_from_facts(project: Mapping[str, Json], registry: Mapping[str, Json]) -> ProjectMetadata:
    """Return the metadata of the facts of a built file."""
    authors, urls = project.get("authors"), project.get("urls")
    return ProjectMetadata(
        description=str(project.get("description", "")),
        authors=tuple(
            Author(str(each.get("name", "")), str(each.get("email", "")))
            for each in (authors if isinstance(authors, list) else ())
            if isinstance(each, dict)
        ),
        license=str(project.get("license", "")),
        urls=tuple((label, str(url)) for label, url in (urls.items() if isinstance(urls, dict) else ())),
        keywords=texts(project.get("keywords")),
        registry=RegistryEntry(
            str(registry.get("name", "")), *(texts(registry.get(key)) for key in ("mcpb", "oci", "remotes"))
        ),
    )


def texts(value: Json) -> tuple[str, ...]:
    """Return the strings of an array; nothing for any other value."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
