"""Why uv chose or installed nothing: what it prints, by cause, each with its help."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
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
    said = PASSWORD.sub("", str(problem)).replace(f"{PROJECT_NAME} depends on", "you require")
    mismatch = MISMATCH.search(said)
    if mismatch is not None:
        return HashMismatchError(mismatch[1], mismatch[2], mismatch[3])
    needed = [only_sources(name, said) for name in ONLY_SOURCES.findall(said)]
    if needed:
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
