"""The imports of the runtime's modules as they are packed: those that a start does not need are late, or left out.

The modules import what they use as any module does.  In a built file each import at the beginning of a line is one of:

- **left out**: only annotations use the name.  So do aliases of types and classes that only say what others look like.
- **late**: functions call the name, take an attribute of it, or test by `isinstance` with it if it is a class of the
  runtime, and nothing else does.  `name = lazy("module:name")` stands for the import, and imports the module when the
  name is first used.
- **eager**: all others, those of one module of the start by another, and those of modules that Python has anyway.

Lines keep their numbers, for tracebacks.  O(bytes of the runtime), once for each version of it (`packed_modules`).
"""

from __future__ import annotations

import ast
import gc
import hashlib
import marshal
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mcpc.pack import closure
from mcpc.pack.closure import ADAPTERS, Edges
from mcpc.sandbox import cache_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from collections.abc import Set as AbstractSet

    Statement = ast.Import | ast.ImportFrom
    Uses = dict[str, set[str]]
    """Of each name how it is used: any of LATE, TESTED and OTHER."""

KIND = "imports"
LAZY = "mcpc_runtime.lazy"
FUTURE = "from __future__ import annotations"
AT_HAND = frozenset(
    (
        *("_frozen_importlib", "_io", "_thread", "builtins", "errno", "gc", "io", "itertools"),
        *("marshal", "posix", "sys", "time", "zipimport"),
    )
)
"""The modules of the standard library that are in the interpreter, or that each start imports."""
READ_BY_DATACLASSES = frozenset({"ClassVar", "InitVar", "KW_ONLY"})
"""What dataclasses look for in annotations."""
DESCRIBING = frozenset({"Protocol", "TypedDict"})
"""The bases of classes that only say what others look like."""
SUPERVISION = tuple(f"{adapter}.supervision" for adapter in ADAPTERS)
"""The packages whose modules import nothing late: their processes outlive the server, and cannot read its file."""
LATE, TESTED, OTHER = "late", "tested", "other"
ROW = re.compile(r"\b(mcpc_runtime(?:\.\w+)*):(\w+)")
"""A name in a table, or in the code of a new process."""


class Imported(NamedTuple):
    """Where a name of a module comes from: a name of a module, or a module if `name` is empty."""

    module: str
    name: str
    statement: Statement


