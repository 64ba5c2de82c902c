"""A second build of a project in a separate process, whose environment differs in what may differ between two machines.

python -m mcpc.release.trust.second_build < request.json    reads the request, and writes the file

The project is copied to another folder, with other times and in another order; the caches are empty.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType

from mcpc.interpreters.selfcontained import EmbeddingRequest, embed_server
from mcpc.options import Options
from mcpc.pipeline import analyse, compile_server, read_project
from mcpc.sandbox import programs

SECONDS = 1800
OLD = 1_000_000_000
"""A time of files, in 2001."""
VARIABLES = {
    "PYTHONHASHSEED": "4242",
    "TZ": "Pacific/Kiritimati",
    "LC_ALL": "C",
    "LANG": "C",
    "LANGUAGE": "eo",
    "USER": "mcpc-verify",
    "LOGNAME": "mcpc-verify",
    "USERNAME": "mcpc-verify",
    "TERM": "dumb",
    "COLUMNS": "43",
    "LINES": "7",
    "NO_COLOR": "1",
}
"""What differs beside the folders."""


class SecondBuildError(Exception):
    """The second build failed; the message is what it printed."""


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """The project, the file to write, the options, and what is embedded.

    `left_out`: a file of the project that an earlier build wrote.
    """

    project: str
    target: str
    options: Options
    embedded: str = ""
    interpreter: str = ""
    minimal: bool = False
    left_out: str = ""

    def as_json(self) -> bytes:
        """Return it as the input of the process."""
        return json.dumps(asdict(self)).encode()


def build_elsewhere(request: BuildRequest) -> bytes:
    """Return the file that is built in the other environment; raise SecondBuildError."""
    with tempfile.TemporaryDirectory(prefix="mcpc-verify-") as name:
        folder = Path(name)
        for each in ("temporary-files", "cache", "working"):
            (folder / each).mkdir(mode=0o700)
        project, target = copy_project(Path(request.project), folder / "another/path"), folder / "second.pyz"
        process = programs.run_program(
            "second build",
            # Not `-I`, by which Python would ignore PYTHONHASHSEED.
            [sys.executable, "-P", "-s", "-m", "mcpc.release.trust.second_build"],
            SECONDS,
            told=replace(request, project=str(project), target=str(target)).as_json(),
            cwd=folder / "working",
            more=changed_variables(folder),
        )
        if process.returncode or not target.is_file():
            lines = process.stderr.decode(errors="replace").strip().splitlines()
            raise SecondBuildError(lines[-1] if lines else f"it ended with status {process.returncode}")
        return target.read_bytes()


def changed_variables(folder: Path) -> dict[str, str]:
    """Return the variables of a second build that differ from this process's."""
    is_same_seed = os.environ.get("PYTHONHASHSEED") == VARIABLES["PYTHONHASHSEED"]
    return {
        **VARIABLES,
        **({"PYTHONHASHSEED": "1"} if is_same_seed else {}),
        "MCPC_CACHE_DIR": str(folder / "cache"),
        "TMPDIR": str(folder / "temporary-files"),
    }


def copy_project(project: Path, place: Path) -> Path:
    """Write the files of a project that a build reads into another folder of the same name, and return that."""
    tree, _ = read_project(project)
    root = place / Path(os.path.realpath(project)).name
    root.mkdir(parents=True)
    # Another order in which files are created may be another order of listings.
    for path in sorted(tree.files, reverse=True):
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(tree.files[path].data)
        target.chmod(tree.files[path].mode | 0o600)
        os.utime(target, (OLD, OLD))
    packages = project / "node_modules"
    if packages.is_dir():
        (root / "node_modules").symlink_to(packages.resolve())
    return root


def request_from_json(text: bytes) -> BuildRequest:
    """Return the request that a process read; arrays are tuples again."""
    members = json.loads(text)
    options = {name: as_tuple(value) for name, value in members.pop("options").items()}
    return BuildRequest(options=replace(Options(), **options), **members)  # type: ignore[arg-type]


def as_tuple(value: object) -> object:
    """Return an array as a tuple, also inside."""
    return tuple(map(as_tuple, value)) if isinstance(value, list) else value


def build(request: BuildRequest) -> bytes:
    """Return the file of a project that was built before, so that it has no errors."""
    tree, diagnostics = read_project(Path(request.project))
    files = {path: source for path, source in tree.files.items() if path != request.left_out}
    analysed = analyse(replace(tree, files=MappingProxyType(files)), diagnostics, request.options)
    if analysed.checked is None:
        problems = "; ".join(problem.message for problem in analysed.diagnostics)
        raise ValueError(f"the project does not build in another environment: {problems}")
    data = compile_server(analysed.checked, request.options).data
    if not request.embedded:
        return data
    interpreter = Path(request.interpreter) if request.interpreter else None
    return embed_server(EmbeddingRequest(data, request.embedded, interpreter, request.minimal))


if __name__ == "__main__":
    asked = request_from_json(sys.stdin.buffer.read())
    Path(asked.target).write_bytes(build(asked))
