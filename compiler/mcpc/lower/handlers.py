"""Bind each definition to exactly one function.

A definition's name makes the function's: `-` and `.` become `_`, and the library's prefix goes before it.  The file
that holds the function may be any library that serves the definition's kind; two functions that fit are an error,
because which of them would run depends on the order in which files are read.  A definition that names a program has
that for its handler, and no function.
"""

from __future__ import annotations

import difflib
import keyword
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose, has_errors
from mcpc.ir import BashFunction, PythonFunction
from mcpc.ir.places import place
from mcpc.languages import LANGUAGES, Function
from mcpc.lower.models import catalog, model_binding
from mcpc.lower.programs import program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mcpc.definitions import Bound, Definition, Library
    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.ir import Handler
    from mcpc.languages import Module
    from mcpc.sources import Node

UNDERSCORES = str.maketrans("-.", "__")
CALLABLE = re.compile(r"[A-Za-z0-9_]+")
COMPARED = 20_000
"""So many pairs of names are compared for a hint, half a second's worth; where more are amiss, it is no misspelling."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A definition that wants a handler.

    `span`: the place of its name; `bound`: the function that it is itself; `command`: what names a program that it has;
    `handler`: the one that its format knew; `called`: how a message calls it, if it has no name of its own.
    """

    kind: str
    name: str
    span: Span
    bound: Bound | None = None
    command: Node | None = None
    called: str = ""
    handler: Handler | None = None

    @property
    def identifier(self) -> str:
        """The name as it stands in the name of a function."""
        return self.name.translate(UNDERSCORES)

    def __str__(self) -> str:
        """Return how a message calls the definition."""
        return self.called or f"the {self.kind} `{self.name}`"


@dataclass(frozen=True, slots=True)
class Shelf:
    """A library that has been read; one that is not `sound` may hold more functions than were found."""

    library: Library
    module: Module
    sound: bool

    @property
    def path(self) -> str:
        """The library's file."""
        return self.library.source.path

    def serves(self, kind: str) -> bool:
        """Say whether handlers of `kind` may be here."""
        return any(kind == served for served, _ in self.library.prefixes)


@dataclass(frozen=True, slots=True)
class Fit:
    """A function that implements a claim, by its name or because it is the definition itself."""

    shelf: Shelf
    function: Function
    binding: tuple[str, ...] = ()
    context: str = ""


def bind(
    claims: Sequence[Claim], definition: Definition, *, complete: bool
) -> tuple[tuple[Handler, ...], bool, Diagnostics]:
    """Return a handler for each claim, whether a library looks for files beside it, and what is wrong.

    Wrong is every way in which names and functions do not meet one to one.  `complete`: these are all claims there are.

    A claim that no function fits gets a stand-in, and an error with it.
    """
    shelves, found_in_files = _read(definition.libraries)
    exact = frozenset((claim.kind, claim.identifier) for claim in claims)
    fits, found_in_models = _with_models({claim: _fits(claim, shelves, exact) for claim in claims}, definition)
    used = frozenset((fit.shelf.path, fit.function.name) for found in fits.values() for fit in found)
    programs, found_in_programs = _programs(claims, definition)
    # What is said twice, word for word, is one claim to a dictionary, and has a handler as often as it is said.
    handlers = [claim.handler or programs.get(claim) or _bound(claim, fits[claim]) for claim in claims]
    wanting = [claim for claim, found in fits.items() if not found and claim.command is None and claim.handler is None]
    missing = [claim for claim in wanting if not _excused(claim, shelves, definition)]
    problems = [
        *found_in_files,
        *found_in_models,
        *found_in_programs,
        *_unimplemented(missing, shelves, used, dict(definition.homes)),
    ]
    for claim, found in fits.items():
        problems += _rivals(claim, found, definition)
    problems += _shared(claims, handlers, definition)
    if definition.complete and complete:
        problems += _idle(shelves, used)
    asking = {shelf.library.language for shelf in shelves if shelf.module.asks_place}
    unpack = any(shelf.library.language in asking for found in fits.values() for shelf in [fit.shelf for fit in found])
    return tuple(handlers), unpack, (*problems, *_unexported(shelves, _known_to_mcbox(fits)))


