"""How each Bash function is called: the variables of its arguments, the files it names, and its options.

They are set only for libraries whose text uses such a variable: other functions read the JSON text. Arguments that a
schema allows without naming them have no variable.

That is never the folder of the project's files, which are in the built file.

One shell reads all libraries of a project, so they are analysed together, after every definition has its function.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from itertools import starmap
from typing import TYPE_CHECKING, Any, TypeVar

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.languages.bash.forkable import SETS, names_process, places_of_errexit, shared_temporary_files
from mcpc.languages.bash.lexer import scan_library
from mcpc.languages.bash.programs import OURS, misspelt_functions
from mcpc.languages.bash.slices import outline_libraries
from mcpc.model.ir import BashFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.languages.bash.slices import Outline
    from mcpc.model.definitions import Definition
    from mcpc.model.ir import Completion, Prompt, Resource, ResourceTemplate, Server, Tool
    from mcpc.reading import Node, Source

PREFIX = "mcpc_arg_"
UNDERSCORES = str.maketrans("-.", "__")
IDENTIFIER = re.compile(r"[A-Za-z0-9_]+")
USE = re.compile(rf"\b{PREFIX}[A-Za-z0-9_]*")
IN_PLACE = ("allOf", "anyOf", "oneOf", "if", "then", "else")
"""Keywords whose subschemas apply to the same object."""
BY_NAME = ("dependentSchemas",)
DEFINITIONS = ("$defs", "definitions")
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
MAX_DEPTH = 32

Names = dict[str, Span]
"""The arguments of a definition, each with its position."""
Pairs = tuple[tuple[str, str], ...]


def used_variables(libraries: Sequence[Source]) -> dict[str, Span]:
    """Return the variables that libraries use, each with its first position."""
    variables: dict[str, Span] = {}
    for source in libraries:
        for match in USE.finditer(source.text):
            variables.setdefault(match[0], Span(source.path, *match.span()))
    return variables


def names_in(schema: Node) -> Names:
    """Return the arguments that a schema names."""
    names: Names = {}
    _collect(schema, names, 0)
    return names


def names_of_prompt(prompt: Prompt) -> Names:
    """Return the arguments of a prompt."""
    return {argument.name: argument.span for argument in prompt.arguments}


def names_of_template(template: ResourceTemplate) -> Names:
    """Return the variables of a template; one whose name is not a shell identifier is only in the JSON text."""
    names = (variable.name for variable in template.uri.variables)
    return {name: template.span for name in names if IDENTIFIER.fullmatch(name.translate(UNDERSCORES))}


def _collect(schema: Node, names: Names, depth: int) -> None:
    if schema.kind != "object" or depth > MAX_DEPTH:
        return
    properties = schema.get("properties")
    for member in properties.members if properties is not None else ():
        names.setdefault(member.key, member.key_span)
    for keyword in IN_PLACE:
        node = schema.get(keyword)
        for item in (node, *node.items) if node is not None else ():
            _collect(item, names, depth + 1)
    # Definitions are at the root, and count only if that, or an alternative of it, refers to something.
    refers = depth == 0 and any(_refers(schema, keyword) for keyword in REFERENCES)
    for keyword in (*BY_NAME, *DEFINITIONS) if refers else BY_NAME:
        node = schema.get(keyword)
        for member in node.members if node is not None else ():
            _collect(member.node, names, depth + 1)


def _refers(schema: Node, keyword: str) -> bool:
    """Tell whether the object is described elsewhere: by a reference at the root or in an in-place subschema."""
    choices = [alternatives for name in ("allOf", "anyOf", "oneOf") if (alternatives := schema.get(name)) is not None]
    places = (schema, *(item for choice in choices for item in choice.items))
    return any(place.get(keyword) is not None for place in places)


def variable_pairs(subject: str, names: Names) -> tuple[Pairs, Diagnostics]:
    """Return the arguments with their variables, and the arguments that cannot have one."""
    holders: dict[str, list[str]] = {}
    problems: list[Diagnostic] = []
    for name, span in names.items():
        if IDENTIFIER.fullmatch(name.translate(UNDERSCORES)) is None:
            message = f"`{name}` of {subject} cannot be the name of a shell variable"
            hint = "use letters, digits and `_` in its name, or read it from the JSON text in `$1`"
            problems.append(diagnose("MCP225", span, message, "", hint))
        else:
            holders.setdefault(PREFIX + name.translate(UNDERSCORES), []).append(name)
    for variable, owners in holders.items():
        if len(owners) > 1:
            message = f"{quoted(owners, ' and ')} of {subject} would both be `{variable}`, so neither is set"
            problems.append(diagnose("MCP225", names[owners[1]], message, "", "rename one of them"))
    return tuple((owners[0], variable) for variable, owners in holders.items() if len(owners) == 1), tuple(problems)


def unknown_variables(used: Mapping[str, Span], known: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield the variables that libraries use and no definition sets."""
    there = sorted(set(known))
    for variable, span in used.items():
        # The prefix alone is the beginning of a name that is composed, as in `mcpc_arg_$name`.
        if variable != PREFIX and variable not in there:
            hint = did_you_mean(variable, there, "an argument has a variable if its schema names it", 0.7)
            yield diagnose("MCP226", span, f"`{variable}` does not match an argument of any tool or prompt", "", hint)


