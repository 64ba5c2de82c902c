"""Command lines: programs that get a tool's arguments as words, and not as JSON.

    {"command": ["git", "log", {"flag": "--max-count", "argument": "count"}, "--", {"argument": "path"}],
     "stdin": {"argument": "text"}, "output": "lines"}

A handler's `command` is one if it has a place, or stands beside `stdin` or `output`. What a place holds is decided by
the schema of its argument, so that a command that could not be called is refused here. There is no shell: each word
is given to the program as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose, has_errors
from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.languages.executable import BATCH_FILES
from mcpc.lower.files import named_program
from mcpc.lower.settings import read_settings
from mcpc.model.definitions import KIND_NAMES, OUTPUTS, kind_mismatch, options_node
from mcpc.model.ir import ExternalHandler
from mcpc.model.ir.handlers import COMMAND_LINE, PROGRAM_NAME
from mcpc.reading import member_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.model.definitions import Definition
    from mcpc.model.ir.project import Setting
    from mcpc.reading import Node

CODE = "MCP167"
TEXT = "text"
BESIDE = ("stdin", "output")
"""Members of a handler that only command lines have."""
MEMBERS = ("argument", "setting", "flag", "joined", "repeat", "join")
A_WORD = '`"a word"`, or a place: `{"argument": "path"}`, `{"flag": "--count", "argument": "count"}`'
A_PROGRAM = '`["git", "log", {"argument": "path"}]`'
# One hyphen or two, then neither a blank, `=` nor NUL.
FLAG = re.compile(r"--?[^\s=\0-][^\s=\0]*")
NO_MORE_FLAGS = "--"
SHELLS = frozenset({"ash", "bash", "cmd", "cmd.exe", "dash", "fish", "ksh", "powershell", "pwsh", "sh", "zsh"})
SHELL_SYNTAX = frozenset({"|", ">", ">>", "<", "&&", "||", "2>&1", "&"})
PLACEHOLDER = re.compile(r"\$?\{(\w+)\}|\$(\w+)")
KINDS_BY_TYPE = {"integer": "number"}


@dataclass(frozen=True, slots=True)
class Inputs:
    """What may fill places: the tool's arguments by name, with their schemas, and the server's settings."""

    tool: str
    arguments: Mapping[str, Node]
    settings: Mapping[str, Setting]


def is_command_line(options: Node | None) -> bool:
    """Tell whether a handler is a command line."""
    command = member_of(options, "command")
    has_place = command is not None and any(item.kind == "object" for item in command.items)
    return command is not None and (has_place or any(member_of(options, key) is not None for key in BESIDE))


def check_without_command(options: Node) -> Iterator[Diagnostic]:
    """Yield members of a handler that mean nothing without a command."""
    for key in BESIDE:
        node = options.get(key)
        if node is not None and options.get("command") is None:
            yield diagnose(CODE, node.span, f"`{key}` is of a command, but there is no `command`", A_PROGRAM)


def command_line(tool: Node, definition: Definition, owner: str = "") -> tuple[ExternalHandler | None, Diagnostics]:
    """Return the handler of a tool whose handler is a command line, and what is wrong with it.

    `owner`: what has the arguments, in messages, if it is not the tool.
    """
    options = options_node(tool)
    command, stdin, output = (member_of(options, key) for key in ("command", *BESIDE))
    nodes = () if command is None else command.items if command.kind == "array" else (command,)
    if command is None or not nodes:
        span = (command or tool).span
        return None, (diagnose(CODE, span, "the command is empty", A_PROGRAM),)
    inputs = _inputs(tool, definition, owner)
    program, path, wrong = _program(nodes[0], definition)
    problems = [*wrong, *_word_problems(nodes, inputs)]
    if stdin is not None:
        problems += _stdin_problems(stdin, inputs)
    schema = tool.get("outputSchema")
    if schema is not None and output is not None and output.value == TEXT:
        problems.append(
            diagnose(CODE, output.span, "a text has no structure, but there is an `outputSchema`", quoted(OUTPUTS[1:]))
        )
    problems += _unplaced(tool, [*nodes, *([] if stdin is None else [stdin])])
    if has_errors(problems):
        return None, tuple(problems)
    words = tuple(_word(node, position, nodes, inputs) for position, node in enumerate(nodes) if position)
    source = () if stdin is None else ("argument" if stdin.get("setting") is None else "setting", _name(stdin))
    shown = str(output.value) if output is not None else TEXT if schema is None else "json"
    facts = (program, words, source, shown)
    return ExternalHandler(path, command.span, COMMAND_LINE, facts, unpacks=bool(path)), tuple(problems)


def _inputs(tool: Node, definition: Definition, owner: str) -> Inputs:
    properties = member_of(member_of(tool, "inputSchema", "object"), "properties", "object")
    name = member_of(tool, "name", "string")
    described = definition.server
    return Inputs(
        owner or f"the tool `{name.value if name is not None else ''}`",
        {member.key: member.node for member in properties.members} if properties is not None else {},
        {setting.name: setting for setting in read_settings(described.node)} if described is not None else {},
    )


def _program(node: Node, definition: Definition) -> tuple[str, str, Diagnostics]:
    """Return the program on PATH, or the path of a file of the project; and what is wrong with either.

    A name without a folder that no file of the project has is looked for on PATH.
    """
    if not isinstance(node.value, str):
        message = f"the program of a command is fixed, and cannot be {KIND_NAMES[node.kind]}"
        return "", "", (diagnose(CODE, node.span, message, A_PROGRAM),)
    if "/" in node.value or any(source.path == node.value for source in definition.beside):
        path, problems = named_program(node, definition)
        return "", path, problems
    # Windows gives a batch file to `cmd`, which acts on characters in its arguments.
    if PROGRAM_NAME.fullmatch(node.value) is None or node.value.lower().endswith(BATCH_FILES):
        hint = "each word is an item of its own" if " " in node.value.strip() else ""
        message = f"`{node.value}` is not the name of a program"
        return "", "", (diagnose(CODE, node.span, message, A_PROGRAM, hint),)
    return node.value, "", ()


def _word_problems(nodes: tuple[Node, ...], inputs: Inputs) -> Iterator[Diagnostic]:
    """Yield what is wrong with the words after the program."""
    before = nodes[0]
    is_ended = False
    for node in nodes[1:]:
        if isinstance(node.value, str):
            yield from _literal_problems(node, inputs)
        elif node.kind == "object":
            yield from _place_problems(node, inputs)
            yield from _shell_program(node, nodes[0], before)
            flag = node.get("flag")
            if is_ended and flag is not None:
                message = f"after `{NO_MORE_FLAGS}` the program takes a flag for an operand"
                yield diagnose(CODE, flag.span, message, "", f"write it before `{NO_MORE_FLAGS}`")
        else:
            hint = f'write `"{node.value}"`' if node.kind == "number" else ""
            yield diagnose(CODE, node.span, f"a word of a command cannot be {KIND_NAMES[node.kind]}", A_WORD, hint)
        is_ended = is_ended or node.value == NO_MORE_FLAGS
        before = node


def _literal_problems(node: Node, inputs: Inputs) -> Iterator[Diagnostic]:
    """Yield what a shell would act on, and a program would not."""
    word = str(node.value)
    if "\0" in word:
        yield diagnose(CODE, node.span, "a word of a command cannot contain NUL")
    if word in SHELL_SYNTAX:
        hint = "write a script of the project that does this, and call that"
        yield diagnose(CODE, node.span, f"there is no shell: `{word}` would be an argument of the program", "", hint)
    names = [match[1] or match[2] for match in PLACEHOLDER.finditer(word)]
    for name in names:
        if name in inputs.arguments:
            message = f"`{word}` is a fixed word, in which no argument is filled in"
            yield diagnose(CODE, node.span, message, f'a place: `{{"argument": "{name}"}}`')


def _shell_program(node: Node, program: Node, before: Node) -> Iterator[Diagnostic]:
    """Yield an argument that would be a program of a shell."""
    flag = member_of(node, "flag", "string")
    is_program = before.value in ("-c", "/c", "-Command") or (flag is not None and flag.value == "-c")
    if is_program and str(program.value).rpartition("/")[2].lower() in SHELLS:
        message = f"whatever this argument says, `{program.value}` would run it"
        yield diagnose(CODE, node.span, message, "", "write a script, and give it the argument as a word")


def _place_problems(node: Node, inputs: Inputs) -> Iterator[Diagnostic]:
    for member in node.members:
        if member.key not in MEMBERS:
            hint = did_you_mean(member.key, MEMBERS)
            yield diagnose(CODE, member.key_span, f"unknown member `{member.key}` of a place", quoted(MEMBERS), hint)
        elif member.key in ("joined", "repeat") and member.node.kind != "boolean":
            yield diagnose(CODE, member.node.span, kind_mismatch(f"`{member.key}`", "boolean", member.node))
    yield from _flag_problems(node)
    yield from _source_problems(node, inputs)
    schema = inputs.arguments.get(_name(node)) if node.get("argument") is not None else None
    setting = _setting(node, inputs)
    if schema is not None:
        yield from _value_problems(node, kinds_of(schema), schema)
    elif setting is not None and setting.secret:
        message = f"every user of the machine could read the secret `{setting.name}` in the list of processes"
        hint = "the program has it as a variable of its environment; `stdin` may have it, too"
        yield diagnose(CODE, (node.get("setting") or node).span, message, "", hint)
    elif setting is not None:
        yield from _value_problems(node, frozenset({KINDS_BY_TYPE.get(setting.type, setting.type)}), node)


def _flag_problems(node: Node) -> Iterator[Diagnostic]:
    flag, joined = node.get("flag"), node.get("joined")
    if joined is not None and flag is None:
        yield diagnose(CODE, joined.span, "`joined` joins a value to a `flag`, but there is none")
    if flag is None or (isinstance(flag.value, str) and FLAG.fullmatch(flag.value)):
        return
    written = str(flag.value)
    hint = ""
    if flag.kind == "string" and FLAG.fullmatch(written.removesuffix("=")):
        hint = f'write `"flag": "{written.removesuffix("=")}", "joined": true`'
    elif flag.kind == "string" and FLAG.fullmatch(f"--{written}"):
        hint = f"did you mean `--{written}`?"
    yield diagnose(CODE, flag.span, f"`{written}` is not a flag", "`-x` or `--name`", hint)


def _source_problems(node: Node, inputs: Inputs) -> Iterator[Diagnostic]:
    """Yield what is wrong with the argument or the setting that fills a place."""
    argument, setting = node.get("argument"), node.get("setting")
    if (argument is None) == (setting is None):
        what = "both an argument and a setting" if argument else "nothing to fill it with"
        yield diagnose(CODE, node.span, f"this place has {what}", A_WORD)
    elif argument is not None and argument.value not in inputs.arguments:
        message = f"{inputs.tool} has no argument `{argument.value}`"
        hint = did_you_mean(str(argument.value), inputs.arguments)
        yield diagnose(CODE, argument.span, message, quoted(inputs.arguments), hint)
    elif setting is not None and setting.value not in inputs.settings:
        message = f"the server has no setting `{setting.value}`"
        hint = did_you_mean(str(setting.value), inputs.settings, "declare it in `settings` of `server.json`")
        yield diagnose(CODE, setting.span, message, quoted(inputs.settings), hint)


def _value_problems(node: Node, kinds: frozenset[str], schema: Node) -> Iterator[Diagnostic]:
    """Yield what cannot become words; `kinds`: those of the argument's values, none if they are not known."""
    name, place = _name(node), (node.get("argument") or node.get("setting") or node).span
    if "object" in kinds:
        message = f"`{name}` may be an object, which is no word"
        yield diagnose(CODE, place, message, "", 'give it to the program as JSON: `"stdin": {"argument": …}`')
    if "boolean" in kinds and node.get("flag") is None:
        message = f"`{name}` is true or false, which needs a `flag`"
        yield diagnose(CODE, place, message, f'`{{"flag": "--{name}", "argument": "{name}"}}`')
    elif kinds and kinds <= {"boolean", "null"} and node.get("joined") is not None:
        message = f"`{name}` is true or false, and has no value to join: the flag is there, or it is not"
        yield diagnose(CODE, place, message, "", "remove `joined`")
    yield from _array_problems(node, kinds, place)
    if "array" in kinds:
        yield from _item_problems(name, schema)


