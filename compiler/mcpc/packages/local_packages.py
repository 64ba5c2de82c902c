"""Requirements that name where the package is: in the project, at an address, in a repository.

A package in the project is carried: a wheel as it is, a folder as the wheel that is built of it.  A wheel at an address
is fetched.  A repository is built if the build options allow that.  Everything else is refused: it may be different
tomorrow.
"""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from mcpc.diagnostics import Diagnostic, diagnose
from mcpc.model.ir.layer import LocalPackage, Repository, RequestedPackage
from mcpc.packages.downloads import IS_KNOWN
from mcpc.packages.pep508 import FROM_REGISTRY, normalised_name, parse_requirement
from mcpc.packages.sdists import repository_of
from mcpc.packages.setuptools_files import SETUP_CFG, SETUP_PY
from mcpc.reading.source import resolve_relative

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mcpc.diagnostics import Span
    from mcpc.packages.model import WrittenRequirement
    from mcpc.reading import SourceTree

PYPROJECT = "pyproject.toml"
METADATA = (PYPROJECT, SETUP_PY, SETUP_CFG)
# The prefix of a version control system, an address for ssh, or a path that ends in `.git`.
REPOSITORY = re.compile(r"(?:git|hg|svn|bzr)\+|git@|\S+\.git(?:[@#]|$)")
ADDRESS = re.compile(r"https?://", re.IGNORECASE)
DIGEST = re.compile(r"[#&]sha256=([^&]*)")
SHA256_LENGTH = 64
WHEEL = ".whl"
OWN = "."
"""The project's own folder, as a path."""
CARRY_IT = "put a wheel of it into the project (`{name} @ ./{name}.whl`), or name a version in the registry"
ALLOW_IT = "`--allow-sdist` fetches it with git and builds a wheel of it, which runs its code, confined"
GIT = ("git+", "git@")
NAME_INDEX = 'define it: `[[tool.uv.index]]`, `name = "{name}"`, `url = "https://…"`'
NOT_BUILT = "it would be built, which runs code of the project; build without `--no-import`"


def read_written(
    written: WrittenRequirement, tree: SourceTree, workspace: Callable[[str], str] = lambda _: ""
) -> RequestedPackage | Diagnostic:
    """Return the package that a requirement asks for; `workspace` returns the folder of a member by its name."""
    if written.problem is not None:
        return written.problem
    source = written.source or {}
    repository = repository_of(source, _address(written.text)) if tree.options.allow_sdist else None
    if "index" in source:
        return _of_registry(written, source)
    if repository is not None:
        return _of_repository(written, repository)
    place = _place(written, source, workspace)
    return place if isinstance(place, Diagnostic) else _of_place(written, source, place, tree)


def _of_place(
    written: WrittenRequirement, source: Mapping[str, Any], place: str, tree: SourceTree
) -> RequestedPackage | Diagnostic:
    """Return the package at an address or a path; without one it comes from the registry."""
    if not place:
        return parse_requirement(written.text, written.span)
    try:
        parsed = Requirement(written.text)
    except InvalidRequirement:
        return parse_requirement(written.text, written.span)
    parsed.url = None
    made = parse_requirement(str(parsed), written.span)
    if isinstance(made, Diagnostic):
        return made
    return _at(place, str(source.get("subdirectory") or ""), made, tree)


def _address(text: str) -> str:
    """Return the address in a requirement, or an empty text."""
    try:
        return Requirement(text).url or ""
    except InvalidRequirement:
        return ""


def _of_repository(written: WrittenRequirement, repository: Repository) -> RequestedPackage | Diagnostic:
    """Return a package that is built of a repository."""
    try:
        parsed = Requirement(written.text)
    except InvalidRequirement:
        return parse_requirement(written.text, written.span)
    parsed.url = None
    made = parse_requirement(str(parsed), written.span)
    return made if isinstance(made, Diagnostic) else replace(made, repository=repository)


def _of_registry(written: WrittenRequirement, source: Mapping[str, Any]) -> RequestedPackage | Diagnostic:
    """Return a package that is taken from one registry only, which the project names."""
    made = parse_requirement(written.text, written.span)
    if isinstance(made, Diagnostic):
        return made
    if source.get(IS_KNOWN):
        return replace(made, registry=source["index"])
    message = f"`{made.name}` is to come from the index `{source['index']}`, which the project does not define"
    expected = "the name of a `[[tool.uv.index]]` with a `url` (`https://` or `file://`)"
    return diagnose("MCP402", written.span, message, expected, NAME_INDEX.format(name=source["index"]))


