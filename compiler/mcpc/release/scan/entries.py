"""Entries of servers in clients' files: secrets, downloads, files that others can replace, addresses, and equal names.

Each text of an entry has its place in the file.  Nothing is started or asked.  What a report shows of a command is what
cannot be a secret: programs, packages, paths and names of options.  A download whose version is not fixed can be
another program tomorrow: a tag of an image counts as a version, `latest` and none do not.
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from mcpc.release.scan.leaks import known_secrets, password_in_address
from mcpc.release.scan.model import ADDRESS, HEADER, VARIABLE, WORD, Hit, Role, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.release.scan.model import ClientEntry, EntryText, ServerTexts


class PackageSource(NamedTuple):
    """Where programs come from.

    `fixed`: the form of a package whose version is fixed; `naming`: options that name the package; `valued`: other
    options with a value.
    """

    fixed: re.Pattern[str]
    naming: str
    valued: str


# In all three: an exact version (of an image a tag but `latest`), or a digest: a commit of 40 digits, a SHA-256.
NPM = PackageSource(
    re.compile(r".{1,200}@v?\d+\.\d+\.\d+[\w.+-]{0,60}$|.{1,500}#[0-9a-f]{40}$"),
    "-p --package",
    "-c --call --registry --cache --prefix -w --workspace",
)
PYTHON = PackageSource(
    re.compile(r".{1,200}(?:==|@)v?\d+[\w.+!-]{0,80}$|.{1,500}@[0-9a-f]{40}(?:#.{1,200})?$"),
    "--from --spec",
    "--with --python -p --index --index-url --default-index --extra-index-url --with-requirements "
    "--refresh-package --directory --cache-dir --project --find-links --constraints -c --env-file",
)
IMAGE = PackageSource(
    re.compile(r".{1,400}@sha256:[0-9a-f]{64}$|.{1,400}:(?!latest$)[\w][\w.-]{0,127}$"),
    "",
    "-e --env --env-file -v --volume --mount -p --publish --name --network --net -w --workdir -u --user "
    "--entrypoint --platform -l --label -m --memory --cpus --add-host --cap-add --cap-drop --security-opt --tmpfs "
    "--ulimit --dns -h --hostname --gpus --device --pull --log-driver --log-opt --shm-size --restart --runtime "
    "--userns",
)
DOWNLOADERS: tuple[tuple[str, str, PackageSource], ...] = (
    ("npx bunx pnpx", "", NPM),
    ("bun npm", "x", NPM),
    ("pnpm yarn", "dlx", NPM),
    ("npm", "exec", NPM),
    ("uvx", "", PYTHON),
    ("uv", "tool run", PYTHON),
    ("pipx", "run", PYTHON),
    ("docker podman nerdctl", "run", IMAGE),
)
"""The programs that download, the words before the package, and where it comes from."""
ENDINGS = (".exe", ".cmd", ".bat", ".ps1")
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "cmd"})
LOCAL = re.compile(r"\.{0,2}[/\\]|~|file:|[A-Za-z]:[/\\]|\.{1,2}$")
MAX_WORDS = 500


def program_name(word: str) -> str:
    """Return the name of a program without its folder and without an ending of Windows."""
    # The file of a client on Windows may be scanned on another system.
    name = (PureWindowsPath if "\\" in word else PurePosixPath)(word).name.lower()
    return next((name.removesuffix(ending) for ending in ENDINGS if name.endswith(ending)), name)


def unwrapped(words: Sequence[str]) -> list[str]:
    """Return the command that a shell is asked to run, or the command itself."""
    started = [*words[:MAX_WORDS]]
    if len(started) < 3 or program_name(started[0]) not in SHELLS:
        return started
    if started[1].lower() == "/c":
        return started[2:]
    try:
        # As `-c`, `-lc` or `-ec`.
        return shlex.split(started[2]) if re.match("-.*c$", started[1]) else started
    except ValueError:
        return started


def unfixed_package(words: Sequence[str]) -> str:
    """Return the package of a command that downloads it in no fixed version, or an empty text."""
    command = unwrapped(words)
    for programs, before, source in DOWNLOADERS if command else ():
        if program_name(command[0]) in programs.split():
            package = _package(command[1:], before.split(), source)
            if package and not source.fixed.fullmatch(package) and not LOCAL.match(package):
                return package
    return ""


def _package(words: Sequence[str], before: list[str], source: PackageSource) -> str:
    """Return the package that a command names: by an option, else its first word that is not an option."""
    first, at = "", 0
    while at < len(words):
        word = words[at]
        name, sign, value = word.partition("=")
        if name in source.naming.split():
            return value if sign else "".join(words[at + 1 : at + 2])
        if word.startswith("-"):
            at += 1 + (word in source.valued.split())
            continue
        if not before:
            first = word
            break
        if word != before.pop(0):
            return ""
        at += 1
    return first


SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE|(?:^|[_-])(?:PAT|PWD)$", re.IGNORECASE)
# Ends of names that only tell something about a secret: `TOKEN_URL`, `KEY_FILE`, `MAX_TOKENS`.
NOT_SECRET_NAME = re.compile(
    r"(?:TYPE|MODE|URL|URI|FILE|PATH|DIR|NAME|LIMIT|TOKENS|ID|ISSUER|METHOD|PROVIDER|ENABLED|TIMEOUT|HOST|PORT|SCOPES?)$",
    re.IGNORECASE,
)
# `$NAME`, `{env:NAME}`, `%NAME%`, `{{name}}`, `<your key>`.
REFERENCE = re.compile(r"\$|\{env:|%\w{1,64}%|\{\{|<")
IS_PATH = re.compile(r"[~.]{0,2}[/\\]|[A-Za-z]:[/\\]|https?://[^@?]{1,500}$")
ASSIGNMENT = re.compile(r"-{0,2}([A-Za-z][\w.-]{1,80})(?:=|:\s{0,4})(.{1,4096})", re.DOTALL)
OPTION = re.compile(r"-{1,2}[A-Za-z][\w-]{0,60}")
SCHEME = re.compile(r"(?i)(?:bearer|basic|token)\s{1,4}")
PLACEHOLDER = re.compile(r"your|xxxx|\.\.\.|\*\*\*|change_?me|replace|placeholder|example|(.)\1{5}", re.IGNORECASE)
# So many characters in a row may be a key of an unknown form.
UNCLEAR = re.compile(r"[A-Za-z0-9_-]{16}")
SHORTEST = 8
"""Characters of the shortest secret."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
MAX_SHOWN = 100
HIDDEN = "…"


