"""uv, which resolves, downloads and installs packages: how it is started, and what it gets.

It runs in a temporary folder, whose `pyproject.toml` says which packages come from which registry, and never builds
sources: that would run their code.  The user's settings for uv count; where there are none, pip's variables do.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from uv import find_uv_bin

from mcpc.model.ir.layer import Origins
from mcpc.packages.pep508 import STANDARD
from mcpc.packages.platforms import macos_version, uv_platform
from mcpc.packages.registries import all_origins
from mcpc.packages.upload_dates import earliest, upload_limit
from mcpc.packages.uv_failures import PROJECT_NAME, UvError
from mcpc.sandbox import programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from mcpc.model.ir.layer import Registry, RequestedPackage
    from mcpc.packages.platforms import Target

TIMEOUT_SECONDS = 900
NO_BUILD = "--no-build"
FIND_LINKS, INDEX = "UV_FIND_LINKS", "UV_INDEX"
VARIABLES = {
    "UV_DEFAULT_INDEX": "PIP_INDEX_URL",
    FIND_LINKS: "PIP_FIND_LINKS",
    INDEX: "PIP_EXTRA_INDEX_URL",
    "SSL_CERT_FILE": "PIP_CERT",
}
"""Variables of uv, and those of pip that mean the same: people who have a registry set these."""
PIP_NO_INDEX = "PIP_NO_INDEX"
REGISTRIES = (
    *(*VARIABLES, *VARIABLES.values(), PIP_NO_INDEX, "UV_CONFIG_FILE", "UV_INDEX_STRATEGY", "UV_INDEX_URL"),
    *("UV_OFFLINE", "UV_PRERELEASE", "UV_RESOLUTION"),
)
"""Variables that may change what uv chooses."""
OFFLINE = {"UV_CONFIG_FILE": "uv.toml", "UV_EXTRA_INDEX_URL": "", FIND_LINKS: "", INDEX: ""}
"""Variables by which uv uses none of the user's registries and pages; the file is empty."""
PROJECT = f'[project]\nname = "{PROJECT_NAME}"\nversion = "0"\n'


@dataclass(frozen=True, slots=True)
class UvRequest:
    """Requirements for uv: lines of a requirements file, lines of constraints, and packages of one registry only.

    `taken`: requirements, each with the name of the registry that has it; `target`: None for all; `date`: up to which
    versions count.
    """

    lines: Sequence[str]
    constraints: Sequence[str] = ()
    taken: Sequence[tuple[str, str]] = ()
    target: Target | None = None
    origins: Origins = field(default_factory=Origins)
    date: str = ""


def run_uv(words: Sequence[str], request: UvRequest, folder: Path) -> None:
    """Run `uv pip WORDS` for a request in a folder, into which its files are written; raise UvError."""
    for name, text in _files(request).items():
        (folder / name).write_text(text, encoding="utf-8")
    option = ("--requirements",) if words[0] == "install" else ()
    files = [word for name in ("requirements.txt", "pyproject.toml") for word in (*option, name)]
    argv = [find_uv_bin(), "pip", *words, "--python", sys.executable, "--quiet", *_options(request), *files]
    try:
        done = programs.run_program("uv", argv, TIMEOUT_SECONDS, cwd=folder, more=_variables(request))
    except (TimeoutError, OSError) as problem:
        raise UvError(f"uv cannot be used: {problem}") from None
    if done.returncode:
        raise UvError(done.stderr.decode(errors="replace") or f"uv ended with status {done.returncode}")


def _files(request: UvRequest) -> dict[str, str]:
    """Return the files of a request by name."""
    rows = [PROJECT, f"dependencies = {_toml([text for text, _ in request.taken])}\n"]
    for registry in request.origins.registries:
        rows.append(f"[[tool.uv.index]]\nurl = {_toml(registry.address)}\nexplicit = {_toml(registry.is_explicit)}\n")
        rows += [f"name = {_toml(registry.name)}\n"] if registry.name else []
        rows += ["default = true\n"] if registry.is_default else []
    rows.append("[tool.uv.sources]\n")
    rows += [f"{_toml(Requirement(text).name)} = {{ index = {_toml(name)} }}\n" for text, name in request.taken]
    return {
        "pyproject.toml": "".join(rows),
        "requirements.txt": _listing(request.lines),
        "constraints.txt": _listing(request.constraints),
        "excludes.txt": _listing(sorted(STANDARD)),
        **({"uv.toml": ""} if request.origins.offline else {}),
    }


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _listing(lines: Sequence[str]) -> str:
    """Return a list for uv, whose addresses name no variables: it would put their values in."""
    wrong = next((line for line in lines if not line.isprintable()), None)
    if wrong is not None:
        raise UvError(f"{wrong!r} is not a requirement")
    return "".join(f"{line.replace('${', '$%7B')}\n" for line in lines)