class RuntimeModule:
    """A module of the runtime: what it imports and describes, and how it uses names."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.imports: dict[str, Imported] = {}
        self.descriptions: dict[str, ast.stmt] = {}
        self.classes: set[str] = set()
        self.reader = UseReader()
        self.needed: set[str] = set()
        self.exported: set[str] = set()
        self.tree = ast.parse(text)
        for node in self.tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._add_import(node)
            elif name := described(node, self.descriptions):
                self.descriptions[name] = node
            else:
                if isinstance(node, ast.ClassDef):
                    self.classes.add(node.name)
                self.reader.read(node)

    def _add_import(self, node: Statement) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                if alias.asname or "." not in alias.name:  # `import a.b` stays: it binds `a`
                    self.imports[alias.asname or alias.name] = Imported(alias.name, "", node)
            elif node.module != "__future__":
                self.imports[alias.asname or alias.name] = Imported(node.module or "", alias.name, node)

    def names_in_all(self) -> list[str]:
        """Return the names that the module publishes by `__all__`."""
        return [
            each.value
            for node in self.tree.body
            if isinstance(node, ast.Assign)
            and [target.id for target in node.targets if isinstance(target, ast.Name)] == ["__all__"]
            for each in ast.walk(node.value)
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        ]

    def left_out(self) -> set[ast.stmt]:
        """Return the statements that are replaced, or not packed."""
        return {*(imported.statement for imported in self.imports.values()), *self.descriptions.values()}

    def imports_late(self, name: str, modules: Mapping[str, RuntimeModule]) -> bool:
        """Tell whether a name may be imported when it is first used."""
        uses = self.reader.uses.get(name, {OTHER})
        imported = self.imports[name]
        # Before its module is imported nothing is of a class, but not so of an abstract one, or of a tuple of classes.
        is_class = imported.module in modules and imported.name in modules[imported.module].classes
        return OTHER not in uses and (is_class or TESTED not in uses) and name not in self.exported


class PackedModule(NamedTuple):
    """A module of the runtime as it is packed: its text, and what it refers to then."""

    text: str
    edges: Edges


def packed_modules(texts: Mapping[str, str], start: Collection[str]) -> dict[str, PackedModule]:
    """Return the runtime's modules, by their names, with their imports as they are packed; `texts`: their sources.

    `start`: the modules that every start imports.  The result is kept in the cache folder.
    """
    rules = [Path(file).read_text(encoding="utf-8") for file in (__file__, closure.__file__)]
    parts = (*rules, *start, *(f"{name}\0{text}" for name, text in texts.items()))
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    with suppress(ValueError, EOFError, TypeError):
        kept = marshal.loads(cache_dir.load_entry(KIND, key) or b"")
        return {name: PackedModule(text, Edges(*edges)) for name, (text, edges) in kept.items()}
    collects = gc.isenabled()
    gc.disable()  # of a million nodes none is garbage yet: looking for it takes half of the time
    try:
        packed = analysed(texts, frozenset(start))
    finally:
        if collects:
            gc.enable()
    kept = {name: (module.text, tuple(module.edges)) for name, module in packed.items()}
    # The key names no Python, and every Python reads version 2.
    cache_dir.store_entry(KIND, key, marshal.dumps(kept, 2))
    return packed


def analysed(texts: Mapping[str, str], start: AbstractSet[str]) -> dict[str, PackedModule]:
    """Return modules as they are packed; nothing is kept."""
    modules = {name: RuntimeModule(text) for name, text in texts.items()}
    find_needed(modules)
    late = late_imports(modules, start)
    return {name: packed_module(module, late[name]) for name, module in modules.items()}


def find_needed(modules: Mapping[str, RuntimeModule]) -> None:
    """Note in each module which of its names are needed when a server runs, and which of these by others."""
    todo = [(name, each) for name, module in modules.items() for each in module.reader.uses]
    exported = [row for module in modules.values() for row in ROW.findall(module.text)]
    exported += [row for module in modules.values() for row in module.reader.nested_imports]
    published = {name: module.names_in_all() for name, module in modules.items()}
    exported += [
        (name, each)
        for port, names in published.items()
        # A port publishes names of its adapter, so they are needed there, too.
        for name in (port, *(f"{adapter}.{port.rpartition('.')[2]}" for adapter in ADAPTERS))
        for each in names
    ]
    while todo or exported:
        while exported:
            name, each = exported.pop()
            if name in modules and each not in modules[name].exported:
                modules[name].exported.add(each)
                todo.append((name, each))
        while todo:
            name, each = todo.pop()
            module = modules[name]
            if each in module.needed:
                continue
            module.needed.add(each)
            if each in module.descriptions:
                # What is needed is packed, and so is what it uses.
                module.reader.read(module.descriptions.pop(each))
                todo += [(name, used) for used in module.reader.uses]
            if imported := module.imports.get(each):
                whole = f"{imported.module}.{imported.name}" if imported.name else imported.module
                exported.append((imported.module, imported.name))
                exported += [(whole, attribute) for local, attribute in module.reader.attributes if local == each]


def late_imports(modules: Mapping[str, RuntimeModule], start: AbstractSet[str]) -> dict[str, dict[str, str]]:
    """Return the names that each module imports late, each with the module that it imports.

    A module that is imported anyway, by an eager import or by what that imports, is not imported late.
    """
    late = {
        name: {local for local in module.needed & module.imports.keys() if module.imports_late(local, modules)}
        # `lazy` is imported on the line of FUTURE.
        if FUTURE in module.text and not name.startswith(SUPERVISION)
        else set()
        for name, module in modules.items()
    }
    targets = {
        name: {
            local: target_of(imported, modules) for local, imported in module.imports.items() if local in module.needed
        }
        for name, module in modules.items()
    }
    loaded: dict[str, set[str]] = {}

    def load(name: str) -> set[str]:
        """Return what importing a module imports; the names that it need not import late are removed from `late`."""
        if name not in loaded:
            # Noted before its imports are followed, because modules import each other.
            loaded[name] = {name, *AT_HAND, *(start if name in start else ())}
            eager = {target for local, target in targets.get(name, {}).items() if local not in late[name]}
            # Sorted: where modules import each other the result depends on the order, and that of a set varies.
            for target in sorted(eager):
                loaded[name] |= load(target)
            for local in sorted(late.get(name, ())):
                if targets[name][local] in loaded[name]:
                    late[name].discard(local)
        return loaded[name]

    for name in modules:
        load(name)
    return {name: {local: targets[name][local] for local in names} for name, names in late.items()}


def target_of(imported: Imported, modules: Collection[str]) -> str:
    """Return the module that an import imports."""
    whole = f"{imported.module}.{imported.name}"
    return whole if whole in modules else imported.module


def packed_module(module: RuntimeModule, late: Mapping[str, str]) -> PackedModule:
    """Return a module as it is packed; `late`: the modules of the names that it imports late."""
    lines = module.text.split("\n")
    left_out = module.left_out()
    body = [node for node in module.tree.body if node not in left_out]
    for node in {imported.statement: None for imported in module.imports.values()}:
        kept = [local for local, each in module.imports.items() if each.statement is node and local in module.needed]
        eager = eager_import(node, [local for local in kept if local not in late])
        body += [eager] if eager else []
        rows = [late_import(local, module.imports[local], late[local]) for local in kept if local in late]
        replace(lines, node, "; ".join([*([ast.unparse(eager)] if eager else []), *rows]))
    for description in module.descriptions.values():
        replace(lines, description, "")
    text = "\n".join(lines)
    if late:
        # On a line that exists: lines keep their numbers, which tracebacks and the source agree on.
        text = text.replace(FUTURE, f"{FUTURE}; from {LAZY} import lazy", 1)
    return PackedModule(text, closure.read_edges(body, module.text, [*([LAZY] if late else []), *late.values()]))


def late_import(local: str, imported: Imported, target: str) -> str:
    """Return the statement that stands for an import of a module's name, or of the module, until the name is used."""
    is_module = not imported.name or target != imported.module
    row = target if is_module else f"{target}:{imported.name}"
    own = row.replace(":", ".").rpartition(".")[2]
    return f'{local} = lazy("{row}"' + (")" if own == local else f', "{local}")')