def secret_parts(entry: ClientEntry) -> Iterator[tuple[EntryText, str]]:
    words = entry.of(WORD)
    names = ["", *(part.value if OPTION.fullmatch(part.value) else "" for part in words)]
    for part in entry.parts:
        # `names` begins with an empty text, so it has at a word's number the option before that word.
        option = names[words.index(part)] if part in words else ""
        what = secret_kind(part, option)
        if what:
            yield part, what


def secret_kind(part: EntryText, option: str = "") -> str:
    """Return what secret a text is, or an empty text; `option`: the option before a word."""
    form = next(known_secrets(part.value), None)
    if form:
        return form[0]
    if password_in_address(part.value):
        return "the password of an address"
    return next((f"the value of `{name}`" for name, value in _named(part, option) if is_secret(name, value)), "")


def _named(part: EntryText, option: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values of a text: a variable has one, a word may be `NAME=VALUE`, an address has a query."""
    if part.kind in (VARIABLE, HEADER):
        yield part.name, part.value
    elif part.kind == ADDRESS:
        yield from _query(part.value)
    else:
        if option:
            yield option.lstrip("-"), part.value
        assignment = ASSIGNMENT.fullmatch(part.value)
        if assignment:
            yield assignment[1], assignment[2]
        if "?" in part.value:
            yield from _query(part.value)


def _query(address: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(address).query, max_num_fields=100)
    except ValueError:
        return []


def is_secret(name: str, value: str) -> bool:
    """Tell whether a value is a secret by its name, and not a reference, a path or a placeholder."""
    value = SCHEME.sub("", value, count=1).strip()
    if not SECRET_NAME.search(name) or NOT_SECRET_NAME.search(name) or len(value) < SHORTEST:
        return False
    return not (REFERENCE.search(value) or IS_PATH.match(value) or OPTION.fullmatch(value) or PLACEHOLDER.search(value))


def shown_command(words: Sequence[str]) -> str:
    """Return a command without anything that could be a secret."""
    command = " ".join(_shown(word, words[number - 1] if number else "") for number, word in enumerate(words))
    return command if len(command) <= MAX_SHOWN else f"{command[: MAX_SHOWN - 1]}{HIDDEN}"


def _shown(word: str, before: str) -> str:
    if OPTION.fullmatch(before) and SECRET_NAME.search(before):
        return HIDDEN
    if word.startswith(("http://", "https://")):
        return shown_address(word)
    name, sign, value = word.partition("=")
    # Ports and versions are shown.
    if sign and not value.replace(".", "").isdecimal():
        return f"{name if OPTION.fullmatch(name) or name.isidentifier() else HIDDEN}={HIDDEN}"
    has_secret = any(known_secrets(word)) or password_in_address(word) or ":" in word.partition("://")[0] or " " in word
    runs = (match[0] for match in UNCLEAR.finditer(word))
    return HIDDEN if has_secret or any(any(map(str.isdigit, run)) for run in runs) else word


def shown_address(url: str) -> str:
    """Return an address without user, query and fragment, which may have secrets."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return HIDDEN
    path = parts.path if not UNCLEAR.search(parts.path) else f"/{HIDDEN}"
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}{path}"