def _array_problems(node: Node, kinds: frozenset[str], place: Span) -> Iterator[Diagnostic]:
    """Yield arrays of which it is not said how they become words, and other values of which it is."""
    name, repeat, join = _name(node), node.get("repeat"), node.get("join")
    several = [key for key, value in (("repeat", repeat), ("join", join)) if value is not None and value.value]
    if join is not None and (not isinstance(join.value, str) or not join.value):
        yield diagnose(CODE, join.span, "`join` is the text between two items", '`"join": ","`')
    elif "array" in kinds and len(several) != 1:
        fault = "has both `repeat` and `join`" if several else "may be an array"
        expected = '`"repeat": true` for words of its own (with their flag), or `"join": ","` for one word'
        yield diagnose(CODE, place, f"`{name}` {fault}", expected)
    elif kinds and "array" not in kinds and several:
        yield diagnose(CODE, place, f"`{name}` is never an array", "", f"remove `{several[0]}`")


def _item_problems(name: str, schema: Node) -> Iterator[Diagnostic]:
    items = schema.get("items")
    kinds = kinds_of(items) if items is not None else frozenset()
    if kinds - {"string", "number"} and items is not None:
        yield diagnose(CODE, items.span, f"items of `{name}` are no words", "texts or numbers")


def _stdin_problems(stdin: Node, inputs: Inputs) -> Iterator[Diagnostic]:
    if stdin.kind != "object" or any(member.key not in ("argument", "setting") for member in stdin.members):
        yield diagnose(CODE, stdin.span, "`stdin` is one argument or setting", '`{"argument": "text"}`')
        return
    yield from _source_problems(stdin, inputs)


