"""One record a definition: what the runtime needs when it is called, and nothing it needs before.

    (contract, handler, prompt arguments, input validator, output validator, running)

`handler` is what its contract reads (TARGETS); `running` is (seconds, inline, isolated, number of its environment in
the index, what it requires), or None for the defaults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.emit.bytecode import dump_data
from mcpc.emit.table import add_table
from mcpc.ir import BashFunction, Executable, PythonFunction, Running

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.emit.blob import Blob
    from mcpc.emit.validators import Validators
    from mcpc.ir import Handler, Prompt, Server, Tool

PLAIN = Running()


def add_tools(server: Server, blob: Blob, validators: Validators) -> tuple[int, int]:
    """Put the tools' records and their table into the blob; return the table (buckets, offset)."""
    known = environments(server)
    return add_table(blob, {tool.name: blob.add(tool_record(tool, validators, known)) for tool in server.tools})


def add_prompts(server: Server, blob: Blob) -> tuple[int, int]:
    """Put the prompts' records and their table into the blob; return the table (buckets, offset)."""
    known = environments(server)
    return add_table(blob, {prompt.name: blob.add(prompt_record(prompt, known)) for prompt in server.prompts})


Environments = tuple[tuple[bool, tuple[str, ...]], ...]


def environments(server: Server) -> Environments:
    """Return each environment that handlers of the server find, once: whether all is inherited, and the names."""
    runnings = [PLAIN, *(definition.running for definition in server.definitions)]
    found = dict.fromkeys((running.environment.inherit, running.environment.names) for running in runnings)
    return tuple(found)


def unpacked(server: Server) -> tuple[tuple[str, bool], ...]:
    """Return the files that are wanted on disk, each with whether it may be run; none if no handler wants any."""
    handlers = [definition.handler for definition in server.definitions]
    programs = {handler.file for handler in handlers if isinstance(handler, Executable)}
    if not programs and not server.unpack:
        return ()
    sources = (file.source for file in server.files)
    return tuple((source.path, bool(source.mode & 0o111) or source.path in programs) for source in sources)


def tool_record(tool: Tool, validators: Validators, known: Environments) -> bytes:
    """Return a tool's record; it has no prompt arguments."""
    output = None if tool.output is None else validators.add(tool.output)
    ways = (tool.handler.contract, target(tool.handler))
    return dump_data((*ways, (), validators.add(tool.input), output, running_record(tool.running, known)))


def prompt_record(prompt: Prompt, known: Environments) -> bytes:
    """Return a prompt's record; its arguments are strings and need no validator."""
    arguments = tuple((argument.name, argument.required) for argument in prompt.arguments)
    ways = (prompt.handler.contract, target(prompt.handler))
    return dump_data((*ways, arguments, None, None, running_record(prompt.running, known)))


def running_record(running: Running, known: Environments) -> tuple[Any, ...] | None:
    """Return how a handler is run, None for what is usual."""
    if running == PLAIN:
        return None
    environment = known.index((running.environment.inherit, running.environment.names))
    requires = tuple((one.command, one.version) for one in running.requires)
    return running.timeout, running.inline, running.isolated, environment, requires


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


TARGETS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    BashFunction: bash_target,
    Executable: executable_target,
    PythonFunction: python_target,
}
