"""Names that are not defined: the meant one, the import that it needs, or the line that defines it later."""

from __future__ import annotations

import ast
import builtins
import sys
from typing import TYPE_CHECKING

from mcpc.diagnostics.suggestions import did_you_mean
from mcpc.languages.python import parse_python

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.reading import Source

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
    found = (node.lineno for node in (tree.body if tree else ()) if name in defined_by(node) and node.lineno >= line)
    return min(found, default=0)


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
