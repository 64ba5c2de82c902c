"""Emit one record for each definition: what the runtime reads only when the definition is called.

    (contract, handler, prompt arguments, input validator, output validator, running, more)

`handler` is what its contract reads (TARGETS); `running` is (seconds, inline, isolated, number of its environment in
the index, required programs), or None for the defaults; `additional_fields` has rare fields, or is None.

{"kinds": those made at run time from the start, "by_arguments": those that are if the program gets arguments,
 "forwards": there if it answers the methods of extensions, "record": the handler's, "hidden": rows of all revisions}
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from mcpc.emit.blob import add_table
from mcpc.emit.bytecode import dump_data
from mcpc.model.ir import (
    BashFunction,
    Executable,
    ExternalHandler,
    HandlerOptions,
    HttpHandler,
    PipelineHandler,
    PythonFunction,
)
from mcpc.model.ir.handlers import runs_file
from mcpc.model.revisions import REVISIONS
from mcpc.reading import is_executable
from mcpc_runtime.protocol.run_time_lists import KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpc.emit.blob import Blob
    from mcpc.emit.generated_modules import Validators
    from mcpc.model.ir import HasHandler, Prompt, RunTimeDefinitions, Server, Tool
    from mcpc.model.ir.handlers import PlainData
    from mcpc.model.ir.project import Setting
    from mcpc.model.revisions import Revision

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
    # The defaults come first: the index has their environment even if no handler uses it.
    runnings = [PLAIN, *(definition.running for definition in server.definitions)]
    environments = dict.fromkeys((running.environment.inherit, running.environment.names) for running in runnings)
    return tuple(environments)


def with_settings(known: Environments, settings: Sequence[Setting]) -> Environments:
    """Return environments in which the variables of settings are, too."""
    names = tuple(setting.name for setting in settings)
    # Who inherits all variables has those of settings anyway.
    return tuple((inherit, () if inherit else tuple(dict.fromkeys((*given, *names)))) for inherit, given in known)


def unpacked_files(server: Server) -> tuple[tuple[str, bool], ...]:
    """Return the files needed on disk, each with whether it is executable; empty if no handler needs any."""
    handlers = [definition.handler for definition in server.definitions]
    programs = {handler.file for handler in handlers if runs_file(handler)}
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
    binding = (tool.handler.contract, tool_target(tool, known))
    extra = additional_fields(tool, headers=tool.headers, again=tool.may_run_again)
    checked = validators.add(tool.input.enforced) if tool.input.decides else None
    return dump_data((*binding, (), checked, output, running_record(tool.running, known), extra))


def tool_target(tool: Tool, known: Environments) -> tuple[PlainData, ...]:
    """Return what the contract of a tool reads; a pipeline's plan has the records of its steps."""
    handler = tool.handler
    if not isinstance(handler, PipelineHandler):
        return TARGETS[type(handler)](handler)
    records = [handled_row(step, known) for step in handler.steps]
    steps = cast("tuple[dict[str, PlainData], ...]", handler.plan["steps"])
    whole = tuple({**step, "record": records[int(str(step["record"]))]} if "record" in step else step for step in steps)
    return "", {**handler.plan, "steps": whole}


def prompt_record(prompt: Prompt, known: Environments) -> bytes:
    """Return a prompt's record; its arguments are strings and need no validator."""
    arguments = tuple((argument.name, argument.required) for argument in prompt.arguments)
    binding = (prompt.handler.contract, TARGETS[type(prompt.handler)](prompt.handler))
    return dump_data(
        (*binding, arguments, None, None, running_record(prompt.running, known), additional_fields(prompt))
    )


def running_record(running: HandlerOptions, known: Environments) -> tuple[PlainData, ...] | None:
    """Return the handler options, None for the defaults."""
    # These three are not in this record, but among the additional fields.
    if replace(running, asks=(), task="", max_result=0) == PLAIN:
        return None
    environment = known.index((running.environment.inherit, running.environment.names))
    requires = tuple((requirement.command, requirement.version) for requirement in running.requires)
    return running.timeout, running.inline, running.isolated, environment, requires


def handled_record(definition: HasHandler, known: Environments, **further: PlainData) -> bytes:
    """Return the record of a definition with a handler but without arguments or schemas."""
    return dump_data(handled_row(definition, known, **further))


def handled_row(definition: HasHandler, known: Environments, **further: PlainData) -> tuple[PlainData, ...]:
    """Return the record of a definition with a handler, before it is written as bytes."""
    binding = (definition.handler.contract, TARGETS[type(definition.handler)](definition.handler))
    return *binding, (), None, None, running_record(definition.running, known), additional_fields(definition, **further)


def static_record(contract: str, content: tuple[PlainData, ...], **further: PlainData) -> bytes:
    """Return the record of a definition without a handler."""
    return dump_data(
        (contract, content, (), None, None, None, {name: item for name, item in further.items() if item} or None)
    )


def additional_fields(definition: HasHandler, **further: PlainData) -> dict[str, PlainData] | None:
    """Return the rare fields of a definition: client requests, tasks, limits of results, and `further` ones."""
    running = definition.running
    fields: dict[str, PlainData] = {
        "asks": running.asks,
        "max_result": running.max_result,
        "task": running.task,
        **further,
    }
    return {name: value for name, value in fields.items() if value} or None


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
    HttpHandler: lambda handler: ("", handler.plan),
    PythonFunction: python_target,
}
"""The data of a handler that its contract reads, by its kind; the file below `handlers/` comes first."""


FIELDS = {
    "tool": "tool",
    "prompt": "prompt",
    "argument": "prompt_argument",
    "resource": "resource",
    "template": "resource_template",
}
"""The fields that a revision shows of each kind of item, by their names in `Revision`."""
NEVER_SHOWN = {"tool": ("execution",)}
"""Whether a call is a task is agreed between client and server."""


def add_run_time(definitions: RunTimeDefinitions, server: Server, blob: Blob) -> dict[str, PlainData]:
    """Add the handler's record and the hidden fields to the blob; return the row of the index."""
    return {
        "kinds": tuple(sorted(definitions.kinds)),
        "lists": tuple(method for method in KEYS if method.partition("/")[0] in definitions.kinds),
        **({"by_arguments": tuple(sorted(definitions.by_arguments))} if definitions.by_arguments else {}),
        **({"forwards": True} if definitions.forwards else {}),
        "record": blob.add(handled_record(definitions, environments(server))),
        "hidden": blob.add(dump_data({revision.version: hidden_fields(revision) for revision in REVISIONS})),
    }


def hidden_fields(revision: Revision) -> dict[str, PlainData]:
    """Return the fields that other revisions define and this one does not (see `run_time_lists.Hidden`)."""
    hidden: dict[str, PlainData] = {}
    for kind, field in FIELDS.items():
        known = {name for other in REVISIONS for name in getattr(other, field)} - {*getattr(revision, field)}
        hidden[kind] = tuple(sorted({*known, *NEVER_SHOWN.get(kind, ())}))
    return {**hidden, "boolean": not revision.boolean_properties, "output": not revision.any_output_schema}