def eager_import(node: Statement, names: Collection[str]) -> Statement | None:
    """Return a statement that imports some names of those that another imports, None for no names."""
    aliases = [alias for alias in node.names if (alias.asname or alias.name) in names]
    if not aliases:
        return None
    return ast.ImportFrom(node.module, aliases, 0) if isinstance(node, ast.ImportFrom) else ast.Import(aliases)


def replace(lines: list[str], node: ast.stmt, text: str) -> None:
    """Replace a statement at the beginning of a line, and the decorators above it, in place; later lines stay."""
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))]) - 1
    last = node.end_lineno or node.lineno
    lines[first:last] = [text, *[""] * (last - first - 1)]


def described(node: ast.stmt, earlier: Collection[str]) -> str:
    """Return the name of an alias of a type, a type variable, or a class that only describes; empty for others."""
    if isinstance(node, ast.ClassDef):
        names = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
        is_description = any(
            isinstance(name, ast.Name) and (name.id in DESCRIBING or name.id in earlier) for name in names
        )
        return node.name if is_description and not node.decorator_list else ""
    if not isinstance(node, ast.Assign) or len(node.targets) > 1 or not isinstance(node.targets[0], ast.Name):
        return ""
    is_alias = node.value.id in earlier if isinstance(node.value, ast.Name) else is_type(node.value)
    return node.targets[0].id if is_alias else ""


def is_type(value: ast.expr) -> bool:
    """Tell whether an expression looks like a type or a type variable."""
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, ast.BitOr) and is_type(value.left) and is_type(value.right)
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "TypeVar"
    if isinstance(value, ast.Subscript):
        # `rows[-1]` is a value, `tuple[int]` may be a type.
        return isinstance(value.value, ast.Name) and not isinstance(value.slice, ast.UnaryOp)
    return isinstance(value, ast.Name) or (isinstance(value, ast.Constant) and value.value is None)