def find_in_entry(server: ServerTexts) -> Iterator[Hit]:
    entry = server.server.entry
    for code, pointer, detail in _in_entry(entry) if entry else ():
        yield Hit(code, _text(server.server.name, pointer), detail=detail)


def _in_entry(entry: ClientEntry) -> Iterator[tuple[str, str, str]]:
    """Yield codes with the place and the details."""
    words = entry.of(WORD)
    for part, what in secret_parts(entry):
        yield "SCAN802" if entry.is_shared else "SCAN801", part.pointer, f"{what} ({len(part.value)} characters)"
    package = unfixed_package([part.value for part in words])
    if package:
        at = next((part for part in words if package in part.value), words[0])
        yield "SCAN803", at.pointer, shown_command([package])
    for path in entry.replaceable:
        yield "SCAN804", next((part for part in words if part.value == path), words[0]).pointer, path
    for part in entry.parts:
        if part.kind in (ADDRESS, WORD) and part.value.startswith("http://") and _host(part.value) not in LOOPBACK:
            yield "SCAN805", part.pointer, shown_address(part.value)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def find_different_entries(servers: Sequence[ServerTexts]) -> Iterator[tuple[ServerTexts, Hit]]:
    """Yield servers that have the name of one in another client, and are another one."""
    named: dict[str, list[ServerTexts]] = defaultdict(list)
    for server in servers:
        if server.server.entry is not None:
            named[server.server.name].append(server)
    for name, same in named.items():
        first = same[0].server.entry
        for other in same[1:]:
            entry = other.server.entry
            if first is not None and entry is not None and _started(entry) != _started(first):
                yield other, Hit("SCAN806", _text(name, ""), detail=f"in {first.client}: {_shown_start(first)}")


def _started(entry: ClientEntry) -> tuple[str, ...]:
    """Return what an entry starts or reaches, whatever the folder of the program and the shell around it."""
    words = unwrapped(entry.started)
    return (program_name(words[0]), *words[1:]) if words else tuple(part.value for part in entry.of(ADDRESS))


def _shown_start(entry: ClientEntry) -> str:
    words = [part.value for part in entry.of(WORD)]
    return shown_command(words) if words else " ".join(shown_address(part.value) for part in entry.of(ADDRESS))


def _text(name: str, pointer: str) -> Text:
    return Text("entry", name, pointer.strip("/").replace("/", "."), f"/entry{pointer}", Role.SYNTAX, "")
