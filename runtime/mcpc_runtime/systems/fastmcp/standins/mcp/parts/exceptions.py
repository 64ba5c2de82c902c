"""The errors of both versions of the SDK."""

from __future__ import annotations

from typing import Any

from mcpc_runtime.systems.fastmcp.engine.errors import ResourceError, ToolError
from mcpc_runtime.systems.fastmcp.interfaces import Object
from mcpc_runtime.systems.fastmcp.standins.mcp_types.definitions import selected_definitions

URL_ELICITATION_REQUIRED = -32042


class MCPDeprecationWarning(UserWarning):
    """A warning of the SDK that is shown by default."""


class CodedError(Exception):
    """An error with a code of the protocol."""

    error: Any

    @property
    def code(self) -> Any:
        """The error's code."""
        return self.error.code

    @property
    def message(self) -> Any:
        """The error's message."""
        return self.error.message

    @property
    def data(self) -> Any:
        """The error's data, or None."""
        return self.error.data


class McpError(CodedError):
    """An error that a client gets, of version 1 of the SDK."""

    def __init__(self, error: Any) -> None:
        super().__init__(error.message)
        self.error = error


class MCPError(CodedError):
    """An error that a client gets, of version 2 of the SDK."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(code, message, data)
        fields = {"code": code, "message": message, **({} if data is None else {"data": data})}
        self.error = selected_definitions().find("ErrorData")(**fields)

    @classmethod
    def from_error_data(cls, error: Any) -> MCPError:
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

    def __init__(self, elicitations: list[Any], message: str | None = None) -> None:
        text, data = url_elicitation_data(elicitations, message)
        make = selected_definitions().find("ErrorData")
        super().__init__(make(code=URL_ELICITATION_REQUIRED, message=text, data=data))
        self.elicitations = elicitations


class MCPUrlElicitationRequiredError(MCPError):
    """Asks the user to open addresses before a request can be answered, in version 2 of the SDK."""

    def __init__(self, elicitations: list[Any], message: str | None = None) -> None:
        text, data = url_elicitation_data(elicitations, message)
        super().__init__(URL_ELICITATION_REQUIRED, text, data)
        self.elicitations = elicitations


McpUrlElicitationRequiredError.__name__ = MCPUrlElicitationRequiredError.__name__ = "UrlElicitationRequiredError"


def coded_error(code: int, message: str, data: object = None) -> CodedError:
    """Return an error as the selected version of the SDK has it."""
    raised = MCPError(code, message, data)
    return raised if "MCPModel" in selected_definitions().rows else McpError(raised.error)


class UnexpectedToolError(ToolError):
    """A tool raised something else than an error of the SDK."""


class UnexpectedResourceError(ResourceError):
    """A resource raised something else than an error of the SDK."""


class ResourceSecurityError(ValueError):
    """A value in an address is not permitted."""