def _unplaced(tool: Node, nodes: list[Node]) -> Iterator[Diagnostic]:
    """Yield arguments that no place has: they would have no effect."""
    schema = member_of(tool, "inputSchema", "object")
    properties = member_of(schema, "properties", "object")
    placed = {_name(node) for node in nodes if node.get("argument") is not None}
    for member in properties.members if properties is not None else ():
        if member.key not in placed:
            hint = "add a place for it to `command`, or remove it from the schema"
            yield diagnose(CODE, member.key_span, f"the argument `{member.key}` has no place in the command", "", hint)
    more = member_of(schema, "additionalProperties")
    if more is not None and more.value is not False:
        yield diagnose(CODE, more.span, "additional arguments have no place in the command", "`false`")


def kinds_of(schema: Node) -> frozenset[str]:
    """Return the kinds of values that a schema allows, as its own keywords say it; none if they do not."""
    written, enum, const = schema.get("type"), schema.get("enum"), schema.get("const")
    if written is not None:
        names = written.value if isinstance(written.value, list) else [written.value]
        return frozenset(KINDS_BY_TYPE.get(str(name), str(name)) for name in names)
    values = enum.items if enum is not None else () if const is None else (const,)
    return frozenset(value.kind for value in values)


def _name(place: Node) -> str:
    source = place.get("argument") or place.get("setting")
    return str(source.value) if source is not None else ""


def _setting(place: Node, inputs: Inputs) -> Setting | None:
    return inputs.settings.get(_name(place)) if place.get("setting") is not None else None


def _word(node: Node, position: int, nodes: tuple[Node, ...], inputs: Inputs) -> str | tuple[str | bool | None, ...]:
    """Return a word, or a place as `mcpc_runtime.handlers.executable.command_line` reads it."""
    if isinstance(node.value, str):
        return node.value
    flag, join = node.get("flag"), node.get("join")
    joined = node.get("joined")
    is_joined = joined is not None and joined.value is True
    # Behind `--` a program takes no word for a flag.
    is_operand = any(other.value == NO_MORE_FLAGS for other in nodes[:position])
    setting = _setting(node, inputs)
    kind = "argument" if setting is None else "switch" if setting.type == "boolean" else "setting"
    return (
        kind,
        _name(node),
        str(flag.value) if flag is not None else "",
        is_joined,
        str(join.value) if join is not None else None,
        # Such a value is refused if it begins with a hyphen: the program would take it for a flag.
        not is_joined and not is_operand,
    )
