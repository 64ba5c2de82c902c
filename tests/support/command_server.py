"""A process that has imported the compiler and forks for each run of `mcpc`, so that a run does not import it again.

Each run has the arguments, the environment and the working folder of a process that a shell starts, and its output goes to
files.  The parent runs nothing itself: what one run changes, no other one sees.
"""

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import resource
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

SECONDS = 300
"""What a run may take."""
PRELOADED = ("mcpc.pipeline", "packaging.requirements", "py_compile", "shiv.builder", "traceback", "runpy")


class CommandServer:
    """The process of this test worker, until `close`."""

    def __init__(self, path: str) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        environment = {**os.environ, "PYTHONPATH": path}
        self.process = subprocess.Popen(
            [sys.executable, __file__], env=environment, bufsize=0, process_group=0, **pipes
        )

    def run(
        self, words: Sequence[str], environment: Mapping[str, str], *, memory: int | None = None
    ) -> tuple[subprocess.CompletedProcess[str], float]:
        """Run `mcpc` in the current folder; return its result, and the processor's seconds that it and its children took.

        `memory`: how many bytes each process may have.
        """
        with tempfile.TemporaryDirectory(prefix="mcpc-run-") as folder:
            names = [str(Path(folder) / name) for name in ("output", "errors")]
            request = {"words": words, "environment": environment, "cwd": os.getcwd(), "files": names, "memory": memory}
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            status, seconds = self._end()
            output, errors = (Path(name).read_text("utf-8") for name in names)
        return subprocess.CompletedProcess(["mcpc", *words], status, output, errors), seconds

    def _end(self) -> tuple[int, float]:
        reply = b""
        while not reply.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], SECONDS)[0]:
                self.close()
                command_server.cache_clear()
                raise subprocess.TimeoutExpired("mcpc", SECONDS)
            read = self.process.stdout.read(100)
            assert read, "the process that runs `mcpc` has gone"
            reply += read
        status, seconds = reply.split()
        return int(status), float(seconds)

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


@cache
def command_server(path: str) -> CommandServer:
    """Return this test worker's server; `path`: where it imports from."""
    server = CommandServer(path)
    atexit.register(server.close)
    return server


def serve() -> None:
    """Fork for each request; a child leaves this function, and runs the command."""
    request: dict[str, Any]
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if not pid:
            return become(request)
        _, status, used = os.wait4(pid, 0)
        os.write(1, b"%d %f\n" % (os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime))
    sys.exit()


def become(request: Mapping[str, Any]) -> None:
    """Give this process what a new one has."""
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["mcpc", *request["words"]]
    if request["memory"] is not None:
        resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
    opened = [os.open(os.devnull, os.O_RDONLY)]
    opened += [os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600) for name in request["files"]]
    for number, descriptor in enumerate(opened):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", write_through=True)  # type: ignore[arg-type]
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), "utf-8", "backslashreplace", write_through=True)  # type: ignore[arg-type]


def preload() -> None:
    """Import what a run of the command would import."""
    commands = importlib.import_module("mcpc.cli")
    names = [f"mcpc.cli.{module.name}" for module in pkgutil.iter_modules(commands.__path__)]
    for name in (*PRELOADED, *names):
        importlib.import_module(name)


if __name__ == "__main__":
    sys.path.pop(0)  # this folder
    importlib.import_module("mcpc.sandbox.search_path")
    preload()
    gc.freeze()
    serve()
    importlib.import_module("mcp_compiler").main()
