"""Who was sent a file: what it says in a terminal, the copy that it installs, and which newer files replace it.

Every command is a process with an empty home.
"""

import hashlib
import os
import pty
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mcpc_runtime.tools.cli import signed_file
from mcpc_runtime.tools.cli.overview import overview
from mcpc_runtime.tools.cli.update import version_key
from support.artifact import build
from support.files import write_files
from support.http_sample import image_of
from support.needs import needs

CODE = "def size(path: str) -> str:\n    return path\n\n\ndef lines(path: str) -> str:\n    return path\n"
SETTINGS = [{"name": "UNITS", "default": "metric"}, {"name": "API_KEY", "required": True}]
REFUSED = 6


def server(version: str, *, name: str = "files", tools: tuple[str, ...] = ("size",)) -> dict[str, object]:
    """Return a project."""
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return {
        "server.json": {
            "serverInfo": {"name": name, "version": version},
            "instructions": "Tells the size of files on this computer, and nothing else about them.",
            "settings": SETTINGS,
        },
        "tools.json": {"tools": [{"name": tool, "description": version, "inputSchema": schema} for tool in tools]},
        "tools.py": CODE,
    }


def keygen(*words: str | Path, **options: object) -> None:
    subprocess.run(["ssh-keygen", "-q", *map(str, words)], check=True, **options)  # type: ignore[call-overload]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two keys, and with versions of a server, each signed by what its name says."""
    needs("ssh-keygen")
    folder = tmp_path_factory.mktemp("made")
    for name in ("key", "other"):
        keygen("-t", "ed25519", "-N", "", "-C", "", "-f", folder / name)
    built = {
        "1.0.0": server("1.0.0"),
        "1.1.0": server("1.1.0", tools=("lines", "size")),
        "0.9.0": server("0.9.0"),
        "another": server("1.1.0", name="another"),
        "unsigned": server("1.2.0"),
        "by-other": server("1.2.0", tools=("lines",)),
    }
    for name, project in built.items():
        file = build(write_files(folder / f"project-{name}", project), folder / f"{name}.pyz", *given_key(folder))
        if name != "unsigned":
            sign(file, folder / ("other" if name == "by-other" else "key"))
    cut = folder / "cut.pyz"
    cut.write_bytes((folder / "1.1.0.pyz").read_bytes()[:-1])
    cut.with_name("cut.pyz.sig").write_bytes((folder / "1.1.0.pyz.sig").read_bytes())
    (folder / "text.pyz").write_text("text")
    sign(folder / "text.pyz", folder / "key")
    (folder / "purpose.pyz").write_bytes((folder / "1.1.0.pyz").read_bytes())
    keygen("-Y", "sign", "-f", folder / "key", "-n", "file", folder / "purpose.pyz", stderr=subprocess.DEVNULL)
    return folder


def given_key(folder: Path) -> tuple[str, str]:
    return "--update-key", str(folder / "key.pub")


def sign(file: Path, key: Path) -> None:
    keygen("-Y", "sign", "-f", key, "-n", signed_file.NAMESPACE, file, stderr=subprocess.DEVNULL)


