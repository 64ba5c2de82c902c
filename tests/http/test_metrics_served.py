"""Metrics and spans of a server that serves: what clients do is counted and traced, whatever way it goes."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from mcpc_runtime.http.app import Application
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.http.tracing import CallTracer
from support.asgi import Client
from support.http_sample import sample

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
