"""What a Python script takes, as calls of argparse or decorators of click in its syntax tree say it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpc.workbench.scripts.usage import Option, Usage, argument_name, distinct

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = {"int": "integer", "float": "number", "INT": "integer", "FLOAT": "number"}
BOOLEAN_ACTIONS = ("store_true", "store_false", "count", "store_const", "append_const", "BooleanOptionalAction")
IGNORED_ACTIONS = ("help", "version")
SUBCOMMANDS = ("add_subparsers", "group")


def read_python(text: str) -> Usage | None:
    """Return what a script takes; None if it uses neither library, has subcommands, or is not valid Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = {called(call) for call in calls}
    if named & {*SUBCOMMANDS} or "group" in map(decorator_name, decorators(tree)):
        return None
    readers = {"add_argument": argparse_option, "option": click_option, "argument": click_argument}
    if not named & readers.keys():
        return None
    # `ast.walk` goes level by level; operands have to be in the order of the text.
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    options = [option for call in calls if called(call) in readers for option in readers[called(call)](call)]
    return Usage(distinct(options), description(tree, calls), ends_flags=True)


def decorators(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the decorators of all functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from node.decorator_list


def decorator_name(node: ast.expr) -> str:
    """Return the last part of a decorator's name."""
    return called_name(node.func if isinstance(node, ast.Call) else node)


def called_name(node: ast.expr) -> str:
    """Return the last part of a name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def called(call: ast.Call) -> str:
    """Return the last part of the name of what is called."""
    return called_name(call.func)


def constant(node: ast.expr | None) -> object:
    """Return the value of a literal, None for anything else."""
    try:
        return ast.literal_eval(node) if node is not None else None
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return None


def description(tree: ast.Module, calls: list[ast.Call]) -> str:
    """Return the text of the parser, of the click command, or of the file."""
    for call in calls:
        if called(call) == "ArgumentParser":
            text = constant(keywords(call).get("description"))
            if isinstance(text, str):
                return " ".join(text.split())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    commands = [node for node in functions if "command" in map(decorator_name, node.decorator_list)]
    text = next(filter(None, map(ast.get_docstring, commands)), ast.get_docstring(tree) or "")
    return " ".join(text.partition("\n\n")[0].split())


def keywords(call: ast.Call) -> dict[str, ast.expr]:
    """Return the keywords of a call."""
    return {item.arg: item.value for item in call.keywords if item.arg is not None}


def names_of(call: ast.Call) -> list[str]:
    """Return the literal texts among the positional arguments of a call."""
    return [value for value in map(constant, call.args) if isinstance(value, str)]


def kind_of(given: dict[str, ast.expr]) -> str:
    """Return the type in JSON of what an option is converted to."""
    kind = given.get("type")
    named = called_name(kind) if kind is not None else ""
    default = constant(given.get("default"))
    by_default = {int: "integer", float: "number"}.get(type(default), "string") if kind is None else "string"
    return KINDS.get(named, by_default)


def choices_of(node: ast.expr | None) -> tuple[str, ...]:
    """Return the choices of a list, or of `click.Choice([…])`."""
    value = constant(node.args[0] if isinstance(node, ast.Call) and called(node) == "Choice" and node.args else node)
    texts = [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []
    return tuple(texts) if isinstance(value, list | tuple) and len(texts) == len(value) else ()


def help_of(given: dict[str, ast.expr]) -> str:
    """Return the help text of an option on one line."""
    text = constant(given.get("help"))
    return " ".join(text.split()) if isinstance(text, str) else ""


def long_flag(flags: list[str]) -> str:
    """Return the flag that says most."""
    return next((flag for flag in flags if flag.startswith("--")), flags[0])


def argparse_option(call: ast.Call) -> Iterator[Option]:
    """Yield what `add_argument` adds."""
    names, given = names_of(call), keywords(call)
    action = constant(given.get("action")) or called_name(given.get("action", ast.Constant(None)))
    if not names or action in IGNORED_ACTIONS:
        return
    count = constant(given.get("nargs"))
    is_repeated = count in ("*", "+") or isinstance(count, int)
    choices = choices_of(given.get("choices"))
    if names[0].startswith("-"):
        if isinstance(count, int) and count > 1:  # one word cannot be several values
            return
        flag = long_flag(names)
        name = argument_name(str(constant(given.get("dest")) or flag))
        kind = "boolean" if action in BOOLEAN_ACTIONS else kind_of(given)
        # Several values of one flag are no repeated flag: one value is what can be written.
        repeated = action in ("append", "extend")
        required = constant(given.get("required")) is True
        yield Option(name, flag, kind, help_of(given), required, repeated, not is_repeated, choices)
    else:
        required = count not in ("*", "?")
        yield Option(argument_name(names[0]), "", kind_of(given), help_of(given), required, is_repeated, False, choices)


def click_option(call: ast.Call) -> Iterator[Option]:
    """Yield what `click.option` adds."""
    names, given = names_of(call), keywords(call)
    # Of `--shout/--no-shout` the flag that switches on.
    flags = [name.partition("/")[0].strip() for name in names if name.startswith("-")]
    if not flags:
        return
    named = next((name for name in names if not name.startswith("-")), "")
    is_switch = any("/" in name for name in names) or any(
        constant(given.get(key)) is True for key in ("is_flag", "count")
    )
    flag = long_flag(flags)
    takes_boolean = not is_switch and "type" not in given and isinstance(constant(given.get("default")), bool)
    choices = ("true", "false") if takes_boolean else choices_of(given.get("type"))
    kind = "boolean" if is_switch else kind_of(given)
    repeated, required = (constant(given.get(key)) is True for key in ("multiple", "required"))
    yield Option(argument_name(named or flag), flag, kind, help_of(given), required, repeated, True, choices)


def click_argument(call: ast.Call) -> Iterator[Option]:
    """Yield what `click.argument` adds."""
    names, given = names_of(call), keywords(call)
    if names:
        count = constant(given.get("nargs"))
        repeated = isinstance(count, int) and count != 1
        # In click `nargs=-1` takes any number of words, also none.
        required = constant(given.get("required")) is not False and "default" not in given and count != -1
        choices = choices_of(given.get("type"))
        yield Option(argument_name(names[0]), "", kind_of(given), "", required, repeated, False, choices)
