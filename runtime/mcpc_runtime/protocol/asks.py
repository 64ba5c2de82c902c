"""What a call asks of its client, in both eras: as requests that are answered, or as a result that asks for more.

In the handshake era the client is sent requests of ours, and the handler waits. In the stateless one the call ends
with what it asks; the client repeats it with the answers, and it is run again from its beginning: a question that has
been answered is not asked a second time. So a key stands for one question, in either era. What was answered in
earlier rounds travels in the state that the client gives back, sealed for this principal and this request; whatever
the client claims is judged as an answer to the question that is asked now, and never before.
"""

from __future__ import annotations

from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.capabilities import PARTS_SINCE, needed, required, supports
from mcpc_runtime.protocol.capabilities import declared as capabilities_of
from mcpc_runtime.protocol.effects import Failure, Give, Ready, Say, text_outcome
from mcpc_runtime.protocol.facts import INTERNAL_ERROR, INVALID_PARAMS, MISSING_CAPABILITY
from mcpc_runtime.protocol.jsonrpc import encode, notification_line, parse, quote, refuse_value
from mcpc_runtime.protocol.purposes import purpose

try:
    from _json import make_encoder
except ImportError:  # an interpreter without the C accelerator: slower, and the same
    from mcpc_runtime.protocol.slow_json import make_encoder  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from mcpc_runtime.protocol.effects import Call, Effect, Ending
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.session_state import SessionState

    Object = dict[str, Json]
    Questions = dict[str, tuple[str, Object]]
    """By key: method and params."""

    class Seals(Protocol):
        """What signs, and what numbers."""

        def seal(self, purpose: str, payload: bytes, seconds: float) -> str:
            """Return a token."""
            ...

        def examine(self, purpose: str, token: str) -> bytes | str:
            """Return what a token carries, or why it is not taken."""
            ...

        def digest(self, data: bytes) -> str:
            """Return what stands for `data`."""
            ...

        def unique(self) -> str:
            """Return what nobody has had before."""
            ...

    from mcpc_runtime.protocol.answers import malformed, seen, unfit
    from mcpc_runtime.protocol.inquiries import complaint
    from mcpc_runtime.protocol.inquiries import shown as inquiries_shown
else:
    complaint = lazy("mcpc_runtime.protocol.inquiries:complaint")
    inquiries_shown = lazy("mcpc_runtime.protocol.inquiries:shown", "inquiries_shown")
    malformed = lazy("mcpc_runtime.protocol.answers:malformed")
    seen = lazy("mcpc_runtime.protocol.answers:seen")
    unfit = lazy("mcpc_runtime.protocol.answers:unfit")


PURPOSE = "ask"
STATE, RESPONSES = "requestState", "inputResponses"
MAY_ASK = ("tools/call", "prompts/get", "resources/read")
"""The requests that may be answered with what they ask, in the stateless era."""
STATE_SECONDS = 3600.0
MOST_STATE = 256 << 10
"""So many bytes of answers a client may be given to keep."""
MOST_QUESTIONS = 64
"""So many things may be asked at once."""
LONGEST_KEY = 256
sort_and_encode = make_encoder(None, refuse_value, quote, None, ":", ",", True, False, False)


class Answers(dict[str, "Json"]):
    """What the client has answered, by key.  `kept`: the keys of what is asked for no more, in a further round."""

    __slots__ = ("kept",)

    def __init__(self, answers: Object, kept: set[str]) -> None:
        super().__init__(answers)
        self.kept = kept


class Round:
    """What was asked of a client of the handshake era at once; `open` are the keys by the ids of our requests."""

    __slots__ = ("answers", "call", "number", "open", "prefix", "questions")

    def __init__(self, call: Call, number: int, prefix: str, questions: Questions) -> None:
        self.call = call
        self.number = number
        self.prefix = prefix
        self.questions = questions
        self.open: dict[str, str] = {}
        self.answers: Object = {}


