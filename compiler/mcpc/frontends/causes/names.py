"""Causes in names: of modules, of what they have, of attributes, functions and their parameters."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from typing import TYPE_CHECKING

from mcpc.diagnostics.model import did_you_mean, nearest, quoted
from mcpc.languages.python import parse_python

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.frontends.causes.model import FailedRun
    from mcpc.reading import Source


MISSING_ARGUMENTS = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)")
MAX_SHOWN = 8


def relative_import(run: FailedRun) -> str:
    """A relative import in a file that is in no package."""
    raised = run.raised
    if not run.has("ImportError") or "relative import" not in raised.message:
        return ""
    source = run.tree.get(raised.path)
    tree = parse_python(source) if source is not None else None
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)) if tree else ()
    # An import may have several lines, and the exception has one of them.
    node = next((node for node in nodes if node.level and node.lineno <= raised.line <= (node.end_lineno or 0)), None)
    if node is None:
        return "the file is not part of a package: write the imports without the dots"
    names = ", ".join(ast.unparse(alias) for alias in node.names)
    absolute = f"from {node.module} import {names}" if node.module else f"import {names}"
    return f"the file is not part of a package: write `{absolute}`"


def missing_part(run: FailedRun) -> str:
    """A module that a package of the project does not have."""
    name = run.raised.name
    if not run.has("ModuleNotFoundError") or "." not in name:
        return ""
    files = (path.removesuffix(".py") for path in run.tree.files if path.endswith(".py"))
    near = nearest(name, (path.replace("/", ".") for path in files if not path.endswith("__init__")))
    return f"did you mean `{near}`?" if near else f"the project has no `{name.replace('.', '/')}.py`"


def missing_argument(run: FailedRun) -> str:
    """A call that lacks arguments."""
    match = MISSING_ARGUMENTS.search(run.raised.message)
    if match is None or not run.has("TypeError"):
        return ""
    names = re.findall(r"'(\w+)'", match[1])
    return f"call it with {quoted(names)}"


def partial_module(run: FailedRun) -> str:
    """Two files that import each other, or one that imports itself by the name of another module."""
    name = run.raised.partial
    if not name:
        return ""
    path = f"{name.replace('.', '/')}.py"
    if path == run.raised.path:
        return f"`{path}` imports itself, because it has the name of another module: rename the file"
    return f"`{name}` imports this file while it is imported itself: import it {run.other_time}, or move what both need"


def hidden_module(run: FailedRun) -> str:
    """A file of the project that has the name of a standard module."""
    path = f"{run.raised.owner}.py"
    if not run.raised.of_module or run.raised.owner not in sys.stdlib_module_names or path not in run.tree.files:
        return ""
    return f"`{path}` of the project hides the standard module `{run.raised.owner}`: rename the file"


def misspelt_member(run: FailedRun) -> str:
    """A name that a module or an object does not have."""
    raised = run.raised
    if not raised.name or not raised.known or not run.has("AttributeError", "ImportError"):
        return ""
    near = nearest(raised.name, raised.known)
    if near:
        return f"did you mean `{near}`?"
    if not raised.of_module:
        return ""
    if f"{raised.owner.replace('.', '/')}.py" in run.tree.files:
        return f"`{raised.owner}` has {quoted(raised.known[:MAX_SHOWN])}"
    return f"the version of `{raised.owner}` that is installed has no `{raised.name}`: require one that has it"


def undefined_name(run: FailedRun) -> str:
    """A name that is not defined."""
    raised = run.raised
    if not raised.name or not run.has("NameError"):
        return ""
    return undefined_help(raised.name, raised.known, run.tree.get(raised.path), raised.line)


def unknown_keyword(run: FailedRun) -> str:
    """A keyword that the called function does not have."""
    raised = run.raised
    if not raised.is_keyword or not raised.known:
        return ""
    near = nearest(raised.name, raised.known)
    return f"did you mean `{near}`?" if near else f"it takes {quoted(raised.known[:MAX_SHOWN])}"


IMPORTS = {
    name: module
    for module, names in {
        "collections": "Counter OrderedDict defaultdict deque namedtuple",
        "collections.abc": "AsyncIterator Awaitable Callable Coroutine Generator Iterable Iterator Mapping Sequence",
        "contextlib": "asynccontextmanager contextmanager suppress",
        "dataclasses": "asdict dataclass",
        "datetime": "UTC datetime date timedelta timezone",
        "decimal": "Decimal",
        "enum": "Enum IntEnum StrEnum",
        "functools": "cache lru_cache partial wraps",
        "mcpc": "Context Field Server Settings ToolError",
        "pathlib": "Path",
        "pydantic": "BaseModel ConfigDict ValidationError",
        "typing": "Annotated Any ClassVar Dict Final List Literal NamedTuple Optional Protocol Tuple TypedDict Union",
        "uuid": "UUID uuid4",
    }.items()
    for name in names.split()
}
"""Names that are used without their import most often, with the module that has them."""
ALWAYS = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__spec__", "__package__", "__builtins__"}


def undefined_help(name: str, known: Iterable[str], source: Source | None, line: int) -> str:
    """Return what to do about a name that is not defined; `source`, `line`: where it is used."""
    later = line_of_definition(name, source, line) if source is not None else 0
    if later:
        return (
            f"`{name}` is defined later, on line {later}: move it up; for an annotation it is enough to begin the file "
            "with `from __future__ import annotations`"
        )
    if source is not None and is_of_a_function(name, source):
        return f"`{name}` is defined in a function, and not found outside of it: define it at the top level of the file"
    if name in IMPORTS:
        return f"import it: `from {IMPORTS[name]} import {name}`"
    if name in sys.stdlib_module_names:
        return f"import it: `import {name}`"
    return did_you_mean(name, (*known, *IMPORTS), f"define `{name}` above this line, or import it")


def is_of_a_function(name: str, source: Source) -> bool:
    """Tell whether a name is defined in a function of a file only."""
    tree = parse_python(source)
    nodes = ast.walk(tree) if tree is not None else ()
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return any(name in defined_by(node) for function in functions for node in function.body)


def line_of_definition(name: str, source: Source, line: int) -> int:
    """Return the line after `line` at which a name is defined at the top of the file, 0 if there is none."""
    tree = parse_python(source)
    lines = (node.lineno for node in (tree.body if tree else ()) if name in defined_by(node) and node.lineno >= line)
    return min(lines, default=0)


def defined_by(node: ast.AST) -> frozenset[str]:
    """Return the names to which a node gives a meaning."""
    match node:
        case ast.ClassDef(name) | ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
            return frozenset({name})
        case ast.Import(aliases) | ast.ImportFrom(names=aliases):
            return frozenset((alias.asname or alias.name).partition(".")[0] for alias in aliases)
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            return frozenset(part.id for part in ast.walk(node) if is_stored(part) and isinstance(part, ast.Name))
        case _:
            return frozenset()


def is_stored(node: ast.AST) -> bool:
    """Tell whether a node is a name that gets a value."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
