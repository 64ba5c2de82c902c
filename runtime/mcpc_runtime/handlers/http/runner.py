"""Runner of requests: each in a thread of the server's process, at most 64 at a time."""

from __future__ import annotations

from typing import Any

from mcpc_runtime.handlers.http.connections import CallOver, CallSocket, Connections
from mcpc_runtime.handlers.http.contract import RequestInvocation
from mcpc_runtime.handlers.http.credentials import Credentials
from mcpc_runtime.handlers.http.exchange import Exchange, NoAnswer
from mcpc_runtime.handlers.http.request import RequestBuilder, RequestRefused
from mcpc_runtime.handlers.http.secrets import SecretTexts
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.handlers.threads import ThreadJob, ThreadRunner
from mcpc_runtime.transports.platforms import system

MAX_THREADS = 64
MAX_READ = 10 << 20
SECRET = 3
"""The place in a setting's row that says whether it is secret."""


class RequestRunner(ThreadRunner):
    """Sends the requests of a server, which share connections."""

    def __init__(self, host: RunnerContext) -> None:
        super().__init__(host, MAX_THREADS)
        self._connections = Connections()
        rows = host.image.index.get("settings", ())
        values = {row[0]: system.environ.get(row[0].encode(), b"").decode("utf-8", "surrogateescape") for row in rows}
        self._settings = {name: value for name, value in values.items() if value}
        self._credentials = Credentials(self._settings)
        self._secrets = [(row[0], self._settings[row[0]]) for row in rows if row[SECRET] and row[0] in self._settings]

    def perform(self, job: ThreadJob) -> Any:
        """Return the result of a tool."""
        invocation: RequestInvocation = job.request
        plan = invocation.plan
        call = CallSocket(invocation.deadline)
        job.interrupt = call.interrupt
        if job.done is None:  # it was stopped before there was anything to interrupt
            call.interrupt()
        secrets = SecretTexts(self._secrets)
        label = plan["method"]
        try:
            request = RequestBuilder(plan, invocation.arguments, self._settings).build()
            label = f"{request.method} {request.path}"
            exchange = Exchange(self._connections, call, self._agent, plan.get("max_read", MAX_READ))
            answer = self._credentials.answer(
                request, plan.get("security", ()), invocation.client_header, exchange, secrets
            )
        except RequestRefused as refused:
            return invocation.refused(secrets.hide(f"{label} was not sent: {refused}"))
        except NoAnswer as reason:
            return invocation.refused(secrets.hide(f"{label}: {reason}"))
        except CallOver:
            return invocation.refused("stopped")
        return invocation.answered(request, answer, secrets)

    def failed(self, job: ThreadJob, problem: Exception) -> Any:
        """Return the result of a request that failed unexpectedly."""
        return job.request.refused(f"the request failed: {type(problem).__name__}")

    @property
    def _agent(self) -> str:
        """The name with which servers see these requests."""
        name = self._host.image.server_name
        return name if name.isascii() and name.isprintable() else "mcpc"
