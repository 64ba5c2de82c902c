"""The contract of file resources: files below a declared folder, as text or as a blob, by media type."""

from __future__ import annotations

from mcpc_runtime.handlers.invocations import FileRead, FileResult
from mcpc_runtime.protocol.constants import INTERNAL_ERROR
from mcpc_runtime.protocol.contents import contents_of
from mcpc_runtime.protocol.effects import Call, Ending, Failure, ResourceOutcome
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.media import media_type
from mcpc_runtime.protocol.resources import PATH, unknown_resource


def build_invocation(call: Call, image: Image) -> FileRead:
    """Return the file to read."""
    return FileRead(call.definition.handler[0], str(call.arguments[PATH]))


def parse_result(call: Call, file: FileResult) -> Ending:
    """Return the contents or an error; a refused file is reported to clients as unknown, and its reason is logged."""
    if file.missing:
        failure = unknown_resource(call.request)
        if file.problem:
            failure.log = f"{call.definition.name}: {call.arguments[PATH]!r} was not read: {file.problem}"
        return failure
    uri = str(call.request.params["uri"])
    if file.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: {uri}: {file.problem}")
    mime = call.definition.mime or media_type(str(call.arguments[PATH]), file.data)
    return ResourceOutcome([contents_of(uri, mime, file.data)])
