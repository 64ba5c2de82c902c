"""Where a cursor is in JSON that may be unfinished: the path to it, and what is expected there.

Tokens are read to the cursor and no further than the end of the object around it; mistakes are passed over.
"""

from __future__ import annotations

import json
import re

from mcpc.workbench.language_server.cursor import Cursor, OpenValue

TOKEN = re.compile(r'"(?:[^"\\\r\n]|\\.)*"?|[\[\]{},:]|[^\s\[\]{},:"]+')
MAX_KEYS = 1_000
"""At most so many keys behind the cursor are looked at."""


def cursor_at(text: str, offset: int) -> Cursor:
    """Return where a cursor is."""
    open_values: list[OpenValue] = []
    start = end = offset
    for token in TOKEN.finditer(text):
        if token.start() >= offset or (token.end() >= offset and _is_at(token[0])):
            if token.start() < offset or (token.start() == offset and token[0][0] == '"'):
                start, end = token.span()
            break
        _pass(open_values, token[0])
    return _cursor(text, (start, end), open_values)


def _is_at(token: str) -> bool:
    return token[0] not in "[]{},:"


def _cursor(text: str, span: tuple[int, int], open_values: list[OpenValue]) -> Cursor:
    holder = open_values[-1] if open_values else None
    is_key = holder is not None and not holder.is_array and not holder.has_colon
    above = open_values[:-1] if is_key else open_values
    path, beside = tuple(each.step for each in above), tuple(each.scalars for each in above)
    behind = keys_behind(text, span[1]) if holder is not None and not holder.is_array else []
    keys = (*(holder.keys if holder is not None else ()), *behind)
    has_colon = text[span[1] :].lstrip()[:1] == ":"
    return Cursor(path, is_key, *span, tuple(keys), has_colon, beside=beside)


def _pass(open_values: list[OpenValue], token: str) -> None:
    """Take over a token before the cursor."""
    holder = open_values[-1] if open_values else None
    first = token[0]
    if first in "[{":
        open_values.append(OpenValue(first == "["))
    elif first in "]}":
        if holder is not None:
            open_values.pop()
    elif holder is None:
        return
    elif first == ",":
        holder.index += 1
        holder.key, holder.has_colon = None, False
    elif first == ":":
        holder.has_colon = True
    elif not holder.is_array and first == '"':
        _pass_text(holder, string_of(token))


def _pass_text(holder: OpenValue, text: str) -> None:
    """Take over a text in an object, which is a key or a value."""
    if holder.has_colon:
        holder.scalars[holder.key or ""] = text
    else:
        holder.key = text
        holder.keys.append(text)


def keys_behind(text: str, place: int) -> list[str]:
    """Return the keys of the same object behind a place."""
    found: list[str] = []
    depth, last = 0, ""
    for count, token in enumerate(TOKEN.finditer(text, place)):
        first = token[0][0]
        depth += (first in "[{") - (first in "]}")
        if depth < 0 or count > MAX_KEYS:
            break
        if depth == 0 and first == ":" and last:
            found.append(string_of(last))
        last = token[0] if first not in "[]{},:" and depth == 0 else ""
    return found


def string_of(token: str) -> str:
    """Return the text of a string token, also of one that is not closed."""
    try:
        return str(json.loads(token if len(token) > 1 and token.endswith('"') else f'{token}"'))
    except ValueError:
        return token.strip('"')