class UseReader:
    """Reads which names a module uses outside of annotations, how, which attributes of them, and what functions import.

    Not an `ast.NodeVisitor`, which looks for a method by its name at every node.
    """

    def __init__(self) -> None:
        self.uses: Uses = {}
        self.attributes: set[tuple[str, str]] = set()
        self.nested_imports: list[tuple[str, str]] = []
        self._in_function = False

    def read(self, node: ast.AST) -> None:
        """Read a node and all in it."""
        if reader := READERS.get(type(node)):
            reader(self, node)
            return
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                for each in value:
                    if isinstance(each, ast.AST):
                        self.read(each)
            elif isinstance(value, ast.AST):
                self.read(value)

    def read_all(self, nodes: Iterable[ast.AST | None]) -> None:
        """Read some nodes."""
        for node in nodes:
            if node is not None:
                self.read(node)

    def note(self, name: str, way: str) -> None:
        """Note that a name is used in a way."""
        self.uses.setdefault(name, set()).add(way if self._in_function else OTHER)

    def skip(self, _: ast.AST) -> None:
        """Read nothing."""

    def read_name(self, node: ast.Name) -> None:
        """Note a name whose value is used."""
        self.note(node.id, OTHER)

    def read_attribute(self, node: ast.Attribute) -> None:
        """Note a name before a dot; an attribute is only set of what is there."""
        if isinstance(node.value, ast.Name):
            self.note(node.value.id, LATE if isinstance(node.ctx, ast.Load) else OTHER)
            self.attributes.add((node.value.id, node.attr))
        else:
            self.read(node.value)

    def read_call(self, node: ast.Call) -> None:
        """Note a name that is called, and classes that `isinstance` tests with."""
        if isinstance(node.func, ast.Name):
            self.note(node.func.id, LATE)
        else:
            self.read(node.func)
        if isinstance(node.func, ast.Name) and node.func.id == "isinstance" and len(node.args) == 2:
            tested = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else node.args[1:]
            for each in tested:
                if isinstance(each, ast.Name):
                    self.note(each.id, TESTED)
            self.read_all((node.args[0], *(each for each in tested if not isinstance(each, ast.Name))))
        else:
            self.read_all((*node.args, *node.keywords))

    def read_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        """Read decorators and defaults as what is around the function, and its body as late."""
        self.read_all([*getattr(node, "decorator_list", ()), *node.args.defaults, *node.args.kw_defaults])
        outer, self._in_function = self._in_function, True
        self.read_all([node.body] if isinstance(node, ast.Lambda) else node.body)
        self._in_function = outer

    def read_annotated(self, node: ast.AnnAssign) -> None:
        """Read a value, and of its annotation what dataclasses read."""
        self.read_all((node.target, node.value))
        for each in ast.walk(node.annotation):
            if isinstance(each, ast.Name) and each.id in READ_BY_DATACLASSES:
                self.note(each.id, OTHER)

    def read_condition(self, node: ast.If) -> None:
        """Read a condition and its branches, without what is for type checkers."""
        is_for_type_checkers = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        self.read_all(node.orelse if is_for_type_checkers else (node.test, *node.body, *node.orelse))

    def read_import(self, node: ast.ImportFrom) -> None:
        """Note an import that is not at the beginning of a line."""
        self.nested_imports += [(node.module or "", alias.name) for alias in node.names]


READERS: dict[type[ast.AST], Callable[[UseReader, Any], None]] = {
    ast.Name: UseReader.read_name,
    ast.Attribute: UseReader.read_attribute,
    ast.Call: UseReader.read_call,
    ast.FunctionDef: UseReader.read_function,
    ast.AsyncFunctionDef: UseReader.read_function,
    ast.Lambda: UseReader.read_function,
    ast.AnnAssign: UseReader.read_annotated,
    ast.If: UseReader.read_condition,
    ast.ImportFrom: UseReader.read_import,
    **dict.fromkeys((ast.Constant, ast.Load, ast.Store, ast.Del, ast.alias), UseReader.skip),
}
