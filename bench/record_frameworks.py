"""Records what FastMCP and the official SDK list and answer and says what differs from the records in tests/runtime.

    python bench/record_frameworks.py [--keep] [FRAMEWORK ...]

FRAMEWORK is `fastmcp==4.2.3`, or `mcp` for the newest; without one, the latest recorded version of each generation.
Each is installed by uv into `.cache/frameworks`.  `--keep` writes the records there.  The tests compare the adapter to
the records, so what differs from the records differs from the adapter.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "tests/runtime"
sys.path.insert(0, str(ROOT / "runtime"))
from mcpc_runtime.systems.fastmcp.generation import LATEST, SDK_OF  # noqa: E402

PYTHON = "3.11"
SDK = {"sdk1": "mcp<2", "sdk2": "mcp>=2"}
DEMOS = {"sdk1": ("sdk1_fastmcp", "sdk1_lowlevel", "sdk1_old"), "sdk2": ("sdk2_mcpserver", "sdk2_lowlevel")}
"""The servers of the SDK whose answers are recorded."""


def main(*words: str) -> None:
    """Record the frameworks, and print what differs."""
    named = [word for word in words if not word.startswith("--")] or [*map(latest, LATEST)]
    say(f"{'framework':<16} {'what':<32} {'recorded':>8} {'other':>6}")
    for requirement in named:
        package = requirement.partition("==")[0]
        python = installed(requirement)
        version = said(python, f"from importlib.metadata import version; print(version({package!r}))")
        generation = f"{'sdk' if package == 'mcp' else 'fastmcp'}{version.partition('.')[0]}"
        for what, place, key, answer in recordings(generation, version, python):
            before, after = rows(stored(place, key)), rows(answer)
            other = [name for name in before | after if before.get(name) != after.get(name)]
            say(f"{package} {version:<{15 - len(package)}} {what:<32} {len(after):>8} {len(other):>6}")
            for name in other[:20]:
                say(f"    {name[:100]}")
            if "--keep" in words:
                keep(place, key, version, answer)


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def latest(generation: str) -> str:
    """Return the requirement of the latest recorded version of a generation."""
    package = "mcp" if generation.startswith("sdk") else "fastmcp"
    return f"{package}=={'.'.join(map(str, LATEST[generation]))}"


def installed(requirement: str) -> str:
    """Return the Python of an environment with a framework."""
    uv = [sys.executable, "-m", "uv", "--quiet"]
    folder = ROOT / ".cache/frameworks" / requirement
    generation = next((name for name in LATEST if latest(name).partition(".")[0] == requirement.partition(".")[0]), "")
    subprocess.run([*uv, "venv", "--allow-existing", "--python", PYTHON, str(folder)], check=True)
    python = str(folder / "bin/python")
    more = [SDK[SDK_OF[generation]]] if generation else []
    subprocess.run([*uv, "pip", "install", "--python", python, requirement, *more], check=True)
    return python


def said(python: str, code: str) -> str:
    """Return what a program prints."""
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def recordings(generation: str, version: str, python: str) -> Any:
    """Yield what is recorded of a framework: its name, its file, its key in the file, and the record."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "record.json"
        is_sdk = generation.startswith("sdk")
        run(python, "fastmcp_lists/record.py", str(file), *(["mcp"] if is_sdk else []))
        yield "entries of lists", f"fastmcp_lists/{generation}.json", "", json.loads(file.read_text())
        for demo in DEMOS[generation] if is_sdk else ():
            text = run(python, "fastmcp_sdk/record.py", demo, version)
            yield f"answers of {demo}", f"fastmcp_sdk/{demo}-{last(generation)}.json", "", json.loads(text)
        if not is_sdk:
            run(sys.executable, "fastmcp_engine/record.py", str(file), python)
            answers = json.loads(file.read_text())[version]
            yield "answers of the engine server", "fastmcp_engine/results.json", last(generation), answers


def last(generation: str) -> str:
    """Return the latest recorded version of a generation."""
    return ".".join(map(str, LATEST[generation]))


def run(python: str, script: str, *words: str) -> str:
    """Return what a recorder prints."""
    done = subprocess.run([python, str(HERE / script), *words], stdout=-1, stderr=-1, text=True, check=False)
    if done.returncode:
        sys.exit(f"{script} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def stored(place: str, key: str) -> Any:
    found = json.loads((HERE / place).read_text(encoding="utf-8"))
    return found.get(key, {}) if key else found


def rows(record: Any) -> dict[str, Any]:
    """Return the entries or answers of a record, by what was asked."""
    if isinstance(record, list):
        return {f"{n} {each['method']} {json.dumps(each['params'])}": comparable(each) for n, each in enumerate(record)}
    if "entries" in record:
        return dict(record["entries"])
    calls = {
        f"{n} {each['method']} {json.dumps(each['params'])}": comparable(each) for n, each in enumerate(record["calls"])
    }
    return {**record["lists"], **calls}


def comparable(answer: Any) -> str:
    """Return an answer as text, its keys sorted, without the version of pydantic in links."""
    parts = json.dumps(answer, sort_keys=True).split("errors.pydantic.dev/")
    return "".join([parts[0], *(part.partition("/")[2] for part in parts[1:])])


def keep(place: str, key: str, version: str, answer: Any) -> None:
    """Write a record into this folder, under the name of its version."""
    path, found = HERE / place, answer
    if key:
        known = stored(place, "")
        found = {**{name: value for name, value in known.items() if name != key}, version: answer}
        found = {name: found[name] for name in sorted(found)}
    elif "fastmcp_sdk" in place:
        path = path.with_name(f"{path.name.partition('-')[0]}-{version}.json")
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
