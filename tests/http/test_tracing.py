"""Spans, made by OpenTelemetry's own SDK: their names, attributes, parents, and what handlers find of them."""

import sys
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from mcpc_runtime.http import tracing
from mcpc_runtime.http.principals import MisconfiguredError
from mcpc_runtime.http.tracing import CallTracer
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.calls import nested_call
from mcpc_runtime.protocol.effects import Call, Failure, text_outcome
from mcpc_runtime.protocol.requests import Request
from mcpc_runtime.protocol.traces import trace_variables
from support.images import MODERN, small_session
from support.issuer import serving

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
META = {**MODERN, "traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "rojo=1", "baggage": "user=alice"}


class Taken:
    """Spans, and what they come to."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.spans = CallTracer(provider)

    @property
    def ended(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    def run(self, call: Call, status: str = "success", ending: object = None) -> ReadableSpan:
        self.spans.began(call)
        self.spans.ended(call, status, 0.1, ending)
        return self.ended[-1]


@pytest.fixture
def taken() -> Iterator[Taken]:
    one = Taken()
    yield one
    one.spans.close()


def call_of(meta: object = META, method: str = "tools/call", name: str = "echo", identifier: object = 7) -> Call:
    session = small_session()
    params = {"name": name, "arguments": {"text": "secret"}, **({} if meta is None else {"_meta": meta})}
    wire = session.image.revision("2026-07-28")
    definition = session.image.prompt(name) if method == "prompts/get" else session.image.tool(name)
    return Call(Request(session, identifier, method, params, wire), definition, {"text": "secret"})


def test_a_tool_s_span_has_the_names_of_the_conventions(taken: Taken) -> None:
    span = taken.run(call_of(), ending=text_outcome("x"))
    assert (span.name, span.kind) == ("tools/call echo", trace.SpanKind.SERVER)
    assert dict(span.attributes or {}) == {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": "2026-07-28",
        "jsonrpc.request.id": "7",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
    }
    assert span.status.is_unset and span.end_time is not None and span.end_time >= (span.start_time or 0) > 0
    assert "secret" not in span.to_json()


def test_a_prompt_s_span_has_its_own(taken: Taken) -> None:
    span = taken.run(call_of(method="prompts/get", name="greet", identifier="a"))
    assert span.name == "prompts/get greet"
    assert dict(span.attributes or {}) == {
        "mcp.method.name": "prompts/get",
        "mcp.protocol.version": "2026-07-28",
        "jsonrpc.request.id": "a",
        "gen_ai.prompt.name": "greet",
    }


def test_the_parent_is_what_the_request_names(taken: Taken) -> None:
    span = taken.run(call_of())
    assert f"{span.context.trace_id:032x}" == TRACE
    assert f"{span.parent.span_id:016x}" == PARENT and span.parent.is_remote
    assert span.context.trace_state.get("rojo") == "1"


WITHOUT = [None, {}, {"traceparent": "x"}, {"traceparent": 5, "baggage": []}, [], "x", {"traceparent": f"00-{'0' * 32}-{PARENT}-01"}]  # fmt: skip


@pytest.mark.parametrize("meta", WITHOUT, ids=repr)
def test_without_a_parent_a_trace_begins(taken: Taken, meta: object) -> None:
    span = taken.run(call_of(meta))
    assert span.parent is None and span.context is not None and span.context.trace_id


def test_what_a_handler_starts_finds_the_span_as_its_parent(taken: Taken) -> None:
    call = call_of()
    given = call.request.params
    taken.spans.began(call)
    found = trace_variables(call)
    taken.spans.ended(call, "success", 0.1, None)
    (span,) = taken.ended
    assert found[b"TRACEPARENT"].decode() == f"00-{TRACE}-{span.context.span_id:016x}-01"
    assert (found[b"TRACESTATE"], found[b"BAGGAGE"]) == (b"rojo=1", b"user=alice")
    assert given["_meta"] == META, "what the client sent is not changed in place"
    assert {name: value for name, value in call.request.params["_meta"].items() if name != "traceparent"} == {
        name: value for name, value in META.items() if name != "traceparent"
    }


def test_a_trace_that_is_not_sampled_stays_so(taken: Taken) -> None:
    call = call_of({**META, "traceparent": f"00-{TRACE}-{PARENT}-00"})
    taken.spans.began(call)
    assert trace_variables(call)[b"TRACEPARENT"].endswith(b"-00")
    taken.spans.ended(call, "success", 0.1, None)
    assert taken.ended == ()


@pytest.mark.parametrize(
    ("status", "ending", "kind"),
    [
        ("error", text_outcome("no", is_error=True), "tool_error"),
        ("timeout", text_outcome("no", is_error=True), "timeout"),
        ("cancelled", None, "cancelled"),
        ("failure", Failure(-32603, "secret words"), "failure"),
    ],
)
def test_what_went_wrong_is_told_without_its_words(taken: Taken, status: str, ending: object, kind: str) -> None:
    span = taken.run(call_of(), status, ending)
    assert span.status.status_code is trace.StatusCode.ERROR
    assert (span.attributes or {})["error.type"] == kind
    assert (span.attributes or {}).get("rpc.response.status_code") == ("-32603" if kind == "failure" else None)
    assert "secret" not in span.to_json()


def test_a_call_within_another_is_its_child(taken: Taken) -> None:
    outer = call_of()
    taken.spans.began(outer)
    inner = nested_call(outer.request.session, outer, "measure", {"text": "x"})
    assert isinstance(inner, Call)
    one = taken.run(inner)
    two = taken.run(outer)
    assert one.parent.span_id == two.context.span_id and one.name == "tools/call measure"
    assert one.kind is trace.SpanKind.INTERNAL
    again = nested_call(outer.request.session, outer, "measure", {"text": "x"})
    assert isinstance(again, Call)
    last = taken.run(again)
    assert last.parent is not None and last.parent.span_id == two.context.span_id


def test_a_call_has_one_span_and_one_that_never_began_has_none(taken: Taken) -> None:
    call = call_of()
    taken.spans.ended(call, "cancelled", 0.1, None)
    taken.spans.began(call)
    taken.spans.began(call)
    taken.spans.ended(call, "success", 0.1, None)
    taken.spans.ended(call, "success", 0.1, None)
    assert len(taken.ended) == 1


def test_so_many_are_open_and_closing_ends_them(taken: Taken, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "MAX_OPEN", 3)
    for _ in range(5):
        taken.spans.began(call_of())
    assert len(taken.ended) == 2
    taken.spans.close()
    assert len(taken.ended) == 5


def test_without_the_packages_it_is_said_how_to_carry_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    monkeypatch.setattr(tracing, "resources", lazy("opentelemetry.sdk.resources"))
    with pytest.raises(MisconfiguredError, match=r"opentelemetry\.sdk\.resources: build with --otel"):
        tracing.tracer_for("server", "1")


def test_spans_are_sent_where_the_variables_say(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as collector:
        collector.answers["/v1/traces"] = (200, {}, b"")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        made = tracing.tracer_for("the-server", "1.2")
        call = call_of()
        made.began(call)
        made.ended(call, "success", 0.1, None)
        made.close()
        ((path, body, headers),) = collector.asked
    assert path == "/v1/traces" and headers["content-type"] == "application/x-protobuf"
    assert b"tools/call echo" in body and b"the-server" in body and bytes.fromhex(TRACE) in body
    monkeypatch.setenv("OTEL_SERVICE_NAME", "named-by-a-variable")
    made = tracing.tracer_for("the-server", "1.2")
    assert made._provider.resource.attributes["service.name"] == "named-by-a-variable"
    made.close()
