"""Answers as results of tools: JSON as structured content, media as blocks, errors that a model can act on."""

from __future__ import annotations

import re
from html import unescape

from mcpc_runtime.handlers.http.exchange import EVENTS, LINES
from mcpc_runtime.handlers.http.paging import projected
from mcpc_runtime.handlers.http.parameters import Row
from mcpc_runtime.handlers.http.request import OutgoingRequest
from mcpc_runtime.handlers.http.secrets import SecretTexts
from mcpc_runtime.handlers.http.wire import HttpAnswer
from mcpc_runtime.protocol.contents import base64_of
from mcpc_runtime.protocol.effects import Outcome, text
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, encode, parse
from mcpc_runtime.protocol.media import is_text, is_textual

EMPTY = (204, 205)
MAX_ERROR_TEXT, MAX_HTML_TEXT = 4096, 500
TAG = re.compile(r"(<[^<>]*>)")
LINE_END = re.compile(r"\r\n|\r|\n")
"""What ends a line of a stream; JSON may have others of Unicode within a text."""
SPACE = re.compile(r"\s+")
CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([^\s;\"']+)", re.IGNORECASE)


def outcome_of(request: OutgoingRequest, answer: HttpAnswer, secrets: SecretTexts, fields: Row) -> Outcome:
    """Return the result of a tool; `fields`: what is kept of JSON, all if it is empty."""
    if not 200 <= answer.status < 300:
        return Outcome([text(secrets.hide(error_text(request, answer)))], is_error=True)
    if answer.status in EMPTY or not answer.body or request.method == "HEAD":
        return Outcome([text(secrets.hide(done_text(request, answer)))])
    kind = answer.media
    if kind in LINES or (is_textual(kind) and (kind or is_text(answer.body))):
        return text_outcome(kind, text_of_body(answer), secrets, fields)
    data = base64_of(answer.body)
    if kind.startswith(("image/", "audio/")):
        return Outcome([{"type": kind.partition("/")[0], "data": data, "mimeType": kind}])
    uri = secrets.hide(f"{request.origin}{request.path}")
    resource: Json = {"uri": uri, "mimeType": kind or "application/octet-stream", "blob": data}
    return Outcome([{"type": "resource", "resource": resource}])


def text_outcome(kind: str, body: str, secrets: SecretTexts, fields: Row) -> Outcome:
    """Return the result of an answer that is text."""
    if kind == EVENTS or kind in LINES:
        return value_outcome(events_of(kind, body), secrets, fields)
    if is_json(kind) or (not kind and body.lstrip()[:1] in ("{", "[")):
        try:
            return value_outcome(parse(body.encode()), secrets, fields)
        except ParseError as problem:
            body += f"\n(this is not JSON, though the server says so: {problem})"
    return Outcome([text(secrets.hide(body))])


def value_outcome(value: Json, secrets: SecretTexts, fields: Row) -> Outcome:
    """Return a value as structured content and as text, without secrets."""
    value = projected(value, fields) if fields else value
    written = encode(value).decode()
    clean = secrets.hide(written)
    return Outcome([text(clean)], value if clean == written else parse(clean.encode()))


def is_json(kind: str) -> bool:
    """Tell whether content of a media type is JSON."""
    return kind == "application/json" or kind == "text/json" or kind.endswith("+json")


def text_of_body(answer: HttpAnswer) -> str:
    """Return the body as text, in the charset that the answer names."""
    charset = CHARSET.search(answer.header("content-type"))
    try:
        return str(answer.body, charset[1] if charset else "utf-8", "replace")
    except (LookupError, ValueError):
        return str(answer.body, "utf-8", "replace")


def events_of(kind: str, body: str) -> list[Json]:
    """Return the data of the events of a stream, or its lines; JSON where it is JSON."""
    if kind != EVENTS:
        # A record separator begins each text of `application/json-seq` (RFC 7464).
        return [value_of(line) for line in LINE_END.split(body.replace("\x1e", "\n")) if line.strip()]
    events = []
    for block in re.split(r"\r\n\r\n|\n\n|\r\r", body):
        lines = [line[5:].removeprefix(" ") for line in LINE_END.split(block) if line.startswith("data:")]
        # With this event some APIs end a stream; it has no data.
        if lines and lines != ["[DONE]"]:
            events.append(value_of("\n".join(lines)))
    return events


def value_of(line: str) -> Json:
    """Return the JSON value of a text, or the text."""
    try:
        return parse(line.encode("utf-8", "surrogatepass"))
    except ParseError:
        return line


def summary(request: OutgoingRequest, answer: HttpAnswer) -> str:
    """Return a request and the status of its answer in one line."""
    return f"{request.method} {request.path} → {answer.status} {answer.reason}".rstrip()


def done_text(request: OutgoingRequest, answer: HttpAnswer) -> str:
    """Return the text for an answer without a body."""
    if request.method == "HEAD":
        names = ("Content-Type", "Content-Length", "ETag", "Last-Modified")
        rows = [f"{name}: {value}" for name in names if (value := answer.header(name.lower()))]
        return "\n".join([summary(request, answer), *rows])
    place = answer.header("location")
    return f"done ({answer.status})" + (f", see {place}" if place else "")


def error_text(request: OutgoingRequest, answer: HttpAnswer) -> str:
    """Return what a model needs to correct a call: the status, when to come back, and what the server says."""
    lines = [summary(request, answer)]
    if answer.header("retry-after"):
        wait = answer.header("retry-after").strip()
        lines.append(f"The server asks to come back after {wait}" + (" s" if wait.isdigit() else ""))
    if 300 <= answer.status < 400 and answer.header("location"):
        lines.append(f"It redirects to {answer.header('location')}, which is not followed")
    body = said_in_error(answer)
    if body:
        lines.append(body)
    names = [f"`{name}` is the argument `{key}`" for name, key in request.renamed.items() if name in body]
    return "\n".join([*lines, *(["; ".join(names)] if names else [])])


def said_in_error(answer: HttpAnswer) -> str:
    """Return the body of an error: JSON and texts to 4 kB, of HTML the words to 500 characters."""
    kind = answer.media
    if not answer.body or not is_textual(kind) or (not kind and not is_text(answer.body)):
        return f"({len(answer.body):,} bytes of {kind})" if answer.body and kind else ""
    body = text_of_body(answer)
    if kind in ("text/html", "application/xhtml+xml"):
        return words_of_html(body)[:MAX_HTML_TEXT]
    if is_json(kind):
        try:
            body = problem_text(parse(body.encode()))
        except ParseError:
            return shortened(body)
    return shortened(body.strip())


def shortened(body: str) -> str:
    """Return the beginning of a text."""
    return body if len(body) <= MAX_ERROR_TEXT else f"{body[:MAX_ERROR_TEXT]} […]"


def problem_text(value: Json) -> str:
    """Return a problem of RFC 9457 as text, any other value as JSON."""
    if type(value) is not dict or type(value.get("title")) is not str or "detail" not in value:
        return encode(value).decode()
    rest = {key: item for key, item in value.items() if key not in ("type", "title", "detail", "status", "instance")}
    problem = f"{value['title']}: {value['detail']}"
    return f"{problem}\n{encode(rest).decode()}" if rest else problem


def words_of_html(page: str) -> str:
    """Return the words of a page, without scripts and styles."""
    words, hidden = [], ""
    # The words that are shown are at the beginning.
    for piece in TAG.split(page[: 1 << 16]):
        tag = piece[1:-1].split(None, 1)[0].lower() if piece[:1] == "<" and piece[1:-1].strip() else ""
        if hidden:
            hidden = "" if tag == f"/{hidden}" else hidden
        elif tag in ("script", "style", "head"):
            hidden = tag
        elif not tag:
            words.append(piece)
    return SPACE.sub(" ", unescape(" ".join(words))).strip()
