"""Why uv failed: what it prints, as it does, and the cause and the help that are made of it."""

import pytest

from mcpc.packages.uv_failures import HashMismatchError, NoWheelError, UvError, absent_version, failure_of, reason

UNSOLVED = "error: No solution found when resolving dependencies\n  cause: "
UNREACHED = (
    "error: Failed to fetch: https://user:secret@r.example/simple/a/\n  cause: error sending request\n  cause: {}\n"
)
ONLY_WHEELS = "hint: Wheels are required for `{}` because building from source is disabled for all packages\n"
CONCLUSION = ", we can conclude that your requirements are unsatisfiable.\n"
SILENT = """cause: Because the requested Python version (>=3.10) does not satisfy Python>=3.11 and a==9.5 depends on \
Python>=3.11, we can conclude that a==9.5 cannot be used.
         And because you require a==9.5, we can conclude that your requirements are unsatisfiable.

hint: The `--python-version` value (>=3.10) includes Python versions that are not supported.
"""
OTHER_PYTHON = (
    "because the requested Python version (>=3.10) does not satisfy Python>=3.11 and a==9.5 depends on Python>=3.11, "
    "we can conclude that a==9.5 cannot be used. And because you require a==9.5"
)


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        ("error: x\n  cause: No space left on device (os error 28)\n", "no space is left on the disk", "UV_CACHE_DIR"),
        (UNREACHED.format("invalid peer certificate: UnknownIssuer"), "the certificate of the registry is not trusted",
         "SSL_CERT_FILE"),
        (UNREACHED.format("tunnel error: failed"), "the proxy cannot be reached, or refuses", "HTTPS_PROXY"),
        (UNREACHED.format("HTTP status client error (403 Forbidden) for url"), "the registry refuses access (403)",
         "password"),
        (UNREACHED.format("HTTP status client error (404 Not Found) for url"), "the registry has it no longer (404)",
         "--upgrade-package"),
        (UNREACHED.format("dns error"), "the registry r.example cannot be reached", "--find-links"),
        ("error: Request failed after 3 retries\n  cause: Failed to fetch: http://127.0.0.1:9/simple/a/\n",
         "the registry 127.0.0.1:9 cannot be reached", "--find-links"),
        (f"{UNSOLVED}Because a was not found in the package registry and you require a, x.\n",
         "the registry has nothing named `a`", "name is written"),
        (f"{UNSOLVED}Because a-b was not found in the cache and you require a-b==1, x.\n",
         "nothing named `a-b` is in the cache or a folder of `--find-links`", "--find-links"),
        (f"{UNSOLVED}Because a==2 depends on b<2 and you require b==2{CONCLUSION}", "because a==2 depends on b<2 and you require b==2", ""),
        (f"error: x\n  {SILENT}", OTHER_PYTHON, "not supported"),
        ("error: something else\n", "something else", ""),
    ],
)  # fmt: skip
def test_a_failure_has_its_cause_and_its_help(said: str, message: str, hint: str) -> None:
    found = failure_of(UvError(said))
    assert (str(found), hint in found.hint, bool(hint) is bool(found.hint)) == (message, True, True)
    assert "secret" not in found.said


@pytest.mark.parametrize(
    ("cause", "names", "text", "by"),
    [
        ("Because b==0.6 has no usable wheels and you require b==0.6, x.", ["b"], "b==0.6", ""),
        ("And because a>=0.5.14 depends on b>=0.6 and you require a==0.5.14, x.", ["b"], "b>=0.6", "a"),
        ("And because a>=1 depends on b>=0.6, we can conclude. you require a, x.", ["a", "b"], "b>=0.6", "a"),
        ("Because all versions of b-c have no usable wheels, x.", ["b-c"], "b-c", ""),
    ],
)
def test_what_has_only_sources_is_named_with_what_needs_it(cause: str, names: list[str], text: str, by: str) -> None:
    found = failure_of(UvError(f"{UNSOLVED}{cause}\n\n" + "".join(ONLY_WHEELS.format(name) for name in names)))
    assert isinstance(found, NoWheelError)
    assert (found.text, found.by) == (text, by)


def test_another_digest_is_named_with_both() -> None:
    said = f"error: x\n  cause: Hash mismatch for `a-b==1`\n\n  Expected:\n    sha256:{'0' * 64}\n\n  Computed:\n    sha256:{'1' * 64}\n"
    found = failure_of(UvError(said))
    assert isinstance(found, HashMismatchError)
    assert (found.package, str(found)) == (
        "a-b",
        f"`a-b==1` has SHA-256 {'1' * 64}, and SHA-256 {'0' * 64} is expected",
    )


@pytest.mark.parametrize(
    ("cause", "name"),
    [
        ("Because there is no version of a==99 and you require a==99, x.", "a"),
        ("Because only a-b<=1.0.dev6 is available and you require a-b>=99, x.", "a-b"),
        ("Because a==1 depends on b<2 and you require b==2, x.", ""),
    ],
)
def test_a_version_that_does_not_exist_has_its_package(cause: str, name: str) -> None:
    assert absent_version(UNSOLVED + cause) == name


def test_long_words_keep_their_beginning_and_their_end() -> None:
    text = reason(f"error: the beginning {'x' * 1000} the end\n")
    assert (len(text), text.startswith("the beginning xxx"), text.endswith("xxx the end")) == (600, True, True)
