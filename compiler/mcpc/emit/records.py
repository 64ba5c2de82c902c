"""One record a definition: what the runtime needs when it is called, and nothing it needs before.

    (contract, handler, prompt arguments, input validator, output validator, running, more)

`handler` is what its contract reads (TARGETS); `running` is (seconds, inline, isolated, number of its environment in
the index, what it requires), or None for the defaults; `more` says what few definitions have, or is None.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcpc.emit.bytecode import dump_data
from mcpc.emit.table import add_table
from mcpc.ir import BashFunction, Executable, Foreign, PythonFunction, Running

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.emit.blob import Blob
    from mcpc.emit.validators import Validators
    from mcpc.ir import Handled, Handler, Prompt, Server, Tool

PLAIN = Running()
AGAIN = ("readOnlyHint", "idempotentHint")
"""The annotations by which a tool says that running it twice is as good as once."""


def add_tools(server: Server, blob: Blob, validators: Validators) -> tuple[int, int]:
    """Put the tools' records and their table into the blob; return the table (buckets, offset)."""
    known = environments(server)
    return add_table(blob, {tool.name: blob.add(tool_record(tool, validators, known)) for tool in server.tools})


def add_prompts(server: Server, blob: Blob) -> tuple[int, int]:
    """Put the prompts' records and their table into the blob; return the table (buckets, offset)."""
    known = environments(server)
    return add_table(blob, {prompt.name: blob.add(prompt_record(prompt, known)) for prompt in server.prompts})


Environments = tuple[tuple[bool, tuple[str, ...]], ...]
FOLDED = frozenset({"mcp-bash"})
"""Formats whose handlers find all of their files on disk."""


def environments(server: Server) -> Environments:
    """Return each environment that handlers of the server find, once: whether all is inherited, and the names."""
    runnings = [PLAIN, *(definition.running for definition in server.definitions)]
    found = dict.fromkeys((running.environment.inherit, running.environment.names) for running in runnings)
    return tuple(found)


def unpacked(server: Server) -> tuple[tuple[str, bool], ...]:
    """Return the files that are wanted on disk, each with whether it may be run; none if no handler wants any."""
    handlers = [definition.handler for definition in server.definitions]
    programs = {handler.file for handler in handlers if isinstance(handler, Executable)}
    unpacking = any(isinstance(handler, Foreign) and handler.unpacks for handler in handlers)
    if not programs and not unpacking and not server.unpack:
        return ()
    sources = (file.source for file in server.files)
    return tuple((source.path, bool(source.mode & 0o111) or source.path in programs) for source in sources)


def folded(server: Server) -> bool:
    """Tell whether files lie in one entry: only where nothing is read from the archive itself, but all from disk.

    A start takes as long as the archive has entries, and such a project may have several files a tool.
    """
    return server.format in FOLDED and bool(unpacked(server))


def tool_record(tool: Tool, validators: Validators, known: Environments) -> bytes:
    """Return a tool's record; it has no prompt arguments."""
    output = None if tool.output is None else validators.add(tool.output)
    ways = (tool.handler.contract, target(tool.handler))
    extra = more(tool, headers=tool.headers, again=bool(tool.running.task) and may_run_again(tool))
    checked = validators.add(tool.input) if tool.input.decides else None
    return dump_data((*ways, (), checked, output, running_record(tool.running, known), extra))


def may_run_again(tool: Tool) -> bool:
    """Tell whether a call that was interrupted may be run again: the tool reads only, or says that this is the same."""
    annotations = tool.members.get("annotations")
    hints = [annotations.get(name) for name in AGAIN] if annotations is not None else []
    return any(hint is not None and hint.value is True for hint in hints)


def prompt_record(prompt: Prompt, known: Environments) -> bytes:
    """Return a prompt's record; its arguments are strings and need no validator."""
    arguments = tuple((argument.name, argument.required) for argument in prompt.arguments)
    ways = (prompt.handler.contract, target(prompt.handler))
    return dump_data((*ways, arguments, None, None, running_record(prompt.running, known), more(prompt)))


def running_record(running: Running, known: Environments) -> tuple[Any, ...] | None:
    """Return how a handler is run, None for what is usual."""
    if replace(running, asks=(), task="") == PLAIN:
        return None
    environment = known.index((running.environment.inherit, running.environment.names))
    requires = tuple((one.command, one.version) for one in running.requires)
    return running.timeout, running.inline, running.isolated, environment, requires


def handled_record(definition: Handled, known: Environments, **said: Any) -> bytes:
    """Return the record of a definition with a handler that has neither arguments nor schemas."""
    ways = (definition.handler.contract, target(definition.handler))
    return dump_data((*ways, (), None, None, running_record(definition.running, known), more(definition, **said)))


def known_record(contract: str, content: tuple[Any, ...], **said: Any) -> bytes:
    """Return the record of a definition without a handler."""
    return dump_data(
        (contract, content, (), None, None, None, {name: one for name, one in said.items() if one} or None)
    )


def more(definition: Handled, **said: Any) -> dict[str, Any] | None:
    """Return what few definitions have: what they ask of the client first, tasks, and what is `said` besides."""
    running = definition.running
    found: dict[str, Any] = {"asks": running.asks, "task": running.task, **said}
    return {name: value for name, value in found.items() if value} or None


def target(handler: Handler) -> tuple[Any, ...]:
    """Return what the contract of a handler reads of it; the file under `handlers/` comes first."""
    return TARGETS[type(handler)](handler)


def bash_target(handler: BashFunction) -> tuple[Any, ...]:
    """Return file, function, whether its end is watched from outside, its variables, whether it calls tools, slice."""
    ways = handler.traps, handler.variables, handler.calls_tools
    return handler.file, handler.function, *ways, handler.slice.encode("utf-8", "surrogateescape")


def python_target(handler: PythonFunction) -> tuple[Any, ...]:
    """Return file, function, the parameter for the context, whether it is asynchronous, and its binding."""
    return handler.file, handler.function, handler.context, handler.is_async, *handler.binding


def executable_target(handler: Executable) -> tuple[Any, ...]:
    """Return the file and the words it is started with."""
    return handler.file, handler.words


def foreign_target(handler: Foreign) -> tuple[Any, ...]:
    """Return the file and what its contract knows of it."""
    return handler.file, *handler.facts


TARGETS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    BashFunction: bash_target,
    Executable: executable_target,
    Foreign: foreign_target,
    PythonFunction: python_target,
}
