"""Description of decorated files in a separate process.

The process sees a copy of the project, its required packages, and this compiler's, and is confined
(`mcpc.sandbox.confinement`).  If it does not finish, the result of the current file is how it ended; the files after
that one are described in another process.  Its output is untrusted: project code can write to the same channel.

Names, docstrings, parameters, JSON's own types, and literal options are found.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcpc
import mcpc_runtime
from mcpc.diagnostics import CODES, Span, diagnose
from mcpc.frontends.causes import Raised, parse_raised
from mcpc.frontends.introspection.decorators import MENTION
from mcpc.languages.python import parse_python
from mcpc.model.definitions import HANDLER_KEY
from mcpc.packages import read_requirements, stage_project_packages, with_versions
from mcpc.reading.toml import is_string_list
from mcpc.sandbox import confinement
from mcpc.sandbox.confinement import REPLIES, ConfinedProgram
from mcpc.sandbox.confinement.model import IMPORT_GRACE_SECONDS, IMPORT_SECONDS, TIME_LIMIT_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.introspection.model import DecoratedFile, Decorator
    from mcpc.reading import Json, SourceTree
    from mcpc.sandbox.confinement import ProgramOutcome

DESCRIBING_PACKAGES = ("pydantic", "pydantic-core", "docstring-parser")
LAST_LINE = b'{"end"'
HUNG, CRASHED = "Timeout (", "Fatal Python error: "
"""Beginnings of the traceback that `faulthandler` dumps after a timeout or a crash."""
BOOT = (
    "import sys;paths=sys.path;end=next((i for i,p in enumerate(paths) if p.endswith('-packages')),len(paths));"
    "paths[end:end]=sys.argv[4:];from mcpc.frontends.introspection.child_process import main;main(*sys.argv[1:4])"
)
"""Packages are found after the standard library, as where they are installed: one may have a module of its name."""
ISOLATED = ("-P", "-s", "-B", "-W", "ignore")
"""As `-I`, but with the variables of `environment`: one hash seed, one text encoding."""


@dataclass(frozen=True, slots=True)
class ImportFailure:
    """Why a file could not be described: the exception, and the last place in the project of its traceback."""

    message: str
    path: str
    line: int = 0
    raised: Raised | None = None


@dataclass(frozen=True, slots=True)
class FileDescription:
    """The result of a file: a row for each decorator, the servers by name; or why there is none."""

    marks: tuple[dict[str, Json], ...] = ()
    servers: dict[str, dict[str, Json]] = field(default_factory=dict)
    failure: ImportFailure | None = None


@dataclass(frozen=True, slots=True)
class ImportResults:
    """The results by file; `strays` are functions whose decorators were not found in the source.

    `settings`: the fields of the project's classes of pydantic-settings (`mcpc_runtime.artifact.build_time.settings`).
    """

    files: dict[str, FileDescription]
    strays: tuple[dict[str, Json], ...] = ()
    settings: tuple[dict[str, Json], ...] = ()


def build_inputs(tree: SourceTree) -> tuple[str, ...]:
    """Return what the results of a project depend on besides its sources, the compiler and the interpreter."""
    if not any(path.endswith(".py") and MENTION.search(source.data) for path, source in tree.files.items()):
        return ()
    return tuple(f"{package} {version(package)}" for package in DESCRIBING_PACKAGES)


def describe_files(
    files: Sequence[DecoratedFile], tree: SourceTree, environment: Mapping[str, str] | None = None
) -> tuple[ImportResults | None, Diagnostics]:
    """Return the descriptions of decorated functions; None if their packages are not available.

    `environment`: variables that are set while the files are imported.
    """
    wanted, problems = read_requirements(tree, [file.source for file in files])
    packages: list[str] = []
    if wanted:
        staged, wrong = stage_project_packages(wanted, tree)
        problems += wrong
        if staged is None:
            return None, problems
        problems = with_versions(problems, {package.name: package.version for package in staged.distributions})
        packages.append(str(staged.root))
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        root = Path(folder).resolve()
        copy_project(tree, root / "project")
        return describe_in_processes(files, root, packages, environment), problems


def describe_in_processes(
    files: Sequence[DecoratedFile],
    root: Path,
    packages: Sequence[str],
    environment: Mapping[str, str] | None = None,
) -> ImportResults:
    """Return the results of files; a file that ends its process is not run again, the next ones run in another."""
    files_by_path: dict[str, FileDescription] = {}
    strays: tuple[dict[str, Json], ...] = ()
    settings: tuple[dict[str, Json], ...] = ()
    silent = list(files)
    while silent:
        heard = parse_results(run_process(silent, root, packages, environment or {}), silent, root)
        files_by_path |= heard.files
        strays, settings = (*strays, *heard.strays), (*settings, *heard.settings)
        # Each process gives at least one file a result, if only how it ended there, so that this ends.
        silent = [file for file in silent if file.source.path not in files_by_path]
    return ImportResults(files_by_path, strays, settings)


def copy_project(tree: SourceTree, folder: Path) -> None:
    """Write the project's files."""
    folder.mkdir()
    for path, source in tree.files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(source.data)


