"""Parser of `requirements.txt`: one requirement a line, with comments, continued lines, hashes, and included files.

`-r` includes requirements, `-c` versions that packages must have if anything needs them.  Entries that pip supports but
that depend on something outside the project (registries, repositories, folders elsewhere) are refused.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from mcpc.diagnostics import Diagnostic, Diagnostics, Span, diagnose
from mcpc.model.ir.layer import RequestedPackage
from mcpc.packages.local_packages import local_package, read_written, wheel_name
from mcpc.packages.model import WrittenRequirement
from mcpc.packages.pep508 import FROM_REGISTRY, not_from_registry
from mcpc.packages.setuptools_files import setuptools_requirements
from mcpc.packages.toml_tables import folder_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.model.ir.layer import LocalPackage
    from mcpc.reading import Source, SourceTree

MAIN_FILE = "requirements.txt"
OTHER_FILES = (
    *(f"requirements/{name}.txt" for name in ("base", "common", "main", "prod", "production", "requirements")),
    *(f"requirements-{name}.txt" for name in ("base", "prod", "production")),
    "requirements.in",
)
"""Where projects without the main file list what they run with; one of these is read if it is the only one."""
# `#` begins a comment at the beginning of a line or after a space; in an address it begins the fragment.
COMMENT = re.compile(r"(?<!\S)#[^\r\n]*")
CONTINUATION = re.compile(r"\\(?:\r\n|\n|\r)")
LINE = re.compile(r"[^\r\n]+")
# `-r FILE`, `-rFILE`, `--requirement FILE` or `--requirement=FILE`, and the same with `-c` and `--constraint`.
INCLUSION = re.compile(r"(?:(?P<constraint>-c|--constraint)|-r|--requirement)(?:\s*=\s*|\s+|(?<=-[rc]))(?P<path>\S+)$")
EDITABLE = re.compile(r"(?:-e|--editable)(?:\s*=\s*|\s+)(?P<path>\S.*)$")
PATH = re.compile(
    r"(?:file:(?://)?)?(?P<path>\.{1,2}(?:/[^\s\[\];]*)?|[^\s\[\]@;:]*/[^\s\[\]@;:]*|[^\s\[\]@;:]+\.whl)"
    r"(?:\[(?P<extras>[^\]]*)\])?"
)
"""A folder or a wheel in place of a name, with extras."""
OPTION = re.compile(r"\s-")
HASH = re.compile(r"--hash(?:\s*=\s*|\s+)(?P<hash>\S+)")
CHECKSUM = re.compile(r"sha(?:256:[0-9a-f]{64}|384:[0-9a-f]{96}|512:[0-9a-f]{128})")
NAME_IT = "name it: `NAME @ {path}`"
WRITE_MAIN = "write a `requirements.txt` that includes the right one: `-r {path}`"


@dataclass(slots=True)
class RequirementFiles:
    """What files of requirements say.

    `own`: the extras of the project itself that they ask for, with their places; `names_project`: they install it.
    """

    tree: SourceTree
    requirements: list[RequestedPackage] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    own: list[tuple[str, Span]] = field(default_factory=list)
    seen: set[tuple[str, bool]] = field(default_factory=set)
    names_project: bool = False

    def packages(self) -> tuple[RequestedPackage, ...]:
        """Return the requirements, each with the constraints of all files."""
        known = tuple(sorted(set(self.constraints)))
        return tuple(replace(item, constraints=known) for item in self.requirements)


def read_requirement_files(tree: SourceTree, paths: Iterable[str]) -> RequirementFiles:
    """Return what these files of the project say, and those that they include."""
    reading = RequirementFiles(tree)
    for path in paths:
        source = tree.get(path)
        if source is not None and (path, False) not in reading.seen:
            _read(source, reading)
    return reading


def other_requirement_file(tree: SourceTree) -> tuple[tuple[str, ...], Diagnostics]:
    """Return the file that stands in for a missing `requirements.txt`, if there is exactly one."""
    found = [path for path in OTHER_FILES if tree.get(path) is not None]
    if len(found) < 2:
        return tuple(found), ()
    names = ", ".join(f"`{path}`" for path in found)
    message = f"no requirements are read: {names} could be those that the server runs with"
    return (), (diagnose("MCP420", Span(found[0]), message, "one file", WRITE_MAIN.format(path=found[0])),)


def _read(source: Source, reading: RequirementFiles, *, constrain: bool = False) -> None:
    reading.seen.add((source.path, constrain))
    # What means nothing is blanked out, so that every place stays where it was.
    text = CONTINUATION.sub(_blank, COMMENT.sub(_blank, source.text.replace("\ufeff", " ")))
    for line in LINE.finditer(text):
        words = line[0].strip()
        if words:
            start = line.start() + line[0].index(words)
            _parse_line(words, Span(source.path, start, start + len(words)), reading, constrain)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _parse_line(words: str, span: Span, reading: RequirementFiles, constrain: bool) -> None:
    """Parse one line; `constrain`: it is in a file of constraints."""
    if not words.startswith("-"):
        _require(words, span, reading, constrain)
        return
    inclusion, editable = INCLUSION.match(words), EDITABLE.match(words)
    if inclusion is not None:
        _include(inclusion["path"], span, reading, constrain or inclusion["constraint"] is not None)
    elif editable is None or not _take_path(editable["path"], span, reading):
        option = re.split(r"[\s=]", words, maxsplit=1)[0]
        problem = diagnose("MCP402", span, f"`{option}` is an option that only pip can follow", "", FROM_REGISTRY)
        reading.problems.append(problem)


def _include(name: str, span: Span, reading: RequirementFiles, constrain: bool) -> None:
    path = posixpath.normpath(posixpath.join(posixpath.dirname(span.path), name))
    source = reading.tree.get(path)
    # Files may include each other; one may be included as requirements and as constraints.
    if (path, constrain) in reading.seen:
        return
    if source is None:
        outside = path.startswith(("/", "../"))
        code, what = ("MCP005", "is outside the project") if outside else ("MCP004", "is not in the project")
        reading.problems.append(diagnose(code, span, f"`{name}` {what}"))
    else:
        _read(source, reading, constrain=constrain)


def _require(words: str, span: Span, reading: RequirementFiles, constrain: bool) -> None:
    found = OPTION.search(words)
    text = words[: found.start()].rstrip() if found else words
    options = words[len(text) :]
    hashes = tuple(match["hash"] for match in HASH.finditer(options))
    rest = HASH.sub("", options).split()
    if rest:
        message = f"`{rest[0]}` is an option that only pip can follow"
        reading.problems.append(diagnose("MCP402", span, message, "`--hash` and nothing else", FROM_REGISTRY))
    for wrong in (item for item in hashes if not CHECKSUM.fullmatch(item)):
        message, expected = f"`{wrong}` is not the digest of a file", "`sha256:` and 64 hexadecimal digits"
        reading.problems.append(diagnose("MCP401", span, message, expected))
    place = Span(span.path, span.start, span.start + len(text))
    if not constrain and _take_path(text, place, reading):
        return
    made = read_written(WrittenRequirement(text, place), reading.tree)
    if isinstance(made, Diagnostic):
        reading.problems.append(made)
    elif constrain:
        reading.constraints.append(made.text)
    else:
        reading.requirements.append(replace(made, hashes=hashes))


def _take_path(text: str, span: Span, reading: RequirementFiles) -> bool:
    """Read a folder or a wheel in place of a name; False if the text is something else.

    As for pip, such a path is relative to the project's folder, in whatever file it is.
    """
    found = PATH.fullmatch(text.strip())
    if found is None:
        return False
    written, extras = found["path"], [name.strip() for name in (found["extras"] or "").split(",") if name.strip()]
    if posixpath.normpath(written) == ".":
        reading.names_project = True
        reading.own += [(name, span) for name in extras]
        return True
    local = local_package(written, "", span, reading.tree)
    name = "" if isinstance(local, Diagnostic) else _package_name(local, reading.tree)
    if isinstance(local, Diagnostic):
        reading.problems.append(local)
    elif name:
        whole = Requirement(f"{name}[{','.join(extras)}]" if extras else name)
        reading.requirements.append(RequestedPackage(name, str(whole), span, local=local))
    else:
        problem = not_from_registry(text, span)
        reading.problems.append(replace(problem, hint=NAME_IT.format(path=written)))
    return True


def _package_name(local: LocalPackage, tree: SourceTree) -> str:
    if local.is_wheel:
        return wheel_name(local.path)
    return folder_name(tree, local.path) or setuptools_requirements(tree, f"{local.path}/").name