class Person:
    """Somebody with an empty home, and the file in a folder for downloads."""

    def __init__(self, folder: Path, made: Path) -> None:
        self.home, self.folder = folder / "home", folder / "downloads"
        self.home.mkdir()
        self.folder.mkdir()
        self.file = self.folder / "files.pyz"
        self.file.write_bytes((made / "1.0.0.pyz").read_bytes())
        self.file.chmod(0o755)
        self.copy = self.home / ".local/share/mcp-servers/files.pyz"
        self.variables = {"HOME": str(self.home), "PATH": os.environ["PATH"], "API_KEY": "k"}

    def run(self, *words: str | Path, file: Path | None = None, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", str(file or self.file), *map(str, words)]
        return subprocess.run(  # type: ignore[call-overload,no-any-return]
            command,
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **options,
        )

    def printed(self, *words: str | Path, file: Path | None = None) -> str:
        done = self.run(*words, file=file)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.replace(str(self.home), "~")

    def files(self) -> dict[str, bytes]:
        """Return what is in the home and the folder."""
        places = [place for root in (self.home, self.folder) for place in root.rglob("*") if place.is_file()]
        return {str(place): place.read_bytes() for place in places}


@pytest.fixture
def person(tmp_path: Path, made: Path) -> Person:
    return Person(tmp_path, made)


def test_a_file_alone_in_a_terminal_says_what_it_is(person: Person) -> None:
    reading, writing = pty.openpty()
    command = [str(person.file.relative_to(person.folder.parent))]
    process = subprocess.Popen(
        command, cwd=person.folder.parent, env=person.variables, stdin=writing, stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    assert process.stderr is not None
    printed = [process.stderr.readline().decode() for _ in range(13)]
    os.write(reading, b"\x04")
    assert process.stderr.read() == b""
    assert process.wait() == 0
    os.close(reading)
    assert "".join(printed) == (
        "files 1.0.0: Tells the size of files on this computer, and nothing else about\n"
        "them.\n"
        "\n"
        "tools    size\n"
        "needs    API_KEY (required setting), UNITS (setting)\n"
        "runs on  Python 3.11 to 3.14, any system\n"
        "\n"
        "downloads/files.pyz install --client NAME  add it to a client such as cursor\n"
        "downloads/files.pyz check                  whether it can run here\n"
        "downloads/files.pyz call TOOL NAME=VALUE   call a tool\n"
        "downloads/files.pyz --help                 all commands\n"
        "\n"
        "Serving: waiting for a client's messages on standard input.\n"
    )
    process.stderr.close()


def test_much_is_said_in_fifteen_lines_of_eighty_columns(tmp_path: Path) -> None:
    project = server("1.0.0", tools=("size",))
    project["tools.json"] = {
        "tools": [
            {"name": f"tool_{number:02}", "description": "D.", "inputSchema": {"type": "object"}}
            for number in range(40)
        ]
    }
    project["tools.py"] = "".join(f"def tool_{number:02}(): return ''\n" for number in range(40))
    project["server.json"] = {
        "serverInfo": {"name": "n" * 60, "version": "1.0.0"},
        "instructions": "Much. " * 60,
        "settings": [{"name": f"SETTING_{number}", "required": True} for number in range(30)],
    }
    image = image_of(build(write_files(tmp_path / "project", project), tmp_path / f"{'f' * 40}.pyz"))
    commands = ("install", "check", "call", "--help")
    lines = overview(image, f"/a/very/long/folder/of/downloads/{'f' * 40}.pyz", commands).splitlines()
    assert (len(lines), max(map(len, lines))) == (13, 80)
    assert lines[:2] == [
        f"{'n' * 60} 1.0.0: Much. Much.",
        "Much. Much. Much. Much. Much. Much. Much. Much. Much. Much. Much. Much. Much. …",
    ]
    assert lines[3:5] == [
        "tools    tool_00, tool_01, tool_02, tool_03, tool_04, tool_05, tool_06, tool_07,",
        "         tool_08, tool_09, tool_10, tool_11, tool_12, tool_13 and 26 more",
    ]
    assert lines[9] == f"./{'f' * 40}.pyz install --client NAME"


def test_help_has_only_what_the_file_can_do_and_errors_are_short(person: Person) -> None:
    pages = person.printed("--help").splitlines()
    shown = [line.split()[1] for line in pages if line.startswith(f"  {person.file} ") and len(line.split()) > 1]
    assert [word for word in shown if word.islower() and word.isalpha()] == [
        *("serve", "info", "check", "list", *["call"] * 3, "install", "uninstall", "update", "clients", "config"),
        *("completion", "licenses"),
    ]
    for words in (["insttall"], ["call", "sizz"], ["install", "--client", "x"], ["install"], ["update"], ["call"]):
        done = person.run(*words)
        lines = done.stderr.replace(str(person.folder), ".").splitlines()
        assert done.stdout == "" and sum(1 + len(line) // 80 for line in lines) <= 3, done.stderr


def test_a_copy_is_installed_and_removed(person: Person) -> None:
    (person.home / ".cursor").mkdir()
    given = ("--env", "API_KEY=k")
    planned = person.printed("install", "--client", "all", "--dry-run", *given)
    assert planned.startswith(
        "would be copied to ~/.local/share/mcp-servers/files.pyz, which clients start\nCursor: would be"
    )
    assert planned.count("mcp-servers/files.pyz") == 2
    assert not person.copy.exists()
    assert person.printed("install", "--client", "cursor", "--client", "zed", *given) == (
        "copied to ~/.local/share/mcp-servers/files.pyz, which clients start\n"
        "Cursor: added, ~/.cursor/mcp.json\n"
        "Zed: added, ~/.config/zed/settings.json\n"
        "  Zed was not found on this machine; the entry waits for it\n"
    )
    assert person.copy.read_bytes() == person.file.read_bytes() and os.access(person.copy, os.X_OK)
    assert str(person.copy) in (person.home / ".cursor/mcp.json").read_text()
    person.file.unlink()
    copy = partial(person.printed, file=person.copy)
    assert copy("install", "--client", "cursor", *given) == "Cursor: unchanged, ~/.cursor/mcp.json\n"
    assert copy("uninstall", "--client", "cursor") == (
        "Cursor: removed, ~/.cursor/mcp.json\n~/.local/share/mcp-servers/files.pyz stays: Zed starts it\n"
    )
    assert copy("uninstall", "--client", "zed") == (
        "Zed: removed, ~/.config/zed/settings.json\nremoved ~/.local/share/mcp-servers/files.pyz\n"
    )
    assert person.files() == {}


def test_a_file_is_installed_where_it_is_if_that_is_asked_for(person: Person) -> None:
    person.printed("install", "--client", "cursor", "--in-place", "--env", "API_KEY=k")
    assert str(person.file) in (person.home / ".cursor/mcp.json").read_text()
    assert not person.copy.exists()


def test_nothing_is_copied_where_nothing_is_installed_or_another_server_is(person: Person, made: Path) -> None:
    assert person.run("install", "--client", "cursor").returncode == 2  # without the value of its setting
    (person.home / ".cursor").mkdir()
    (person.home / ".cursor/mcp.json").write_text("{ half")
    install = partial(person.run, "install", "--client", "cursor", "--env", "API_KEY=k")
    assert install().returncode == REFUSED
    assert not person.copy.exists()
    person.copy.parent.mkdir(parents=True, exist_ok=True)
    person.copy.write_bytes((made / "another.pyz").read_bytes())
    refused = install()
    assert (refused.returncode, refused.stderr) == (
        2,
        f"error: {person.copy} has another server; use --name, --replace or --in-place\n",
    )
    person.copy.write_bytes((made / "0.9.0.pyz").read_bytes())
    assert install().returncode == REFUSED
    assert person.copy.read_bytes() == (made / "0.9.0.pyz").read_bytes()


def test_a_newer_file_of_the_same_key_takes_the_place_and_the_old_one_comes_back(person: Person, made: Path) -> None:
    first = person.file.read_bytes()
    public = (made / "key.pub").read_text()
    fingerprint = subprocess.run(["ssh-keygen", "-lf", made / "key.pub"], capture_output=True, text=True, check=True)
    shown = (
        f"files 1.0.0 -> 1.1.0, signed by {fingerprint.stdout.split()[1]}\n"
        "  changed  tool size: description\n  added    tool lines\n"
    )
    assert f"updates   signed by {' '.join(public.split()[:2])}\n" in person.printed("info")
    assert person.printed("update", made / "1.1.0.pyz", "--dry-run") == shown
    assert person.file.read_bytes() == first
    assert person.printed("update", made / "1.1.0.pyz") == (
        f"{shown}updated {person.file}; restart the client\n`update --rollback` brings back 1.0.0\n"
    )
    assert person.file.read_bytes() == (made / "1.1.0.pyz").read_bytes() and os.access(person.file, os.X_OK)
    assert person.printed("call", "lines", "path=a") == "a\n"
    assert person.printed("update", "--rollback") == (
        f"files 1.1.0 -> 1.0.0\nrestored {person.file}; restart the client\n"
    )
    assert person.files() == {str(person.file): first}
    refused = person.run("update", "--rollback")
    assert (refused.returncode, refused.stderr) == (
        REFUSED,
        f"error: there is no file from before an update\n{person.file} is what it was\n",
    )


OTHER = "the key of this file, has not signed that, or it is damaged"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("unsigned", "it has no signature ("),
        ("by-other", OTHER),
        ("cut", OTHER),
        ("purpose", OTHER),
        ("text", "it is not a built file, or a damaged one"),
        ("another", "it is another, and not files"),
        ("0.9.0", "its version 0.9.0 is not newer than 1.0.0"),
        ("1.0.0", "its version 1.0.0 is not newer than 1.0.0"),
        ("absent", "absent.pyz: No such file or directory"),
        ("ftp://x/absent", "is not https"),
        ("http://192.0.2.1/absent", "is not https"),
    ],
)
def test_what_is_not_a_newer_file_of_the_key_is_refused(person: Person, made: Path, name: str, why: str) -> None:
    before = person.files()
    done = person.run("update", f"{name}.pyz" if "://" in name else made / f"{name}.pyz")
    assert (done.returncode, done.stdout) == (REFUSED, "")
    assert why in done.stderr and done.stderr.endswith(f"\n{person.file} is what it was\n")
    assert person.files() == before
    assert person.printed("call", "size", "path=a") == "a\n"


def test_a_full_disk_leaves_the_old_file(person: Person, made: Path) -> None:
    size = (made / "1.1.0.pyz").stat().st_size
    before = person.files()
    for room in (size - 1, size // 2):
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room, room))
        done = person.run("update", made / "1.1.0.pyz", preexec_fn=limit)
        assert (done.returncode, done.stderr) == (REFUSED, f"error: File too large\n{person.file} is what it was\n")
        assert person.files() == before
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
    assert person.run("update", made / "1.1.0.pyz", preexec_fn=limit).returncode == 0


