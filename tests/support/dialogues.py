"""A client of a server in memory: each message gives the effects of the session, as lines that a golden file holds."""

import json
from collections.abc import Iterable
from typing import Any

from mcpc_runtime.protocol.effects import (
    Call,
    CloseStream,
    DeliverAnswer,
    Effect,
    LogToOperator,
    SendMessage,
    StartHandler,
    StartPolling,
    StopHandler,
)
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.requests import SendResponse
from mcpc_runtime.protocol.session import Session
from support.expressions import Display
from support.images import MODERN

MODERN_VERSION = MODERN["io.modelcontextprotocol/protocolVersion"]
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


class Dialogue:
    """One client, in one revision; `meta` is in each of its requests."""

    def __init__(self, image: Image, version: Any = MODERN_VERSION, capabilities: Any = None, **meta: Any) -> None:
        self.session = Session(image)
        self.meta = dict(meta)
        if version == MODERN_VERSION:
            self.meta |= {**MODERN, CAPABILITIES: capabilities or {}}
        else:
            self.session.wire = image.revision(version)
            self.session.capabilities = capabilities or {}

    def ask(self, method: str, identifier: Any = 1, **params: Any) -> Display:
        """Send a request."""
        given = {**params, **({"_meta": self.meta} if self.meta and "_meta" not in params else {})}
        return self.send({"id": identifier, "method": method, "params": given})

    def send(self, *messages: Any) -> Display:
        """Send a message, or several as a batch."""
        whole = [{"jsonrpc": "2.0", **message} if type(message) is dict else message for message in messages]
        return self.receive(json.dumps(whole[0] if len(whole) == 1 else whole).encode())

    def receive(self, line: bytes) -> Display:
        return displayed(self.session.receive(line))

    def cancel(self, identifier: Any) -> Display:
        return self.send({"method": "notifications/cancelled", "params": {"requestId": identifier}})

    def call(self, identifier: Any = 1) -> Call:
        call = self.session.running[identifier]
        assert not hasattr(call, "task")
        return call  # type: ignore[return-value]

    def end(self, ending: Any, identifier: Any = 1) -> Display:
        return displayed(self.session.finish(self.call(identifier), ending))

    def note(self, identifier: Any = 1, **values: Any) -> Display:
        """Have a running call report something."""
        return displayed(self.session.note(self.call(identifier), values))


def displayed(effects: Iterable[Effect]) -> Display:
    return Display("\n".join([f"    {effect_line(effect)}" for effect in effects]) or "    nothing")


def effect_line(effect: Effect) -> str:
    if isinstance(effect, SendResponse):
        about = "" if effect.request is None else f" for {json.dumps(effect.request.identifier)}"
        kind = "message" if isinstance(effect, SendMessage) else f"error {effect.code}" if effect.code else "reply"
        assert effect.data.endswith(b"\n")
        return f"{kind}{about}: {effect.data[:-1].decode()}"
    if isinstance(effect, (StartHandler, StopHandler)):
        call = effect.call
        return f"{type(effect).__name__} {call.kind} {call.name} {json.dumps(call.arguments)}"
    if isinstance(effect, DeliverAnswer):
        return f"DeliverAnswer {effect.reply} to {effect.call.name}: {json.dumps(effect.value)}"
    if isinstance(effect, LogToOperator):
        return f"LogToOperator {effect.text!r}"
    assert isinstance(effect, (StartPolling, CloseStream)), effect
    return type(effect).__name__
