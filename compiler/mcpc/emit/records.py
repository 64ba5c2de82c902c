"""Emit one record for each definition: what the runtime reads only when the definition is called.

    (contract, handler, prompt arguments, input validator, output validator, running, more)

`handler` is what its contract reads (TARGETS); `running` is (seconds, inline, isolated, number of its environment in
the index, required programs), or None for the defaults; `additional_fields` has rare fields, or is None.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcpc.emit.bytecode import dump_data
from mcpc.emit.table import add_table
from mcpc.model.ir import BashFunction, Executable, ExternalHandler, HandlerOptions, PythonFunction
from mcpc.reading import is_executable

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.emit.blob import Blob
    from mcpc.emit.validators import Validators
    from mcpc.model.ir import HasHandler, Prompt, Server, Tool
    from mcpc.model.ir.handlers import PlainData

PLAIN = HandlerOptions()


def add_tools(server: Server, blob: Blob, validators: Validators) -> tuple[int, int]:
    """Add the tools' records and their table to the blob; return the table (buckets, offset)."""
    known = environments(server)
    return add_table(blob, {tool.name: blob.add(tool_record(tool, validators, known)) for tool in server.tools})


def add_prompts(server: Server, blob: Blob) -> tuple[int, int]:
    """Add the prompts' records and their table to the blob; return the table (buckets, offset)."""
    known = environments(server)
    return add_table(blob, {prompt.name: blob.add(prompt_record(prompt, known)) for prompt in server.prompts})


Environments = tuple[tuple[bool, tuple[str, ...]], ...]


def environments(server: Server) -> Environments:
    """Return the distinct environments of handlers: whether all variables are inherited, and the names."""
    runnings = [PLAIN, *(definition.running for definition in server.definitions)]
    found = dict.fromkeys((running.environment.inherit, running.environment.names) for running in runnings)
    return tuple(found)


def unpacked_files(server: Server) -> tuple[tuple[str, bool], ...]:
    """Return the files needed on disk, each with whether it is executable; empty if no handler needs any."""
    handlers = [definition.handler for definition in server.definitions]
    programs = {handler.file for handler in handlers if isinstance(handler, Executable)}
    unpacking = any(isinstance(handler, ExternalHandler) and handler.unpacks for handler in handlers)
    if not programs and not unpacking and not server.unpack and not server.imports_from_disk:
        return ()
    sources = (file.source for file in server.files)
    return tuple((source.path, is_executable(source) or source.path in programs) for source in sources)


def is_folded(server: Server) -> bool:
    """Tell whether files are packed in one entry: only if all handlers read them from disk.

    Start-up time grows with the number of entries, and such a project may have several files per tool.
    """
    in_archive = BashFunction if server.imports_from_disk else BashFunction | PythonFunction
    reads_archive = any(isinstance(definition.handler, in_archive) for definition in server.definitions)
    is_one = server.traits.unpacks_as_one_entry or server.imports_from_disk
    return is_one and not reads_archive and bool(unpacked_files(server))


def tool_record(tool: Tool, validators: Validators, known: Environments) -> bytes:
    """Return a tool's record; it has no prompt arguments."""
    output = None if tool.output is None else validators.add(tool.output)
    binding = (tool.handler.contract, TARGETS[type(tool.handler)](tool.handler))
    extra = additional_fields(tool, headers=tool.headers, again=tool.may_run_again)
    checked = validators.add(tool.input.enforced) if tool.input.decides else None
    return dump_data((*binding, (), checked, output, running_record(tool.running, known), extra))


def prompt_record(prompt: Prompt, known: Environments) -> bytes:
    """Return a prompt's record; its arguments are strings and need no validator."""
    arguments = tuple((argument.name, argument.required) for argument in prompt.arguments)
    binding = (prompt.handler.contract, TARGETS[type(prompt.handler)](prompt.handler))
    return dump_data(
        (*binding, arguments, None, None, running_record(prompt.running, known), additional_fields(prompt))
    )


def running_record(running: HandlerOptions, known: Environments) -> tuple[PlainData, ...] | None:
    """Return the handler options, None for the defaults."""
    if replace(running, asks=(), task="", max_result=0) == PLAIN:
        return None
    environment = known.index((running.environment.inherit, running.environment.names))
    requires = tuple((requirement.command, requirement.version) for requirement in running.requires)
    return running.timeout, running.inline, running.isolated, environment, requires


def handled_record(definition: HasHandler, known: Environments, **said: PlainData) -> bytes:
    """Return the record of a definition with a handler but without arguments or schemas."""
    binding = (definition.handler.contract, TARGETS[type(definition.handler)](definition.handler))
    return dump_data(
        (*binding, (), None, None, running_record(definition.running, known), additional_fields(definition, **said))
    )


def static_record(contract: str, content: tuple[PlainData, ...], **said: PlainData) -> bytes:
    """Return the record of a definition without a handler."""
    return dump_data(
        (contract, content, (), None, None, None, {name: item for name, item in said.items() if item} or None)
    )


def additional_fields(definition: HasHandler, **said: PlainData) -> dict[str, PlainData] | None:
    """Return the rare fields of a definition: client requests, tasks, limits of results, and those in `said`."""
    running = definition.running
    found: dict[str, PlainData] = {
        "asks": running.asks,
        "max_result": running.max_result,
        "task": running.task,
        **said,
    }
    return {name: value for name, value in found.items() if value} or None


def bash_target(handler: BashFunction) -> tuple[PlainData, ...]:
    """Return file, function, whether its end is observed from outside, errexit, variables, calls of tools, slice."""
    binding = handler.traps, handler.errexit, handler.variables, handler.calls_tools
    return handler.file, handler.function, *binding, handler.slice.encode("utf-8", "surrogateescape")


def python_target(handler: PythonFunction) -> tuple[PlainData, ...]:
    """Return file, function, the context parameter, whether it is asynchronous, and its binding."""
    return handler.file, handler.function, handler.context, handler.is_async, *handler.binding


TARGETS: dict[type, Callable[[Any], tuple[PlainData, ...]]] = {
    BashFunction: bash_target,
    Executable: lambda handler: (handler.file, handler.words),
    ExternalHandler: lambda handler: (handler.file, *handler.facts),
    PythonFunction: python_target,
}
"""The data of a handler that its contract reads, by its kind; the file below `handlers/` comes first."""
