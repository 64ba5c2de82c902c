"""uv, which resolves, downloads and installs packages: how it is started, and what it gets.

It runs in a temporary folder, whose `pyproject.toml` says which packages come from which registry, and never builds
sources: that would run their code.  The user's settings for uv count; where there are none, pip's variables do.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from packaging.requirements import Requirement
from uv import find_uv_bin

from mcpc.model.ir.layer import Origins
from mcpc.packages.downloads import all_origins, earliest, upload_limit
from mcpc.packages.pep508 import STANDARD
from mcpc.packages.platforms import macos_version, uv_platform
from mcpc.sandbox import programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from mcpc.model.ir.layer import Registry, RequestedPackage
    from mcpc.packages.platforms import Target

HINT = re.compile(r"^hint: (.*(?:\n(?!hint:|error:|\n).*)*)", re.MULTILINE)
CAUSE = re.compile(r"^  cause: (.*(?:\n {3,}\S.*|\n\s*(?=\n {3,}\S))*)", re.MULTILINE)
ONLY_SOURCES = re.compile(r"^hint: Wheels are required for `([^`]+)`", re.MULTILINE)
MISMATCH = re.compile(r"Hash mismatch for `([^`]+)`\s+Expected:\s+((?:\w+:\w+\s+)+)Computed:\s+((?:\w+:\w+\s*)+)")
ABSENT_VERSION = re.compile(
    r"there is no version of ([\w.-]+)[=<>~!]|only ([\w.-]+)[<>=~!]\S+ is available and you require"
)
CONCLUSION = re.compile(r",? we can conclude that your requirements are unsatisfiable")
PASSWORD = re.compile(r"(?<=://)[^/@\s]+@")
PROJECT_NAME = "mcpc-request"
"""The name of the project that uv is given."""
SHOWN, SHOWN_HEAD = 600, 300
"""Limits of uv's quoted words: a long text is shortened in the middle."""


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
    # `compile` takes the files as arguments, `install` by an option.
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
    # Strings, lists of strings and booleans are written alike in JSON and TOML.
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


class UvError(Exception):
    """uv failed; the message is what it printed."""


class FailureCause(NamedTuple):
    """What uv prints (a pattern), and the cause; the first group of `pattern` is `{0}` of both texts."""

    pattern: str
    message: str
    hint: str


NAME_REGISTRY = "a registry of your company is named by `[[tool.uv.index]]`, or by UV_DEFAULT_INDEX"
REACH = (
    "check the network and UV_DEFAULT_INDEX; without one, `--offline --find-links FOLDER` takes wheels from a folder"
)
CAUSES = (
    FailureCause(r"No space left on device", "no space is left on the disk", "free some, or name another UV_CACHE_DIR"),
    FailureCause(
        r"invalid peer certificate|CertificateRequired|UnknownIssuer",
        "the certificate of the registry is not trusted",
        "if your network has certificates of its company, name their file: `SSL_CERT_FILE=FILE`",
    ),
    FailureCause(r"tunnel error|proxy", "the proxy cannot be reached, or refuses", "check HTTPS_PROXY and NO_PROXY"),
    FailureCause(
        r"HTTP status client error \((40[13])\b|(?:`|\b)(40[13]) (?:Unauthorized|Forbidden)",
        "the registry refuses access ({0})",
        "check its user and password",
    ),
    FailureCause(r"HTTP status server error \((\d+)", "the registry answers with an error ({0})", "try again later"),
    FailureCause(
        r"HTTP status client error \((404|410)\b",
        "the registry has it no longer ({0})",
        "lock another version: `uv lock --upgrade-package NAME`",
    ),
    FailureCause(r"[Ff]ailed to fetch: `?https?://([^/\s`]+)", "the registry {0} cannot be reached", REACH),
    FailureCause(
        r"Because ([\w.-]+) was not found in the package registry",
        "the registry has nothing named `{0}`",
        f"check how the name is written; {NAME_REGISTRY}",
    ),
    FailureCause(
        r"(?s)([\w.-]+) was not found in the (?:cache|provided package locations)",
        "nothing named `{0}` is in the cache or a folder of `--find-links`",
        "put wheels of it and of what it needs into a folder, and name that with `--find-links`",
    ),
)
"""Causes that uv's words do not tell in terms of mcpc, the first that applies."""