def run_process(
    files: Sequence[DecoratedFile], root: Path, packages: Sequence[str], environment: Mapping[str, str]
) -> ProgramOutcome:
    """Return the output of the process, and how it ended; its request file is not writable by the project."""
    asks: list[Json] = [
        {
            "path": file.source.path,
            "marks": [{"kind": mark.kind, "function": mark.function} for mark in file.marks],
            "servers": [server.name for server in file.servers],
            "seconds": IMPORT_SECONDS,
        }
        for file in files
    ]
    mine = [str(Path(module.__file__ or "").parent.parent) for module in (mcpc, mcpc_runtime)]
    seconds = IMPORT_SECONDS * len(files) + IMPORT_GRACE_SECONDS
    with tempfile.TemporaryDirectory(prefix="mcpc-", ignore_cleanup_errors=True) as folder:
        questions = Path(folder).resolve() / "questions.json"
        questions.write_text(json.dumps(asks), encoding="utf-8")
        words = [sys.executable, *ISOLATED, "-c", BOOT, str(root), str(REPLIES), str(questions), *packages, *mine]
        needed = [str(questions), *packages, *mine]
        job = ConfinedProgram(
            words,
            root,
            root / "project",
            seconds,
            {**environment, "PYTHONHASHSEED": "0"},
            needed,
            is_whole=has_last_line,
        )
        return confinement.run_confined(job)


def has_last_line(data: bytes | bytearray) -> bool:
    """Tell whether the process has written its last line."""
    return data.endswith(b"\n") and data[data.rfind(b"\n", 0, -1) + 1 :].startswith(LAST_LINE)


def parse_results(outcome: ProgramOutcome, files: Sequence[DecoratedFile], root: Path) -> ImportResults:
    """Return the results in the output; the first missing file is why the process ended."""
    kinds = {file.source.path: len(file.marks) for file in files}
    # What follows the last line break is nothing, or a line that the process did not finish.
    lines = [line for line in map(confinement.parse_object, outcome.answer.split(b"\n")[:-1]) if line is not None]
    described = {line["path"]: file_description(line) for line in lines if is_file_result(line, kinds)}
    ends = [line for line in lines if is_last_line(line)]
    silent = next((file.source.path for file in files if file.source.path not in described), "")
    if silent:
        described[silent] = FileDescription(
            failure=process_failure(outcome, silent, root, said_all=has_last_line(outcome.answer))
        )
    settings = tuple(row for line in ends for row in line.get("settings", ()))
    return ImportResults(described, tuple(stray for line in ends for stray in line["strays"]), settings)


def process_failure(outcome: ProgramOutcome, path: str, root: Path, *, said_all: bool) -> ImportFailure:
    """Return why the process ended at a file, and the last line of the project in the dump, if there is one."""
    if said_all:
        return ImportFailure("what it answers instead of the compiler's own program is not an answer", path)
    dump = outcome.output.decode("utf-8", "replace")
    # The last one: the project's own output comes before it, and may contain such a text.
    begin = max(dump.rfind(sign) for sign in (HUNG, CRASHED))
    project = re.escape(f"{root / 'project'}{os.sep}")
    place = re.search(rf'File "{project}([^"\n]+)", line (\d+)', dump[max(begin, 0) :])
    failure = ImportFailure(TIME_LIMIT_MESSAGE if begin >= 0 and dump.startswith(HUNG, begin) else outcome.how, path)
    return replace(failure, path=place[1].replace(os.sep, "/"), line=int(place[2])) if begin >= 0 and place else failure


