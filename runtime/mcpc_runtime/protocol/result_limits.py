"""Results of tools that are longer than a model should read: they are cut and say so; the whole is kept if it can be.

Text is cut at the end of a line, structured content loses items and ends of texts, as far as the output schema lets it.
What cannot be cut becomes an error that names the limit.  Images and audio are not text, and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mcpc_runtime.protocol.definitions import Definition
from mcpc_runtime.protocol.effects import ABSENT, Outcome, text
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, encode, parse
from mcpc_runtime.protocol.kept_results import KeptResult, KeptResults, result_uri
from mcpc_runtime.protocol.requests import Request

MARK_ROOM = 256
"""The bytes of what says that something was cut."""
DEPTH = 4
"""How deep in structured content something is cut."""
MARK = "[… {shown:,} of {whole:,} bytes shown; {advice} …]"
CANNOT_BE_CUT = "The result has {whole:,} bytes of structured content, which cannot be cut to {limit:,}; {advice}"
ASK_FOR_LESS = "ask for less, or for a part"


def limited_answer(request: Request, tool: Definition, answer: bytes) -> bytes:
    """Return a static result within the limit of its tool."""
    result = parse(answer)
    content = result.get("content") if type(result) is dict else None
    outcome = Outcome(content if type(content) is list else [])
    cut = limited(request, tool, outcome)
    return answer if cut is outcome else request.wire.seal({"content": cut.content}, {})


def limited(request: Request, tool: Definition, outcome: Outcome) -> Outcome:
    """Return an outcome whose text and whose structured content, each, have no more bytes than the tool's limit."""
    limit, structured = tool.result_limit, outcome.structured
    is_shown = structured is not ABSENT and request.wire.shows_structured(structured)
    encoded = encode(structured) if is_shown else b""  # type: ignore[arg-type]
    whole = text_size(outcome.content)
    if whole <= limit and len(encoded) <= limit:
        return outcome
    cut = Outcome(outcome.content, structured, outcome.is_error)
    cut.meta, cut.log = outcome.meta, outcome.log
    is_mirrored = is_shown and mirrors(outcome.content, structured)
    if is_mirrored and len(encoded) <= limit:  # in compact form nothing is lost
        cut.content = [text(encoded.decode())]
        return cut
    is_kept = len(encoded) > limit and not wraps(structured, outcome.content)
    link = keep_whole(request, tool, [] if is_mirrored else outcome.content, encoded if is_kept else b"")
    advice = f"the whole is the resource {link[0]['uri']}" if link else ASK_FOR_LESS
    if len(encoded) > limit:
        cut.structured = part = shortened(structured, limit - MARK_ROOM, DEPTH)  # type: ignore[arg-type]
        is_checked = tool.output is not None and not outcome.is_error
        if len(encode(part)) > limit or (is_checked and tool.output and not tool.output.accepts(part)):
            message = CANNOT_BE_CUT.format(whole=len(encoded), limit=limit, advice=advice)
            return Outcome([text(message), *link], is_error=True)
        if is_mirrored:
            cut.content = [text(encode(part).decode())]
    if whole > limit and not is_mirrored:
        cut.content = fewer_items_of_text(outcome.content, structured, limit) or cut_content(
            outcome.content, limit - MARK_ROOM
        )
    visible_size = text_size(cut.content)
    # The texts were short enough; what is cut is the structured content, so its sizes are named.
    if visible_size == whole:
        visible_size, whole = len(encode(cut.structured)), len(encoded)  # type: ignore[arg-type]
    cut.content = [*marked(cut.content, MARK.format(shown=visible_size, whole=whole, advice=advice)), *link]
    return cut


def fewer_items_of_text(content: list[Json], structured: object, limit: int) -> list[Json]:
    """Return content that is the JSON of structured content which a client is not shown, cut between items.

    An empty list if it is anything else, or cannot be cut so.
    """
    if structured is ABSENT or not mirrors(content[:1], structured):
        return []
    part = encode(shortened(structured, limit - MARK_ROOM, DEPTH))  # type: ignore[arg-type]
    return [text(part.decode()), *content[1:]] if len(part) <= limit else []


def texts(content: list[Json]) -> Iterator[tuple[int, str]]:
    """Yield the texts of content, each with the number of its block: of text blocks and of embedded resources."""
    for number, block in enumerate(content):
        place = block.get("resource", block) if type(block) is dict else None
        string = place.get("text") if type(place) is dict else None
        if type(string) is str:
            yield number, string


def text_size(content: list[Json]) -> int:
    """Return the bytes of all texts of content."""
    return sum(len(utf8(string)) for _, string in texts(content))


def utf8(string: str) -> bytes:
    """Return a text in UTF-8; a lone surrogate has three bytes."""
    return string.encode("utf-8", "surrogatepass")


def with_text(block: Json, string: str) -> Json:
    """Return a block with another text."""
    inner = block.get("resource") if type(block) is dict else None
    changed: dict[str, Json] = {"resource": {**inner, "text": string}} if type(inner) is dict else {"text": string}
    return {**block, **changed} if type(block) is dict else block


