"""How many tools one caller may call in a period, by every way in; the time is ours."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime.http import quotas
from mcpc_runtime.http.options import parse_quota
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.http.quotas import Quotas, called_tools, caller_of
from support.artifact import build
from support.asgi import Client, Doorman, request, served
from support.clocks import StoppedClock
from support.files import write_files
from support.http_sample import sample
from support.posts import post_stateless
from support.serving import served as served_file

ECHO, QUICK = ({"name": name, "arguments": {"text": "x"}} for name in ("echo", "quick"))


def clocked(client: Client) -> StoppedClock:
    """Let the quotas of a server have a clock of ours."""
    clock = StoppedClock()
    client.application.quotas._clock = clock
    return clock


def waits(found: Quotas, caller: str, *tools: str) -> int:
    """Return the seconds that a caller has to wait, 0 if its calls are counted."""
    reply = found.refusal(caller, tools)
    if reply is None:
        return 0
    status, headers, _ = reply
    assert status == 429
    return int(dict(headers)[b"retry-after"])


def test_a_bucket_is_refilled_evenly_and_not_beyond_its_size() -> None:
    clock = StoppedClock()
    found = Quotas([("", 4, "min"), ("a", 1, "h")], clock)
    assert [waits(found, "x", "b") for _ in range(5)] == [0, 0, 0, 0, 15]
    assert waits(found, "y", "a", "b") == 0
    clock.now += 14.5
    assert waits(found, "x", "b") == 1
    clock.now += 0.5
    assert waits(found, "x", "a") == 0
    assert waits(found, "x", "b") == 15
    assert waits(found, "x", "a") == 3600, "the longest of both"
    assert waits(found, "y", "b", "b", "b", "b") == 15, "three are there; none is counted"
    assert waits(found, "y", "b", "b", "b") == 0
    clock.now += 1e6
    assert [waits(found, "x", "b") for _ in range(5)] == [0, 0, 0, 0, 15]


def test_what_is_kept_of_callers_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "MAX_BUCKETS", 2)
    found = Quotas([("", 1, "day")], StoppedClock())
    assert [waits(found, caller, "a") for caller in "xyxzy"] == [0, 0, 86400, 0, 86400]
    assert len(found._buckets) == 2
    assert waits(found, "x", "a") == 0


VALUES = {
    "60/min": ("", 60, "min"),
    "a.b=1/s": ("a.b", 1, "s"),
    "x=y=2/day": ("x=y", 2, "day"),
    **dict.fromkeys(("", "60", "0/min", "-1/min", "1.5/s", "1/minute", "=1/s", "a=", "a", "1/", "٣/s", "1000000000/s")),
    "a\n=1/s": None,
}


@pytest.mark.parametrize("text", VALUES)
def test_a_quota_is_parsed_whole_or_refused(text: str) -> None:
    if VALUES[text] is None:
        with pytest.raises(
            ValueError, match=r"^expected a quota such as 60/min or search=10/h \(a period is s, min, h"
        ):
            parse_quota(text)
    else:
        assert parse_quota(text) == VALUES[text]


@pytest.mark.parametrize(
    ("message", "tools"),
    [
        (request("tools/call", ECHO), ["echo"]),
        ([request("tools/call", ECHO), request("ping"), request("tools/call", QUICK, 2), 5], ["echo", "quick"]),
        ({"method": "tools/call", "params": ECHO}, []),
        (request("tools/call", {"name": []}), [""]),
        (request("prompts/get", ECHO), []),
        ("x", []),
    ],
)
def test_what_a_message_calls(message: Any, tools: list[str]) -> None:
    assert called_tools(message) == tools


def test_who_calls() -> None:
    assert caller_of("token ann", "1.2.3.4") == "principal token ann"
    assert caller_of("", "::ffff:1.2.3.4") == caller_of("", "1.2.3.4") == "address 1.2.3.4"
    assert caller_of("", "2001:db8::1") == caller_of("", "2001:db8::ffff:2") != caller_of("", "2001:db8:0:1::1")
    assert caller_of("", "") == "address "


CHOSEN: dict[str, Any] = {"quotas": (("", 3, "min"), ("echo", 1, "min"))}


@served(sample, **CHOSEN)
async def test_stateless_calls(client: Client) -> None:
    clock = clocked(client)
    for _ in range(4):
        assert (await client.modern("tools/list")).status == 200
    assert (await client.modern("tools/call", ECHO)).status == 200
    answer = await client.modern("tools/call", ECHO, identifier="b")
    assert (answer.status, answer.headers["retry-after"]) == (429, "60")
    text = "Too many requests: your quota of calls is 1/min of the tool echo (--quota); call again in 60 s"
    assert json.loads(await answer.body()) == {"jsonrpc": "2.0", "id": "b", "error": {"code": -32600, "message": text}}
    assert [(await client.modern("tools/call", QUICK)).status for _ in range(3)] == [200, 200, 429]
    clock.now += 20
    assert [(await client.modern("tools/call", QUICK)).status for _ in range(2)] == [200, 429]


@served(sample, **CHOSEN)
async def test_calls_of_a_session_and_those_in_a_batch(client: Client) -> None:
    clocked(client)
    await client.initialize("2025-03-26")
    headers = ("mcp-session-id", client.session)
    batch = [request("tools/call", ECHO, 1), request("tools/call", QUICK, 2)]
    answer = await client.post(batch, headers)
    assert answer.status == 200
    assert sorted(reply["id"] for reply in json.loads(await answer.body())) == [1, 2]
    refused = await client.post(batch, headers)
    assert (refused.status, "id" in json.loads(await refused.body())) == (429, False)
    await client.initialize("2025-11-25")
    statuses = [
        (await client.post(request("tools/call", QUICK, number), ("mcp-session-id", client.session))).status
        for number in (1, 2)
    ]
    assert statuses == [200, 429], "another session of the same caller"


@served(sample, sse=True, **CHOSEN)
async def test_calls_over_http_and_sse(client: Client) -> None:
    clocked(client)
    stream = await client.send("GET", path="/sse")
    path = (await stream.event())["data"]
    answers = [await client.post(request("tools/call", ECHO, number), path=path) for number in (1, 2)]
    assert [answer.status for answer in answers] == [202, 429]
    assert json.loads(await answers[1].body())["id"] == 2
    assert (await stream.message())["result"]["content"] == [{"type": "text", "text": "x"}]
    await stream.leave()


def by_name(name: str, _: str) -> Principal | None:
    return Principal(name) if name else None


@served(sample, authenticator=Doorman(by_name), **CHOSEN)
async def test_each_principal_has_its_own(client: Client) -> None:
    clocked(client)

    async def status(name: str) -> int:
        return (await client.modern("tools/call", ECHO, ("authorization", name))).status

    assert [await status(name) for name in ("ann", "ben", "ann", "", "ben")] == [200, 200, 429, 401, 429]


@served(sample, proxies=("0.0.0.0/0",), **CHOSEN)
async def test_each_address_has_its_own_as_a_trusted_proxy_says(client: Client) -> None:
    clocked(client)

    async def status(address: str) -> int:
        return (await client.modern("tools/call", ECHO, ("x-forwarded-for", address))).status

    assert [await status(address) for address in ("8.8.8.8", "9.9.9.9", "8.8.8.8")] == [200, 200, 429]


def test_options_of_a_served_file(tmp_path: Path) -> None:
    tools = [{"name": "hi", "description": "x", "inputSchema": {"type": "object"}}]
    described = {"server.json": {"serverInfo": {"name": "s", "version": "1"}}, "tools.json": {"tools": tools}}
    code = {"tools.py": "def hi(): return 'hi'\n"}
    artifact = build(write_files(tmp_path / "project", {**described, **code}), tmp_path / "server.pyz", "--http")
    with served_file(artifact, "--quota", "nosuch=1/s", environment={"MCPC_QUOTA": "5/s hi=1/day"}) as server:
        call = {"name": "hi", "arguments": {}}
        assert post_stateless(server.url, "tools/call", call).status == 200, "an option counts before the variable"
        assert post_stateless(server.url, "tools/call", call).status == 200
        told = "the quota is for the tool nosuch, and there is none of this name"
        assert told in server.errors.read_text()
    with served_file(artifact, environment={"MCPC_QUOTA": "5/s hi=1/day"}) as server:
        answers = [post_stateless(server.url, "tools/call", call) for _ in range(2)]
        assert [answer.status for answer in answers] == [200, 429]
        assert 86000 < int(answers[1].headers["retry-after"]) <= 86400
        assert "quota of calls is 1/day of the tool hi" in answers[1].message["error"]["message"]
        assert " 429 POST /mcp " in server.errors.read_text()
