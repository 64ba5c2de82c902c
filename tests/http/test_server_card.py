"""The documents by which clients find a server: its card, valid and what the server says itself, and the catalog of cards."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest

from mcpc_runtime.http.app import Application
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.image import Image
from support.asgi import Client, Doorman
from support.http_sample import sample
from support.images import image_of, small_archive
from support.reference import read_data

CARD_TYPE = "application/mcp-server-card+json"
URL = "https://mcp.example.com/svc/mcp"


def named(info: Mapping[str, Any]) -> Image:
    image = image_of(small_archive().data)
    image.index["result_meta"] = {"io.modelcontextprotocol/serverInfo": dict(info)}
    return image


def fetch(
    path: str, *headers: tuple[str, str], method: str = "GET", images: Any = None, **chosen: Any
) -> tuple[int, dict[str, str], bytes]:
    async def scenario() -> tuple[int, dict[str, str], bytes]:
        application = Application(images or sample(), HttpSettings(grace_seconds=2.0, **chosen))
        application.begin()
        try:
            answer = await Client(application).send(method, *headers, path=path)
            return answer.status, answer.headers, await answer.body()
        finally:
            await application.shutdown()

    return asyncio.run(scenario())


def card(info: Mapping[str, Any], url: str = URL, **chosen: Any) -> dict[str, Any]:
    status, headers, body = fetch("/mcp/server-card", images=named(info), url=url, **chosen)
    assert (status, headers["content-type"]) == (200, CARD_TYPE)
    found: dict[str, Any] = json.loads(body)
    jsonschema.validate(found, read_data("schemas/server-card/schema.json"))
    return found


def test_a_card_is_what_the_server_says_of_itself() -> None:
    info = {
        "name": "my weather",
        "version": "1.2.0",
        "title": "Weather " * 20,
        "description": "Forecasts.",
        "websiteUrl": "https://example.com",
        "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"]}],
    }
    versions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
    assert card(info) == {
        **{name: info[name] for name in ("version", "description", "websiteUrl", "icons")},
        "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
        "name": "com.example.mcp/my-weather",
        "title": ("Weather " * 20)[:100],
        "remotes": [{"type": "streamable-http", "url": URL, "supportedProtocolVersions": versions}],
    }


@pytest.mark.parametrize(
    ("name", "url", "expected"),
    [
        ("a", "https://h/mcp", "h/a"),
        ("a", "https://[::1]:8/mcp", "1/a"),
        ("天気", "https://a.b:8000/mcp", "b.a/server"),
        ("a/b c", "https://a.b/mcp", "b.a/a-b-c"),
    ],
)
def test_a_card_has_a_name_that_is_valid(name: str, url: str, expected: str) -> None:
    found = card({"name": name, "version": "1"}, url)
    assert (found["name"], found["description"]) == (expected, name)


@pytest.mark.parametrize(("issuer", "is_asked_for"), [("", True), ("https://login.example", False)])
def test_a_card_asks_for_a_token_that_no_authorization_server_gives(issuer: str, is_asked_for: bool) -> None:
    found = card({"name": "a", "version": "1"}, authenticator=Doorman(lambda *_: None), issuer=issuer)
    header = {"name": "Authorization", "isRequired": True, "isSecret": True, "placeholder": "Bearer …"}
    assert found["remotes"][0].get("headers", []) == [header] * is_asked_for


def test_the_catalog_names_every_endpoint_that_the_address_has() -> None:
    images = {"/mcp": named({"name": "one", "version": "1"}), "/more": named({"name": "two", "version": "1"})}
    status, headers, body = fetch("/.well-known/ai-catalog.json", images=images, url=URL)
    assert (status, headers["content-type"]) == (200, "application/ai-catalog+json")
    entries = [
        {
            "identifier": f"urn:air:mcp.example.com:mcp:{name}",
            "type": CARD_TYPE,
            "url": f"https://mcp.example.com/svc{path}/server-card",
        }
        for name, path in (("one", "/mcp"), ("two", "/more"))
    ]
    assert json.loads(body) == {"specVersion": "1.0", "entries": entries}
    status, _, body = fetch("/more/server-card", images=images, url=URL)
    assert (status, json.loads(body)["remotes"][0]["url"]) == (200, "https://mcp.example.com/svc/more")
    # Where the address ends with another path, nothing is known of the other endpoint's.
    assert len(json.loads(fetch("/.well-known/ai-catalog.json", images=images, url="https://h/x")[2])["entries"]) == 1
    assert fetch("/more/server-card", images=images, url="https://h/x")[0] == 404


def test_a_document_is_public_and_is_not_sent_twice() -> None:
    elsewhere = (("Host", "other.example"), ("Origin", "https://page.example"))
    status, headers, body = fetch("/mcp/server-card", *elsewhere, url=URL)
    assert status == 200
    assert {name: headers[name] for name in headers if name.startswith(("access-control", "cache"))} == {
        "cache-control": "public, max-age=3600",
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag",
    }
    status, again, nothing = fetch("/mcp/server-card", ("If-None-Match", headers["etag"]), url=URL)
    assert (status, again["etag"], nothing) == (304, headers["etag"], b"")
    assert "content-length" not in again
    assert fetch("/mcp/server-card", ("If-None-Match", '"other"'), url=URL)[2] == body
    assert fetch("/mcp/server-card", method="HEAD", url=URL)[2] == b""
    assert fetch("/mcp/server-card", method="POST", url=URL)[0] == 405


def test_a_page_that_may_call_gets_its_own_origin_once() -> None:
    origin = "https://page.example"
    _, headers, _ = fetch("/mcp/server-card", ("Origin", origin), url=URL, origins=(origin,))
    assert headers["access-control-allow-origin"] == origin


def test_without_a_public_address_there_is_no_document() -> None:
    for path in ("/mcp/server-card", "/.well-known/ai-catalog.json"):
        assert fetch(path)[0] == 404
