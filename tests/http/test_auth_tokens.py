"""Tokens of our own: who is let in, from where a token is taken, and which files are not trusted."""

import os
import random
import secrets
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from mcpc_runtime.http.auth import tokens
from mcpc_runtime.http.auth.authenticator import TokenAuthenticator
from mcpc_runtime.http.auth.configure import authenticator
from mcpc_runtime.http.auth.tokens import tokens_from
from mcpc_runtime.http.principals import AllowedTools, Denied, MisconfiguredError, Principal
from mcpc_runtime.http.settings import HttpSettings
from support.timing import LONG, tells

TOKEN = "s3cret-Token.of_32~bytes+and/more=="
LIST = f"""# who may call

admin  {TOKEN}
robot  robots-own-token read_*,greet
robot  robots-next-token  read_*,greet
"""


def check(*values: str | bytes, name: bytes = b"authorization", text: str = LIST) -> Principal | Denied:
    headers = [(b"host", b"localhost"), *((name, v if isinstance(v, bytes) else v.encode()) for v in values)]
    found = TokenAuthenticator(tokens_from(text, "here")).check(headers, "/mcp")
    assert isinstance(found, (Principal, Denied))
    return found


def challenge_of(refusal: Denied) -> str:
    return dict(refusal.headers)[b"www-authenticate"].decode()


WRONG = [TOKEN[:-1], TOKEN + "=", TOKEN[1:], "x" + TOKEN, TOKEN.swapcase(), "x", "robots-own-token,", "admin", "Bearer"]


@pytest.mark.parametrize("token", [one for one in WRONG if "," not in one], ids=repr)
def test_a_wrong_token_is_refused_without_being_repeated(token: str) -> None:
    found = check(f"Bearer {token}")
    assert isinstance(found, Denied) and found.status == 401
    assert challenge_of(found) == 'Bearer error="invalid_token", error_description="unknown token"'
    assert len(token) < 7 or (token.encode() not in found.body and token not in challenge_of(found))


def test_only_the_header_is_looked_at() -> None:
    """A query never arrives here, by what `check` is given: the path has none, and other headers are passed over."""
    headers = [(b"cookie", f"access_token={TOKEN}".encode()), (b"x-authorization", f"Bearer {TOKEN}".encode())]
    gate = TokenAuthenticator(tokens_from(LIST, "here"))
    for path in ("/mcp", f"/mcp?access_token={TOKEN}", f"/mcp?authorization=Bearer%20{TOKEN}"):
        found = gate.check(headers, path)
        assert isinstance(found, Denied) and found.status == 401


def test_every_digest_is_compared_whatever_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """X02: the time cannot depend on the token, because what is compared are digests, and always all of them."""
    compared: list[tuple[bytes, bytes]] = []

    def counting(a: bytes, b: bytes) -> bool:
        compared.append((a, b))
        return a == b

    monkeypatch.setattr(tokens, "compare_digest", counting)
    gate = tokens_from(LIST, "here")
    for token in (TOKEN, "robots-own-token", "robots-next-token", "x", TOKEN[:-1]):
        compared.clear()
        gate.find(token)
        assert len(compared) == 3
        assert all(len(a) == len(b) == 32 for a, b in compared)
        assert len({b for _, b in compared}) == 1
    assert not any(TOKEN.encode() in pair for pair in compared)


@pytest.mark.skipif("TESTS_TIMING" not in os.environ, reason="measures time: TESTS_TIMING=1")
def test_the_time_does_not_tell_how_much_of_a_token_is_right() -> None:
    """X02; that the measure would see it is shown with a comparison that ends at the first difference."""
    right = secrets.token_urlsafe(LONG)
    assert tells(tokens_from(f"me {right}", "here").find, right) == []
    assert tells(lambda given: all(a == b for a, b in zip(given, right, strict=True)), right)[-3:] == [16, 32, 42]


def test_patterns_mean_what_file_name_patterns_mean() -> None:
    for _ in range(5000):
        pattern = "".join(random.choices("ab*", k=random.randrange(8)))
        name = "".join(random.choices("ab", k=random.randrange(8)))
        assert AllowedTools((pattern,))(name) == fnmatchcase(name, pattern), (pattern, name)


def test_no_name_makes_matching_slow() -> None:
    """With backtracking this would not end."""
    tools = AllowedTools(("*a*a*a*a*a*a*a*a*b", "*aa*aa*aa*c*"))
    assert not tools("a" * 1_000_000)
    assert tools("a" * 1_000_000 + "b")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    place = tmp_path / "tokens"
    place.write_text(LIST)
    place.chmod(0o600)
    return place


def refused_file(path: object) -> str:
    with pytest.raises(MisconfiguredError) as caught:
        authenticator(HttpSettings(token_file=str(path)), {})
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_file_that_is_ours_alone_is_read(secret: Path) -> None:
    for mode in (0o600, 0o400):
        secret.chmod(mode)
        gate = authenticator(HttpSettings(token_file=str(secret)), {})
        assert isinstance(gate.check([(b"authorization", f"Bearer {TOKEN}".encode())], "/mcp"), Principal)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o604, 0o610, 0o622])
def test_a_file_that_others_can_get_at_is_refused(secret: Path, mode: int) -> None:
    secret.chmod(mode)
    assert f"{mode:04o}" in refused_file(secret)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_refused(secret: Path) -> None:
    os.chown(secret, 65534, -1)
    assert "another user" in refused_file(secret)


def test_a_symlink_is_refused_and_so_is_what_is_no_file(secret: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(secret)
    assert "symlink" in refused_file(link)
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert "no file" in refused_file(tmp_path / "pipe")
    assert "no file" in refused_file(tmp_path)
    assert "No such file" in refused_file(tmp_path / "nowhere")
    assert "no file" in refused_file("/dev/null")


def test_a_file_comes_before_the_variable_and_neither_means_nobody_is_asked(secret: Path) -> None:
    assert authenticator(HttpSettings(), {}) is None
    gate = authenticator(HttpSettings(), {"MCPC_TOKENS": "me that-of-the-variable"})
    both = authenticator(HttpSettings(token_file=str(secret)), {"MCPC_TOKENS": "me that-of-the-variable"})
    header = [(b"authorization", b"Bearer that-of-the-variable")]
    assert gate is not None and isinstance(gate.check(header, "/mcp"), Principal)
    assert both is not None and isinstance(both.check(header, "/mcp"), Denied)
    with pytest.raises(MisconfiguredError):
        authenticator(HttpSettings(), {"MCPC_TOKENS": ""})


def test_no_secret_is_in_what_can_be_printed(secret: Path) -> None:
    gate = authenticator(HttpSettings(token_file=str(secret)), {})
    found = gate.check([(b"authorization", f"Bearer {TOKEN}".encode())], "/mcp") if gate else None
    printed = repr([gate, found, gate and gate._tokens]) + str(vars(gate) if gate else "")
    assert TOKEN not in printed and "robots-own-token" not in printed