def _read(libraries: Sequence[Library]) -> tuple[tuple[Shelf, ...], Diagnostics]:
    shelves = []
    problems: Diagnostics = ()
    for library in libraries:
        module, found = LANGUAGES[library.language](library.source)
        shelves.append(Shelf(library, module, sound=not has_errors(found)))
        problems += found
    return tuple(shelves), problems


def _spellings(claim: Claim, library: Library) -> tuple[str, ...]:
    """Return the names that a function for `claim` may have in `library`, the plainest first."""
    names = dict.fromkeys(prefix + claim.identifier for kind, prefix in library.prefixes if kind == claim.kind)
    return tuple(name for name in names if library.language != "python" or _is_python_name(name))


def _is_python_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _fits(claim: Claim, shelves: Sequence[Shelf], exact: frozenset[tuple[str, str]]) -> tuple[Fit, ...]:
    """Return the functions that implement `claim`.

    Where a prefix may be left out, `tool_list` could be for `list` and for `tool_list`: the definition whose own name
    it is has it.
    """
    if claim.handler is not None:
        return ()
    if claim.bound:
        return tuple(_itself(claim.bound, shelf) for shelf in shelves if shelf.path == claim.bound.file)
    found = []
    for shelf in shelves:
        for name in _spellings(claim, shelf.library):
            bare = (claim.kind, "") in shelf.library.prefixes
            taken = bare and name != claim.identifier and (claim.kind, name) in exact
            if name in shelf.module.functions and not taken:
                found.append(Fit(shelf, shelf.module.functions[name]))
    return tuple(found)


def _with_models(
    fits: Mapping[Claim, tuple[Fit, ...]], definition: Definition
) -> tuple[dict[Claim, tuple[Fit, ...]], Diagnostics]:
    """Return the functions that implement claims, those that ask for models bound to them."""
    known = catalog(definition)
    bound: dict[Claim, tuple[Fit, ...]] = {}
    problems: Diagnostics = ()
    for claim, found in fits.items():
        bound[claim] = found
        if found and claim.bound is None and found[0].function.annotations:
            tool = claim.name if claim.kind == "tool" else ""
            binding, wrong = model_binding(tool, found[0].function, known)
            bound[claim] = (replace(found[0], binding=binding), *found[1:])
            problems += wrong
    return bound, problems


def _itself(bound: Bound, shelf: Shelf) -> Fit:
    """Return the function that is a definition; of one that another module holds no signature is known."""
    unknown = Function(bound.function, bound.span, accepts_any=True)
    return Fit(shelf, shelf.module.functions.get(bound.function, unknown), bound.binding, bound.context)


def _programs(claims: Sequence[Claim], definition: Definition) -> tuple[dict[Claim, Handler], Diagnostics]:
    """Return the handlers of the claims that name a program, and what is wrong with those names."""
    handlers: dict[Claim, Handler] = {}
    problems: Diagnostics = ()
    for claim in claims:
        if claim.command is not None:
            handler, wrong = program(claim.command, definition)
            problems += wrong
            if handler is not None:
                handlers[claim] = handler
    return handlers, problems


def _bound(claim: Claim, fits: Sequence[Fit]) -> Handler:
    return HANDLERS[fits[0].shelf.library.language](fits[0]) if fits else _stand_in(claim)


def _bash(fit: Fit) -> Handler:
    return BashFunction(fit.function.name, fit.shelf.path, fit.function.span, fit.shelf.library.contract)


def _python(fit: Fit) -> Handler:
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


HANDLERS: dict[str, Callable[[Fit], Handler]] = {"bash": _bash, "python": _python}


def _stand_in(claim: Claim) -> Handler:
    return BashFunction(claim.identifier, "", claim.span)


def _excused(claim: Claim, shelves: Sequence[Shelf], definition: Definition) -> bool:
    """Say whether the lack of a function only follows from something that is reported anyway."""
    serving = [shelf for shelf in shelves if shelf.serves(claim.kind)]
    unreadable = any(not shelf.sound for shelf in serving)
    absent = not serving and not definition.complete
    # No function can be called so; the pass that judges names refuses the definition.
    hopeless = CALLABLE.fullmatch(claim.identifier) is None
    return unreadable or absent or hopeless