class InstallError(Exception):
    """Packages cannot be chosen or installed; `said`: all that uv printed."""

    def __init__(self, message: str, hint: str = "", said: str = "") -> None:
        super().__init__(message)
        self.hint, self.said = hint, said


class NoWheelError(InstallError):
    """A package has no wheel for the target, but its sources.

    `text`: the requirement; `by`: the package that needs it, empty if that is the project; `lock`: the path of the lock
    that it is about, empty if that is a registry.
    """

    def __init__(self, text: str, by: str, lock: str = "") -> None:
        super().__init__(f"`{text}` has no wheel, only its sources")
        self.text = text
        self.by = by
        self.lock = lock

    def describe(self, target: Target) -> str:
        """Return the message for users."""
        by = f", which `{self.by}` needs," if self.by else ""
        where = f" in `{self.lock}`" if self.lock else ""
        return f"`{self.text}`{by} has no wheel for {target.name}{where}, only its sources"


class HashMismatchError(InstallError):
    """A file is another one than its digest says; `package`: its name."""

    def __init__(self, package: str, expected: str, computed: str) -> None:
        self.package = re.split(r"[\s=<>@;]", package, maxsplit=1)[0]
        self.expected, self.computed = _digest(expected), _digest(computed)
        message = f"`{package.partition('#')[0]}` has {self.computed}, and {self.expected} is expected"
        super().__init__(message, "correct the digest if the other is right; else the file was changed: do not use it")


def failure_of(problem: UvError) -> InstallError:
    """Return why uv failed."""
    # uv quotes addresses as they were given, which may be with a password.
    said = PASSWORD.sub("", str(problem)).replace(f"{PROJECT_NAME} depends on", "you require")
    mismatch = MISMATCH.search(said)
    if mismatch is not None:
        return HashMismatchError(mismatch[1], mismatch[2], mismatch[3])
    needed = [only_sources(name, said) for name in ONLY_SOURCES.findall(said)]
    if needed:
        # What names the package that needs it helps more.
        return next((each for each in needed if each.by), needed[0])
    for row in CAUSES:
        match = re.search(row.pattern, said)
        if match is not None:
            words = [word for word in match.groups() if word]
            return InstallError(row.message.format(*words), row.hint.format(*words), said)
    hints = [" ".join(text.split()) for text in HINT.findall(said)]
    return InstallError(reason(said), "; ".join(dict.fromkeys(hints)), said)


def only_sources(name: str, said: str) -> NoWheelError:
    """Return that a package has no wheel: the requirement, and what needs it, as uv names them."""
    escaped = re.escape(name)
    needed = re.search(rf"([\w.-]+)[^\s,]* depends? on ({escaped}(?:[=<>~!][^\s,]*)?)(?=[\s,]|$)", said)
    asked = re.search(rf"you require ({escaped}(?:[=<>~!][^\s,]*)?)(?=[\s,]|$)", said)
    if needed is not None:
        return NoWheelError(needed[2], needed[1])
    return NoWheelError(asked[1] if asked is not None else name, "")


def absent_version(said: str) -> str:
    """Return the package of which uv found no version that is allowed; an empty text for another failure."""
    found = ABSENT_VERSION.search(said)
    return found[1] or found[2] if found is not None else ""


def reason(said: str) -> str:
    """Return uv's causes, else its errors, in one line."""
    causes = CAUSE.findall(said) or [line.partition("error: ")[2] or line for line in said.splitlines()]
    text = "; ".join(" ".join(cause.split()) for cause in causes if cause.strip())
    text = CONCLUSION.sub("", text).rstrip(".")
    text = text[0].lower() + text[1:] if text.startswith("Because ") else text
    return text if len(text) <= SHOWN else f"{text[:SHOWN_HEAD]} … {text[SHOWN_HEAD + 3 - SHOWN :]}"


def _digest(text: str) -> str:
    method, _, digest = text.split()[0].partition(":")
    return f"{'SHA-256' if method == 'sha256' else method} {digest}"
