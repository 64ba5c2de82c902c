"""A project in the IR: its traits, settings and metadata.

A setting is declared once.  Handlers, the built file's own checks, clients' inputs, and the manifests of bundles,
plugins, registries and deployments all follow from the declaration.  A value is never part of a built file, except for
a default.

The metadata changes nothing of how a server works; it is part of the build facts, from which bundles, plugins, images
and the registry's file are made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Span
    from mcpc.reading import Json


@dataclass(frozen=True, slots=True)
class Traits:
    """The differences; all are off by default.

    `unpacks_as_one_entry`: files that handlers read on disk are packed as one entry if all handlers read from disk.
    `announces_extensions`: in every revision, not only in those that define them. `describes_in_schema`: clients find a
    tool's description in its input schema. `keeps_argument_text`: handlers get the unchanged text of the call, so that
    no default is filled in. `other_tools_of`: pairs of a name in `settings` and a contract; those settings receive the
    tools of all other contracts. `hooks`: pairs of a runtime hook and the function that it calls
    (`package.module:name`). `contracts`: those that every server of the system may need. `whole_packages`: runtime
    packages of which all modules are included, with their annotations, because the project's code imports them.
    `suspends_errexit`: functions of a shell are called where their status is tested, so that `set -e` has no effect.
    `serial`: a call begins when the one before it has ended, as its handlers expect.
    `takes_arguments`: what follows `--` on the command line of the built file is for the project's program. `notes`:
    what `mcpc inspect` says about the built file, a sentence each.
    """

    unpacks_as_one_entry: bool = False
    announces_extensions: bool = False
    describes_in_schema: bool = False
    keeps_argument_text: bool = False
    other_tools_of: tuple[tuple[str, str], ...] = ()
    hooks: tuple[tuple[str, str], ...] = ()
    contracts: tuple[str, ...] = ()
    whole_packages: tuple[str, ...] = ()
    takes_arguments: bool = False
    serial: bool = False
    suspends_errexit: bool = False
    notes: tuple[str, ...] = ()

    def __or__(self, other: Self) -> Self:
        """Return the union of two traits."""
        return type(self)(
            unpacks_as_one_entry=self.unpacks_as_one_entry or other.unpacks_as_one_entry,
            announces_extensions=self.announces_extensions or other.announces_extensions,
            describes_in_schema=self.describes_in_schema or other.describes_in_schema,
            keeps_argument_text=self.keeps_argument_text or other.keeps_argument_text,
            other_tools_of=(*self.other_tools_of, *other.other_tools_of),
            contracts=tuple(sorted({*self.contracts, *other.contracts})),
            takes_arguments=self.takes_arguments or other.takes_arguments,
            serial=self.serial or other.serial,
            suspends_errexit=self.suspends_errexit or other.suspends_errexit,
            whole_packages=tuple(sorted({*self.whole_packages, *other.whole_packages})),
            notes=(*self.notes, *other.notes),
            # Hooks are called in this order; one that both have is called once.
            hooks=(*self.hooks, *(hook for hook in other.hooks if hook not in self.hooks)),
        )


NO_TRAITS = Traits()


SETTING_TYPES = ("string", "integer", "number", "boolean", "file", "directory")
"""The types of settings; `file` and `directory` are paths that must exist when the server starts."""
Scalar = str | int | float | bool
VARIABLE_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,127}")


def variable_text(value: Scalar) -> str:
    """Return a value as the text of an environment variable."""
    # `true`, as JSON has it, and not Python's `True`.
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.  `name`: the environment variable that has its value; `choices`: the only valid values, if any.

    `is_read`: it is not declared, but a program reads it, which has its own defaults and checks its values itself.
    """

    name: str
    type: str
    span: Span
    title: str = ""
    description: str = ""
    required: bool = False
    secret: bool = False
    default: Scalar | None = None
    choices: tuple[Scalar, ...] = field(default=())
    is_read: bool = False

    def as_json(self) -> Json:
        """Return it as JSON; fields that are false or not set are left out."""
        others: dict[str, Json] = {
            "title": self.title,
            "description": self.description,
            "required": self.required,
            "secret": self.secret,
            "choices": [*self.choices],
        }
        facts: dict[str, Json] = {"name": self.name, "type": self.type}
        facts.update({name: value for name, value in others.items() if value})
        if self.default is not None:
            facts["default"] = self.default
        return facts


@dataclass(frozen=True, slots=True)
class Author:
    """A person or an organisation; one of the two fields may be empty."""

    name: str = ""
    email: str = ""

    def as_json(self) -> Json:
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