def _unimplemented(
    missing: Sequence[Claim],
    shelves: Sequence[Shelf],
    used: frozenset[tuple[str, str]],
    absent: Mapping[str, tuple[str, ...]],
) -> Iterator[Diagnostic]:
    free = [name for shelf in shelves for name in shelf.module.functions if (shelf.path, name) not in used]
    candidates = free if len(missing) * len(free) <= COMPARED else []
    for claim in missing:
        spelled = {shelf.path: _spellings(claim, shelf.library) for shelf in shelves if shelf.serves(claim.kind)}
        places = (f"{_either(names)} in `{path}`" for path, names in spelled.items() if names)
        homes = absent.get(claim.kind)
        # Another kind's file would do; who has none for this kind is told of the usual ones.
        names = next(filter(None, spelled.values()), (claim.identifier,))
        new = f"{_either(names)} in a new file {_either(homes)}" if homes else ""
        wanted = (claim.identifier, *(name for names in spelled.values() for name in names))
        hint = _nearest(dict.fromkeys(wanted), candidates)
        yield diagnose("MCP201", claim.span, f"no function implements {claim}", new or ", or ".join(places), hint)


def _either(names: Iterable[str]) -> str:
    return " or ".join(f"`{name}`" for name in names)


def _nearest(wanted: Iterable[str], functions: Sequence[str]) -> str:
    near = [match for name in wanted for match in difflib.get_close_matches(name, functions, n=1, cutoff=0.75)]
    return f"did you mean the function `{near[-1]}`?" if near else ""


def _rivals(claim: Claim, fits: Sequence[Fit], definition: Definition) -> Iterator[Diagnostic]:
    if claim.command is not None and fits:
        message = f"{claim} has a `command`, and the function `{fits[0].function.name}` as well"
        where = place(fits[0].function.span, definition.sources)
        yield diagnose("MCP245", claim.command.span, message, "", f"the function is at {where}; remove one of them")
        return
    for fit in fits[1:]:
        first = fits[0]
        message = f"{claim} is implemented twice: by `{first.function.name}` and by `{fit.function.name}`"
        where = place(first.function.span, definition.sources)
        yield diagnose("MCP207", fit.function.span, message, "", f"the other one is at {where}; remove one of them")


def _shared(claims: Sequence[Claim], handlers: Sequence[Handler], definition: Definition) -> Iterator[Diagnostic]:
    """Yield the definitions whose function another one has; those of one name are the business of the names' pass."""
    owners: dict[tuple[str, str], Claim] = {}
    for claim, handler in zip(claims, handlers, strict=True):
        if not isinstance(handler, BashFunction | PythonFunction):
            continue
        owner = owners.setdefault((handler.file, handler.function), claim)
        if handler.file and (owner.kind, owner.name) != (claim.kind, claim.name):
            message = f"`{handler.function}` would implement {claim} and {owner}"
            hint = f"the other one is at {place(owner.span, definition.sources)}; rename one of them"
            yield diagnose("MCP208", claim.span, message, "", hint)


def _idle(shelves: Sequence[Shelf], used: frozenset[tuple[str, str]]) -> Iterator[Diagnostic]:
    for shelf in (shelf for shelf in shelves if shelf.sound):
        for function in shelf.module.functions.values():
            kinds = [kind for kind, prefix in shelf.library.prefixes if prefix and function.name.startswith(prefix)]
            if kinds and (shelf.path, function.name) not in used:
                hint = f"define the {kinds[0]}, or call the function something else if it only helps others"
                yield diagnose("MCP202", function.span, f"`{function.name}` implements no {kinds[0]}", "", hint)


def _known_to_mcbox(fits: Mapping[Claim, Sequence[Fit]]) -> frozenset[tuple[str, str]]:
    found = (fit for claim, those in fits.items() if claim.kind in ("tool", "prompt") for fit in those)
    return frozenset((fit.shelf.path, fit.function.name) for fit in found)


def _unexported(shelves: Sequence[Shelf], used: frozenset[tuple[str, str]]) -> Iterator[Diagnostic]:
    """Yield the functions that are not exported where others are: a project that exports none has no need of it."""
    shells = [shelf for shelf in shelves if shelf.library.language == "bash"]
    if not any(function.exported for shelf in shells for function in shelf.module.functions.values()):
        return
    for shelf in shells:
        for function in shelf.module.functions.values():
            if not function.exported and (shelf.path, function.name) in used:
                hint = "the server calls it without; only a Bash script that the function starts would need `export -f`"
                yield diagnose("MCP203", function.span, f"`{function.name}` is not exported", "", hint)