def ask(call: Call, number: int, requests: Object, seals: Seals) -> Object | list[Effect] | Ending:
    """Return the answers or an error for the handler, or the requests to the client, or the end of the call."""
    problem = wrong(call, requests)
    if problem:
        return failed(INVALID_PARAMS, problem)
    questions: Questions = {key: (one["method"], one.get("params", {})) for key, one in requests.items()}  # type: ignore[index,union-attr,call-overload,misc]
    lacking = missing(call, questions)
    if lacking:
        return lacking
    prefix = prefix_of(call, seals)
    known = recorded(call, prefix, questions)
    if isinstance(known, Failure):
        return known
    left = {key: question for key, question in questions.items() if key not in known}
    if not left:
        return {"answers": remember(call, prefix, known)}
    remember(call, prefix, known)
    if call.request.wire.stateless:
        return input_required(call, prefix, left, seals)
    round_ = Round(call, number, prefix, left)
    round_.answers = known
    return send(round_, seals)


def wrong(call: Call, requests: Object) -> str:
    """Return what is wrong with what a handler asks, or nothing."""
    if not 0 < len(requests) <= MOST_QUESTIONS:
        return f"1 to {MOST_QUESTIONS} things can be asked at once"
    if call.request.wire.stateless and call.request.method not in MAY_ASK:
        return f"nothing can be asked of the client in {call.request.method}"
    for key, question in requests.items():
        if type(key) is not str or not 0 < len(key) <= LONGEST_KEY:
            return f"the key of a question has 1 to {LONGEST_KEY} characters"
        problem = complaint(question, call.request.wire)
        if problem:
            return f"the question `{key}` cannot be asked: {problem}"
    return ""


def missing(call: Call, questions: Questions) -> Object | None:
    """Return the error that says what the client would have to be able to do, if it is not."""
    has = capabilities_of(call.request)
    names = [needed(method, params) for method, params in questions.values()]
    lacking = [name for name in dict.fromkeys(names) if not supports(has, name)]
    if not lacking:
        return None
    words = f"The client did not declare what this needs: {', '.join(lacking)}"
    return failed(MISSING_CAPABILITY, words, {"requiredCapabilities": required(lacking)})


def failed(code: int, message: str, data: Json = None) -> Object:
    """Return what a handler is given in place of answers."""
    error: Object = {"code": code, "message": message}
    return {"error": error if data is None else {**error, "data": data}}


def root_of(call: Call) -> Call:
    """Return the client's own call, of which this may be a part: it is the one that is repeated."""
    if not call.chain:
        return call
    found: Call | None = call.request.session.running.get(call.request.identifier)
    return call if found is None else found


def prefix_of(call: Call, seals: Seals) -> str:
    """Return what the keys of a tool begin with that another one called: which, and with what arguments."""
    if not call.chain:
        return ""
    mark = seals.digest(canonical(call.arguments))[:8]
    return f"{'/'.join((*call.chain[1:], call.definition.name))}#{mark}/"


def recorded(call: Call, prefix: str, questions: Questions) -> Object | Failure:
    """Return what was answered already; an answer that does not fit is as good as none, no answer at all an error."""
    answers, found = root_of(call).answers, {}
    for key, (method, params) in questions.items():
        if f"{prefix}{key}" not in answers:
            continue
        answer = answers[f"{prefix}{key}"]
        problem = malformed(method, params, answer)
        if problem:
            words = f"Invalid params: the answer to `{prefix}{key}` is none: {problem}"
            return Failure(INVALID_PARAMS, words)
        if unfit(method, params, answer):
            forget(root_of(call), f"{prefix}{key}")
        else:
            found[key] = seen(method, params, answer)
    return found


def remember(call: Call, prefix: str, answers: Object) -> Object:
    """Note answers where the handler finds them, and where the next round does; return them."""
    root = root_of(call)
    known = {f"{prefix}{key}": answer for key, answer in answers.items()}
    root.answers.update(known)
    call.answers.update(answers)
    if isinstance(root.answers, Answers):
        root.answers.kept.update(known)
    return answers


def forget(root: Call, key: str) -> None:
    """Let an answer be asked for again."""
    del root.answers[key]
    if isinstance(root.answers, Answers):
        root.answers.kept.discard(key)


