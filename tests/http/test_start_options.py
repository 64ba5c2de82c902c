"""Options of serving over HTTP: the same choice and the same tolerance, in both eras, and whatever process is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mcpc_runtime.artifact.image import Image
from mcpc_runtime.artifact.start_options import apply_start_options
from mcpc_runtime.http.options import OptionError
from mcpc_runtime.http.serve import ServeError, build_application, read_settings
from mcpc_runtime.http.sessions import Sessions
from mcpc_runtime.http.settings import HttpSettings, settings_from
from mcpc_runtime.protocol.constants import CLIENT_INFO_KEY
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server.replicas import signed_tokens
from support.asgi import LEGACY, Client, reply, request, served
from support.http_sample import built, image_of

KNOWN = {"name": "claude-code", "version": "1"}
WRONG = {"name": "where_inline", "arguments": {"extra": 1}}


def with_options(*words: str) -> Callable[[], Image]:
    def image() -> Image:
        found = image_of(built("sample"))
        apply_start_options((found,), settings_from([*words], {}).start)
        return found

    return image


@served(with_options("--tools", "echo,where_*"))
async def test_the_chosen_tools_are_listed_and_called_in_both_eras(client: Client) -> None:
    names = ["echo", "where_inline", "where_loop"]
    await client.initialize()
    hidden, unknown = ({"name": name, "arguments": {"text": "x"}} for name in ("quick", "unheard"))
    for era in (client.ask, lambda *said: said_in(client, *said)):
        listed = (await era("tools/list", {}))["result"]["tools"]
        assert [one["name"] for one in listed] == names
        assert (await era("tools/call", {"name": "echo", "arguments": {"text": "x"}}))["result"]["content"]
        refused, absent = (await era("tools/call", hidden), await era("tools/call", unknown))
        assert str(refused) == str(absent).replace("unheard", "quick")
        assert refused["error"]["code"] == -32602


async def said_in(client: Client, method: str, params: Any) -> Any:
    return await reply(await client.say(request(method, params)))


def is_error(answer: Any) -> bool:
    return bool(answer["result"].get("isError"))


@served(with_options("--tolerant"))
async def test_a_tolerant_server_corrects_arguments_in_both_eras(client: Client) -> None:
    await client.initialize()
    assert not is_error(await client.ask("tools/call", WRONG))
    assert not is_error(await said_in(client, "tools/call", WRONG))
    refused = {"name": "late", "arguments": {"seconds": "soon", "extra": 1}}
    assert is_error(await client.ask("tools/call", refused)) and is_error(await said_in(client, "tools/call", refused))


@served(with_options("--tolerant=auto"))
async def test_a_known_client_is_tolerated_in_both_eras(client: Client) -> None:
    assert is_error(await client.ask("tools/call", WRONG))
    assert not is_error(await client.ask("tools/call", {**WRONG, "_meta": {CLIENT_INFO_KEY: KNOWN}}))
    for information, refused in ((KNOWN, False), ({**KNOWN, "name": "t"}, True)):
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": information}
        client.session = (await client.post(request("initialize", params))).headers["mcp-session-id"]
        assert is_error(await said_in(client, "tools/call", WRONG)) is refused


def test_another_replica_knows_a_tolerated_client_by_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signed_tokens, "PROCESS_SIGNER", [signed_tokens.TokenSigner([b"k" * 32])])
    image = image_of(built("quiet"))
    for is_tolerated in (True, False):
        session = Session(image)
        session.wire = image.revision(LEGACY)
        session.is_tolerated, session.capabilities = is_tolerated, {"roots": {}, "elicitation": {"url": {}}}
        found = Sessions(image, HttpSettings()).find(Sessions(image, HttpSettings()).mint(session), "")
        assert found is not None
        assert (found.session.is_tolerated, found.session.capabilities) == (is_tolerated, session.capabilities)


def test_what_is_refused_ends_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ServeError, match="did you mean echo") as refused:
        build_application(image_of(built("quiet")), settings_from(["--tools", "ecko"], {}))
    assert refused.value.status == 2
    with pytest.raises(ServeError, match="MCPC_READ_ONLY: expected 1 or 0") as refused:
        read_settings([], {"MCPC_READ_ONLY": "yes"})
    assert refused.value.status == 2
    with pytest.raises(OptionError, match="unknown option '--tool'"):
        settings_from(["--tool", "x"], {})
    image = image_of(built("sample"))
    build_application(image, settings_from([], {"MCPC_TOOLS": "echo", "MCPC_TOLERANT": "1"}))
    assert (image.tool("echo") is not None, image.tool("quick"), image.tolerant) == (True, None, "1")
