"""Runs on Windows: each line of its input is a command line of mcpc, which it answers with status, output and errors.

What a command and the programs that it starts write goes to files, by the descriptors of the standard streams.
"""

import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcpc import cli


def run(words: list[str], folder: str) -> tuple[int, str, str]:
    os.chdir(folder)
    with tempfile.TemporaryDirectory(prefix="mcpc-run-", ignore_cleanup_errors=True) as place:
        files = [Path(place, name) for name in ("output", "errors")]
        for number, file in enumerate(files, 1):
            with file.open("wb") as opened:
                os.dup2(opened.fileno(), number)
        streams = [io.TextIOWrapper(io.FileIO(number, "w", closefd=False), "cp1252") for number in (1, 2)]
        sys.stdout, sys.stderr = streams
        status = status_of(words)
        for stream in streams:
            stream.close()
        for number in (1, 2):
            os.dup2(NULL, number)
        return (status, *(file.read_bytes().decode() for file in files))


def status_of(words: list[str]) -> int:
    """Run a command, and return its exit status."""
    sys.argv = ["mcpc", *words]
    try:
        cli.main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 0


if __name__ == "__main__":
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    NULL = os.open(os.devnull, os.O_RDWR)
    with tempfile.TemporaryDirectory(prefix="mcpc-cache-", ignore_cleanup_errors=True) as cache:
        os.environ["MCPC_CACHE_DIR"] = cache
        for line in requests:
            request: dict[str, Any] = json.loads(line)
            replies.write(json.dumps(run(request["words"], request["folder"])).encode() + b"\n")
            replies.flush()
