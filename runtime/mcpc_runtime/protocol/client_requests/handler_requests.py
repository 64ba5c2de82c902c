"""Client requests of a handler, in either era: validated, keyed, and converted for the call's revision.

Client requests that a definition declares: sent before its handler is run, with the call's arguments filled in.
"""

from __future__ import annotations

from typing import Protocol

from mcpc_runtime.protocol.capabilities import (
    CAPABILITY_DETAILS_SINCE,
    capabilities_object,
    required_capability,
    supports,
)
from mcpc_runtime.protocol.capabilities import client_capabilities as capabilities_of
from mcpc_runtime.protocol.client_requests.messages import params_for_revision, request_problem
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS, MISSING_CAPABILITY
from mcpc_runtime.protocol.effects import Call, Ending, Failure, text_outcome
from mcpc_runtime.protocol.jsonrpc import Json, encode, parse, quote, refuse_value

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
# With sorted keys, so that equal arguments have equal digests.
sort_and_encode = make_encoder(None, refuse_value, quote, None, ":", ",", True, False, False)


def checked_requests(call: Call, requests: Object) -> tuple[Questions, Object | None]:
    """Return the client requests of a handler, and the error that it receives if they cannot be sent."""
    problem = requests_problem(call, requests)
    if problem:
        return {}, error_reply(INVALID_PARAMS, problem)
    questions = parse_requests(requests)
    return questions, missing_capabilities(call, questions)


def parse_requests(requests: Object) -> Questions:
    """Return client requests that are valid (`requests_problem`)."""
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
    # Without it, two calls of one tool with other arguments would take each other's answers.
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


# As digits, so that `isalnum` accepts what else a name may have.
SEPARATORS_AS_DIGITS = {ord(separator): "0" for separator in "_.-"}
UNRESERVED = b"-._~"


def declared_requests(call: Call) -> Object:
    """Return the client requests of a definition, with the call's arguments in place of their names."""
    return {
        key: {"method": method, "params": fill_value(parse(params), call.arguments)}
        for key, method, params in call.definition.asks
    }


def fill_value(value: Json, arguments: Object, name: str = "") -> Json:
    """Return a value in whose texts `{argument}` is replaced by the argument, percent-encoded in a URL."""
    if type(value) is str:
        return fill_text(value, arguments, is_address=name == "url")
    if type(value) is list:
        return [fill_value(item, arguments) for item in value]
    return {key: fill_value(item, arguments, key) for key, item in value.items()} if type(value) is dict else value


def fill_text(text: str, arguments: Object, *, is_address: bool) -> str:
    """Return a text with arguments in place of their names; names in arguments are not replaced."""
    head, *pieces = text.split("{")
    for piece in pieces:
        name, brace, rest = piece.partition("}")
        # Braces around anything else are text.
        if not brace or not is_argument_name(name):
            head += "{" + piece
            continue
        value = arguments.get(name, "")
        argument = value if type(value) is str else encode(value).decode()
        head += (escape_uri_part(argument) if is_address else argument) + rest
    return head


def is_argument_name(name: str) -> bool:
    """Tell whether this is a valid name of an argument in a definition."""
    letters = name.translate(SEPARATORS_AS_DIGITS)
    return letters.isascii() and letters.isalnum() and (name[0].isalpha() or name[0] == "_")


def escape_uri_part(text: str) -> str:
    """Return a text percent-encoded as part of a URI."""
    return "".join(
        chr(byte) if chr(byte).isascii() and (chr(byte).isalnum() or byte in UNRESERVED) else f"%{byte:02X}"
        for byte in text.encode("utf-8", "replace")
    )


def unanswered_ending(call: Call, error: Json) -> Ending:
    """Return the end of a call whose declared client requests were not answered."""
    details: Object = error if type(error) is dict else {}
    code, message = details.get("code"), str(details.get("message"))
    if code == MISSING_CAPABILITY and call.request.wire.stateless and not call.chain:
        return Failure(MISSING_CAPABILITY, message, details.get("data"))
    if call.is_tool:
        return text_outcome(message, is_error=True)
    return Failure(INTERNAL_ERROR, f"Internal error: {message}")