def input_required(call: Call, prefix: str, questions: Questions, seals: Seals) -> Ending:
    """Return the result that asks: what, and all that the next round needs to know."""
    root = root_of(call)
    kept = root.answers.kept if isinstance(root.answers, Answers) else root.answers.keys()
    wanted: list[Json] = [f"{prefix}{key}" for key in questions]
    answers: Object = {key: answer for key, answer in root.answers.items() if key in kept}
    payload = encode([*binding(root, seals), wanted, answers])
    if len(payload) > MOST_STATE:
        words = f"Internal error: the answers so far take {len(payload)} bytes, and {MOST_STATE} is the most"
        return Failure(INTERNAL_ERROR, words)
    asked: Object = {
        f"{prefix}{key}": {"method": method, "params": shown(call, method, params, seals)}
        for key, (method, params) in questions.items()
    }
    state = seals.seal(purpose(PURPOSE, root.request.session.image), payload, STATE_SECONDS)
    return Ready({"resultType": "input_required", "inputRequests": asked, STATE: state})


def shown(call: Call, method: str, params: Object, seals: Seals) -> Object:
    """Return a question's params as the call's revision has them."""
    made: Object = inquiries_shown(method, params, call.request.wire, seals.unique)
    has_parts = call.request.wire.version >= PARTS_SINCE
    if "includeContext" in made and has_parts and not supports(capabilities_of(call.request), "sampling.context"):
        del made["includeContext"]
    return made


def binding(root: Call, seals: Seals) -> list[Json]:
    """Return what a state is bound to: a principal, and a request with its arguments, however a client spells them."""
    params = root.request.params
    subject = [root.request.method, params.get("name"), params.get("uri"), params.get("arguments")]
    return [seals.digest(root.request.session.principal.encode("utf-8", "replace")), seals.digest(canonical(subject))]


def canonical(value: Json) -> bytes:
    """Return a value as JSON, its keys in order; of what is nested too deeply only that."""
    try:
        return "".join(sort_and_encode(value, 0)).encode("utf-8", "backslashreplace")
    except RecursionError:
        return b""


def resume(call: Call, seals: Seals) -> Failure | None:
    """Take what the client answered in earlier rounds; return why that cannot be taken."""
    params = call.request.params
    responses = params.get(RESPONSES, {})
    if type(responses) is not dict:
        return Failure(INVALID_PARAMS, f"Invalid params: `{RESPONSES}` must be an object")
    for key, answer in responses.items():
        if type(answer) is not dict:
            return Failure(INVALID_PARAMS, f"Invalid params: `{RESPONSES}` must have objects, but `{key[:64]}` is none")
    wanted: list[str] = []
    answers: Object = {}
    if STATE in params:
        opened = open_state(call, params[STATE], seals)
        if isinstance(opened, str):
            return Failure(INVALID_PARAMS, f"Invalid params: `{STATE}` is not valid: {opened}")
        wanted, answers = opened
    kept = {*answers, *(key for key in wanted if key in responses)}
    call.answers = Answers({**responses, **answers}, kept)
    return None


def open_state(call: Call, state: Json, seals: Seals) -> tuple[list[str], Object] | str:
    """Return what was asked in the last round, and the answers of those before it; or why the state is not taken."""
    if type(state) is not str or len(state) > 2 * MOST_STATE:
        return "it must be a text that this server made"
    payload = seals.examine(purpose(PURPOSE, call.request.session.image), state)
    if isinstance(payload, str):
        return payload
    words: Any = parse(payload)
    principal, subject, wanted, answers = words
    own_principal, own_subject = binding(call, seals)
    if principal != own_principal:
        return "it belongs to another client"
    if subject != own_subject:
        return "it belongs to another request"
    return wanted, answers


def send(round_: Round, seals: Seals) -> list[Effect]:
    """Return the requests to the client, all at once."""
    call, effects = round_.call, []
    session = call.request.session
    for key, (method, params) in round_.questions.items():
        identifier = f"mcpc-{seals.unique()}"
        round_.open[identifier] = key
        session.asked[identifier] = round_
        line = request_line(identifier, method, shown(call, method, params, seals))
        effects.append(Say(line, session, call.request))
    return effects  # type: ignore[return-value]


def request_line(identifier: str, method: str, params: Object) -> bytes:
    """Return a request line."""
    words = encode(identifier), encode(method), encode(params)
    return b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}\n' % words


