"""Section R: what clients, and whoever can write to a shared folder, do to get at files that are not meant for them."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from faults import forms
from faults.client import HANDSHAKE, Message, Server, code, good, require
from faults.forms import BASH, PYTHON
from faults.trial import Case, Trial, within
from support.scale import scaled

TRIES = scaled(10_000, 3_000)
SECRET = "this is nobody's business"
LISTED = 1000
LIBRARIES = {
    BASH: ("resources.bash", 'resource_data() { printf "%s" "$1"; }\n'),
    PYTHON: ("resources.py", "def resource_data(name):\n    return {'name': name}\n"),
}
RENAMER = """
import os, sys
root, outside = sys.argv[1:]
os.chdir(root)
os.symlink(outside, 'link')
os.symlink(f'{outside}/secret.txt', 'swapped/link.txt')
print('ready', flush=True)
while True:
    os.rename('swapped', 'away'); os.rename('link', 'swapped')
    os.rename('swapped', 'link'); os.rename('away', 'swapped')
    os.rename('swapped/secret.txt', 'swapped/held'); os.rename('swapped/link.txt', 'swapped/secret.txt')
    os.rename('swapped/secret.txt', 'swapped/link.txt'); os.rename('swapped/held', 'swapped/secret.txt')
"""


def project(form: str) -> dict[str, str]:
    """Return the files of a server that reads files below a folder, and has handlers for the rest."""
    templates = [
        {"uriTemplate": "file:///shelf/{+path}", "name": "shelf", "description": "d", "root": {"environment": "SHELF"}},
        {"uriTemplate": "data://{name}", "name": "data", "description": "d"},
    ]
    many = [{"uri": f"many://{n}", "name": f"many{n}", "description": "d", "text": f"{n}"} for n in range(LISTED)]
    name, library = LIBRARIES[form]
    return {
        "server.json": json.dumps({"serverInfo": {"name": f"shelf-{form}", "version": "1.0"}}),
        "resources.json": json.dumps({"resources": many, "resourceTemplates": templates}),
        name: library,
    }


def shelf(trial: Trial) -> tuple[Server, Path]:
    """Start that server with a folder of files, beside which lies what nobody may see; everything is warm."""
    artifact = forms.build_project(project(trial.form), trial.builds, f"shelf-{trial.form}")
    place = trial.folder()
    root, outside = place / "root", place / "outside"
    (root / "folder").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    (root / "plain.txt").write_text("plain")
    server = trial.start(argv=forms.command(artifact), environment={"SHELF": str(root)})
    require(said(server, "data://warm").find("warm") > 0, server.state())
    require(said(server, "file:///shelf/plain.txt") == "plain", server.state())
    time.sleep(0.3)
    trial.bases[server.pid] = server.descriptors()
    return server, root


def read(server: Server, uri: str, seconds: float = 10.0) -> Message:
    """Ask for a resource."""
    reply: Message = server.ask("resources/read", {"uri": uri}, seconds)
    require(SECRET not in json.dumps(reply), uri, "leaked:", reply)
    return reply


def said(server: Server, uri: str) -> str:
    contents: list[dict[str, Any]] = good(read(server, uri), uri)["contents"]
    return str(contents[0].get("text"))


def refuses(*uris: str) -> Callable[[Trial], None]:
    """Return a case in which every uri is an invalid parameter, in both eras, and the next one is served."""

    def run(trial: Trial) -> None:
        server, _ = shelf(trial)
        for uri in uris:
            require(code(read(server, uri)) == -32602, uri)
        require(said(server, "file:///shelf/plain.txt") == "plain", server.state())

    return run


def missing(server: Server, path: str) -> None:
    """Raise Fault unless there is no such file for a client."""
    expected = -32002 if server.era == HANDSHAKE else -32602
    found = code(read(server, f"file:///shelf/{path}"))
    require(found == expected, path, "was", found)


def links(trial: Trial) -> None:
    server, root = shelf(trial)
    outside = root.parent / "outside"
    (root / "link.txt").symlink_to(outside / "secret.txt")
    (root / "away").symlink_to(outside)
    os.link(outside / "secret.txt", root / "hard.txt")
    for path in ("link.txt", "away/secret.txt", "hard.txt"):
        missing(server, path)
    require(said(server, "file:///shelf/plain.txt") == "plain", server.state())


def renamer(trial: Trial) -> None:
    """Thousands of reads while folders and files change places with links; `read` looks into every answer."""
    server, root = shelf(trial)
    (root / "swapped").mkdir()
    (root / "swapped" / "secret.txt").write_text("inside")
    words = [sys.executable, "-I", "-S", "-c", RENAMER, str(root), str(root.parent / "outside")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    try:
        require(process.stdout is not None and process.stdout.readline() == b"ready\n", "no renamer")
        outcomes = ["result" in read(server, "file:///shelf/swapped/secret.txt") for _ in range(TRIES)]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]
    served = sum(outcomes)
    require(0 < served < TRIES, f"the race was not one: {served} of {TRIES} served")
    trial.note = f"{served} of {TRIES} served, 0 leaks"


def odd_files(trial: Trial) -> None:
    """FIFO, folder, device by a link, 10 GiB of holes, one that grows, one that goes: each within a second."""
    server, root = shelf(trial)
    os.mkfifo(root / "fifo")
    (root / "null").symlink_to("/dev/zero")
    with (root / "holes").open("wb") as file:
        file.truncate(10 << 30)
    resident = server.pid and memory(server)
    for path in ("fifo", "null", "folder"):
        began = time.monotonic()
        missing(server, path)
        within(server, 1, began)
    began = time.monotonic()
    require(code(read(server, "file:///shelf/holes")) == -32603, "holes")
    within(server, 1, began)
    (root / "plain.txt").unlink()
    missing(server, "plain.txt")
    require(memory(server) - resident < 32 << 20, "it keeps what it did not read")


def memory(server: Server) -> int:
    """Return how much memory a server has, in bytes."""
    with open(f"/proc/{server.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def odd_names(trial: Trial) -> None:
    """A name that is not UTF-8, one with a newline, one of 4,096 bytes: read by what a uri can say, or no file."""
    server, root = shelf(trial)
    (root / "new\nline").write_text("newline")
    with open(os.fsencode(root) + b"/\xff", "wb") as file:
        file.write(b"x")
    require(said(server, "file:///shelf/new%0Aline") == "newline", "a newline")
    require(code(read(server, "file:///shelf/%ff")) == -32602, "a name that is not UTF-8")
    require(code(read(server, f"file:///shelf/{'x' * 4096}")) == -32602, "a name of 4096 bytes")
    missing(server, "x" * 3000)


def pages(trial: Trial) -> None:
    """Everything is listed once; cursors that were never given out are refused (100,000: `test_resources`)."""
    server, _ = shelf(trial)
    result = good(server.ask("resources/list"))
    require([one["uri"] for one in result["resources"]] == [f"many://{n}" for n in range(LISTED)], "not everything")
    require("nextCursor" not in result, result.get("nextCursor"))
    for cursor in ("", "x", "1.0123456789ab", "-1.x", "0."):
        require(code(server.ask("resources/list", {"cursor": cursor})) == -32602, cursor)


UPWARD = ("file:///shelf/../../etc/passwd", "file:///shelf/..%2foutside/secret.txt", "file:///shelf/%2e%2e/outside/secret.txt",
          "file:///shelf/..%252foutside/secret.txt", "file:///shelf/..\\outside", "file:///shelf/%c0%ae%c0%ae/outside/secret.txt",
          "data://..", "data://..%2f..%2fetc")  # fmt: skip
ABSOLUTE = (
    "file:///shelf//etc/passwd",
    "file:///shelf///host/share",
    "file:///shelf/file:///etc/passwd",
    "file:///shelf/%2fetc/passwd",
)
NULLS = (
    "file:///shelf/plain.txt%00.png", "file:///shelf/plain.txt\0", "data://a%00b", "data://\0", "file:///shelf/a%2500b",
)  # fmt: skip
APART = (BASH, PYTHON)
CASES = (
    Case("R01", "a uri that leads upward, however it is written", refuses(*UPWARD), APART),
    Case("R02", "an absolute path, a host or a second scheme in a variable", refuses(*ABSOLUTE), APART),
    Case("R03", "a null character in a uri or a variable", refuses(*NULLS), APART),
    Case("R04.links", "links out of the folder, on the way, and hard ones", links, (BASH,)),
    Case("R04.race", f"a renamer changes files and folders for links: {TRIES:,} tries", renamer, (BASH,), (HANDSHAKE,)),
    Case("R06", "FIFO, device, folder, 10 GiB of holes, a file that goes: an answer within 1 s", odd_files, (BASH,)),
    Case("R07", "names that are not UTF-8, have a newline, are too long", odd_names, (BASH,)),
    Case("R08", "pages are exact, and made-up cursors refused", pages, (BASH,)),
)
