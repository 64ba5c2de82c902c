"""Bind each definition to exactly one function.

The function's name is the library's prefix and the definition's name, with `_` for `-` and `.`. Any library that serves
the definition's kind may contain it; two matching functions are an error, because the order in which files are read
would decide. A definition that names a program has that as its handler, and no function. Tools and prompts need a
handler, others only without static content.
"""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose, has_errors
from mcpc.diagnostics.model import nearest, quoted
from mcpc.languages import LANGUAGES, Function
from mcpc.lower.command_lines import command_line, is_command_line
from mcpc.lower.files import program_handler
from mcpc.lower.models import model_binding, model_catalog
from mcpc.lower.pipelines import pipeline_handler
from mcpc.lower.requests import request_handler
from mcpc.lower.resources import completion_ref, needs_function
from mcpc.model.definitions import command_node, handler_kinds, options_node, pipeline_node, request_node
from mcpc.model.ir import BashFunction, PythonFunction
from mcpc.reading import member_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.languages import HandlerModule
    from mcpc.model.definitions import (
        CompletionDefinition,
        DecoratedFunction,
        Definition,
        HandlerLibrary,
        PromptDefinition,
        ResourceDefinition,
        TemplateDefinition,
        ToolDefinition,
    )
    from mcpc.model.ir import Handler
    from mcpc.reading import Node

    WrittenDefinition = (
        ToolDefinition | PromptDefinition | ResourceDefinition | TemplateDefinition | CompletionDefinition
    )

Claimed = tuple[str, "Node", "HandlerClaim | None"]


def claimed_definitions(definition: Definition) -> tuple[list[Claimed], bool]:
    """Return every usable definition, with its claim if it needs a handler; and whether none was left out."""
    definitions: list[Claimed] = []
    complete = True
    by_kind: dict[str, tuple[WrittenDefinition, ...]] = {
        "tool": definition.tools,
        "prompt": definition.prompts,
        "resource": definition.resources,
        "resource template": definition.templates,
        "completion": definition.completions,
    }
    written = [(kind, item.node, item.bound, item.handler) for kind, nodes in by_kind.items() for item in nodes]
    names = dict(_names(definition))
    for kind, node, bound, handler in written:
        is_handled = bound is not None or handler is not None or command_node(node) is not None
        if kind in CONTENT_KEYS_BY_KIND and not is_handled and not needs_function(kind, node):
            definitions.append((kind, node, None))
            continue
        claim = _claim_of_completion(node, bound, names) if kind == "completion" else _claim(kind, node, bound)
        claim = replace(claim, handler=handler) if claim is not None and handler is not None else claim
        complete = complete and claim is not None
        definitions += [] if claim is None else [(kind, node, claim)]
    return definitions, complete


UNNAMED = " "
"""Stands for a missing name, which is reported elsewhere: no function is searched for."""
CONTENT_KEYS_BY_KIND = ("resource", "resource template", "completion")
"""Members with which a definition needs no handler."""


def _names(definition: Definition) -> Iterator[tuple[str, str]]:
    """Yield the name of each template by its URI template."""
    for template in definition.templates:
        name, uri = member_of(template.node, "name", "string"), member_of(template.node, "uriTemplate", "string")
        if name is not None and uri is not None:
            yield str(uri.value), str(name.value)


def _claim(kind: str, node: Node, bound: DecoratedFunction | None) -> HandlerClaim | None:
    name = member_of(node, "name", "string")
    if name is None:
        return None
    tool = node if kind == "tool" else None
    return HandlerClaim(kind, str(name.value), name.span, bound, command_node(node), tool=tool)


def _claim_of_completion(node: Node, bound: DecoratedFunction | None, names: dict[str, str]) -> HandlerClaim | None:
    """Return the claim of a completion: its function is named by the completed definition and argument."""
    argument, (kind, named) = member_of(node, "argument", "string"), completion_ref(node)
    if argument is None or named is None:
        return None
    owner = str(named.value) if kind == "prompt" else names.get(str(named.value), UNNAMED)
    called = f"the completion of `{argument.value}` of the {kind} `{named.value}`"
    return HandlerClaim("completion", f"{owner}_{argument.value}", argument.span, bound, command_node(node), called)


UNDERSCORES = str.maketrans("-.", "__")
CALLABLE_NAME = re.compile(r"[A-Za-z0-9_]+")
MAX_COMPARISONS = 20_000
"""Maximum number of name comparisons for a hint (about half a second); beyond it no hint is given."""


