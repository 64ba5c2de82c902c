"""Operations that are not listed: found by words, described, and called through a tool that says whether it only reads.

    {"rows": ((name, summary, tags, whether it only reads), …), "words": {word: scores}, "entries": {name: its tool}}

is in an entry of its own that no start reads. `scores` are pairs of the number of a row and a score by BM25, which was
computed at build. A row is offered to whom its tool is: by `--tools` and the like, and by the tools of a token.
"""

from __future__ import annotations

import marshal
import re
from difflib import get_close_matches
from struct import Struct
from typing import Any

from mcpc_runtime.protocol.definitions import Definition
from mcpc_runtime.protocol.effects import Outcome, SessionState, text
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json, encode, parse

ENTRY = "mcpc_app/operations"
SEARCH, READ, CHANGE = "search_operations", "read_operation", "change_operation"
DESCRIBE = "describe_operation"
SCORE = Struct("<IH")
# Between a small letter or digit and a capital: `getUser` has two words.
NEW_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
WORD = re.compile(r"[^\W_]+")
USUAL, MAX_TAGS, SHORT = 10, 100, 3
Row = tuple[str, str, tuple[str, ...], bool]


def words_of(string: str) -> list[str]:
    """Return the words of a text or a name: lower case, without the `s` of a plural."""
    words = WORD.findall(NEW_WORD.sub(" ", string).lower())
    return [word[:-1] if len(word) > SHORT and word[-1] == "s" and word[-2] != "s" else word for word in words]


class Operations:
    """The operations of a server, without the descriptions, which are read for each request."""

    __slots__ = ("_image", "_words", "by_name")

    def __init__(self, image: Image) -> None:
        content = marshal.loads(image.entry(ENTRY))
        self._image = image
        self._words: dict[str, bytes] = content["words"]
        self.by_name: dict[str, Row] = {row[0]: row for row in content["rows"]}

    def entries(self) -> dict[str, bytes]:
        """Return the tool of each operation as a list would have it; nothing is kept of them."""
        entries: dict[str, bytes] = marshal.loads(self._image.entry(ENTRY))["entries"]
        return entries

    def offered(self, session: SessionState) -> list[Row]:
        """Return the operations that may be called in a session."""
        choice, allows = self._image.choice, session.allows
        rows = [row for row in self.by_name.values() if choice is None or row[0] in choice.names]
        return rows if allows is None else [row for row in rows if allows(row[0])]

    def scores(self, query: str) -> dict[str, int]:
        """Return the score of each operation that has words of a query, or words with these in them."""
        names = [*self.by_name]
        scores: dict[str, int] = {}
        for word in dict.fromkeys(words_of(query)):
            listed = self._words.get(word)
            is_part = len(word) >= SHORT or not word.isascii()
            alike = [row for known, row in self._words.items() if word in known] if is_part else []
            alike = alike if listed is None else [listed]
            for number, score in (pair for row in alike for pair in SCORE.iter_unpack(row)):
                scores[names[number]] = scores.get(names[number], 0) + score
        return scores


def operations_of(image: Image) -> Operations:
    """Return the operations of a server, which are read when they are first asked for."""
    if image.operations is None:
        image.operations = Operations(image)
    operations: Operations = image.operations
    return operations


def search(session: SessionState, arguments: dict[str, Any]) -> Outcome:
    """Return the operations that fit a query and a tag best, and the tags if none does or nothing is asked for."""
    operations = operations_of(session.image)
    offered = operations.offered(session)
    query, tag, limit = arguments.get("query", ""), arguments.get("tag", ""), arguments.get("limit", USUAL)
    rows = [row for row in offered if tag.lower() in map(str.lower, row[2])] if tag else offered
    if words_of(query):
        scores = operations.scores(query)
        # Equal scores keep the order of the definitions.
        rows = sorted((row for row in rows if row[0] in scores), key=lambda row: -scores[row[0]])
    chosen: list[Json] = [
        {"name": name, "summary": summary, "tags": [*tags], "call": READ if reads else CHANGE}
        for name, summary, tags, reads in rows[:limit]
    ]
    value: dict[str, Json] = {"operations": chosen, "matches": len(rows)}
    if not rows or not (words_of(query) or tag):
        tags: list[Json] = [*dict.fromkeys(tag for row in offered for tag in row[2])]
        value["tags"] = tags[:MAX_TAGS]
    return json_outcome(value)


def describe(session: SessionState, arguments: dict[str, Any]) -> Outcome:
    """Return the tool of an operation: its texts, its whole input schema and its hints, and what calls it."""
    name = arguments["name"]
    row = row_of(session, name)
    if row is None:
        return Outcome([text(unknown(session, name))], is_error=True)
    entry: Any = parse(operations_of(session.image).entries()[name])
    return json_outcome({**entry, "call": READ if row[3] else CHANGE})


def json_outcome(value: dict[str, Json]) -> Outcome:
    """Return a value as structured content and as text."""
    return Outcome([text(encode(value).decode())], value)


def row_of(session: SessionState, name: str) -> Row | None:
    """Return an operation that may be called in a session."""
    operations, choice = operations_of(session.image), session.image.choice
    is_offered = (choice is None or name in choice.names) and (session.allows is None or session.allows(name))
    return operations.by_name.get(name) if is_offered else None


def unknown(session: SessionState, name: str) -> str:
    """Return what is said of an operation that is not there."""
    near: list[str] = get_close_matches(name, [row[0] for row in operations_of(session.image).offered(session)], 1)
    hint = f"did you mean `{near[0]}`?" if near else f"`{SEARCH}` finds those that there are"
    return f"There is no operation `{name}`; {hint}"


def operations_called(message: Json) -> list[str]:
    """Return the names of the operations that a message, or those of a batch, mean to call through another tool."""
    items: list[Any] = message if type(message) is list else [message]
    calls = [item.get("params") for item in items if type(item) is dict and item.get("method") == "tools/call"]
    values = [call.get("arguments") for call in calls if type(call) is dict and call.get("name") in (READ, CHANGE)]
    names = [value.get("name") for value in values if type(value) is dict]
    return [name for name in names if type(name) is str]


def called_operation(session: SessionState, caller: Definition, arguments: dict[str, Any]) -> Definition | str:
    """Return the operation that a call of `read_operation` or `change_operation` means, or why it is refused.

    Any other caller is returned itself.
    """
    does = caller.handler[1]
    if does not in (READ, CHANGE):
        return caller
    name = arguments["name"]
    row = row_of(session, name)
    operation = None if row is None else session.image.any_tool(name)
    if row is None or operation is None:
        return unknown(session, name)
    # That tool is declared as read-only: a client may call it without asking its user.
    if does == READ and not row[3]:
        return f"`{name}` changes something: call it with `{CHANGE}`"
    return operation
