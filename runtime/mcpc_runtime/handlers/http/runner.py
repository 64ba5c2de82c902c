"""Runner of requests: each in a thread of the server's process, at most 64 at a time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from time import monotonic
from typing import Any

from mcpc_runtime.handlers.http.connections import CallOver, CallSocket, Connections
from mcpc_runtime.handlers.http.contract import RequestInvocation
from mcpc_runtime.handlers.http.credentials import Credentials
from mcpc_runtime.handlers.http.exchange import Exchange
from mcpc_runtime.handlers.http.paging import gather
from mcpc_runtime.handlers.http.request import OutgoingRequest, RequestBuilder, RequestRefused
from mcpc_runtime.handlers.http.secrets import SecretTexts
from mcpc_runtime.handlers.http.wire import HttpAnswer, NoAnswer, agent_of
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.handlers.threads import ThreadJob, ThreadRunner
from mcpc_runtime.log import log_line
from mcpc_runtime.transports.platforms import system

MAX_THREADS = 64
MAX_READ = 10 << 20
MAX_MESSAGE, MAX_LINE = 200, 1000
SECRET = 3
"""The place in a setting's row that says whether it is secret."""


LOG_VARIABLE = b"MCPC_LOG_REQUESTS"
"""`1`: each request is a line on standard error, as for `mcpc dev`."""


class RequestRunner(ThreadRunner):
    """Sends the requests of a server, which share connections."""

    def __init__(self, host: RunnerContext) -> None:
        super().__init__(host, MAX_THREADS)
        self._connections = Connections()
        rows = host.image.index.get("settings", ())
        values = {row[0]: system.environ.get(row[0].encode(), b"").decode("utf-8", "surrogateescape") for row in rows}
        self._settings = {name: value for name, value in values.items() if value}
        self._credentials = Credentials(self._settings)
        self._logs = system.environ.get(LOG_VARIABLE) == b"1"
        secret = [row[0] for row in rows if row[SECRET] and row[0] in self._settings]
        self._secrets = SecretTexts((name, self._settings[name]) for name in secret)

    def perform(self, job: ThreadJob) -> Any:
        """Return the result of a tool."""
        invocation: RequestInvocation = job.request
        plan = {"max_read": MAX_READ, **invocation.plan}
        call = CallSocket(invocation.deadline)
        job.interrupt = call.interrupt
        if job.done is None:  # it was stopped before there was anything to interrupt
            call.interrupt()
        secrets = self._secrets.copy()
        label = plan["method"]
        try:
            request = RequestBuilder(plan, invocation.arguments, self._settings).build()
            label = f"{request.method} {request.path}"
            exchange = Exchange(self._connections, call, self._agent, plan["max_read"])
            exchange.on_event = self._progress_of(job, secrets)

            def ask(page: OutgoingRequest) -> HttpAnswer:
                security, began = plan.get("security", ()), monotonic()
                answer = self._credentials.answer(page, security, invocation.client_header, exchange, secrets)
                if self._logs:
                    log_request(page, answer, monotonic() - began, secrets)
                return answer

            answer, more = gather(request, ask(request), plan, ask)
        except RequestRefused as refused:
            return invocation.refused(secrets.hide(f"{label} was not sent: {refused}"))
        except NoAnswer as reason:
            return invocation.refused(secrets.hide(f"{label}: {reason}"))
        except CallOver:
            return invocation.refused("stopped")
        return invocation.answered(request, answer, more, secrets)

    def close(self) -> None:
        """Close the kept connections."""
        super().close()
        self._connections.close()

    def failed(self, job: ThreadJob, problem: Exception) -> Any:
        """Return the result of a request that failed unexpectedly."""
        return job.request.refused(f"the request failed: {type(problem).__name__}")

    def _progress_of(self, job: ThreadJob, secrets: SecretTexts) -> Callable[[str], None]:
        """Return what reports an event of a stream as the progress of a job."""
        numbers = count(1)
        return lambda event: self.deliver_later(
            job, {"progress": next(numbers), "message": secrets.hide(event)[:MAX_MESSAGE]}
        )

    @property
    def _agent(self) -> str:
        """The name with which servers see these requests."""
        return agent_of(self._host.image)


def log_request(request: OutgoingRequest, answer: HttpAnswer, seconds: float, secrets: SecretTexts) -> None:
    """Log a request and the status of its answer, without secrets."""
    line = secrets.hide(f"{request.method} {request.target} → {answer.status} {answer.reason}".rstrip())
    log_line(f"  {line[:MAX_LINE]}, {len(answer.body):,} bytes, {seconds * 1000:.0f} ms")