def test_a_file_that_cannot_start_here_and_one_without_a_key_are_refused(
    person: Person, made: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.pyz"
    data = (made / "1.1.0.pyz").read_bytes()
    broken.write_bytes(data.replace(b"__main__.py", b"__niam__.py"))
    sign(broken, made / "key")
    assert "does not list its tools here: " in person.run("update", broken).stderr
    keyless = build(made / "project-1.0.0", tmp_path / "keyless.pyz")
    done = person.run("update", made / "1.1.0.pyz", file=keyless)
    assert "this file names no key of newer ones" in done.stderr
    assert "update FILE" not in person.printed("--help", file=keyless)


class Host(BaseHTTPRequestHandler):
    """Serves the files of a folder; `/to/URL` leads there, and `/part/FILE` ends early."""

    folder = Path()

    def do_GET(self) -> None:
        kind, _, rest = self.path[1:].partition("/")
        if kind == "to":
            self.send_response(302)
            self.send_header("Location", rest)
            self.end_headers()
            return
        data = (self.folder / (rest or kind)).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data) + (kind == "part")))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def host(made: Path) -> Iterator[Callable[[str], str]]:
    """Return the URL of a path at a server on the loopback."""
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Here", (Host,), {"folder": made})) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield lambda path: f"http://127.0.0.1:{listening.server_port}/{path}"
        listening.shutdown()


