"""A stand-in for Git Bash under Wine, whose own runtime does not run there: `bash.exe` that passes on to this machine's.

The program sends its words, variables and standard input to this process, which runs Bash, and writes what comes back
to its standard output and error; so Bash gets nothing but what a program of Windows is given.  As in MSYS, a path is
written `/z/folder` or `/c/folder`, and variables of Windows' own paths are replaced.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

from mcpc.interpreters.launchers.windows_file import PythonChoice, windows_file
from mcpc.pack.archive import build_archive
from mcpc.pack.prologue import shell_prologue
from support import machines
from support.windows_programs import program_entries

START, INPUT, OUTPUT, ERRORS, END = range(5)
DRIVE = b"/c/"
"""That of the prefix, in whose temporary folder servers extract files."""
HEAD = struct.Struct("<BI")
PROGRAM = """
import _socket, _thread, json, os, sys
connection = _socket.socket()
connection.connect(("127.0.0.1", {port}))
lock = _thread.allocate_lock()
def send(kind, data):
    with lock:
        rest = memoryview(bytes([kind]) + len(data).to_bytes(4, "little") + data)
        while rest:
            rest = rest[connection.send(rest):]
def read(size):
    parts = b""
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            os._exit(126)
        parts += part
    return parts
def pump():
    while data := os.read(0, 1 << 16):
        send({INPUT}, data)
    send({INPUT}, b"")
send({START}, json.dumps([sys.argv[2:], dict(os.environ)]).encode())
_thread.start_new_thread(pump, ())
while True:
    kind, length = read(1)[0], int.from_bytes(read(4), "little")
    data = read(length)
    if kind == {END}:
        os._exit(int(data))
    while data:
        data = data[os.write(1 if kind == {OUTPUT} else 2, data):]
"""
OWN_VARIABLES = ("PATH", "HOME", "TMPDIR", "LANG")
"""Those that Bash has of this machine."""
PROGRAMS = {"MCPC_PYTHON": sys.executable, "MCPBASH_JSON_TOOL_BIN": shutil.which("jq") or "jq"}
"""What the variables of programs name here: those of Windows cannot be run by this machine's Bash."""
OWN_PREFIXES = ("WINE", "PROGRAM", "COMMONPROGRAM", "PATHEXT", "PROCESSOR_", "TEMP", "TMP")


class GitBash:
    def __init__(self, folder: Path) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        values = {
            "port": self._listening.getsockname()[1], "START": START, "INPUT": INPUT, "OUTPUT": OUTPUT, "END": END,
        }  # fmt: skip
        program = PROGRAM.format(**values).encode()
        archive = build_archive(program_entries(program), shell_prologue())
        for path, data in (
            ("bin/bash.exe", windows_file(archive, "x64", PythonChoice((13, 11)), None)),
            ("cmd/git.exe", b""),
            ("cmd/jq.exe", b""),  # the one that Bash runs is this machine's
        ):
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(0o755)
        self.folder = folder
        self.calls: list[list[str]] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def __enter__(self) -> GitBash:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # accept() returns
            socket.create_connection(self._listening.getsockname(), 5).close()
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, EOFError):
            kind, data = receive(connection)
            assert kind == START
            words, variables = json.loads(data)
            self.calls.append(words)
            drives = {b"/z/": b"/", DRIVE: f"{machines.wine_folder()}/prefix/drive_c/".encode()}
            Shell(connection, words, variables, drives).run()


def with_git(version: str, git_bash: GitBash) -> machines.Machine:
    """Return a Windows with Git on PATH, beside the Python that the stand-in needs."""
    machine = machines.machine(f"wine-{version}")
    path = machine.path(machine.python[-1].rpartition("/")[0]), machine.path(git_bash.folder / "cmd")
    return replace(machine, variables={**machine.variables, "WINEPATH": ";".join(path)})


class Shell:
    """One Bash, whose input comes from a program and whose output goes there."""

    def __init__(
        self, connection: socket.socket, words: list[str], variables: dict[str, str], drives: dict[bytes, bytes]
    ) -> None:
        self._drives = drives
        pipe = subprocess.PIPE
        words = [self._translated(word.encode()).decode() for word in words]
        kept = {
            name: self._translated(value.encode()).decode()
            for name, value in variables.items()
            if not name.startswith(OWN_PREFIXES)
        }
        own = {name: os.environ[name] for name in OWN_VARIABLES if name in os.environ}
        self._connection = connection
        self._sending = threading.Lock()
        self._process = subprocess.Popen(
            [shutil.which("bash") or "bash", *words],
            stdin=pipe, stdout=pipe, stderr=pipe, env={**kept, **own, **PROGRAMS}, start_new_session=True, bufsize=0,
        )  # fmt: skip

    def run(self) -> None:
        """Pass everything on until the process has ended, or the program has."""
        pumps = [threading.Thread(target=self._pump, args=(kind,), daemon=True) for kind in (OUTPUT, ERRORS)]
        for pump in pumps:
            pump.start()
        threading.Thread(target=self._finish, args=(pumps,), daemon=True).start()
        try:
            while True:
                _, data = receive(self._connection)
                self._write(data)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            for thread in pumps:
                thread.join()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
                with contextlib.suppress(BrokenPipeError):
                    stream.close()  # type: ignore[union-attr]

    def _write(self, data: bytes) -> None:
        """Write to the input of Bash, or close it at its end."""
        stream = self._process.stdin
        data = self._translated(data)
        with contextlib.suppress(BrokenPipeError):
            stream.write(data) if data else stream.close()

    def _translated(self, data: bytes) -> bytes:
        """Return a text with its paths as this machine has them."""
        for drive, folder in self._drives.items():
            data = data.replace(drive, folder)
        return data

    def _pump(self, kind: int) -> None:
        stream = self._process.stdout if kind == OUTPUT else self._process.stderr
        with contextlib.suppress(OSError):
            while data := stream.read(1 << 16):
                self._send(kind, data.replace(self._drives[DRIVE], DRIVE))

    def _finish(self, pumps: list[threading.Thread]) -> None:
        status = self._process.wait()
        for pump in pumps:
            pump.join(1)
        with contextlib.suppress(OSError):
            self._send(END, b"%d" % (status if status >= 0 else 128 - status))

    def _send(self, kind: int, data: bytes) -> None:
        with self._sending:
            self._connection.sendall(HEAD.pack(kind, len(data)) + data)


def receive(connection: socket.socket) -> tuple[int, bytes]:
    """Return the next frame; raise EOFError at the end."""
    kind, length = HEAD.unpack(receive_exactly(connection, HEAD.size))
    return kind, receive_exactly(connection, length)


def receive_exactly(connection: socket.socket, size: int) -> bytes:
    parts = b""
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise EOFError
        parts += part
    return parts
