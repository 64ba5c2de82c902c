"""What a handler asks of the client, and tells it, and the errors of both versions of the SDK."""

from __future__ import annotations

import types as python_types
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, Union, get_args, get_origin

from mcpc_runtime.systems.fastmcp.engine.contents import wire
from mcpc_runtime.systems.fastmcp.engine.context import request_result
from mcpc_runtime.systems.fastmcp.engine.elicitation import (
    AcceptedElicitation,
    AcceptedUrlElicitation,
    CancelledElicitation,
    DeclinedElicitation,
    refused,
    url_answer,
)
from mcpc_runtime.systems.fastmcp.engine.server import ResourceError, ToolError, UnsupportedFeatureError
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Call, Object
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.definitions import selected_definitions, types

# The code of MCP revision 2025-11-25 for this error.
URL_ELICITATION_REQUIRED = -32042


class MCPDeprecationWarning(UserWarning):
    """A warning of the SDK that is shown by default."""


class ErrorFields(Protocol):
    """An error of the protocol."""

    code: int
    message: str
    data: object


class CodedError(Exception):
    """An error with a code of the protocol."""

    error: ErrorFields

    @property
    def code(self) -> int:
        return self.error.code

    @property
    def message(self) -> str:
        return self.error.message

    @property
    def data(self) -> object:
        """The error's data, or None."""
        return self.error.data


class McpError(CodedError):
    """An error that a client gets, of version 1 of the SDK."""

    def __init__(self, error: ErrorFields) -> None:
        super().__init__(error.message)
        self.error = error


class MCPError(CodedError):
    """An error that a client gets, of version 2 of the SDK."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(code, message, data)
        fields = {"code": code, "message": message, **({} if data is None else {"data": data})}
        self.error = selected_definitions().find("ErrorData")(**fields)

    @classmethod
    def from_error_data(cls, error: ErrorFields) -> MCPError:
        """Return the error of a message's part."""
        return cls(error.code, error.message, error.data)

    def __str__(self) -> str:
        return str(self.message)


def url_elicitation_data(elicitations: list[Any], message: str | None) -> tuple[str, Object]:
    """Return the message and the data of an error that asks a user to open addresses."""
    plural = "s" if len(elicitations) > 1 else ""
    data = [each.model_dump(by_alias=True, exclude_none=True) for each in elicitations]
    return message or f"URL elicitation{plural} required", {"elicitations": data}


class McpUrlElicitationRequiredError(McpError):
    """Asks the user to open addresses before a request can be answered, in version 1 of the SDK."""

    def __init__(self, elicitations: list[object], message: str | None = None) -> None:
        text, data = url_elicitation_data(elicitations, message)
        make = selected_definitions().find("ErrorData")
        super().__init__(make(code=URL_ELICITATION_REQUIRED, message=text, data=data))
        self.elicitations = elicitations


class MCPUrlElicitationRequiredError(MCPError):
    """Asks the user to open addresses before a request can be answered, in version 2 of the SDK."""

    def __init__(self, elicitations: list[object], message: str | None = None) -> None:
        text, data = url_elicitation_data(elicitations, message)
        super().__init__(URL_ELICITATION_REQUIRED, text, data)
        self.elicitations = elicitations


McpUrlElicitationRequiredError.__name__ = MCPUrlElicitationRequiredError.__name__ = "UrlElicitationRequiredError"


def coded_error(code: int, message: str, data: object = None) -> CodedError:
    """Return an error as the selected version of the SDK has it."""
    raised = MCPError(code, message, data)
    # Only version 2 has this base.
    return raised if "MCPModel" in selected_definitions().rows else McpError(raised.error)


class UnexpectedToolError(ToolError):
    """A tool raised something else than an error of the SDK."""


class UnexpectedResourceError(ResourceError):
    """A resource raised something else than an error of the SDK."""


class ResourceSecurityError(ValueError):
    """A value in an address is not permitted."""


ServerSessionT = TypeVar("ServerSessionT")
LIST_CHANGED = {
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
    "notifications/tools/list_changed": "tools",
}
SAMPLING = {
    "model_preferences": "modelPreferences",
    "system_prompt": "systemPrompt",
    "include_context": "includeContext",
    "temperature": "temperature",
    "max_tokens": "maxTokens",
    "stop_sequences": "stopSequences",
    "metadata": "metadata",
    "tools": "tools",
    "tool_choice": "toolChoice",
}
"""The options of `create_message` by their names in Python, with those on the wire."""


def contains(present: object, wanted: object) -> bool:
    """Tell whether a client's capabilities contain others."""
    if isinstance(wanted, dict):
        # A capability that is wanted as false need not be there.
        return isinstance(present, dict) and all(
            key in present and contains(present[key], value) for key, value in wanted.items() if value is not False
        )
    return bool(present == wanted)


