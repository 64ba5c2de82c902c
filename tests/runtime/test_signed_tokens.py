"""Tokens that a client keeps: nothing of them can be changed, and any process with the key can read them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpc_runtime.server.replicas import signed_tokens as module
from mcpc_runtime.server.replicas.signed_tokens import (
    EXPIRED,
    FORGED,
    StateKeysError,
    TokenSigner,
    from_text,
    read_secret_file,
    state_keys,
    to_text,
)
from support.clocks import StoppedClock
from support.needs import ROOT

OLD, NEW = b"an old key, 16 b+", b"a new key of more bytes"
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@given(st.binary(max_size=40), st.text(max_size=8), st.text(max_size=8))
def test_a_token_is_of_one_purpose(payload: bytes, purpose: str, other: str) -> None:
    seals = TokenSigner([OLD])
    token = seals.sign(purpose, payload, 60)
    assert seals.open(purpose, token) == payload
    assert (seals.open(other, token) is None) == (other != purpose)


def test_a_purpose_and_a_payload_do_not_run_into_each_other() -> None:
    """What is signed is one text: the end of a long purpose must not pass for the beginning of a body."""
    for number in range(1000):
        signer = TokenSigner([b"a key of sixteen bytes, %d" % number], lambda: 1000.0)
        begin = (from_text(signer.sign("", b"", 60)) or b"")[:12]
        if begin.isascii():
            break
    data = from_text(signer.sign("ask" + begin.decode("ascii"), b"payload", 60))
    assert data is not None
    assert signer.verify("ask", to_text(begin + data)) == FORGED


def test_tokens_have_the_form_that_other_replicas_read() -> None:
    clock = StoppedClock()
    token = "2Z9ndwAAAAAAAAQkcGF5bG9hZNFXxcj903ZeSR8jJr6UT53Ip6XYPy6NbJKbtfk5m8_e"
    assert TokenSigner([OLD, NEW], clock).sign("ask", b"payload", 60.9) == token
    assert repr(TokenSigner([OLD, NEW])) == "<TokenSigner with 2 keys>"
    assert to_text(b"\xfb\xff") == "-_8"
    assert from_text("-_8") == b"\xfb\xff"
    signed = TokenSigner([b"k" * 16]).sign("ask", b"", 60)
    assert len(signed) == 59
    assert TokenSigner([b"k" * 16]).open("ask", signed) == b""
    assert len(TokenSigner([OLD]).unique()) == 32


def test_no_character_can_be_changed_or_added_or_left_out() -> None:
    """Not even those bits of the last one that Base64 does not use."""
    for length in range(3):
        seals = TokenSigner([OLD])
        token = seals.sign("ask", b"x" * length, 60)
        for place in range(len(token)):
            for letter in ALPHABET + "+/= \n.\x00é":
                if letter != token[place]:
                    assert seals.open("ask", token[:place] + letter + token[place + 1 :]) is None, (place, letter)
            assert seals.open("ask", token[:place] + token[place + 1 :]) is None
        for more in ("A", "=", "==", "\n", " ", "-TAMPERED"):
            assert seals.open("ask", token + more) is None
            assert seals.open("ask", more + token) is None
    assert seals.open("ask", "") is None


@given(st.text(max_size=200))
def test_whatever_a_client_sends_is_no_token(text: str) -> None:
    assert TokenSigner([OLD]).verify("ask", text) == FORGED


def test_a_token_ends() -> None:
    clock = StoppedClock()
    seals = TokenSigner([OLD], clock)
    token = seals.sign("ask", b"x", 60)
    clock.now += 60
    assert seals.open("ask", token) == b"x"
    clock.now += 1
    assert seals.verify("ask", token) == EXPIRED
    clock.now -= 3600
    assert seals.open("ask", token) == b"x"
    assert TokenSigner([NEW], clock).verify("ask", token) == FORGED


def test_keys_are_changed_without_losing_what_was_signed() -> None:
    before, between, after = TokenSigner([OLD]), TokenSigner([NEW, OLD]), TokenSigner([NEW])
    old, new = before.sign("ask", b"old", 60), between.sign("ask", b"new", 60)
    assert (between.open("ask", old), between.open("ask", new)) == (b"old", b"new")
    assert (after.open("ask", old), after.open("ask", new)) == (None, b"new")
    assert before.open("ask", new) is None


def test_a_short_key_is_refused_without_being_shown() -> None:
    with pytest.raises(StateKeysError, match="key 2 has 15 bytes") as refused:
        TokenSigner([OLD, b"fifteen bytes!!"])
    assert "fifteen" not in str(refused.value)
    with pytest.raises(StateKeysError, match="missing state key"):
        TokenSigner([])
    assert "old key" not in repr(TokenSigner([OLD]))


def test_what_stands_for_something_and_what_nobody_had() -> None:
    seals = TokenSigner([OLD])
    assert seals.digest(b"a") == seals.digest(b"a") != seals.digest(b"b")
    assert len({seals.unique() for _ in range(100)}) == 100


def written(folder: Path, data: bytes, mode: int = 0o600) -> Path:
    path = folder / "keys"
    path.write_bytes(data)
    path.chmod(mode)
    return path


def test_keys_of_the_environment(tmp_path: Path) -> None:
    assert state_keys({}) == []
    assert state_keys({b"MCPC_STATE_KEYS": b" \n"}) == []
    assert state_keys({b"MCPC_STATE_KEYS": b"one,two\n three"}) == [b"one", b"two", b"three"]
    path = written(tmp_path, b"first key with spaces\r\n\n  second  \n")
    given = {b"MCPC_STATE_KEYS_FILE": os.fsencode(path), b"MCPC_STATE_KEYS": b"not these"}
    assert state_keys(given) == [b"first key with spaces", b"second"]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o606, 0o660, 0o601])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(StateKeysError, match="other users") as refused:
        read_secret_file(str(written(tmp_path, OLD, mode)), "state keys")
    assert "old key" not in str(refused.value)


def test_other_files_that_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, OLD)
    (tmp_path / "link").symlink_to(path)
    os.mkfifo(tmp_path / "pipe", 0o600)
    cases = {
        tmp_path / "link": "symbolic link",
        tmp_path / "pipe": "not a regular file",
        tmp_path: "not a regular file",
        tmp_path / "absent": "No such file",
    }
    for place, why in cases.items():
        with pytest.raises(StateKeysError, match=why):
            read_secret_file(str(place), "state keys")
    for data, why in {b"": "is empty", b" \n\n": "is empty", b"k" * 4097: "more than 4096 bytes"}.items():
        with pytest.raises(StateKeysError, match=why):
            read_secret_file(str(written(tmp_path, data)), "state keys")
    assert read_secret_file(str(written(tmp_path, b"k" * 4096)), "state keys") == b"k" * 4096
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(StateKeysError, match="belongs to user"):
        read_secret_file(str(path), "state keys")


SEAL = "from mcpc_runtime.server.replicas.signed_tokens import token_signer; print(token_signer().sign('ask', b'from another process', 60))"


def sealed(environment: dict[str, str]) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MCPC_STATE")}
    given = {**clean, "PYTHONPATH": str(ROOT / "runtime"), **environment}
    return subprocess.run([sys.executable, "-c", SEAL], env=given, check=True, capture_output=True, text=True).stdout[
        :-1
    ]


def test_processes_with_one_key_read_each_other_s_tokens(tmp_path: Path) -> None:
    path = written(tmp_path, NEW + b"\n" + OLD + b"\n")
    assert TokenSigner([NEW]).open("ask", sealed({"MCPC_STATE_KEYS_FILE": str(path)})) == b"from another process"
    assert TokenSigner([OLD]).open("ask", sealed({"MCPC_STATE_KEYS": "another-key-of-16-bytes"})) is None


def test_a_process_without_a_key_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert TokenSigner([OLD]).open("ask", sealed({})) is None
    monkeypatch.setattr(module, "PROCESS_SIGNER", [])
    monkeypatch.setattr(module.system, "environ", {})
    first = module.token_signer()
    assert module.token_signer() is first
    assert first.open("ask", first.sign("ask", b"x", 1)) == b"x"
