"""A build of a project in a separate process: the request is read from standard input, the file is written.

python -m mcpc.release.trust.second_build < request.json
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType

from mcpc.interpreters.selfcontained import EmbeddingRequest, embed_server
from mcpc.options import Options
from mcpc.pipeline import analyse, compile_server, read_project


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """The project, the file to write, the options, what is embedded, and how many processors may be used (0: all).

    `left_out`: a file of the project that an earlier build wrote.
    """

    project: str
    target: str
    options: Options
    embedded: str = ""
    interpreter: str = ""
    minimal: bool = False
    processors: int = 0
    left_out: str = ""

    def as_json(self) -> bytes:
        """Return it as the input of the process."""
        return json.dumps(asdict(self)).encode()


def request_from_json(text: bytes) -> BuildRequest:
    """Return the request that a process read; arrays are tuples again."""
    given = json.loads(text)
    options = {name: as_tuple(value) for name, value in given.pop("options").items()}
    return BuildRequest(options=replace(Options(), **options), **given)  # type: ignore[arg-type]


def as_tuple(value: object) -> object:
    """Return an array as a tuple, also inside."""
    return tuple(map(as_tuple, value)) if isinstance(value, list) else value


def build(request: BuildRequest) -> bytes:
    """Return the file of a project that was built before, so that it has no errors."""
    tree, found = read_project(Path(request.project))
    kept = {path: source for path, source in tree.files.items() if path != request.left_out}
    analysed = analyse(replace(tree, files=MappingProxyType(kept)), found, request.options)
    if analysed.checked is None:
        problems = "; ".join(problem.message for problem in analysed.diagnostics)
        raise ValueError(f"the project does not build in another environment: {problems}")
    data = compile_server(analysed.checked, request.options).data
    if not request.embedded:
        return data
    place = Path(request.interpreter) if request.interpreter else None
    return embed_server(EmbeddingRequest(data, request.embedded, place, request.minimal))


def main() -> None:
    """Build what standard input asks for."""
    request = request_from_json(sys.stdin.buffer.read())
    if request.processors and sys.platform == "linux":
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, allowed[: request.processors])
    Path(request.target).write_bytes(build(request))


if __name__ == "__main__":
    main()
