"""What tests of locks share: a project, and mcpc with an index and a cache of its own."""

import json
import subprocess
import sys
from pathlib import Path

from support.artifact import mcpc
from support.simple_index import Index

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
FILES = {
    "server.json": json.dumps({"serverInfo": {"name": "locked", "version": "1.0.0"}}),
    "tools.json": json.dumps({"tools": [{"name": "tell", "description": "Tell.", "inputSchema": {"type": "object"}}]}),
    "tools.py": "import alpha\n\ndef tell(**given):\n    return {'value': alpha.VALUE}\n",
}


def run(index: Index, cache: Path, *words: str | Path, status: int | None = None) -> subprocess.CompletedProcess[str]:
    return mcpc(*words, environment={**index.variables(), "MCPC_CACHE_DIR": str(cache)}, status=status)


def problems(done: subprocess.CompletedProcess[str]) -> list[tuple[str, str]]:
    return [(row["code"], row["message"]) for row in json.loads(done.stdout)["diagnostics"]]