def test_a_newer_file_comes_from_a_url(person: Person, host: Callable[[str], str], made: Path) -> None:
    for path, why in {
        "part/1.1.0.pyz": "it ended after ",
        "to/http://127.0.0.1:1/1.1.0.pyz": "it leads to http://127.0.0.1:1/1.1.0.pyz, which is not https",
        "unsigned.pyz": "it has no signature (",
    }.items():
        done = person.run("update", host(path))
        assert done.returncode == REFUSED and why in done.stderr, done.stderr
    assert "added    tool lines" in person.printed("update", host("1.1.0.pyz"))
    assert person.file.read_bytes() == (made / "1.1.0.pyz").read_bytes()


def test_what_is_fetched_is_bounded_in_bytes_and_time(
    made: Path, host: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    size = (made / "1.1.0.pyz").stat().st_size
    for source in (str(made / "1.1.0.pyz"), host("1.1.0.pyz")):
        assert len(signed_file.fetch(source, "", size)) == size
        with pytest.raises(signed_file.RefusedError, match=f"has more than {size - 1:,} bytes"):
            signed_file.fetch(source, "", size - 1)
    monkeypatch.setattr(signed_file, "MOST_SECONDS", 0.0)
    monkeypatch.setattr(signed_file, "download", lambda *_: None)
    with pytest.raises(signed_file.RefusedError, match="did not arrive within 0 s"):
        signed_file.fetch(host("1.1.0.pyz"), "", size)


def test_versions_are_ordered() -> None:
    ordered = [
        "0.9",
        "1.0.0a1",
        "1.0.0-beta",
        "1.0-rc.1",
        "1.0.0rc2",
        "v1",
        "1.0.post1",
        "1.0.1",
        "1.2",
        "1.10",
        "2024.1",
    ]
    keys = [version_key(version) for version in ordered]
    assert keys == sorted(keys, key=lambda key: key or ()) and len(set(map(str, keys))) == len(keys)
    assert version_key("1.0.0+build.5") == version_key("1") == version_key("v1.0")
    assert [version_key(text) for text in ("", "new", "1..2", "1.0 ", "1" * 10)] == [None] * 5


def test_a_release_is_signed_and_its_file_is_what_the_project_builds(made: Path, tmp_path: Path) -> None:
    project = made / "project-1.0.0"

    def mcpc(*words: str | Path, status: int = 0) -> str:
        command = [sys.executable, "-m", "mcpc", *map(str, words)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    mcpc("release", project, "--dist", "dist", "--sign", made / "key")
    file = tmp_path / "dist/files.pyz"
    signed_file.check_signature(str(file), file.with_name("files.pyz.sig").read_bytes(), public(made / "key.pub"))
    sums = file.with_name("SHA256SUMS").read_text()
    assert f"{hashlib.sha256(file.read_bytes()).hexdigest()}  files.pyz\n" in sums and "  files.pyz.sig\n" in sums
    assert file.read_bytes() == (made / "1.0.0.pyz").read_bytes()
    assert "identical" in mcpc("attest", "verify", file, project, *given_key(made))
    assert "--update-key" in mcpc("attest", "verify", file, project, status=REFUSED)
    mcpc("release", project, "--dist", "next", "--sign", made / "key", "--update-key", made / "other.pub")
    rotated = tmp_path / "next/files.pyz"
    signed_file.check_signature(str(rotated), rotated.with_name("files.pyz.sig").read_bytes(), public(made / "key.pub"))
    assert public(made / "other.pub").encode() in rotated.read_bytes()
    text = "ssh-ed25519 AAAA is not a public key"
    assert "expected a public key of SSH" in mcpc("build", project, "--update-key", text, status=2)
    assert "ssh-keygen: " in mcpc("release", project, "--sign", project / "tools.py", status=2)


def public(path: Path) -> str:
    return " ".join(path.read_text().split()[:2])
