"""The context of a call, as FastMCP has it; messages for the client's model."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from contextvars import Token
from dataclasses import dataclass, field
from typing import Any

from mcpc_runtime.systems.fastmcp.engine import elicitation, mounts
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.contents import (
    block_of,
    is_content,
    json_value,
    text_block,
    typed,
    typed_block,
    wire,
)
from mcpc_runtime.systems.fastmcp.engine.context import BaseContext, current, request_result
from mcpc_runtime.systems.fastmcp.engine.listing import deduplicated, entry_of
from mcpc_runtime.systems.fastmcp.engine.server import UnsupportedFeatureError
from mcpc_runtime.systems.fastmcp.interfaces import Call, Object
from mcpc_runtime.systems.fastmcp.program import LIST_OF

TOKENS = 512
LACKING = ("tools", "result_type", "tool_choice", "execute_tools")
"""Options of a loop of answers and calls, which the adapter does not have."""


@dataclass
class SamplingResult:
    """The model's answer."""

    text: str | None = None
    result: object = None
    history: list[object] = field(default_factory=list)


def messages_of(messages: object) -> list[Object]:
    """Return messages on the wire: text is the user's."""
    if isinstance(messages, str) or not isinstance(messages, (list, tuple)):
        messages = [messages]
    return [message_of(each) for each in messages]


def message_of(message: object) -> Object:
    if isinstance(message, str):
        return {"role": "user", "content": text_block(message)}
    if is_content(message):
        return {"role": "user", "content": block_of(message)}
    found: Object = wire(message)
    return found


def preferences_of(given: Any) -> Any:
    """Return the preferences of a model: a name, names, or the SDK's object."""
    if given is None or hasattr(given, "model_dump") or isinstance(given, dict):
        return wire(given)
    names = [given] if isinstance(given, str) else given
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"model_preferences must be one of: ModelPreferences, str, list[str], or None. Got: {given!r}")
    return {"hints": [{"name": name} for name in names]}


async def sample(context: BaseContext, messages: object, options: Object) -> SamplingResult:
    """Send messages to the client's model."""
    for name in LACKING:
        if options.get(name) not in (None, str):
            raise UnsupportedFeatureError(f"fastmcp.Context.sample({name})")
    history = messages_of(messages)
    params: Object = {
        "messages": list(history),
        "systemPrompt": options.get("system_prompt"),
        "temperature": options.get("temperature"),
        "maxTokens": options.get("max_tokens") or TOKENS,
        "modelPreferences": preferences_of(options.get("model_preferences")),
    }
    sent = {key: value for key, value in params.items() if value is not None}
    found = await request_result(context.mcpc_call.sample(sent))
    response = wire(typed("CreateMessageResult", found))
    blocks = response["content"] if isinstance(response["content"], list) else [response["content"]]
    text = next((each["text"] for each in blocks if each["type"] == "text"), None)
    messages = [*history, {"role": "assistant", "content": found["content"]}]
    return SamplingResult(text, text or "", [typed("SamplingMessage", each) for each in messages])


def old_result(result: SamplingResult) -> object:
    """Return the content block that older versions return."""
    return typed_block(text_block(result.text or ""))


log = logging.getLogger("fastmcp.server.context.to_client")
LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL,
    "emergency": logging.CRITICAL,
}
NOT_SERIALIZABLE = (
    "Value for state key {key!r} is not serializable. Use set_state({key!r}, value, serializable=False) to store "
    "non-serializable values. Note: non-serializable state is request-scoped and will not persist across requests."
)
RULES = "_visibility_rules"
"""The key of what is shown and hidden in a session's state."""
MOST_RULES = 1000
"""How many rules of a session are kept: the latest ones."""
CHANGED = ("tools", "resources", "prompts")
MAX_SESSIONS = 10_000
"""The state of so many sessions is kept; those that were used least recently are dropped first."""
_sessions: dict[str, Object] = {}
"""The state of each session."""


Extra = Mapping[str, object] | None
"""More that a message of the log says."""


