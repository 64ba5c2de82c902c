"""OpenTelemetry spans, one for each call of a handler; the packages are bundled with `--otel`.

The parent is the span that the request's `_meta` names; programs that the handler starts find the call's span as their
parent, because it replaces the request's (W3C Trace Context). Names and attributes: the semantic conventions of MCP and
of generative AI.
"""

from __future__ import annotations

from mcpc_runtime.http.auth.principals import MisconfiguredError
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from opentelemetry import trace
    from opentelemetry.baggage.propagation import W3CBaggagePropagator
    from opentelemetry.context import Context
    from opentelemetry.exporter.otlp.proto.http import trace_exporter
    from opentelemetry.sdk import resources
    from opentelemetry.sdk import trace as sdk_trace
    from opentelemetry.sdk.trace import export
    from opentelemetry.trace import status
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    from mcpc_runtime.protocol.effects import Activity, Ending
else:
    Context = lazy("opentelemetry.context:Context")
    TraceContextTextMapPropagator = lazy("opentelemetry.trace.propagation.tracecontext:TraceContextTextMapPropagator")
    W3CBaggagePropagator = lazy("opentelemetry.baggage.propagation:W3CBaggagePropagator")
    trace = lazy("opentelemetry.trace")
    status = lazy("opentelemetry.trace.status")
    resources = lazy("opentelemetry.sdk.resources")
    export = lazy("opentelemetry.sdk.trace.export")
    trace_exporter = lazy("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    sdk_trace = lazy("opentelemetry.sdk.trace", "sdk_trace")

CARRIED = ("traceparent", "tracestate", "baggage")
MAX_OPEN = 8192
NAMELESS = "unknown_service"
"""What OpenTelemetry calls a service that no variable names."""
SUCCESS = ("success", "input_required", "task")
TARGETS = {"tools/call": "gen_ai.tool.name", "prompts/get": "gen_ai.prompt.name", "resources/read": "mcp.resource.uri"}
TOOL_CALL = {"gen_ai.operation.name": "execute_tool"}


class CallTracer:
    """The spans of the calls that run; `provider` makes them and takes them when they have ended."""

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("mcpc")
        self._propagators = [
            TraceContextTextMapPropagator(),
            W3CBaggagePropagator(),
        ]
        self._inside: Any = trace.set_span_in_context
        self._server: Any = trace.SpanKind.SERVER
        self._internal: Any = trace.SpanKind.INTERNAL
        self._error: Any = status.StatusCode.ERROR
        self._open: dict[Activity, Any] = {}

    def began(self, call: Activity) -> None:
        """Open a call's span, and put it in the place of the request's own."""
        if call in self._open:
            return
        if len(self._open) >= MAX_OPEN:  # of calls that went on elsewhere nobody tells the end
            self._open.pop(next(iter(self._open))).end()
        params = call.request.params
        meta = params.get("_meta")
        carrier = {name: meta[name] for name in CARRIED if type(meta.get(name)) is str} if type(meta) is dict else {}
        context = Context()
        for propagator in self._propagators:
            context = propagator.extract(carrier, context)
        span = self._open[call] = self._tracer.start_span(
            title(call), context, self._internal if call.chain else self._server, attributes(call)
        )
        if not call.chain:  # calls within one share its request: they are all children of the client's
            told: dict[str, Any] = {}
            self._propagators[0].inject(told, self._inside(span, context))
            call.request.params = {**params, "_meta": {**(meta if type(meta) is dict else {}), **told}}

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
        """End what is open, and have all of it taken."""
        for span in self._open.values():
            span.end()
        self._open.clear()
        self._provider.shutdown()


def title(call: Activity) -> str:
    """Return a span's name: what was asked, of what was built."""
    return f"{'tools/call' if call.is_tool else call.request.method} {call.name}"


def attributes(call: Activity) -> dict[str, str]:
    """Return the attributes of a call; none from its arguments, which may contain secrets."""
    request = call.request
    method = "tools/call" if call.is_tool else request.method
    found = {
        "mcp.method.name": method,
        "mcp.protocol.version": request.wire.version,
        "jsonrpc.request.id": str(request.identifier),
    }
    if method in TARGETS:
        found[TARGETS[method]] = call.name
    return {**found, **TOOL_CALL} if call.is_tool else found


def tracer_for(name: str, version: str) -> CallTracer:
    """Return what makes spans and sends them where the OTEL_… variables say; raise MisconfiguredError."""
    try:
        resource = resources.Resource
        provider = sdk_trace.TracerProvider
        batches = export.BatchSpanProcessor
        exporter = trace_exporter.OTLPSpanExporter
    except ImportError as problem:
        raise MisconfiguredError(f"spans need {problem.name or problem}: build with --otel") from None
    told = resource.create({})
    if str(told.attributes.get("service.name", "")).startswith(NAMELESS):
        told = told.merge(resource({"service.name": name, "service.version": version}))
    made = provider(resource=told)
    made.add_span_processor(batches(exporter()))
    return CallTracer(made)
