"""Client requests of a handler, in either era: validated, keyed, and converted for the call's revision."""

from __future__ import annotations

from typing import Protocol

from mcpc_runtime.protocol.capabilities import (
    CAPABILITY_DETAILS_SINCE,
    capabilities_object,
    required_capability,
    supports,
)
from mcpc_runtime.protocol.capabilities import client_capabilities as capabilities_of
from mcpc_runtime.protocol.client_requests.params import params_for_revision, request_problem
from mcpc_runtime.protocol.constants import MISSING_CAPABILITY
from mcpc_runtime.protocol.effects import Call
from mcpc_runtime.protocol.jsonrpc import Json, quote, refuse_value

Object = dict[str, Json]
Questions = dict[str, tuple[str, Object]]
"""By key: method and params."""


class StateTokens(Protocol):
    """Signs state, and generates identifiers."""

    def sign(self, purpose: str, payload: bytes, seconds: float) -> str:
        """Return a token."""
        ...

    def verify(self, purpose: str, token: str) -> bytes | str:
        """Return the payload of a token, or why it is refused."""
        ...

    def digest(self, data: bytes) -> str:
        """Return a digest of `data`."""
        ...

    def unique(self) -> str:
        """Return a new random identifier."""
        ...


try:
    from _json import make_encoder
except ImportError:  # an interpreter without the C accelerator: slower, with the same results
    from mcpc_runtime.protocol.json_fallback import make_encoder  # type: ignore[assignment]


METHODS_WITH_REQUESTS = ("tools/call", "prompts/get", "resources/read")
"""The methods whose result may contain client requests, in the stateless era."""
MAX_REQUESTS = 64
"""Maximum number of client requests at once."""
MAX_KEY_LENGTH = 256
sort_and_encode = make_encoder(None, refuse_value, quote, None, ":", ",", True, False, False)


def parse_requests(requests: Object) -> Questions:
    """Return the client requests of a handler, after validation (`requests_problem`)."""
    parsed: Questions = {}
    for key, question in requests.items():
        method, params = (question.get("method"), question.get("params", {})) if type(question) is dict else ("", {})
        if type(method) is str and type(params) is dict:
            parsed[key] = method, params
    return parsed


def requests_problem(call: Call, requests: Object) -> str:
    """Return why the client requests of a handler are invalid, or an empty string."""
    if not 0 < len(requests) <= MAX_REQUESTS:
        return f"1 to {MAX_REQUESTS} requests can be sent at once"
    if call.request.wire.stateless and call.request.method not in METHODS_WITH_REQUESTS:
        return f"requests to the client are not possible in {call.request.method}"
    for key, question in requests.items():
        if type(key) is not str or not 0 < len(key) <= MAX_KEY_LENGTH:
            return f"the key of a request must have 1 to {MAX_KEY_LENGTH} characters"
        problem = request_problem(question, call.request.wire)
        if problem:
            return f"the request `{key}` is invalid: {problem}"
    return ""


def missing_capabilities(call: Call, questions: Questions) -> Object | None:
    """Return the error that names the capabilities that the client lacks; None if it lacks none."""
    declared = capabilities_of(call.request)
    names = [required_capability(method, params) for method, params in questions.values()]
    missing = [name for name in dict.fromkeys(names) if not supports(declared, name)]
    if not missing:
        return None
    message = f"The client did not declare the required capability: {', '.join(missing)}"
    return error_reply(MISSING_CAPABILITY, message, {"requiredCapabilities": capabilities_object(missing)})


def error_reply(code: int, message: str, data: Json = None) -> Object:
    """Return the error that a handler receives instead of answers."""
    error: Object = {"code": code, "message": message}
    return {"error": error if data is None else {**error, "data": data}}


def key_prefix(call: Call, signer: StateTokens) -> str:
    """Return the prefix of the keys of a nested call: its tools, and a digest of its arguments."""
    if not call.chain:
        return ""
    arguments_digest = signer.digest(canonical_json(call.arguments))[:8]
    return f"{'/'.join((*call.chain[1:], call.definition.name))}#{arguments_digest}/"


def converted_params(call: Call, method: str, params: Object, signer: StateTokens) -> Object:
    """Return the params of a client request for the call's revision and client."""
    params_copy: Object = params_for_revision(method, params, call.request.wire, signer.unique)
    is_declarable = "includeContext" in params_copy and call.request.wire.version >= CAPABILITY_DETAILS_SINCE
    if is_declarable and not supports(capabilities_of(call.request), "sampling.context"):
        del params_copy["includeContext"]
    return params_copy


def canonical_json(value: Json) -> bytes:
    """Return a value as JSON with sorted keys; an empty string if it is nested too deeply."""
    try:
        return "".join(sort_and_encode(value, 0)).encode("utf-8", "backslashreplace")
    except RecursionError:
        return b""