@dataclass(frozen=True, slots=True)
class HandlerClaim:
    """A definition that needs a handler.

    `span`: the position of its name; `bound`: the decorated function that it is; `command`: the node that names its
    program; `handler`: the one that its format determined; `called`: its name in messages, if it has no name; `tool`:
    its definition if it is a tool.
    """

    kind: str
    name: str
    span: Span
    bound: DecoratedFunction | None = None
    command: Node | None = None
    called: str = ""
    handler: Handler | None = None
    tool: Node | None = None

    @property
    def handler_node(self) -> Node | None:
        """What its definition says that its handler is: a program, a request or a pipeline."""
        tools = () if self.tool is None else (request_node(self.tool), pipeline_node(self.tool))
        return next((node for node in (self.command, *tools) if node is not None), None)

    @property
    def is_named(self) -> bool:
        """Whether its definition says what its handler is, so that no function is searched for."""
        return self.handler_node is not None

    @property
    def identifier(self) -> str:
        """The name in the form used in function names."""
        return self.name.translate(UNDERSCORES)

    def __str__(self) -> str:
        """Return the definition's name in messages."""
        return self.called or f"the {self.kind} `{self.name}`"


@dataclass(frozen=True, slots=True)
class LoadedLibrary:
    """A library that has been read; one that is not `sound` may contain functions that were not found."""

    library: HandlerLibrary
    module: HandlerModule
    sound: bool

    @property
    def path(self) -> str:
        """The path of the library's file."""
        return self.library.source.path

    def serves(self, kind: str) -> bool:
        """Tell whether the library may contain handlers of `kind`."""
        return any(kind == served for served, _ in self.library.prefixes)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A function that implements a claim, by its name or as a decorated function."""

    shelf: LoadedLibrary
    function: Function
    binding: tuple[str, ...] = ()
    context: str = ""


def bind_handlers(
    claims: Sequence[HandlerClaim], definition: Definition, *, complete: bool
) -> tuple[tuple[Handler, ...], bool, Diagnostics]:
    """Return a handler for each claim, whether a library uses files beside it, and the diagnostics.

    Every deviation from one function per definition is a diagnostic. `complete`: these are all claims of the project. A
    claim without a function gets a stand-in, and an error with it.
    """
    shelves, found_in_files = _load_libraries(definition.libraries)
    exact = frozenset((claim.kind, claim.identifier) for claim in claims)
    fits, found_in_models = _bind_models({claim: _candidates(claim, shelves, exact) for claim in claims}, definition)
    used = frozenset((fit.shelf.path, fit.function.name) for candidates in fits.values() for fit in candidates)
    programs, found_in_programs = _programs(claims, definition)
    # Equal claims are one key of a dictionary, but each gets a handler.
    chosen = {claim: candidates[0] for claim, candidates in fits.items() if candidates}
    functions = {claim: HANDLERS_BY_LANGUAGE[fit.shelf.library.language](fit) for claim, fit in chosen.items()}
    handlers = [
        claim.handler or programs.get(claim) or functions.get(claim) or BashFunction(claim.identifier, "", claim.span)
        for claim in claims
    ]
    wanting = [
        claim for claim, candidates in fits.items() if not candidates and not claim.is_named and claim.handler is None
    ]
    missing = [claim for claim in wanting if not _is_excused(claim, shelves, definition)]
    problems = [
        *found_in_files,
        *found_in_models,
        *found_in_programs,
        *_unimplemented(missing, shelves, used, dict(definition.homes)),
    ]
    for claim, candidates in fits.items():
        if len(candidates) > 1 or (candidates and claim.is_named):
            problems += _ambiguous(claim, candidates, definition)
    problems += _shared(claims, handlers, definition)
    if definition.complete and complete:
        problems += _unused_functions(shelves, used)
    asking = {shelf.library.language for shelf in shelves if shelf.module.asks_place}
    unpack = any(
        shelf.library.language in asking for candidates in fits.values() for shelf in [fit.shelf for fit in candidates]
    )
    return tuple(handlers), unpack, (*problems, *_unexported(shelves, fits))


def _load_libraries(libraries: Sequence[HandlerLibrary]) -> tuple[tuple[LoadedLibrary, ...], Diagnostics]:
    shelves = []
    problems: Diagnostics = ()
    for library in libraries:
        module, wrong = LANGUAGES[library.language](library.source)
        shelves.append(LoadedLibrary(library, module, sound=not has_errors(wrong)))
        problems += wrong
    return tuple(shelves), problems


def _spellings(claim: HandlerClaim, library: HandlerLibrary) -> tuple[str, ...]:
    """Return the possible names of a function for `claim` in `library`, the preferred one first."""
    # No Python function can be called `import`, but one can be called `tool_import`.
    names = dict.fromkeys(prefix + claim.identifier for kind, prefix in library.prefixes if kind == claim.kind)
    return tuple(
        name for name in names if library.language != "python" or (name.isidentifier() and not keyword.iskeyword(name))
    )


def _candidates(
    claim: HandlerClaim, shelves: Sequence[LoadedLibrary], exact: frozenset[tuple[str, str]]
) -> tuple[Candidate, ...]:
    """Return the functions that implement `claim`.

    Where a prefix is optional, `tool_list` could implement `list` and `tool_list`: the exact name has priority.
    """
    if claim.handler is not None:
        return ()
    if claim.bound:
        return tuple(_decorated_candidate(claim.bound, shelf) for shelf in shelves if shelf.path == claim.bound.file)
    candidates = []
    for shelf in shelves:
        for name in _spellings(claim, shelf.library):
            bare = (claim.kind, "") in shelf.library.prefixes
            taken = bare and name != claim.identifier and (claim.kind, name) in exact
            if name in shelf.module.functions and not taken:
                candidates.append(Candidate(shelf, shelf.module.functions[name]))
    return tuple(candidates)


def _bind_models(
    fits: Mapping[HandlerClaim, tuple[Candidate, ...]], definition: Definition
) -> tuple[dict[HandlerClaim, tuple[Candidate, ...]], Diagnostics]:
    """Return the functions that implement claims; those with a model parameter are bound to the model."""
    known = model_catalog(definition)
    bound: dict[HandlerClaim, tuple[Candidate, ...]] = {}
    problems: Diagnostics = ()
    for claim, candidates in fits.items():
        bound[claim] = candidates
        if candidates and claim.bound is None and candidates[0].function.annotations:
            tool = claim.name if claim.kind == "tool" else ""
            binding, wrong = model_binding(tool, candidates[0].function, known)
            bound[claim] = (replace(candidates[0], binding=binding), *candidates[1:])
            problems += wrong
    return bound, problems


def _decorated_candidate(bound: DecoratedFunction, shelf: LoadedLibrary) -> Candidate:
    """Return a decorated function as a candidate; the signature is unknown if another module defines it."""
    unknown = Function(bound.function, bound.span, accepts_any=True)
    return Candidate(shelf, shelf.module.functions.get(bound.function, unknown), bound.binding, bound.context)


def _programs(
    claims: Sequence[HandlerClaim], definition: Definition
) -> tuple[dict[HandlerClaim, Handler], Diagnostics]:
    """Return the handlers of the claims whose definitions say what they are, and the problems of those."""
    handlers: dict[HandlerClaim, Handler] = {}
    problems: Diagnostics = ()
    for claim in claims:
        handler, wrong = _written_handler(claim, definition)
        problems += wrong
        if handler is not None:
            handlers[claim] = handler
    return handlers, problems


def _written_handler(claim: HandlerClaim, definition: Definition) -> tuple[Handler | None, Diagnostics]:
    """Return the handler that a definition says: a program, a command line, a request or a pipeline; one at most."""
    tool = claim.tool
    options = options_node(tool)
    if options is not None and len(handler_kinds(options)) > 1:
        return None, ()
    if claim.command is not None:
        if tool is not None and is_command_line(options_node(tool)):
            return command_line(tool, definition)
        return program_handler(claim.command, definition)
    if tool is None or claim.handler_node is None:
        return None, ()
    return request_handler(tool) if request_node(tool) is not None else pipeline_handler(tool, definition)


def _bash(fit: Candidate) -> Handler:
    library, function = fit.shelf.library, fit.function
    return BashFunction(
        function.name, fit.shelf.path, function.span, library.contract, inherits=library.inherits_environment
    )


def _python(fit: Candidate) -> Handler:
    function = fit.function
    return PythonFunction(
        function=function.name,
        file=fit.shelf.path,
        span=function.span,
        parameters=function.parameters,
        accepts_any=function.accepts_any,
        is_async=function.is_async,
        binding=fit.binding,
        context=fit.context or function.context,
    )


HANDLERS_BY_LANGUAGE: dict[str, Callable[[Candidate], Handler]] = {"bash": _bash, "python": _python}


def _is_excused(claim: HandlerClaim, shelves: Sequence[LoadedLibrary], definition: Definition) -> bool:
    """Tell whether a missing function only follows from a problem that is reported anyway."""
    serving = [shelf for shelf in shelves if shelf.serves(claim.kind)]
    unreadable = any(not shelf.sound for shelf in serving)
    absent = not serving and not definition.complete
    # No function can have this name; the pass for names refuses the definition.
    hopeless = CALLABLE_NAME.fullmatch(claim.identifier) is None
    return unreadable or absent or hopeless


def _unimplemented(
    missing: Sequence[HandlerClaim],
    shelves: Sequence[LoadedLibrary],
    used: frozenset[tuple[str, str]],
    absent: Mapping[str, tuple[str, ...]],
) -> Iterator[Diagnostic]:
    free = [name for shelf in shelves for name in shelf.module.functions if (shelf.path, name) not in used]
    candidates = free if len(missing) * len(free) <= MAX_COMPARISONS else []
    for claim in missing:
        spelled = {shelf.path: _spellings(claim, shelf.library) for shelf in shelves if shelf.serves(claim.kind)}
        places = (f"{quoted(names, ' or ')} in `{path}`" for path, names in spelled.items() if names)
        homes = absent.get(claim.kind)
        # A file for another kind may exist; if there is none for this kind, suggest the usual names.
        names = next(filter(None, spelled.values()), (claim.identifier,))
        new = f"{quoted(names, ' or ')} in a new file {quoted(homes, ' or ')}" if homes else ""
        wanted = (claim.identifier, *(name for names in spelled.values() for name in names))
        near = [match for name in dict.fromkeys(wanted) if (match := nearest(name, candidates, 0.75))]
        hint = f"did you mean the function `{near[-1]}`?" if near else ""
        yield diagnose("MCP201", claim.span, f"no function implements {claim}", new or ", or ".join(places), hint)


def _ambiguous(claim: HandlerClaim, fits: Sequence[Candidate], definition: Definition) -> Iterator[Diagnostic]:
    named = claim.handler_node
    if named is not None:
        is_request = claim.tool is not None and named is request_node(claim.tool)
        word = "a `command`" if named is claim.command else "`http`" if is_request else "a `pipeline`"
        message = f"{claim} has both {word} and the function `{fits[0].function.name}`"
        where = fits[0].function.span.place_in(definition.sources)
        yield diagnose("MCP245", named.span, message, "", f"the function is at {where}; remove one of them")
        return
    for fit in fits[1:]:
        first = fits[0]
        message = f"{claim} is implemented twice: by `{first.function.name}` and by `{fit.function.name}`"
        where = first.function.span.place_in(definition.sources)
        yield diagnose("MCP207", fit.function.span, message, "", f"the other one is at {where}; remove one of them")


def _shared(
    claims: Sequence[HandlerClaim], handlers: Sequence[Handler], definition: Definition
) -> Iterator[Diagnostic]:
    """Yield definitions that share a function; equal names are reported by the pass for names."""
    owners: dict[tuple[str, str], HandlerClaim] = {}
    for claim, handler in zip(claims, handlers, strict=True):
        if not isinstance(handler, BashFunction | PythonFunction):
            continue
        owner = owners.setdefault((handler.file, handler.function), claim)
        # A stand-in has no file, and shares no function.
        if handler.file and (owner.kind, owner.name) != (claim.kind, claim.name):
            message = f"`{handler.function}` would implement {claim} and {owner}"
            hint = f"the other one is at {owner.span.place_in(definition.sources)}; rename one of them"
            yield diagnose("MCP208", claim.span, message, "", hint)


def _unused_functions(shelves: Sequence[LoadedLibrary], used: frozenset[tuple[str, str]]) -> Iterator[Diagnostic]:
    for shelf in (shelf for shelf in shelves if shelf.sound):
        for function in shelf.module.functions.values():
            kinds = [kind for kind, prefix in shelf.library.prefixes if prefix and function.name.startswith(prefix)]
            if kinds and (shelf.path, function.name) not in used:
                hint = f"define the {kinds[0]}, or rename the function if it is only a helper"
                yield diagnose("MCP202", function.span, f"`{function.name}` does not implement a {kinds[0]}", "", hint)


def _unexported(
    shelves: Sequence[LoadedLibrary], fits: Mapping[HandlerClaim, Sequence[Candidate]]
) -> Iterator[Diagnostic]:
    """Yield unexported functions of tools and prompts beside exported ones; a project may have no exports."""
    shells = [shelf for shelf in shelves if shelf.library.language == "bash"]
    if not any(function.exported for shelf in shells for function in shelf.module.functions.values()):
        return
    candidates = [fit for claim, those in fits.items() if claim.kind in ("tool", "prompt") for fit in those]
    used = frozenset((fit.shelf.path, fit.function.name) for fit in candidates)
    for shelf in shells:
        for function in shelf.module.functions.values():
            if not function.exported and (shelf.path, function.name) in used:
                hint = "the server calls it anyway; only Bash scripts that the function starts need `export -f`"
                yield diagnose("MCP203", function.span, f"`{function.name}` is not exported", "", hint)
