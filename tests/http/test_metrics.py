"""Metrics and spans: what is counted, in the format that Prometheus' own parser reads, and what a server that serves counts."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from mcpc_runtime.http.app import Application
from mcpc_runtime.http.memory_budget import MemoryBudget
from mcpc_runtime.http.metrics import CONTENT_TYPE, MAX_NAMES, Metrics
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.http.tracing import CallTracer
from mcpc_runtime.protocol.effects import Call
from mcpc_runtime.protocol.requests import Request
from support.asgi import Client
from support.http_sample import sample
from support.images import small_session
from support.needs import ROOT


def call_of(name: str = "echo", method: str = "tools/call") -> Call:
    session = small_session()
    definition = type("Definition", (), {"name": name, "seconds": 60.0})()
    return Call(Request(session, 1, method, {}, session.image.revision("2026-07-28")), definition, {})


def families(metrics: Metrics) -> dict[str, dict[tuple[str, ...], float]]:
    """Every sample by its name and its labels' values, as Prometheus' parser reads them."""
    kind, text = metrics.expose()
    assert kind == CONTENT_TYPE
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(text.decode()):
        assert family.documentation and family.type in ("counter", "histogram", "gauge"), family
        for each in family.samples:
            row = found.setdefault(each.name, {})
            labels = tuple(each.labels.values())
            assert labels not in row, "a sample is there once"
            row[labels] = each.value
    return found


def test_the_whole_text(golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcpc_runtime.http.metrics.resident_bytes", lambda pid: 7)
    metrics = Metrics()
    for seconds in (0.0, 0.001, 0.0011, 60.0, 60.5):
        metrics.observe("tools/call", 200, seconds)
    for method, status in (("batch", 400), ("response", 202), ("DELETE", 204), ("no/such", 404), ("skills/list", 200)):
        metrics.observe(method, status, 0.25)
    for name, method, outcome in (
        ("b", "tools/call", "success"),
        ("a", "prompts/get", "error"),
        ("a", "x/y", "timeout"),
    ):
        metrics.began(call_of(name, method))
        metrics.ended(call_of(name, method), outcome, 0.5, None)
    metrics.gauge("z_gauge", "Z.", lambda: 1)
    for number in (3, 4):
        metrics.gauge("a_gauge", "A.", lambda number=number: number)
    budget = MemoryBudget(64 << 20)
    budget.charge("", 5)
    driver: Any = SimpleNamespace(posts=[1], sessions=SimpleNamespace(by_session=[1, 2]), streams=3, dispatcher=None)
    for name in ("s", 't"\\\n'):
        driver.image = SimpleNamespace(result_meta={"io.modelcontextprotocol/serverInfo": {"name": name}})
        metrics.watch(driver)
        metrics.watch_process(budget)
    driver.image = SimpleNamespace(result_meta={})
    metrics.watch(driver)
    text = metrics.expose()[1].decode()
    rows = [re.sub(r"^(process_start_time_seconds) \d+$", r"\1 N", row) for row in text.splitlines()]
    golden(ROOT / "tests/golden/http/metrics.txt", "\n".join(rows) + "\n")


def test_a_call_within_another_is_a_tool_s() -> None:
    metrics, call = Metrics(), call_of("inner", "prompts/get")
    call = Call(call.request, call.definition, {}, ("outer",))
    metrics.ended(call, "success", 0.1, None)
    assert ("tool", "inner", "success") in families(metrics)["mcpc_calls_total"]


def test_what_clients_name_does_not_make_it_grow() -> None:
    metrics = Metrics()
    metrics.observe("tools/call", 200, 0.1)
    size = len(metrics.expose()[1])
    for number in range(5000):
        metrics.observe(f"nobody/knows{number}", 404, 0.1)
        metrics.observe(f'"}} evil {number}\n', 404, 0.1)
    found = families(metrics)
    assert found["mcpc_requests_total"] == {("tools/call", "200"): 1, ("other", "404"): 10_000}
    assert len(metrics.expose()[1]) < 2.2 * size + 2000


def test_a_large_server_has_only_so_many_names() -> None:
    metrics = Metrics()
    for number in range(MAX_NAMES + 700):
        call = call_of(f"tool_{number}")
        metrics.began(call)
        metrics.ended(call, "success", 0.1, None)
    found = families(metrics)["mcpc_calls_total"]
    assert len(found) == MAX_NAMES + 1 and found["tool", "other", "success"] == 700
    metrics.ended(call_of("tool_3"), "success", 0.1, None)
    assert families(metrics)["mcpc_calls_total"]["tool", "tool_3", "success"] == 2


def test_requests_are_counted_when_their_answer_begins() -> None:
    """By the message's method, if a body was read; a status of its own for each; one that was left is not counted."""

    async def scenario() -> None:
        metrics, sent = Metrics(), []

        async def take(message: Any) -> None:
            sent.append(message)

        async def request(message: Any, status: int) -> None:
            send = metrics.watching("POST", take)
            if message is not None:
                metrics.set_method(message)
            await asyncio.sleep(0)
            if status:
                await send({"type": "http.response.start", "status": status})
                await send({"type": "http.response.body", "body": b"x"})

        messages = [{"method": "ping"}, {"method": "tools/call"}, {"result": {}}, [], {"method": 5}, {"method": "x"}, 7]
        await asyncio.gather(*(request(message, 200) for message in messages), request(None, 401), request({}, 0))
        assert families(metrics)["mcpc_requests_total"] == {
            ("ping", "200"): 1, ("tools/call", "200"): 1, ("response", "200"): 1, ("batch", "200"): 2,
            ("other", "200"): 2, ("POST", "401"): 1,
        }  # fmt: skip
        assert len(sent) == 16

    asyncio.run(scenario())


