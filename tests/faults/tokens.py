"""Section X: who is let in over HTTP, what tells an outsider anything, and which files and addresses are refused."""

import os
import secrets
import subprocess
from functools import partial
from pathlib import Path

from faults import forms
from faults.client import STATELESS, require
from faults.forms import PYTHON
from faults.site import bytes_of
from faults.trial import FULL, Case, Trial
from support.knocks import mirrors, stateless
from support.talking import answer, connect
from support.timing import LENGTHS, LONG, ROUNDS, tells

over_http = partial(Case, forms=(PYTHON,), eras=(STATELESS,), http=True)
TOKEN = "s3cret-Token.of_32~bytes+and/more=="
USAGE = 2
GUESSES = 6000 if FULL else 300
"""How many are timed of each kind in a round."""


def secret(trial: Trial, text: str = f"me {TOKEN}\n", mode: int = 0o600) -> Path:
    place = trial.folder() / "tokens"
    place.write_text(text)
    place.chmod(mode)
    return place


REFUSED = {
    "no token": ((), 401), "wrong": ("Bearer x", 401), "a byte less": (f"Bearer {TOKEN[:-1]}", 401),
    "a byte more": (f"Bearer {TOKEN}=", 401), "another case": (f"Bearer {TOKEN.swapcase()}", 401), "of another scheme": (f"Basic {TOKEN}", 401),
    "scheme in small letters": (f"bearer {TOKEN}", 401), "two headers": (f"Bearer {TOKEN}\r\nauthorization: Bearer {TOKEN}", 400),
    "two tokens": (f"Bearer {TOKEN} {TOKEN}", 400), "its name": ("Bearer me", 401), "9,000 bytes": ("Bearer " + "x" * 9000, 400),
}  # fmt: skip


def wrong_tokens(trial: Trial) -> None:
    site = trial.serve("--token-file", str(secret(trial)), shake=False, warm=False)
    for what, (value, status) in REFUSED.items():
        found = site.ordinary(*([("authorization", value)] if value else []))
        require(found.status == status, what, "was", found.status, found.body)
        require(status != 401 or found.headers["www-authenticate"].startswith("Bearer"), what, found.headers)
        require(b"tools" not in found.body and TOKEN.encode() not in found.body, what, found.body)
    for query in (f"access_token={TOKEN}", f"token={TOKEN}", f"authorization=Bearer%20{TOKEN}"):
        require(site.ordinary(path=f"/mcp?{query}").status == 401, query)
    require(site.ordinary(("authorization", f"Bearer {TOKEN}")).status == 200, "the right one")
    require(TOKEN.encode() not in site.errors, "it is in the log")
    trial.note = f"{len(REFUSED) + 3} tokens"


def timing(trial: Trial) -> None:
    """The time of a refusal does not tell how much of a guess is right; three rounds have to agree that it does."""
    right = secrets.token_urlsafe(LONG)
    site = trial.serve("--token-file", str(secret(trial, f"me {right}\n")), shake=False, warm=False)
    usual = bytes_of(
        stateless("tools/list"), *mirrors("tools/list"), ("connection", "-"), ("authorization", "Bearer GUESS")
    )
    before, _, after = usual.partition(b"GUESS")
    with connect(site) as connection:

        def guess(token: str) -> None:
            connection.sendall(before + token.encode() + after)
            require(answer(connection)[0] == 401, token)

        found = tells(guess, right, GUESSES)
    require(not found, "the time tells of the first", found, "bytes")
    trial.note = f"{len(LENGTHS) * ROUNDS * GUESSES} guesses"


def start(trial: Trial, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [*forms.command(trial.artifact), "serve", "--http", *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)


def refuses(trial: Trial, path: Path, reason: str) -> None:
    """Raise Fault unless a file of tokens is refused for a reason, without telling what is in it."""
    done = start(trial, "127.0.0.1:0", "--token-file", str(path))
    require(done.returncode == USAGE and reason in done.stderr, f"{path} was", done.returncode, done.stderr)
    require("Traceback" not in done.stderr and TOKEN not in done.stderr + done.stdout, done.stderr)


def token_files(trial: Trial) -> None:
    """What others can read or could have put there is no secret; a newline at its end is."""
    for mode in (0o644, 0o640, 0o604, 0o622):
        refuses(trial, secret(trial, mode=mode), f"{mode:04o}")
    for text, reason in (
        ("", "empty"),
        ("\n", "empty"),
        ("x" * 4097, "4096"),
        ("me to,ken\n", "line 1"),
        ("a\0b", "ASCII"),
    ):
        refuses(trial, secret(trial, text), reason)
    link = secret(trial).with_name("link")
    link.symlink_to(link.with_name("tokens"))
    refuses(trial, link, "symlink")
    refuses(trial, link.with_name("nowhere"), "No such file")
    if os.geteuid() == 0:
        others = secret(trial)
        os.chown(others, 65534, -1)
        refuses(trial, others, "another user")
    site = trial.serve("--token-file", str(secret(trial, f"{TOKEN}\n\n")), shake=False, warm=False)
    require(site.ordinary(("authorization", f"Bearer {TOKEN}")).status == 200, "a newline at its end")


def closed(trial: Trial) -> None:
    """Where other machines can connect, somebody has to have said who may, or that anybody may."""
    for host in ("0.0.0.0", "[::]", "192.0.2.1"):
        done = start(trial, f"{host}:0")
        require(done.returncode == USAGE, host, "was", done.returncode, done.stderr)
        require("--token-file" in done.stderr and "--open" in done.stderr, done.stderr)
    require(trial.serve("--open", address="0.0.0.0:0").ordinary().status == 200, "--open")


CASES = (
    over_http("X01", "no token, wrong ones, two headers, in the query: 401 or 400", wrong_tokens),
    over_http("X02", f"{len(LENGTHS) * ROUNDS * GUESSES} timed wrong tokens that begin right: no dependence", timing),
    over_http("X03", "token file: modes, owner, symlink, empty, newline, > 4 KiB", token_files),
    over_http("X04", "0.0.0.0 without token: no start, unless --open", closed),
)
