"""OpenTelemetry spans, one for each call of a handler; the packages are bundled with `--otel`.

The parent is the span that the request's `_meta` names; programs that the handler starts find the call's span as their
parent, because it replaces the request's (W3C Trace Context). Names and attributes: the semantic conventions of MCP and
of generative AI.
"""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http import trace_exporter
from opentelemetry.sdk import resources
from opentelemetry.sdk import trace as sdk_trace
from opentelemetry.sdk.trace import export
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.trace.status import StatusCode

from mcpc_runtime.http.principals import MisconfiguredError
from mcpc_runtime.protocol.effects import Activity, Ending, Failure

CONTEXT_HEADERS = ("traceparent", "tracestate", "baggage")
MAX_OPEN = 8192
NAMELESS = "unknown_service"
"""What OpenTelemetry calls a service that no variable names."""
SUCCESS = ("success", "input_required", "task")
TARGETS = {"tools/call": "gen_ai.tool.name", "prompts/get": "gen_ai.prompt.name", "resources/read": "mcp.resource.uri"}
TOOL_CALL = {"gen_ai.operation.name": "execute_tool"}


class CallTracer:
    """The spans of the running calls; `provider` creates and exports them."""

    def __init__(self, provider: sdk_trace.TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("mcpc")
        self._propagators = [
            TraceContextTextMapPropagator(),
            W3CBaggagePropagator(),
        ]
        self._set_span = trace.set_span_in_context
        self._server = trace.SpanKind.SERVER
        self._internal = trace.SpanKind.INTERNAL
        self._error = StatusCode.ERROR
        self._open: dict[Activity, trace.Span] = {}

    def began(self, call: Activity) -> None:
        """Start a call's span, and replace the request's span by it in the parameters."""
        if call in self._open:
            return
        if len(self._open) >= MAX_OPEN:  # the end of a call that another process took over is not reported
            self._open.pop(next(iter(self._open))).end()
        params = call.request.params
        meta = params.get("_meta")
        carrier = (
            {name: meta[name] for name in CONTEXT_HEADERS if type(meta.get(name)) is str} if type(meta) is dict else {}
        )
        context = Context()
        for propagator in self._propagators:
            context = propagator.extract(carrier, context)
        span = self._open[call] = self._tracer.start_span(
            title(call), context, self._internal if call.chain else self._server, attributes(call)
        )
        if not call.chain:  # calls of tools share the request: all their spans are children of the client's
            headers: dict[str, str] = {}
            self._propagators[0].inject(headers, self._set_span(span, context))
            call.request.params = {**params, "_meta": {**(meta if type(meta) is dict else {}), **headers}}

    def ended(self, call: Activity, status: str, seconds: float, ending: Ending | None) -> None:
        """End a call's span."""
        span = self._open.pop(call, None)
        if span is None:
            return
        if isinstance(ending, Failure):
            span.set_attribute("rpc.response.status_code", str(ending.code))
        if status not in SUCCESS:
            span.set_attribute("error.type", "tool_error" if status == "error" and call.is_tool else status)
            span.set_status(self._error)
        span.end()

    def close(self) -> None:
        """End the open spans, and export all."""
        for span in self._open.values():
            span.end()
        self._open.clear()
        self._provider.shutdown()


def title(call: Activity) -> str:
    """Return a span's name: the method, and the name of the definition."""
    return f"{'tools/call' if call.is_tool else call.request.method} {call.name}"


def attributes(call: Activity) -> dict[str, str]:
    """Return the attributes of a call; none from its arguments, which may contain secrets."""
    request = call.request
    method = "tools/call" if call.is_tool else request.method
    members = {
        "mcp.method.name": method,
        "mcp.protocol.version": request.wire.version,
        "jsonrpc.request.id": str(request.identifier),
    }
    if method in TARGETS:
        members[TARGETS[method]] = call.name
    return {**members, **TOOL_CALL} if call.is_tool else members


def tracer_for(name: str, version: str) -> CallTracer:
    """Return a tracer that exports spans as the OTEL_… variables say; raise MisconfiguredError."""
    try:
        resource = resources.Resource
        provider = sdk_trace.TracerProvider
        batches = export.BatchSpanProcessor
        exporter = trace_exporter.OTLPSpanExporter
    except ImportError as problem:
        raise MisconfiguredError(f"spans need {problem.name or problem}: build with --otel") from None
    service = resource.create({})
    # A name from the OTEL_… variables stays.
    if str(service.attributes.get("service.name", "")).startswith(NAMELESS):
        service = service.merge(resource({"service.name": name, "service.version": version}))
    tracer_provider = provider(resource=service)
    tracer_provider.add_span_processor(batches(exporter()))
    return CallTracer(tracer_provider)
