"""Why pip failed: its errors and its log as it writes them, and the cause and the help that are made of them."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc import programs
from mcpc.dependencies.pip_causes import Cause, PipOutput, cause_of
from mcpc.dependencies.platforms import Target
from mcpc.ir.requirements import RequestedPackage
from mcpc.locking import pip_resolver
from mcpc.locking.failures import ResolutionError

TARGET = Target("manylinux2014_x86_64", "3.12")
VERSIONS = "1.0, 1.1rc1, 1.2, 2.0, 2.1, 3.0a1"
FILES = "https://files.pythonhosted.org/packages/00"


def unmatched(text: str, versions: str = "none", by: str = "") -> str:
    needed = f" (from {by})" if by else ""
    return (
        f"ERROR: Could not find a version that satisfies the requirement {text}{needed} (from versions: {versions})\n"
        f"ERROR: No matching distribution found for {text}\n"
    )


def tags(*names: str) -> str:
    return "".join(
        f"  Skipping link: none of the wheel's tags ({name}) are compatible (run pip debug --verbose to show compatible"
        f" tags): {FILES}/{name} (from https://pypi.org/simple/a/)\n"
        for name in names
    )


def pythons(wanted: str, name: str) -> str:
    return f"  Link requires a different Python (3.12.1 not in: '{wanted}'): {FILES}/{name} (from https://pypi.org/)\n"


@pytest.mark.parametrize(
    ("said", "logged", "message", "hint"),
    [
        ("OSError: [Errno 28] No space left on device", "", "no space is left on the disk", "TMPDIR"),
        ("/usr/bin/python3: No module named pip", "", "this Python has no pip", "ensurepip"),
        (
            "Usage: …\n\nno such option: --uploaded-prior-to",
            "",
            "this pip is too old: it has no `--uploaded-prior-to`",
            "--upgrade pip",
        ),
        (
            "ERROR: Can not use any platform or abi specific options unless installing via '--target'",
            "",
            "this pip is too old to choose for a machine",
            "--upgrade pip",
        ),
        (
            unmatched("a"),
            (
                "Could not fetch URL https://pypi.org/simple/a/: There was a problem confirming the ssl certificate: "
                "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]')) - skipping"
            ),
            "the certificate of the registry is not trusted",
            "PIP_CERT",
        ),
        (
            "WARNING: Retrying … ProxyError('Cannot connect to proxy.')",
            "",
            "the proxy cannot be reached",
            "HTTPS_PROXY",
        ),
        (
            "ERROR: HTTP error 403 while getting x",
            "403 Client Error: Forbidden for url",
            "the registry refuses access (403)",
            "password",
        ),
        (
            unmatched("a"),
            "Could not fetch URL http://127.0.0.1:9/simple/a/: connection error: [Errno 111] Connection refused - skipping",
            "the registry 127.0.0.1:9 cannot be reached",
            "--find-links",
        ),
        (
            "WARNING: Retrying … NewConnectionError('… [Errno -3] Temporary failure in name resolution')",
            "",
            "the registry cannot be reached",
            "--find-links",
        ),
        (
            "WARNING: The repository located at r.example is not a trusted or secure host and is being ignored.",
            "",
            "the registry r.example is not used: its address is not https",
            "PIP_TRUSTED_HOST",
        ),
        (
            "ERROR: Cannot install a and b because these package versions have conflicting dependencies.",
            "",
            "",
            "loosen",
        ),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "", "", "digest"),
        (unmatched("a"), "404 Client Error: Not Found for url", "the registry has nothing for `a`", "name is written"),
        (unmatched("a", "none", "b->c"), "", "the registry has nothing for `a`", "name is written"),
        (unmatched("a==1.5", VERSIONS), "", "no version of `a` fits `a==1.5`", "nearest are `a==1.2` and `a==2.0`"),
        (unmatched("a==9", VERSIONS), "", "no version of `a` fits `a==9`", "the nearest is `a==2.1`"),
        (unmatched("a<1", VERSIONS), "", "no version of `a` fits `a<1`", "the nearest is `a==1.0`"),
        (unmatched("a<2,>2.1", VERSIONS), "", "no version of `a` fits `a<2,>2.1`", "are `a==1.2` and `a==2.0`"),
        (unmatched("a==1.5.*", "old, odd"), "", "no version of `a` fits `a==1.5.*`", ""),
        (
            unmatched("A-b==2.0", VERSIONS),
            tags("a_b-1.0-cp39-cp39-win_amd64.whl", "a_b-2.0-cp39-cp39-win_amd64.whl"),
            "`A-b` 2.0 has no wheel for manylinux2014_x86_64 with Python 3.12",
            "its wheels are for cp39 on win_amd64: name a version that has one",
        ),
        (
            unmatched("a"),
            tags(*(f"a-{number}.0-cp3{number}-cp3{number}-win32.whl" for number in range(5)))
            + tags("b-9-py3-none-any.whl"),
            "`a` 4.0 has no wheel for manylinux2014_x86_64 with Python 3.12",
            "its wheels are for cp34 on win32: name",
        ),
        (
            unmatched("a"),
            tags(*(f"a-1-cp3{number}-cp3{number}-win32.whl" for number in range(4, 9))),
            "`a` 1 has no wheel for manylinux2014_x86_64 with Python 3.12",
            "cp34 on win32, cp35 on win32, cp36 on win32 and 2 more",
        ),
        (
            unmatched("a>=2", VERSIONS),
            pythons(">=3.13", "a-2.0-py3-none-any.whl") + pythons(">=3.14", "a-2.1-py3-none-any.whl"),
            "`a` 2.1 needs Python >=3.14, and this is for Python 3.12",
            "earlier version",
        ),
    ],
)
def test_a_failure_of_pip_has_its_cause_and_its_help(said: str, logged: str, message: str, hint: str) -> None:
    found = cause_of(PipOutput(said, "", logged), TARGET, is_offline=False)
    assert found is not None
    assert (found.message, hint in found.hint, bool(hint) is bool(found.hint)) == (message, True, True)


@pytest.mark.parametrize(
    ("said", "logged"),
    [
        ("ERROR: Something else.", ""),
        ("", "ResolutionImpossible"),
        (unmatched("not a requirement !"), ""),
    ],
)
def test_what_is_not_known_is_left_to_pip(said: str, logged: str) -> None:
    assert cause_of(PipOutput(said, "", logged), TARGET, is_offline=False) is None


def test_without_a_registry_nothing_is_said_of_one() -> None:
    assert cause_of(PipOutput(unmatched("a"), "", "Connection refused"), TARGET, is_offline=True) is None
    full = PipOutput("No space left on device", "", "")
    assert cause_of(full, TARGET, is_offline=True) == cause_of(full, TARGET, is_offline=False) != Cause("", "")


def test_a_lock_is_asked_for_in_the_way_of_every_pip_and_its_failure_has_its_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[list[str]] = []

    def run(_: str, words: list[str], *_rest: Any, **_more: Any) -> subprocess.CompletedProcess[bytes]:
        asked.append(words)
        return subprocess.CompletedProcess(words, 1, b"", unmatched("a==9", VERSIONS).encode())

    monkeypatch.setattr(programs, "run_program", run)
    request: Any = SimpleNamespace(indexes=(), targets=(TARGET,), wanted=(RequestedPackage("a", "a==9"),), preferred={})
    with pytest.raises(ResolutionError) as raised:
        pip_resolver.resolve_by_pip(request, {})
    assert str(raised.value) == "no versions for manylinux2014_x86_64 with Python 3.12: no version of `a` fits `a==9`"
    assert raised.value.hint == "the nearest is `a==2.1`"
    [words] = asked
    assert (words[words.index("--target") + 1], "--dry-run" in words, "--platform" in words) == ("unused", True, True)