def mirrors(content: list[Json], structured: object) -> bool:
    """Tell whether the content is one text that has the structured content as JSON."""
    strings = [string for _, string in texts(content)]
    try:
        return len(content) == len(strings) == 1 and parse(utf8(strings[0])) == structured
    except ParseError:
        return False


def wraps(structured: object, content: list[Json]) -> bool:
    """Tell whether structured content has one member, which is the only text of the content."""
    strings: list[Json] = [string for _, string in texts(content)]
    return type(structured) is dict and len(strings) == 1 and [*structured.values()] == strings


def cut_content(content: list[Json], room: int) -> list[Json]:
    """Return content whose texts have no more bytes than there is room for: one is cut, and the next are left out."""
    strings, cut = dict(texts(content)), []
    for number, block in enumerate(content):
        string = strings.get(number)
        if string is None:
            cut.append(block)
        elif room > 0:
            part = cut_text(string, room)
            room = room - len(utf8(part)) if part == string else 0
            cut.append(with_text(block, part))
    return cut


def marked(content: list[Json], line: str) -> list[Json]:
    """Return content with a last line: of its last text, or as a text if it has none."""
    strings = dict(texts(content))
    if not strings:
        return [*content, text(line)]
    number = max(strings)
    before = strings[number].removesuffix("\n")
    block = with_text(content[number], f"{before}\n{line}" if before else line)
    return [*content[:number], block, *content[number + 1 :]]


def cut_text(string: str, room: int) -> str:
    """Return the beginning of a text: whole lines if they fill at least half of the room, else whole characters."""
    data = utf8(string)
    if len(data) <= room:
        return string
    end = room
    # Back to the first byte of a character of UTF-8.
    while data[end] & 0xC0 == 0x80:
        end -= 1
    line_end = data.rfind(b"\n", 0, end) + 1
    return data[: line_end if line_end > end // 2 else end].decode("utf-8", "surrogatepass")


def shortened(value: Json, room: int, depth: int) -> Json:
    """Return a JSON value that has no more bytes than there is room for, or as few as cutting it makes them."""
    shorten = SHORTEN.get(type(value)) if depth and len(encode(value)) > room else None
    return value if shorten is None else shorten(value, room, depth)


def fewer_items(value: list[Json], room: int, _: int) -> Json:
    """Return the first items of a list."""
    # Each item adds its text and one byte, a comma or the closing bracket.
    size = len("[]") - 1
    for number, item in enumerate(value):
        size += len(encode(item)) + 1
        if size > room:
            return value[:number]
    return value


def less_text(value: str, room: int, _: int) -> Json:
    """Return the beginning of a text, with a line that tells it; the text itself if there is no room for that line."""
    whole, left = len(utf8(value)), room
    while left > 0:
        part = cut_text(value, left).removesuffix("\n")
        part = f"{part}\n[… {len(utf8(part)):,} of {whole:,} bytes shown …]"
        size = len(encode(part))  # escapes take more bytes
        if size <= room:
            return part
        # Smaller each time, because the size is greater than the room here.
        left = left * room // size
    return value


def smaller_members(value: dict[str, Json], room: int, depth: int) -> Json:
    """Return an object whose largest members are cut, as many as are needed."""
    sizes = {key: len(encode(member)) for key, member in value.items()}
    excess, smaller = len(encode(value)) - room, dict(value)
    for key in sorted(sizes, key=sizes.__getitem__, reverse=True):
        if excess > 0:
            smaller[key] = shortened(value[key], sizes[key] - excess, depth - 1)
            excess -= sizes[key] - len(encode(smaller[key]))
    return smaller


SHORTEN: dict[object, Callable[[Any, int, int], Json]] = {dict: smaller_members, list: fewer_items, str: less_text}
"""How a value of each type is cut."""


def keep_whole(request: Request, tool: Definition, content: list[Json], structured: bytes) -> list[dict[str, Json]]:
    """Keep the whole of what is cut for the conversation; return the link to it, an empty list if it cannot be read.

    Content without texts and no structured content stand for what is not cut.
    """
    session, wire = request.session, request.wire
    can_read = "resource_link" in wire.content and "resources/read" in wire.methods
    if session.conversation is None or not can_read:
        return []
    parts = [("text/plain", string) for _, string in texts(content)]
    parts += [("application/json", structured.decode())] if structured else []
    uri = result_uri(encode([string for _, string in parts]))
    contents = encode([{"uri": uri, "mimeType": kind, "text": string} for kind, string in parts])
    if session.image.kept_results is None:
        session.image.kept_results = KeptResults(session.image.kept_bytes)
    account = None if session.image.account is None else session.image.account(session.principal)
    result = KeptResult(contents, session.principal, account)
    if not session.image.kept_results.keep(session.conversation, uri, result):
        return []
    size = sum(len(utf8(string)) for _, string in parts)
    link: dict[str, Json] = {"uri": uri, "name": f"result of {tool.name}", "mimeType": parts[0][0], "size": size}
    return [{"type": "resource_link", **link}]
