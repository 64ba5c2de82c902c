"""Small projects for tests: files as text in, whatever a stage makes of them out."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mcpc.diagnostics import Diagnostic, Diagnostics, in_order
from mcpc.frontends import frontends_of, parse_project
from mcpc.lower import lower
from mcpc.model.definitions import Definition
from mcpc.model.ir import CheckedServer, Server
from mcpc.options import Options
from mcpc.passes import PASSES, check_server
from mcpc.reading import Source, SourceTree

Files = dict[str, str | bytes]
Place = tuple[str, str, int, int]
PLAIN = Options()

SERVER_JSON = '{"serverInfo": {"name": "demo", "version": "1.0.0"}, "capabilities": {"tools": {}}}'

SMOKETEST: Files = {
    "server.json": """{
  "protocolVersion": "2025-11-25",
  "serverInfo": {"name": "smoke", "version": "0.0.1"},
  "capabilities": {"tools": {}},
  "instructions": "Tools that answer, fail, and answer with structure."
}
""",
    "tools.json": """{"tools": [
  {"name": "smoketest", "description": "Says ok.", "inputSchema": {"type": "object", "properties": {}, "required": []}},
  {"name": "smoketest_fail", "description": "Fails.", "inputSchema": {"type": "object", "properties": {}}},
  {
    "name": "echo_token",
    "description": "Gives the token back.",
    "inputSchema": {"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]},
    "outputSchema": {"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]}
  },
  {
    "name": "echo_token_fail",
    "description": "Gives something else back.",
    "inputSchema": {"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]},
    "outputSchema": {"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]}
  }
]}
""",
    "tools.bash": """tool_smoketest() { echo ok; }
tool_smoketest_fail() { return 1; }
tool_echo_token() { printf '%s' "$1"; }
tool_echo_token_fail() { echo '{"nonsense": 1}'; }
export -f tool_smoketest tool_smoketest_fail tool_echo_token tool_echo_token_fail
""",
}
"""A complete project without errors, in mcbox's format."""


def tree(files: Mapping[str, str | bytes]) -> SourceTree:
    sources = {path: Source(path, _bytes(text), 0o644) for path, text in sorted(files.items())}
    return SourceTree(MappingProxyType(sources))


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def places(problems: Iterable[Diagnostic], files: Mapping[str, str | bytes]) -> list[Place]:
    """Return the code and the place of each problem, in the order of a report."""
    return [_place(problem, files) for problem in in_order(problems)]


def _place(problem: Diagnostic, files: Mapping[str, str | bytes]) -> Place:
    if problem.span is None:
        return problem.code, "", 0, 0
    line, column = Source(problem.span.path, _bytes(files[problem.span.path]), 0).position(problem.span.start)
    return problem.code, problem.span.path, line, column


def marked(files: Mapping[str, str]) -> tuple[Files, list[tuple[str, int, int]]]:
    """Return the files without the characters `»`, and the place after each of them, in the order of a report."""
    marks: list[tuple[str, int, int]] = []
    for path, text in sorted(files.items()):
        for number, line in enumerate(text.split("\n"), 1):
            pieces = line.split("»")
            marks += [(path, number, sum(map(len, pieces[:count])) + 1) for count in range(1, len(pieces))]
    return {path: text.replace("»", "") for path, text in files.items()}, marks


def parsed(files: Mapping[str, str | bytes], options: Options = PLAIN) -> tuple[Definition | None, Diagnostics]:
    """Return what the front ends that recognise the files make of them."""
    return parse_project(tree(files), options)


def lowered(files: Mapping[str, str | bytes], options: Options = PLAIN) -> tuple[Server | None, Diagnostics]:
    definition, problems = parsed(files, options)
    if definition is None:
        return None, problems
    server, found = lower(definition, options)
    return server, problems + found


def checked(files: Mapping[str, str | bytes], options: Options = PLAIN) -> tuple[CheckedServer | None, Diagnostics]:
    """Return the checked server, if the files are without an error."""
    server, problems = lowered(files, options)
    if server is None:
        return None, problems
    own = [each for frontend in frontends_of(server.format) for each in frontend.passes]
    return check_server(server, known=problems, passes=(*PASSES, *own))
