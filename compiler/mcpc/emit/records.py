"""One record a definition: what the runtime needs when it is called, and nothing it needs before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.emit.bytecode import dump_data
from mcpc.emit.table import add_table
from mcpc.ir import PythonFunction

if TYPE_CHECKING:
    from mcpc.emit.blob import Blob
    from mcpc.emit.validators import Validators
    from mcpc.ir import Handler, Prompt, Server, Tool


def add_tools(server: Server, blob: Blob, validators: Validators) -> tuple[int, int]:
    """Put the tools' records and their table into the blob; return the table (buckets, offset)."""
    return add_table(blob, {tool.name: blob.add(tool_record(tool, validators)) for tool in server.tools})


def add_prompts(server: Server, blob: Blob) -> tuple[int, int]:
    """Put the prompts' records and their table into the blob; return the table (buckets, offset)."""
    return add_table(blob, {prompt.name: blob.add(prompt_record(prompt)) for prompt in server.prompts})


def tool_record(tool: Tool, validators: Validators) -> bytes:
    """Return contract, handler, no prompt arguments, and both validators (see `mcpc_runtime.image.Definition`)."""
    output = None if tool.output is None else validators.add(tool.output)
    return dump_data((tool.handler.contract, target(tool.handler), (), validators.add(tool.input), output))


def prompt_record(prompt: Prompt) -> bytes:
    """Return contract, handler and arguments; a prompt's arguments are strings and need no validator."""
    arguments = tuple((argument.name, argument.required) for argument in prompt.arguments)
    return dump_data((prompt.handler.contract, target(prompt.handler), arguments, None, None))


def target(handler: Handler) -> tuple[str, ...]:
    """Return where a handler is: its file under `handlers/`, the function's name, and how it is given its arguments."""
    binding = handler.binding if isinstance(handler, PythonFunction) else ()
    return handler.file, handler.function, *binding