class ServerSession:
    """A client's session, as a handler sees it during a call."""

    def __init__(self, call: Call) -> None:
        self._call = call

    @property
    def client_params(self) -> object:
        """The information about the client: `InitializeRequestParams`."""
        call = self._call
        client = {"name": "", "version": "", **call.client_info}
        return types.InitializeRequestParams.model_validate(
            {"protocolVersion": call.protocol_version, "capabilities": call.client_capabilities, "clientInfo": client}
        )

    @property
    def client_capabilities(self) -> object:
        return types.ClientCapabilities.model_validate(self._call.client_capabilities)

    @property
    def protocol_version(self) -> str:
        return self._call.protocol_version

    @property
    def can_send_request(self) -> bool:
        return True

    def check_client_capability(self, capability: object) -> bool:
        return contains(self._call.client_capabilities, wire(capability))

    async def send_log_message(
        self, level: str, data: object, logger: str | None = None, related_request_id: object = None
    ) -> None:
        await self._call.log(level, data, logger)

    async def send_progress_notification(
        self,
        progress_token: str | int,
        progress: float,
        total: float | None = None,
        message: str | None = None,
        related_request_id: str | None = None,
    ) -> None:
        if progress_token is not None:
            await self.report_progress(progress, total, message)

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if selected().sdk == "sdk1":
            # Version 1 has floats on the wire.
            progress, total = float(progress), None if total is None else float(total)
        await self._call.progress(progress, total, message)

    async def send_resource_updated(self, uri: object) -> None:
        await self._call.resource_updated(str(uri))

    async def send_resource_list_changed(self) -> None:
        await self._call.list_changed("resources")

    async def send_tool_list_changed(self) -> None:
        await self._call.list_changed("tools")

    async def send_prompt_list_changed(self) -> None:
        await self._call.list_changed("prompts")

    async def send_elicit_complete(self, elicitation_id: str, related_request_id: object = None) -> None:
        """Do nothing: a built server does not notify of it."""

    async def send_ping(self) -> object:
        """Return an empty result: the client is there while a call runs."""
        return types.EmptyResult()

    async def send_notification(self, notification: object, related_request_id: object = None) -> None:
        sent = wire(notification)
        method, params = sent["method"], sent.get("params") or {}
        if method in LIST_CHANGED:
            await self._call.list_changed(LIST_CHANGED[method])
        elif method == "notifications/message":
            await self._call.log(params["level"], params.get("data"), params.get("logger"))
        elif method == "notifications/progress":
            await self._call.progress(params["progress"], params.get("total"), params.get("message"))
        elif method == "notifications/resources/updated":
            await self._call.resource_updated(params["uri"])
        else:
            raise UnsupportedFeatureError(f"mcp.server.session.ServerSession.send_notification({method})")

    async def send_request(self, request: object, result_type: object = None, **_: object) -> object:
        raise UnsupportedFeatureError(f"mcp.server.session.ServerSession.send_request({wire(request).get('method')})")

    async def create_message(
        self, messages: list[object], *, related_request_id: object = None, **options: object
    ) -> object:
        """Let the client's model answer."""
        unknown = [name for name in options if name not in SAMPLING]
        if unknown or "max_tokens" not in options:
            problem = f"got an unexpected keyword argument {unknown[0]!r}" if unknown else "needs `max_tokens`"
            raise TypeError(f"create_message() {problem}")
        params = {"messages": wire(messages)}
        params |= {SAMPLING[name]: wire(value) for name, value in options.items() if value is not None}
        result = await request_result(self._call.sample(params))
        with_tools = "tools" in params or "toolChoice" in params
        model = types.CreateMessageResultWithTools if with_tools else types.CreateMessageResult
        return model.model_validate(result)

    async def list_roots(self) -> object:
        return types.ListRootsResult.model_validate({"roots": await request_result(self._call.list_roots())})

    async def elicit_form(
        self,
        message: str,
        requestedSchema: Object | None = None,  # noqa: N803 - its name in version 1
        related_request_id: object = None,
        *,
        requested_schema: Object | None = None,
    ) -> object:
        """Ask the user for the values of a form."""
        schema = requestedSchema if requested_schema is None else requested_schema
        return types.ElicitResult.model_validate(await request_result(self._call.elicit(message, schema or {})))

    elicit = elicit_form

    async def elicit_url(
        self, message: str, url: str, elicitation_id: str, related_request_id: object = None
    ) -> object:
        """Ask the user to open an address."""
        return types.ElicitResult.model_validate(await request_result(self._call.elicit(message, {}, url)))


ElicitSchemaModelT = TypeVar("ElicitSchemaModelT")
PRIMITIVES = (str, int, float, bool)


ElicitationResult = Union[AcceptedElicitation[ElicitSchemaModelT], DeclinedElicitation, CancelledElicitation]  # type: ignore[type-arg]  # noqa: UP007 - takes a parameter
UrlElicitationResult = AcceptedUrlElicitation | DeclinedElicitation | CancelledElicitation


def is_simple(annotation: object) -> bool:
    """Tell whether a form can ask for a value of a type."""
    if annotation is None or annotation is type(None) or annotation in PRIMITIVES:
        return True
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Union or origin is python_types.UnionType:
        return all(is_simple(argument) for argument in arguments)
    return isinstance(origin, type) and issubclass(origin, Sequence) and arguments == (str,)


def check_form(schema: Any) -> None:
    """Raise TypeError if a form cannot ask for a model's values."""
    for name, field in schema.model_fields.items():
        if not is_simple(field.annotation):
            raise TypeError(
                f"Elicitation schema field '{name}' must be a primitive type {PRIMITIVES}, "
                f"a sequence of strings (list[str], etc.), or Optional of these types. "
                f"Nested models and complex types are not allowed."
            )


async def elicit_with_validation(
    session: Any, message: str, schema: type[object], related_request_id: object = None
) -> object:
    """Ask the user for the values of a model."""
    model: Any = schema
    check_form(model)
    answer = await session.elicit_form(message, model.model_json_schema(), related_request_id)
    if answer.action == "accept" and answer.content is not None:
        return AcceptedElicitation(data=model.model_validate(answer.content))
    return refused(wire(answer))


async def elicit_url(
    session: Any, message: str, url: str, elicitation_id: str, related_request_id: object = None
) -> object:
    """Ask the user to open an address."""
    answer = await session.elicit_url(message, url, elicitation_id, related_request_id)
    return url_answer(wire(answer))