STARTED = re.compile(
    r"(?:(?P<reader>source|\.|bash|sh|python3?|node|perl|ruby)[ \t]+(?:-\w+[ \t]+)*)?"
    r"(?P<quote>[\"']?)(?P<path>[\w.-]+(?:/[\w.-]+)*)(?P=quote)(?=[\s;|&)<>`]|\Z)"
)
FINDS_PLACE = re.compile(
    r"\bcd\b[^\n]*(?:BASH_SOURCE|MCPC_FILES)|\bcd\b[^\n]*\$\{?[A-Za-z_]*(?:DIR|HOME|ROOT|dir|root)\b"
)
"""Matches a change to a folder that the library has computed: relative paths are meant from there."""
OWN_FOLDER = '`"$MCPC_FILES/'


def relative_files(libraries: Sequence[Source], paths: set[str]) -> Iterator[Diagnostic]:
    """Yield the files of the project that libraries start or read by a relative path; `paths`: its files."""
    if not any(FINDS_PLACE.search(source.text) for source in libraries):
        for source in libraries:
            yield from _relative(source, paths)


def _relative(source: Source, paths: set[str]) -> Iterator[Diagnostic]:
    folders = {path.rpartition("/")[0] for path in paths if "/" in path}
    tops = {folder.partition("/")[0] for folder in folders}
    for start in sorted(scan_library(source.text).begun):
        match = STARTED.match(source.text, start)
        path = posixpath.normpath(match["path"]) if match is not None else ""
        # A program without a folder is looked for on PATH, and not in a folder.
        if match is None or not (match["reader"] or "/" in match["path"]):
            continue
        is_there = path in paths and path != source.path
        if not is_there and not ("/" in path and path.partition("/")[0] in tops):
            continue
        span, hint = Span(source.path, *match.span("path")), f'write {OWN_FOLDER}{path}"`: the server unpacks its files'
        if is_there:
            message = f"`{path}` is looked for where the server is started, which is not the project's folder"
        else:
            message, hint = f"the project has no file `{path}`", "add it, or correct its name"
        yield diagnose("MCP259", span, message, "", hint)


D = TypeVar("D", "Tool", "Prompt", "Resource", "ResourceTemplate", "Completion")
ASKING = ("mcpc_call", "mcpc_ask", "mcpc_elicit")
"""SDK functions that wait for an answer."""
HINT_OF_ERREXIT = "write `command || return` for each command that may fail, or build without the dialect"
BYTE_ORDER_MARK = "\ufeff"


