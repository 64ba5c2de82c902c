"""A server whose handlers sleep, use CPU, write much and ignore signals: in Bash, in Python, and inline."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import places

if TYPE_CHECKING:
    from pathlib import Path

FORMS = ("bash", "python", "inline")
TOOLS = {
    "echo": {"text": {"type": "string"}},
    "digest": {"text": {"type": "string"}},
    "size": {"text": {"type": "string"}},
    "sleep": {"seconds": {"type": "integer"}},
    "burn": {"seconds": {"type": "integer"}},
    "flood": {"mib": {"type": "integer"}},
    "stubborn": {},
}
BASH_LIBRARY = """number() { [[ $1 =~ :[[:space:]]*([0-9]+) ]] && printf '%s' "${BASH_REMATCH[1]}"; }
tool_echo() { printf '%s' "$1"; }
tool_digest() { printf '%s' "$mcpc_arg_text" | sha256sum; }
tool_size() { printf '%d' "${#1}"; }
tool_sleep() { sleep "$(number "$1")"; }
tool_burn() {
  local end=$(( SECONDS + $(number "$1") ))
  while (( SECONDS < end )); do :; done
}
tool_flood() { head -c "$(( $(number "$1") << 20 ))" /dev/zero | tr '\\0' x; }
tool_stubborn() { trap '' TERM INT HUP; bash -c 'trap "" TERM INT HUP; while :; do sleep 1; done'; }
"""
PYTHON_LIBRARY = """import hashlib
import subprocess
import time


def echo(text):
    return text


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def size(text):
    return str(len(text))


def sleep(seconds):
    time.sleep(seconds)


def burn(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def flood(mib):
    subprocess.run(f"head -c {mib << 20} /dev/zero | tr '\\\\0' x", shell=True, check=True)


def stubborn():
    subprocess.run(["bash", "-c", 'trap "" TERM INT HUP; while :; do sleep 1; done'])
"""


def server(form: str) -> Path:
    """Return a server of one form, built now unless an up-to-date build exists."""
    tools = [
        {
            "name": name,
            "description": f"The tool {name}.",
            "inputSchema": {"type": "object", "properties": parameters, "required": list(parameters)},
            **({"_meta": {"mcpc/handler": {"inline": True}}} if form == "inline" else {}),
        }
        for name, parameters in TOOLS.items()
    ]
    library = ("tools.bash", BASH_LIBRARY) if form == "bash" else ("tools.py", PYTHON_LIBRARY)
    folder = places.CACHE / f"projects/handlers-{form}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "server.json").write_text(json.dumps({"serverInfo": {"name": f"bench-{form}", "version": "1.0.0"}}))
    (folder / "tools.json").write_text(json.dumps({"tools": tools}))
    (folder / library[0]).write_text(library[1])
    target = places.CACHE / f"handlers-{form}.pyz"
    places.build(folder, target, places.CACHE / "builds")
    return target
