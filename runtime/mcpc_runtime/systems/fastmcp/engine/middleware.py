"""Middleware: what a project lets run around calls and lists."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from types import GenericAlias
from typing import Any, ClassVar

CallNext = Callable[["MiddlewareContext"], Awaitable[object]]


class NextCall:
    """The class that annotations give to the next function (`CallNext[Request, Result]`)."""

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)


HOOKS = {
    "tools/call": "on_call_tool",
    "resources/read": "on_read_resource",
    "prompts/get": "on_get_prompt",
    "tools/list": "on_list_tools",
    "resources/list": "on_list_resources",
    "resources/templates/list": "on_list_resource_templates",
    "prompts/list": "on_list_prompts",
}
"""The method of a middleware for each method of the protocol."""


@dataclass(kw_only=True, frozen=True)
class MiddlewareContext:
    """A message, and where it comes from."""

    message: object
    fastmcp_context: object = None
    source: str = "client"
    type: str = "request"
    method: str | None = None
    timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)

    def copy(self, **changes: Any) -> MiddlewareContext:
        """Return a copy with some attributes changed."""
        return dataclasses.replace(self, **changes)


class Middleware:
    """The base of middleware: each method calls the next one."""

    async def __call__(self, context: MiddlewareContext, call_next: CallNext) -> object:
        """Run the methods for a message: `on_message`, then `on_request`, then the one of its method."""
        chain = call_next
        if context.method in HOOKS:
            chain = partial(getattr(self, HOOKS[context.method]), call_next=chain)
        kind = self.on_request if context.type == "request" else self.on_notification
        chain = partial(kind, call_next=chain)
        return await self.on_message(context, call_next=chain)

    async def on_message(self, context: MiddlewareContext, call_next: CallNext) -> object:
        """Run around every message."""
        return await call_next(context)

    async def on_request(self, context: MiddlewareContext, call_next: CallNext) -> object:
        """Run around every request."""
        return await call_next(context)

    async def on_notification(self, context: MiddlewareContext, call_next: CallNext) -> object:
        """Run around every notification."""
        return await call_next(context)

    async def on_call_tool(self, context: MiddlewareContext, call_next: CallNext) -> object:
        """Run around a call of a tool."""
        return await call_next(context)

    async def on_read_resource(self, context: MiddlewareContext, call_next: CallNext) -> object:
        """Run around the reading of a resource."""
        return await call_next(context)

    async def on_get_prompt(self, context: MiddlewareContext, call_next: CallNext) -> object:
        """Run around a prompt."""
        return await call_next(context)

    async def on_list_tools(self, context: MiddlewareContext, call_next: CallNext) -> object:
        """Run around the list of tools."""
        return await call_next(context)

    async def on_list_resources(self, context: MiddlewareContext, call_next: CallNext) -> object:
        """Run around the list of resources."""
        return await call_next(context)

    async def on_list_resource_templates(self, context: MiddlewareContext, call_next: CallNext) -> object:
        """Run around the list of templates."""
        return await call_next(context)

    async def on_list_prompts(self, context: MiddlewareContext, call_next: CallNext) -> object:
        """Run around the list of prompts."""
        return await call_next(context)


async def run_chain(middleware: list[Any], context: MiddlewareContext, last: CallNext) -> object:
    """Run middleware around the last function, the first one outermost."""
    chain = last
    for each in reversed(middleware):
        chain = partial(each, call_next=chain)
    return await chain(context)