def take_response(session: SessionState, message: Object) -> list[Effect]:
    """Take what the client answers to a request of ours; what nobody waits for is passed over."""
    identifier = message.get("id")
    round_: Round | None = session.asked.pop(identifier, None) if type(identifier) is str else None
    if round_ is None:
        return []
    key = round_.open.pop(identifier)  # type: ignore[arg-type]
    method, params = round_.questions[key]
    error = error_of(message["error"]) if "error" in message else None
    if error is None:
        answer = message["result"]
        problem = malformed(method, params, answer) or unfit(method, params, answer)
        error = failed(INVALID_PARAMS, f"the client's answer to `{key}` cannot be used: {problem}") if problem else None
        if not problem:
            round_.answers[key] = seen(method, params, answer)
    if error is not None:
        return [*close(session, round_), Give(round_.call, round_.number, error)]
    if round_.open:
        return []
    answers = remember(round_.call, round_.prefix, round_.answers)
    return [Give(round_.call, round_.number, {"answers": answers})]


def error_of(error: Json) -> Object:
    """Return the client's error as its handler is given it."""
    given: Object = error if type(error) is dict else {}
    code, message = given.get("code"), given.get("message")
    words = message if type(message) is str and message else "the client does not say why"
    return failed(
        code if type(code) is int else INTERNAL_ERROR, f"The client did not answer: {words}", given.get("data")
    )


def close(session: SessionState, round_: Round) -> list[Effect]:
    """Return what tells the client that a round's open questions need no answer any more."""
    effects: list[Effect] = []
    for identifier in round_.open:
        session.asked.pop(identifier, None)
        params: Json = {"requestId": identifier, "reason": "the answer is not needed any more"}
        effects.append(Say(notification_line("notifications/cancelled", params), session, round_.call.request))
    round_.open = {}
    return effects


def withdraw(call: Call) -> list[Effect]:
    """Return what tells the client that nobody waits for its answers to a call any more."""
    session = call.request.session
    rounds = dict.fromkeys(round_ for round_ in session.asked.values() if round_.call is call)
    return [effect for round_ in rounds for effect in close(session, round_)]


def declared(call: Call) -> Object:
    """Return what a definition asks before its handler is run, the call's arguments put in the place of their names."""
    return {
        key: {"method": method, "params": filled(parse(params), call.arguments)}
        for key, method, params in call.definition.asks
    }


def filled(value: Json, arguments: Object, name: str = "") -> Json:
    """Return a value in whose texts `{argument}` is what the call says; in an address, as a part of one."""
    if type(value) is str:
        return filled_text(value, arguments, is_address=name == "url")
    if type(value) is list:
        return [filled(item, arguments) for item in value]
    return {key: filled(item, arguments, key) for key, item in value.items()} if type(value) is dict else value


def filled_text(text: str, arguments: Object, *, is_address: bool) -> str:
    """Return a text with arguments in the place of their names: once, so that an argument names no other one."""
    head, *pieces = text.split("{")
    for piece in pieces:
        name, brace, rest = piece.partition("}")
        if not brace or not is_name(name):
            head += "{" + piece
            continue
        value = arguments.get(name, "")
        written = value if type(value) is str else encode(value).decode()
        head += (escaped(written) if is_address else written) + rest
    return head


def is_name(name: str) -> bool:
    """Tell whether this is the name of an argument, as definitions may use it."""
    word = name.translate(WORD)
    return word.isascii() and word.isalnum() and (name[0].isalpha() or name[0] == "_")


def escaped(text: str) -> str:
    """Return a text as a part of an address."""
    return "".join(
        chr(byte) if chr(byte).isascii() and (chr(byte).isalnum() or byte in UNRESERVED) else f"%{byte:02X}"
        for byte in text.encode("utf-8", "replace")
    )


WORD = {ord(mark): "0" for mark in "_.-"}
UNRESERVED = b"-._~"


def not_answered(call: Call, error: Json) -> Ending:
    """Return the end of a call whose definition asks what the client does not answer."""
    given: Object = error if type(error) is dict else {}
    code, message = given.get("code"), str(given.get("message"))
    if code == MISSING_CAPABILITY and call.request.wire.stateless and not call.chain:
        return Failure(MISSING_CAPABILITY, message, given.get("data"))
    if call.is_tool:
        return text_outcome(message, is_error=True)
    return Failure(INTERNAL_ERROR, f"Internal error: {message}")