def test_answers_that_are_there_at_once_are_counted_too() -> None:
    async def scenario() -> None:
        metrics = Metrics()

        class Later:
            def __init__(self, *, is_sent: bool) -> None:
                self.is_sent = is_sent

            async def serve(self, receive: Any, send: Any, more: Any) -> Any:
                assert more == [(b"x", b"y")]
                await asyncio.sleep(0.01)
                if self.is_sent:
                    await send({"type": "http.response.start", "status": 503})
                    return None
                return 503, [], b""

        async def take(message: Any) -> None:
            assert message["status"] == 503

        reply: Any = (200, [], b"")
        begun = metrics.begin("POST")
        metrics.set_method({"method": "tools/list"})
        assert metrics.count(reply, begun) is reply
        assert metrics.count(reply, metrics.begin("POST")) is reply
        metrics.set_method({"method": "tools/list"})
        pending: list[Any] = [metrics.count(Later(is_sent=is_sent), begun) for is_sent in (True, False)]
        assert families(metrics)["mcpc_requests_total"] == {("tools/list", "200"): 1, ("POST", "200"): 1}
        for number, answer in enumerate(pending, 1):
            await asyncio.create_task(answer.serve(None, take, [(b"x", b"y")]))
            assert families(metrics)["mcpc_requests_total"]["tools/list", "503"] == number

    asyncio.run(scenario())


TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


async def samples(client: Client) -> dict[str, dict[tuple[str, ...], float]]:
    answer = await client.send("GET", path="/metrics")
    assert answer.status == 200 and answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families((await answer.body()).decode()):
        for one in family.samples:
            found.setdefault(one.name, {})[tuple(one.labels.values())] = one.value
    return found


def run(scenario: Any, **chosen: Any) -> None:
    async def whole() -> None:
        application = Application(sample(), HttpSettings(grace_seconds=2.0, **chosen))
        application.begin()
        try:
            async with asyncio.timeout(60):
                await scenario(Client(application))
        finally:
            await application.shutdown()

    asyncio.run(whole())


def test_without_them_there_is_nothing_to_see() -> None:
    async def scenario(client: Client) -> None:
        assert (await client.send("GET", path="/metrics")).status == 404

    run(scenario)


def test_every_call_has_a_span_and_its_handler_knows_it() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    async def scenario(client: Client) -> None:
        meta = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
        for name in ("echo", "quick"):
            params = {"name": name, "arguments": {"text": "x"}, "_meta": meta}
            answer = await client.modern("tools/call", params)
            assert json.loads(await answer.body())["result"]["content"][0]["text"] == "x"
        await client.modern("tools/call", {"name": "raised", "arguments": {"text": "x"}})

    run(scenario, spans=CallTracer(provider))
    one, two, three = exporter.get_finished_spans()
    assert [span.name for span in (one, two, three)] == ["tools/call echo", "tools/call quick", "tools/call raised"]
    for span in (one, two):
        assert span.parent is not None and f"{span.parent.span_id:016x}" == PARENT
        assert span.status.is_unset
    assert three.parent is None and (three.attributes or {})["error.type"]
