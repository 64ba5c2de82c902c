"""Lists in pages: the items of the next pages, and the call for those that were not gathered.

The next page is what `Link: …; rel="next"` names, or the address or the cursor at a JSON Pointer of the answer; it has
the same origin.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_plus

from mcpc_runtime.handlers.http.exchange import moved, target_within
from mcpc_runtime.handlers.http.parameters import query_pairs
from mcpc_runtime.handlers.http.request import OutgoingRequest
from mcpc_runtime.handlers.http.wire import HttpAnswer, NoAnswer
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, encode, parse

# RFC 8288: an address in angle brackets, and its parameters up to the next one.
LINK = re.compile(r"<([^<>]*)>([^<]*)")
NEXT = re.compile(r';\s*rel\s*=\s*"?(?:[^";,]*\s)?next[\s";,]', re.IGNORECASE)
Plan = dict[str, Any]


def gather(
    request: OutgoingRequest, answer: HttpAnswer, plan: Plan, ask: Callable[[OutgoingRequest], HttpAnswer]
) -> tuple[HttpAnswer, str]:
    """Return an answer with the items of as many pages as the plan says, and a text that says how to get more."""
    paging, limit = plan.get("paging", {}), plan["max_read"]
    following, value = next_page(request, answer, paging)
    items = items_at(value, paging)
    size, pages = len(answer.body), 1
    while following is not None and items is not None and pages < plan.get("pages", 1) and size < limit:
        try:
            later = ask(following)
        except NoAnswer:
            break
        after, value_there = next_page(following, later, paging)
        more = items_at(json_of(later) if value_there is None else value_there, paging)
        if later.status >= 300 or more is None:
            break
        items += more
        following, size, pages = after, size + len(later.body), pages + 1
    if pages > 1:
        answer.body = encode(value)
    return answer, "" if following is None else how_to_continue(request, following, plan)


def next_page(request: OutgoingRequest, answer: HttpAnswer, paging: Plan) -> tuple[OutgoingRequest | None, Json]:
    """Return the request for the next page, if there is one, and the value of the answer, if it was needed."""
    if request.method != "GET" or not 200 <= answer.status < 300:
        return None, None
    links = LINK.findall(", ".join(answer.fields.get("link", ())))
    place = next((place for place, parameters in links if NEXT.search(f"{parameters};")), "")
    value = json_of(answer) if place or "next" in paging else None
    cursor = "" if place or "next" not in paging else value_at(value, paging["next"])
    if cursor in (None, "", False) and not place:
        return None, value
    if "query" in paging and not place:
        # `name=`, with which the pair of the cursor begins.
        name = query_pairs(paging["query"], "", {})[0]
        following = moved(request, request.path)
        kept = [pair for pair in request.query if not pair.startswith(name)]
        following.query = [*kept, *query_pairs(paging["query"], cursor, {})]
        return following, value
    target = target_within(request, place or str(cursor))
    return (None if target is None else moved(request, target)), value


def json_of(answer: HttpAnswer) -> Json:
    """Return the JSON value of an answer, None if it has none."""
    try:
        return parse(answer.body)
    except ParseError:
        return None


def items_at(value: Json, paging: Plan) -> list[Json] | None:
    """Return the list of a page, None if it has none."""
    items = value_at(value, paging.get("items", ""))
    return items if type(items) is list else None


def value_at(value: Json, pointer: str) -> Json:
    """Return the value at a JSON Pointer that leads through objects, None if there is none."""
    for key in pointer.split("/")[1:]:
        value = value.get(key.replace("~1", "/").replace("~0", "~")) if type(value) is dict else None
    return value


def how_to_continue(request: OutgoingRequest, following: OutgoingRequest, plan: Plan) -> str:
    """Return the arguments of the call for the next page, or its address if arguments cannot say it."""
    arguments = {name: row["argument"] for name, row in plan.get("query", ()) if "argument" in row}
    changed = [pair.partition("=") for pair in following.query if pair not in request.query]
    known: dict[str, Json] = {arguments.get(unquote_plus(key), ""): unquote_plus(value) for key, _, value in changed}
    if following.path == request.path and known and "" not in known:
        return f"There is more: call again with {encode(known).decode()}"
    return f"There is more, at {following.target}"


def kept_fields(plan: Plan, arguments: dict[str, Json]) -> Plan:
    """Return what is kept of an answer: the fields that the call names, else those that the plan does."""
    names = arguments.get(plan["offered"]) if "offered" in plan else None
    kept: Plan = {}
    for name in sorted(filter(None, map(str, names))) if type(names) is list else ():  # `a` comes before `a.b`
        *above, last = name.split(".")
        place: Plan | None = kept
        for step in above:
            place = None if place is None else place.setdefault(step, {})
        if place is not None:
            place.setdefault(last, None)
    return kept or plan.get("fields", {})


def projected(value: Json, kept: Plan) -> Json:
    """Return the members of a value that a projection keeps, in each item of a list."""
    if type(value) is list:
        return [projected(item, kept) for item in value]
    if type(value) is not dict:
        return value
    rows = ((name, inner) for name, inner in kept.items() if name in value)
    return {name: value[name] if inner is None else projected(value[name], inner) for name, inner in rows}