def bind_bash_options(server: Server, definition: Definition) -> tuple[Server, Diagnostics]:
    """Return the server with the options of its Bash functions, and problems of the variables they use."""
    libraries = [library.source for library in definition.libraries if library.language == "bash"]
    if not any(isinstance(item.handler, BashFunction) and item.handler.file for item in server.definitions):
        return server, ()
    places = [places_of_errexit(source) for source in libraries]
    is_suspended = definition.traits.suspends_errexit
    analysis = BashAnalysis(
        # Bash would take a byte order mark for a part of the first word.
        outline_libraries([source.text.removeprefix(BYTE_ORDER_MARK) for source in libraries]),
        used_variables(libraries),
        server,
        # `e`: set when the file is read, for all functions; `f`: only for those that set it themselves.
        "" if is_suspended else "e" if any(when_read for when_read, _ in places) else "f",
    )
    whole = replace(
        server,
        tools=tuple(analysis.with_options(tool, "tool") for tool in server.tools),
        prompts=tuple(analysis.with_options(prompt, "prompt") for prompt in server.prompts),
        resources=tuple(analysis.with_options(resource, "resource") for resource in server.resources),
        templates=tuple(analysis.with_options(template, "resource template") for template in server.templates),
        completions=tuple(analysis.with_options(completion, "completion") for completion in server.completions),
    )
    analysis.problems += unknown_variables(analysis.used, analysis.known)
    own = [source for source in libraries if source.path in server.shell]
    paths = {source.path for source in (*definition.beside, *(library.source for library in definition.libraries))}
    analysis.problems += relative_files(own, paths)
    if not definition.traits.serial:
        analysis.problems += shared_temporary_files(own)
    if is_suspended:
        analysis.problems += (_without_effect(span) for spans in places for span in (*spans[0], *spans[1]))
    analysis.problems += starmap(_misspelt, misspelt_functions(libraries).items())
    return whole, tuple(analysis.problems)


def _without_effect(span: Span) -> Diagnostic:
    message = "errexit does not hold in the functions of tools: this dialect tests their status where it calls them"
    return diagnose("MCP269", span, message, "", HINT_OF_ERREXIT)


def _misspelt(name: str, span: Span) -> Diagnostic:
    hint = did_you_mean(name, OURS, "there are " + quoted(OURS))
    return diagnose("MCP257", span, f"unknown function `{name}`", "", hint)


NAMES: dict[str, Callable[[Any], Names]] = {
    "tool": lambda tool: names_in(tool.input.node),
    "prompt": names_of_prompt,
    "resource": lambda _: {},
    "resource template": names_of_template,
    "completion": lambda completion: {"value": completion.span},
}
"""The arguments of a function, by kind of definition."""


class BashAnalysis:
    """The analysed libraries; `known`: the variables that definitions set; `errexit`: that of functions that use it."""

    def __init__(self, text: Outline, used: dict[str, Span], server: Server, errexit: str) -> None:
        self.used = used
        self.known: set[str] = set()
        self.problems: list[Diagnostic] = []
        self._text = text
        self._whole = "".join(part.text for part in text.parts)
        self._mentions_process = names_process(self._whole)
        self._trapping = text.trapping()
        self._calling = frozenset[str]().union(*map(text.mentioning, ASKING))
        self._is_unpacked = server.unpack
        self._is_serial = server.traits.serial
        self._errexit = errexit
        self._setting_errexit = text.matching(SETS)

    def with_options(self, item: D, kind: str) -> D:
        """Return a definition with the options of its function."""
        if not isinstance(item.handler, BashFunction):
            return item
        variables = self._variables(f"the {kind} `{item.name}`", NAMES[kind](item) if self.used else {})
        isolated = item.running.isolated or (not self._is_serial and self._names_process(item.handler.function))
        running = replace(item.running, isolated=isolated)
        return replace(item, handler=self._handler(item.handler, variables, isolated), running=running)

    def _names_process(self, function: str) -> bool:
        """Tell whether a function needs a separate shell, for another `$$` than that of calls that run beside it."""
        # An empty slice stands for the whole.
        return self._mentions_process and names_process(self._text.slice(function) or self._whole)

    def _variables(self, subject: str, names: Names) -> Pairs:
        variables, problems = variable_pairs(subject, names)
        self.known.update(variable for _, variable in variables)
        self.problems += problems
        return variables

    def _handler(self, handler: BashFunction, variables: Pairs, is_isolated: bool) -> BashFunction:
        """Return the function with its options; a library that uses its own path is not sliced."""
        needed = self._text.slice(handler.function) if is_isolated and not self._is_unpacked else ""
        return replace(
            handler,
            variables=variables,
            traps=handler.function in self._trapping,
            errexit=self._errexit if self._errexit == "e" or handler.function in self._setting_errexit else "",
            calls_tools=handler.function in self._calling,
            slice=needed,
        )
