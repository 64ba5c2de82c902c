"""Imports that are done late: the string says what the type checker's import says, and only calls stand in its place.

The stand-in of a function that is imported late is no class to catch, to compare with, or to be passed on.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

SYSTEM_OF_PLATFORM = "system = __import__(SYSTEM, fromlist=['read'])"
"""How `platforms` imports the system's calls."""


def check(root: Path) -> Iterator[str]:
    """Yield the late imports that say another thing than the type checker's, and the stand-ins that are not only called."""
    for file in sorted((root / "runtime/mcpc_runtime").rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        imports = late(tree)
        offences = [*wrong_strings(imports), *other_uses(tree, imports)]
        yield from (f"{file.relative_to(root)}: {offence}" for offence in offences)


def wrong_strings(imports: dict[str, tuple[str, str, dict[str, str]]]) -> Iterator[str]:
    """Yield the strings that differ from what the type checker sees imported."""
    for name, (target, alias, beside) in imports.items():
        seen = beside.get(name, "")
        if target not in (seen, seen.replace(":", ".")):
            yield f"{name}: {target!r}, and a type checker sees {seen!r}"
        if name != (alias or target.rpartition(":")[2].rpartition(".")[2]):
            yield f"{name} is imported by another name"


def other_uses(tree: ast.Module, imports: dict[str, tuple[str, str, dict[str, str]]]) -> Iterator[str]:
    """Yield the uses of functions imported late that are not calls."""
    functions = {name for name, (target, _, _) in imports.items() if ":" in target}
    skipped = {id(node) for block in blocks(tree) for one in (*block.body, *block.orelse) for node in ast.walk(one)}
    annotations = {id(node) for one in ast.walk(tree) for node in annotated(one)}
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        known = isinstance(node, ast.Name) and node.id in functions and isinstance(node.ctx, ast.Load)
        if known and id(node) not in skipped | annotations | called:
            yield f"line {node.lineno}: {node.id} is imported late and not called"


def late(tree: ast.Module) -> dict[str, tuple[str, str, dict[str, str]]]:
    """Return what is imported late, by its name: the string, the alias that is said, and the imports beside it."""
    imports = {}
    for block in blocks(tree):
        for node in block.orelse:
            if ast.unparse(node) == SYSTEM_OF_PLATFORM or ast.unparse(node).startswith("bind_port("):
                continue  # a port takes the objects of its adapter at once
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="lazy"), args=args)):
                    words = [ast.literal_eval(of_posix(word)) for word in args]
                    imports[name] = words[0], words[1] if len(words) > 1 else "", imported(block)
                case _:
                    imports[ast.unparse(node)] = "", "", {}  # another statement, which no rule allows here
    return imports


def blocks(tree: ast.Module) -> Iterator[ast.If]:
    """Yield the places where a module has one thing for type checkers and another at run time."""
    for node in tree.body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield node


def imported(block: ast.If) -> dict[str, str]:
    """Return what a type checker sees imported: the targets by their names."""
    targets = {}
    for node in block.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                targets[alias.asname or alias.name] = f"{node.module}:{alias.name}"
        elif isinstance(node, ast.Import):
            targets.update((alias.asname or alias.name, alias.name) for alias in node.names)
    return targets


def of_posix(word: ast.expr) -> ast.expr:
    """Return a string that names its adapter by `ADAPTER` as the one for POSIX systems, which type checkers see."""
    if not isinstance(word, ast.JoinedStr):
        return word
    adapter = "mcpc_runtime.transports.platforms.posix"
    parts = [str(part.value) if isinstance(part, ast.Constant) else adapter for part in word.values]
    return ast.Constant("".join(parts))


def annotated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what only type checkers evaluate below a node."""
    parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    for part in parts:
        if isinstance(part, ast.AST):
            yield from ast.walk(part)
