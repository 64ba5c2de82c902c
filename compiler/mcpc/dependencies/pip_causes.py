"""Why pip found or installed nothing: its errors and its log, by cause, each with its help.

pip says "no matching distribution" of a name that does not exist, of a version that does not exist, of wheels for other
machines or other Pythons, and of a registry that it cannot reach; its log tells them apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.dependencies.platforms import Target


class PipOutput(NamedTuple):
    """What pip printed: its errors, its notes, and its log, which has every file that it did not use."""

    said: str
    noted: str
    logged: str


class Cause(NamedTuple):
    """Why pip failed, in its words if that is empty, and what to do."""

    message: str
    hint: str


class PipMessage(NamedTuple):
    """What pip says, and its cause; the first group of `pattern` is `{0}` of both texts."""

    pattern: str
    message: str
    hint: str


UPDATE = "update it: `python -m pip install --upgrade pip`"
REACH = "check the network and `PIP_INDEX_URL`; without one, `--offline --find-links FOLDER` takes wheels from a folder"
OF_MACHINE = (
    PipMessage(
        r"No space left on device", "no space is left on the disk", "free some, or name folders elsewhere: TMPDIR"
    ),
    PipMessage(r"No module named pip\b", "this Python has no pip", "add it: `python -m ensurepip`"),
    PipMessage(r"no such option: (--[\w-]+)", "this pip is too old: it has no `{0}`", UPDATE),
    PipMessage(
        r"Can not use any platform or abi specific options", "this pip is too old to choose for a machine", UPDATE
    ),
)
"""What is wrong with the machine; without a network, too."""
OF_PACKAGES = (
    PipMessage(r"ResolutionImpossible|conflicting dependencies", "", "loosen one of them, or name other versions"),
    PipMessage(
        r"DO NOT MATCH THE HASHES",
        "",
        "correct the digest if the registry's is another one; if it was right, the file was changed: do not use it",
    ),
)
"""What is wrong with packages that were found: pip names them in its errors, and its log has such words for others."""
OF_REGISTRY = (
    PipMessage(
        r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError|SSLError",
        "the certificate of the registry is not trusted",
        "if your network has certificates of its company, name their file: `PIP_CERT=FILE`",
    ),
    PipMessage(r"ProxyError|Cannot connect to proxy", "the proxy cannot be reached", "check HTTPS_PROXY and NO_PROXY"),
    PipMessage(
        r"(40[13]) Client Error|(407) Proxy", "the registry refuses access ({0})", "check its user and password"
    ),
    PipMessage(
        r"Could not fetch URL https?://([^/\s]+)\S*: (?:connection error|timed out|5\d\d)",
        "the registry {0} cannot be reached",
        REACH,
    ),
    PipMessage(
        r"NewConnectionError|NameResolutionError|ConnectTimeoutError|ReadTimeoutError|Max retries exceeded"
        r"|Temporary failure in name resolution|Network is unreachable|Connection refused",
        "the registry cannot be reached",
        REACH,
    ),
    PipMessage(
        r"The repository located at (\S+) is not a trusted or secure host",
        "the registry {0} is not used: its address is not https",
        "use https, or trust it: `PIP_TRUSTED_HOST`",
    ),
)
"""What is wrong with the way to the registry; before what pip then does not find."""
UNMATCHED = re.compile(
    r"Could not find a version that satisfies the requirement (.+?) "
    r"(?:\(from (?!versions:)[^()]*\) )?\(from versions: ([^)]*)\)"
)
OTHER_TAGS = re.compile(r"none of the wheel's tags \([^)]*\) are compatible[^:]*: (\S+?\.whl)")
OTHER_PYTHON = re.compile(r"Link requires a different Python \(\S+ not in: ['\"]([^'\"]+)['\"]\): (\S+?\.whl)")
MOST_TAGS = 3


def cause_of(output: PipOutput, target: Target, *, is_offline: bool) -> Cause | None:
    """Return why pip failed; None if that is not known."""
    everything = f"{output.said}\n{output.logged}"
    of_registry = () if is_offline else OF_REGISTRY
    for rows, text in ((OF_MACHINE, everything), (OF_PACKAGES, output.said), (of_registry, everything)):
        for row in rows:
            match = re.search(row.pattern, text)
            if match is not None:
                words = [word for word in match.groups() if word]
                return Cause(row.message.format(*words), row.hint.format(*words))
    unmatched = None if is_offline else UNMATCHED.search(output.said)
    return None if unmatched is None else _unmatched(unmatched[1], unmatched[2], output.logged, target)


def _unmatched(text: str, listed: str, logged: str, target: Target) -> Cause | None:
    """Return why no file fits a requirement; `listed`: the versions that pip could choose from."""
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return None
    for find in (_other_python, _other_machine):
        cause = find(wanted, logged, target)
        if cause is not None:
            return cause
    if listed == "none":
        message = f"the registry has nothing for `{wanted}`"
        return Cause(message, "check how the name is written; a registry of your company is named by `PIP_INDEX_URL`")
    near = nearest_versions(wanted, listed.split(", "))
    names = " and ".join(f"`{wanted.name}=={version}`" for version in near)
    return Cause(
        f"no version of `{wanted.name}` fits `{wanted}`",
        f"the nearest {'is' if len(near) == 1 else 'are'} {names}" if names else "",
    )


def _skipped(wanted: Requirement, addresses: Iterable[tuple[str, str]]) -> list[tuple[str, Version, str]]:
    """Return what is said of the wheels of a requirement, each with its version and its tags' Python."""
    skipped = []
    for reason, address in addresses:
        try:
            name, version, _, tags = parse_wheel_filename(address.rpartition("/")[2])
        except (InvalidWheelFilename, InvalidVersion):
            continue
        if name == canonicalize_name(wanted.name) and wanted.specifier.contains(version):
            first_tag = min(f"{tag.interpreter} on {tag.platform}" for tag in tags)
            skipped.append((reason or first_tag, version, first_tag))
    return skipped


def _other_python(wanted: Requirement, logged: str, target: Target) -> Cause | None:
    skipped = _skipped(wanted, OTHER_PYTHON.findall(logged))
    if not skipped:
        return None
    needs, version, _ = max(skipped, key=lambda row: row[1])
    message = f"`{wanted.name}` {version} needs Python {needs}, and this is for Python {target.python}"
    return Cause(message, "name an earlier version, or use another Python")


def _other_machine(wanted: Requirement, logged: str, target: Target) -> Cause | None:
    skipped = _skipped(wanted, (("", address) for address in OTHER_TAGS.findall(logged)))
    if not skipped:
        return None
    newest = max(version for _, version, _ in skipped)
    tags = [*dict.fromkeys(tag for _, version, tag in skipped if version == newest)]
    more = f" and {len(tags) - MOST_TAGS} more" if len(tags) > MOST_TAGS else ""
    message = f"`{wanted.name}` {newest} has no wheel for {target.name}"
    return Cause(message, f"its wheels are for {', '.join(tags[:MOST_TAGS])}{more}: name a version that has one")


def nearest_versions(wanted: Requirement, listed: Iterable[str]) -> list[str]:
    """Return the versions on both sides of the first one that a requirement names, and the newest, without previews."""
    try:
        known = sorted(version for version in map(Version, listed) if not version.is_prerelease)
        named = sorted(Version(each.version.removesuffix(".*")) for each in wanted.specifier)
    except InvalidVersion:
        return []
    if not named or not known:
        return [str(version) for version in known[-1:]]
    below = [version for version in known if version < named[0]][-1:]
    above = [version for version in known if version >= named[0]][:1]
    return [str(version) for version in dict.fromkeys((*below, *above))]