def _place(written: WrittenRequirement, source: Mapping[str, Any], workspace: Callable[[str], str]) -> str | Diagnostic:
    """Return the address or path of a requirement; empty if it comes from the registry."""
    name = re.split(r"[^\w.-]", written.text, maxsplit=1)[0]
    if "git" in source:
        return refused(name, str(source["git"]), written.span)
    if source.get("workspace"):
        return workspace(normalised_name(name)) or diagnose(
            "MCP402",
            written.span,
            f"`{name}` is a member of a workspace, but no member in the project's folder has this name",
            "",
            "build from the folder of the workspace, or put a wheel of it into the project",
        )
    named = source.get("url") or source.get("path")
    if named:
        return str(named)
    with suppress(InvalidRequirement):
        return Requirement(written.text).url or ""
    return ""


def _at(place: str, below: str, made: RequestedPackage, tree: SourceTree) -> RequestedPackage | Diagnostic:
    """Return a requirement whose package is at an address or a path."""
    if made.span is None:
        return made
    address = urldefrag(place).url
    if REPOSITORY.match(place) or (ADDRESS.match(place) and not wheel_name(address)):
        return refused(made.name, place, made.span)
    requirement = Requirement(made.text)
    # A requirement has an address or versions, not both (PEP 508).
    if requirement.specifier:
        requirement.specifier = type(requirement.specifier)()
    if ADDRESS.match(place):
        digest = DIGEST.search(place)
        if digest is not None and len(digest[1]) != SHA256_LENGTH:
            message, expected = f"`{digest[1]}` is not the digest of a file", "64 hexadecimal digits"
            return diagnose("MCP401", made.span, message, expected)
        requirement.url = place
        return replace(made, text=str(requirement))
    path = unquote(place.removeprefix("file:").removeprefix("//")).rstrip("/")
    path = posixpath.join(path, below) if below else path
    local = local_package(path, posixpath.dirname(made.span.path), made.span, tree)
    return local if isinstance(local, Diagnostic) else replace(made, text=str(requirement), local=local)


def refused(name: str, place: str, span: Span) -> Diagnostic:
    """Return the refusal of a package at a place that is neither the registry nor the project."""
    kind = "a repository" if REPOSITORY.match(place) or not ADDRESS.match(place) else "an address without a wheel"
    message = f"`{name}` is to come from {kind}, `{without_password(place)}`, which is not fetched"
    hint = CARRY_IT.format(name=name)
    if (REPOSITORY.match(place) and place.startswith(GIT)) or (kind == "a repository" and "+" not in place):
        hint = f"{ALLOW_IT}, or {hint}"
    return diagnose("MCP402", span, message, "a package of the registry, a wheel, or a folder of the project", hint)


def without_password(address: str) -> str:
    """Return an address without the user and the password in it."""
    return re.sub(r"(?<=://)[^/@\s]+@", "", address)


def local_package(written: str, home: str, span: Span, tree: SourceTree) -> LocalPackage | Diagnostic:
    """Return the package at a path of the project, written in a file of the folder `home`."""
    path = None if posixpath.isabs(written) else resolve_relative(home, written)
    if path is None:
        return diagnose("MCP005", span, f"`{written}` is outside the project", "", "put a wheel of it into the project")
    source = tree.get(path)
    if source is not None and path.endswith(WHEEL):
        return LocalPackage(path, {posixpath.basename(path): source.data})
    files = {
        name.removeprefix(f"{path}/"): found.data
        for name, found in tree.files.items()
        if path and name.startswith(f"{path}/")
    }
    if not files and source is None:
        return diagnose("MCP004", span, f"`{written}` is not in the project")
    if not any(name in files for name in METADATA):
        message = f"`{written}` is neither a wheel nor a folder with a `{PYPROJECT}`"
        return diagnose("MCP402", span, message, "", FROM_REGISTRY)
    if not tree.options.imports:
        return diagnose("MCP418", span, f"`{written}` is not built with `--no-import`", "", NOT_BUILT)
    return LocalPackage(path, files)


def wheel_name(path: str) -> str:
    """Return the normalised name of the package in a wheel, by the name of its file."""
    try:
        return parse_wheel_filename(posixpath.basename(path))[0]
    except InvalidWheelFilename:
        return ""
