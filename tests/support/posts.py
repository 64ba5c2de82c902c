"""Requests to a server over HTTP, one at a time, by urllib: an error status is a response like any other."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from support.knocks import mirrors, stateless

SECONDS = 30
TYPES = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came: its status, its headers by their names in small letters, and its body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        """The message in it: JSON, or the first event of a stream."""
        text = self.body.decode()
        found: dict[str, Any] = json.loads(text.partition("data: ")[2].partition("\n")[0] if "data: " in text else text)
        return found


def fetch(url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Answer:
    """Send a request: GET, or POST if it has a body."""
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, body, dict(headers or {})), timeout=SECONDS)
    except urllib.error.HTTPError as refused:
        answer = refused
    with answer:
        names = {name.lower(): value for name, value in answer.headers.items()}
        return Answer(answer.status, names, answer.read())


def post(url: str, message: object, **headers: str) -> Answer:
    """Post a message with these headers, whose names have `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return fetch(url, json.dumps(message).encode(), {**TYPES, **named})


def post_stateless(url: str, method: str, params: dict[str, Any] | None = None, **headers: str) -> Answer:
    """Post a request of the stateless era, with the headers that repeat what is in it."""
    return post(url, stateless(method, params), **dict(mirrors(method, params)), **headers)