def file_description(line: dict[str, Any]) -> FileDescription:
    """Return the result of one file."""
    failure = line["failure"]
    if not failure:
        return FileDescription(tuple(line["marks"]), line["servers"])
    raised = parse_raised(failure.get("raised"))
    said = ImportFailure(failure["message"], failure["path"], failure["line"], raised)
    return FileDescription(tuple(line["marks"]), line["servers"], said)


def is_file_result(line: dict[str, Any], marks: Mapping[str, int]) -> bool:
    """Tell whether a line is the result of one of the files; `marks`: the number of decorators of each."""
    path, rows, failure = line.get("path"), line.get("marks"), line.get("failure")
    if not isinstance(path, str) or path not in marks or not isinstance(rows, list):
        return False
    has_all = len(rows) == (0 if failure is not None else marks[path]) and all(map(is_function_row, rows))
    servers = line.get("servers")
    has_servers = isinstance(servers, dict) and all(map(is_server_row, servers.values()))
    return has_all and has_servers and (failure is None or is_import_failure(failure))


def is_last_line(line: dict[str, Any]) -> bool:
    """Tell whether a line is the last one of a process."""
    strays, settings = line.get("strays"), line.get("settings", [])
    has_settings = isinstance(settings, list) and all(isinstance(row, dict) for row in settings)
    has_strays = isinstance(strays, list) and all(map(is_undetected_function, strays))
    return line.get("end") is True and has_strays and has_settings


def is_function_row(row: object) -> bool:
    """Tell whether a value describes one decorated function."""
    if not isinstance(row, dict) or not isinstance(row.get("definition"), dict):
        return False
    return (
        is_string_list(row.get("binding")) and isinstance(row.get("context"), str) and are_problems(row.get("problems"))
    )


def is_server_row(said: object) -> bool:
    """Tell whether a value describes a `Server`."""
    if said == {}:
        return True
    return isinstance(said, dict) and isinstance(said.get("said"), dict) and are_problems(said.get("problems"))


def is_import_failure(failure: object) -> bool:
    """Tell whether a value is the reason why a file cannot be imported."""
    if not isinstance(failure, dict) or failure.keys() - {"raised"} != {"message", "path", "line"}:
        return False
    if "raised" in failure and parse_raised(failure["raised"]) is None:
        return False
    return is_string_list([failure["message"], failure["path"]]) and is_line_number(failure["line"])


def is_undetected_function(stray: object) -> bool:
    """Tell whether a value is a function that was decorated while its file ran."""
    if not isinstance(stray, dict) or not is_string_list([stray.get("path"), stray.get("function")]):
        return False
    return is_line_number(stray.get("line")) and is_string_list(stray.get("kinds"))


def are_problems(rows: object) -> bool:
    """Tell whether a value lists problems, each with an existing code."""
    texts = ("code", "where", "message", "hint")
    return isinstance(rows, list) and all(
        isinstance(row, dict) and is_string_list([row.get(name) for name in texts]) and row["code"] in CODES
        for row in rows
    )


def is_line_number(value: object) -> bool:
    """Tell whether a value can be a line number."""
    # Not `isinstance`: `True` is no line number.
    return type(value) is int and 0 <= value < 1 << 31


TYPES = {
    "bool": "boolean",
    "dict": "object",
    "float": "number",
    "int": "integer",
    "list": "array",
    "str": "string",
}
LITERAL_OPTIONS = frozenset({"description", "name", "title", "uri"})
"""Options of decorators that are used if they are string literals."""
RUNNING_OPTIONS = frozenset({"environment", "max_result", "requires", "timeout"})
"""Options for how a function is run that are used if they are literals."""
SERVER_OPTIONS = RUNNING_OPTIONS | {"description", "instructions", "name", "title", "version", "website_url"}
NAMED_KINDS = frozenset({"tool", "prompt", "resource"})
HINT = "computed definitions are unknown; without `--no-import` the file is imported in a confined process"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def read_without_import(files: Sequence[DecoratedFile]) -> tuple[ImportResults, Diagnostics]:
    """Return the results of files that are not imported, with a note about each."""
    problems = tuple(was_not_imported(file.source.path) for file in files)
    return ImportResults({file.source.path: syntax_description(file) for file in files}), problems