class Context(BaseContext):
    """The context of a call.  Projects get it as a parameter, or make one around code outside of a call."""

    def __init__(
        self,
        fastmcp: object = None,
        call: Call | None = None,
        parent: BaseContext | None = None,
        session: object = None,
        **_: object,
    ) -> None:
        super().__init__(fastmcp, call, parent)
        self._own_session = session
        self._tokens: list[Token[BaseContext | None]] = []
        if isinstance(parent, Context) and behaviour().state_is_asynchronous:
            # The same object: what a mounted server keeps is seen in the whole call.
            self._state = parent._state

    async def __aenter__(self) -> Context:
        outer = current.get()
        if outer is not None and self._call is None:
            self._call, self._root = outer._call, outer._root
        self._tokens.append(current.set(self))
        return self

    async def __aexit__(self, *_: object) -> None:
        current.reset(self._tokens.pop())

    @property
    def transport(self) -> str | None:
        """How the client is connected, None outside of a call."""
        if self._call is None:
            return None
        return "stdio" if self.mcpc_call.transport == "stdio" else "streamable-http"

    @property
    def request_context(self) -> Any:
        """The request as the SDK describes it, None outside of one."""
        return None if self._call is None else super().request_context

    @property
    def lifespan_context(self) -> Any:
        own = getattr(self._server, "mcpc_lifespan_result", None)
        return own if own is not None else self.mcpc_lifespan_context

    async def log(
        self,
        message: str,
        level: str | None = None,
        logger_name: str | None = None,
        extra: Extra = None,
    ) -> None:
        found = level or "info"
        name = f" ({logger_name})" if logger_name else ""
        log.log(LEVELS[found], "Sending %s to client%s: %s", found.upper(), name, message)
        data: object = {"msg": message, "extra": extra} if behaviour().structured_logs else message
        await self.mcpc_log(found, data, logger_name)

    async def debug(self, message: str, logger_name: str | None = None, extra: Extra = None) -> None:
        """Send a message of level `debug`."""
        await self.log(message, "debug", logger_name, extra)

    async def info(self, message: str, logger_name: str | None = None, extra: Extra = None) -> None:
        await self.log(message, "info", logger_name, extra)

    async def warning(self, message: str, logger_name: str | None = None, extra: Extra = None) -> None:
        await self.log(message, "warning", logger_name, extra)

    async def error(self, message: str, logger_name: str | None = None, extra: Extra = None) -> None:
        await self.log(message, "error", logger_name, extra)

    async def read_resource(self, uri: object) -> object:
        """Return what a resource of the server contains: a result, or its parts in FastMCP 2."""
        result = await self.fastmcp.read_resource(str(uri))
        return result if behaviour().state_is_asynchronous else result.contents

    async def get_prompt(self, name: str, arguments: Object | None = None) -> object:
        result = await self.fastmcp.render_prompt(name, arguments)
        return typed("GetPromptResult", result.to_wire())

    async def list_resources(self) -> list[object]:
        """Return the server's resources as clients see them."""
        return [typed("Resource", entry_of(each)) for each in deduplicated(await self.fastmcp.mcpc_listed("resource"))]

    async def list_prompts(self) -> list[object]:
        """Return the server's prompts as clients see them."""
        return [typed("Prompt", entry_of(each)) for each in deduplicated(await self.fastmcp.mcpc_listed("prompt"))]

    async def elicit(
        self,
        message: str,
        response_type: object = None,
        *,
        schema: object = None,
        response_title: str | None = None,
        response_description: str | None = None,
    ) -> object:
        kind = response_type if response_type is not None else schema
        if kind is None and not behaviour().asks_for_nothing:
            raise TypeError(
                "ctx.elicit() requires a response_type. Pass a type describing the data you expect back — use `bool` "
                "for a confirmation."
            )
        wanted = elicitation.question(kind, response_title, response_description)
        return elicitation.answer_of(wanted, await self.mcpc_elicit(message, wanted.schema))

    async def sample(self, messages: object, system_prompt: str | None = None, *_: object, **options: object) -> object:
        """Let the client's model answer."""
        given = {"system_prompt": system_prompt, **options}
        result = await sample(self, messages, given)
        return result if behaviour().sampling_results else old_result(result)

    async def list_roots(self) -> list[object]:
        return [typed("Root", each) for each in await request_result(self.mcpc_call.list_roots())]

    async def send_notification(self, notification: object) -> None:
        await self.session.send_notification(notification)

    async def send_tool_list_changed(self) -> None:
        await self.notify_tools_changed()

    async def send_resource_list_changed(self) -> None:
        """Notify clients that the list of resources has changed."""
        await self.notify_resources_changed()

    async def send_prompt_list_changed(self) -> None:
        await self.notify_prompts_changed()

    def set_state(self, key: str, value: object, *, serializable: bool = True) -> object:
        """Keep a value: for the session if it can be JSON, else for the call; for the call in FastMCP 2."""
        if not behaviour().state_is_asynchronous:
            self._state[key] = value
            return None
        return self._keep(key, value, serializable)

    async def _keep(self, key: str, value: object, serializable: bool) -> None:
        if not serializable:
            self._state[key] = value
            return
        # A value of the call would hide that of the session.
        self._state.pop(key, None)
        try:
            self._session_state()[key] = json_value(value)
        except ValueError as problem:
            raise TypeError(NOT_SERIALIZABLE.format(key=key)) from problem

    def get_state(self, key: str) -> object:
        return self._kept(key) if behaviour().state_is_asynchronous else self._state.get(key)

    async def _kept(self, key: str) -> object:
        return self._state[key] if key in self._state else self._session_state().get(key)

    async def delete_state(self, key: str) -> None:
        self._state.pop(key, None)
        self._session_state().pop(key, None)

    def _session_state(self) -> Object:
        given = self._own_session if self._call is None else None
        return session_state(self.session_id if given is None else f"object {id(given)}")

    async def enable_components(self, **rule: object) -> None:
        await self._mark(rule, shown=True)

    async def disable_components(self, **rule: object) -> None:
        await self._mark(rule, shown=False)

    async def reset_visibility(self) -> None:
        """Show the session what the server shows."""
        self._session_state().pop(RULES, None)
        await self._tell_of(None)

    async def _mark(self, rule: Object, *, shown: bool) -> None:
        rules = self._session_state().setdefault(RULES, [])
        rules += mounts.visibility_rules(shown, rule)
        del rules[:-MOST_RULES]
        await self._tell_of(rule.get("components"))

    async def _tell_of(self, kinds: Iterable[str] | None) -> None:
        named = CHANGED if kinds is None else {LIST_OF[mounts.KIND_OF.get(each, each)] for each in kinds}
        for kind in CHANGED:
            if kind in named:
                await self.mcpc_call.list_changed(kind)


def session_state(session: str) -> Object:
    found = _sessions.pop(session, {})
    # At the end: the first one is that which was used least recently.
    _sessions[session] = found
    if len(_sessions) > MAX_SESSIONS:
        del _sessions[next(iter(_sessions))]
    return found


def session_rules(context: BaseContext | None) -> list[mounts.Visibility]:
    """Return what the session of a call shows and hides."""
    if context is None or context._call is None:
        return []
    rules: list[mounts.Visibility] = _sessions.get(context.session_id, {}).get(RULES, [])
    return rules