def _options(request: UvRequest) -> Iterator[str]:
    yield from ("--constraints", "constraints.txt", "--excludes", "excludes.txt")
    target = request.target
    if target is not None and not target.is_here:
        yield from ("--python-version", target.python)
        yield from ("--python-platform", uv_platform(target.platform)) if target.platform else ()
    places = request.origins.find_links
    if request.origins.offline:
        yield "--offline"
    elif places:  # the option takes the place of the variable
        places += tuple(filter(None, _known_variables().get(FIND_LINKS, "").split(",")))
    if not request.origins.offline:
        yield from ("--no-index",) if _is_set_for_pip(PIP_NO_INDEX) else _indexes(request.origins.registries)
    for place in places:
        yield from ("--find-links", place)
    if request.date:
        yield from ("--exclude-newer", upload_limit(request.date) or request.date)


def _indexes(registries: Sequence[Registry]) -> Iterator[str]:
    """Yield the options of the project's registries, which count whatever file of settings uv reads."""
    general = [registry for registry in registries if not registry.is_explicit]
    if not general:
        return
    for address in _known_variables().get(INDEX, "").split():  # the option takes the place of the variable
        yield from ("--index", address)
    for registry in general:
        name = f"{registry.name}=" if registry.name else ""
        yield from ("--default-index" if registry.is_default else "--index", f"{name}{registry.address}")


def _variables(request: UvRequest) -> dict[str, str]:
    """Return the variables that uv gets besides those of the user."""
    macos = macos_version(request.target.platform) if request.target is not None else ""
    more = {"MACOSX_DEPLOYMENT_TARGET": macos} if macos else {}
    if request.origins.offline:
        return {**more, **OFFLINE}
    return {**more, **_known_variables()}


def _known_variables() -> dict[str, str]:
    """Return the variables about registries: the user's for uv, or else for pip."""
    known = programs.program_environment("uv")
    own = {name: known[name] for name in VARIABLES if known.get(name)}
    of_pip = {name: known[pip] for name, pip in VARIABLES.items() if _is_set_for_pip(pip) and name not in own}
    return {**own, **{name: ",".join(text.split()) if name == FIND_LINKS else text for name, text in of_pip.items()}}


def _is_set_for_pip(name: str) -> bool:
    """Tell whether a variable of pip counts: no registry is named for uv."""
    known = programs.program_environment("uv")
    return bool(known.get(name)) and not any(known.get(own) for own in VARIABLES if own.startswith("UV_"))


def uv_request(
    wanted: Sequence[RequestedPackage],
    wheels: Mapping[str, Path],
    target: Target | None,
    constraints: Sequence[str] = (),
) -> UvRequest:
    """Return the request for requirements; `wheels`: paths by name of those that the project has or that were built."""
    taken = [(item.text, item.registry) for item in wanted if item.registry and item.name not in wheels]
    origins = all_origins(wanted)
    folders = tuple(dict.fromkeys(str(path.parent) for path in wheels.values()))
    return UvRequest(
        [requirement_line(item, wheels) for item in wanted if item.name in wheels or not item.registry],
        constraints,
        taken,
        target,
        replace(origins, find_links=(*folders, *origins.find_links)),
        earliest(item.exclude_newer for item in wanted),
    )


def requirement_line(item: RequestedPackage, wheels: Mapping[str, Path]) -> str:
    """Return the line of a requirement for uv; a package of the project is its wheel."""
    text = item.text
    if item.local is not None or item.repository is not None:
        parsed = Requirement(text)
        parsed.url = wheels[item.name].as_uri()
        text = str(parsed)
    built = [f"sha256:{sha256_of(wheels[item.name])}"] if item.hashes and item.name in wheels else []
    return " ".join((text, *(f"--hash={checksum}" for checksum in (*item.hashes, *built))))


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