def was_not_imported(path: str) -> Diagnostic:
    """Return the note about a file whose definitions only an import would show."""
    return diagnose("MCP716", Span(path), f"`{path}` was not imported", "", HINT)


def syntax_description(file: DecoratedFile) -> FileDescription:
    """Return the result of one file."""
    tree = parse_python(file.source)
    functions = {node.name: node for node in tree.body if isinstance(node, Function)} if tree else {}
    rows = tuple(function_row(mark, functions.get(mark.function), file) for mark in file.marks)
    servers: dict[str, dict[str, Json]] = {
        server.name: {"said": dict(literal_options(file, server.options.items(), SERVER_OPTIONS)), "problems": []}
        for server in file.servers
    }
    for name, said in servers.items():
        given = said["said"]
        if isinstance(given, dict):
            given.setdefault("name", server_name(tree, name))
    return FileDescription(rows, servers)


def function_row(mark: Decorator, function: Function | None, file: DecoratedFile) -> dict[str, Json]:
    """Return the row of one decorated function."""
    kind = mark.kind.removeprefix("mcp_")
    definition: dict[str, Json] = {"name": mark.function} if kind in NAMED_KINDS else {}
    text = ast.get_docstring(function) if function else None
    if text and kind in NAMED_KINDS:
        definition["description"] = text.partition("\n\n")[0]
    definition.update(literal_options(file, mark.options.items(), LITERAL_OPTIONS))
    if kind == "resource":
        uri = str(definition.pop("uri", f"resource://{mark.function}"))
        definition["uriTemplate" if "{" in uri else "uri"] = uri
    running = dict(literal_options(file, mark.options.items(), RUNNING_OPTIONS))
    if running:
        definition["_meta"] = {HANDLER_KEY: running}
    parameters = list(client_parameters(function)) if function else []
    for _, schema, given in parameters:
        if schema and given is not None:
            schema.update(literal_default(given))
    if kind == "tool":
        definition["inputSchema"] = {
            "type": "object",
            "properties": {name: schema for name, schema, _ in parameters},
            "required": [name for name, _, given in parameters if given is None],
        }
    elif kind == "prompt":
        definition["arguments"] = [{"name": name, "required": given is None} for name, _, given in parameters]
    return {"definition": definition, "binding": [], "context": "", "problems": []}


def literal_default(given: ast.expr) -> dict[str, Json]:
    """Return the `default` of a parameter, if it is written as in JSON; None only says that it may be left out."""
    try:
        value = ast.literal_eval(given)
    # `literal_eval` raises TypeError for a key that cannot be one, as in `{[]: 1}`.
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return {}
    return {"default": value} if isinstance(value, str | int | float) or value == [] else {}


def client_parameters(function: Function) -> Iterator[tuple[str, dict[str, Json], ast.expr | None]]:
    """Yield the parameters that clients provide: name, schema, and the default of an optional one."""
    given = function.args
    positioned = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [*[None] * (len(positioned) - len(given.defaults)), *given.defaults]
    keywords = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    for parameter, default in (*zip(positioned, defaults, strict=True), *keywords):
        annotation = (ast.unparse(parameter.annotation) if parameter.annotation else "").strip("'\"")
        if annotation.rpartition(".")[2] != "Context":
            kind = TYPES.get(annotation.partition("[")[0])
            yield parameter.arg, ({"type": kind} if kind else {}), default


def literal_options(
    file: DecoratedFile, options: Iterable[tuple[str, Span]], wanted: frozenset[str]
) -> Iterator[tuple[str, Json]]:
    """Yield the wanted options that are literals: strings, and for how a function is run numbers and lists."""
    for name, span in options:
        try:
            value = ast.literal_eval(file.source.text[span.start : span.end]) if name in wanted else None
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        if isinstance(value, str) or (name in RUNNING_OPTIONS and (is_list or isinstance(value, int | float))):
            yield name, value


def server_name(tree: ast.Module | None, name: str) -> str:
    """Return the first argument of the `Server(...)` called `name`, if it is a string literal; else that name."""
    for node in tree.body if tree else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.args:
            first = node.value.args[0]
            named = any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
            if named and isinstance(first, ast.Constant) and isinstance(first.value, str):
                return first.value
    return name
