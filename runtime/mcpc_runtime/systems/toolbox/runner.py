"""Runner of ToolBox tools: one Node process per environment, started by the first call, keeps the modules' state.

When a process dies, the calls that it was running fail; the others and later calls go to a new process.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.artifact.image.extraction import extracted_folder
from mcpc_runtime.handlers.python.contract import FunctionResult
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import Notify
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.systems.toolbox.node.log_folder import HOME_VARIABLE, LOG_VARIABLE, call_log_file, data_folder
from mcpc_runtime.systems.toolbox.node.node_process import NodeCall, NodeJob, NodeProcess
from mcpc_runtime.transports.platforms import system

MAX_FAILED_STARTS = 3
RETRY_SECONDS = 0.05


class NodeRunner:
    """Sends calls to the process of their environment."""

    def __init__(self, host: RunnerContext) -> None:
        self._host = host
        self._children: dict[int, NodeProcess] = {}
        self._failed_starts = 0
        self._number = 0
        self._unassigned: list[NodeJob] = []
        self._closed = False

    def start(self, call: NodeCall, done: Callable[[FunctionResult], None], note: Notify) -> NodeJob:
        """Send the call; raise OSError if no process can be started now."""
        job = NodeJob(call, done, note)
        self._child(call.environment).send_call(job)
        return job

    def _child(self, environment: int) -> NodeProcess:
        child = self._children.get(environment)
        if child is None:
            self._number += 1
            mark = f"{system.getpid()}.n{self._number}"
            folder = extracted_folder(self._host.image)
            variables = {**self._host.environment(environment), **self._folder_variables()}
            child = self._children[environment] = NodeProcess(self, self._host, folder, variables, mark)
        return child

    def _folder_variables(self) -> dict[bytes, bytes]:
        """Return the variables with the folder and the log file of the process."""
        variables = {HOME_VARIABLE: data_folder(self._host.image), LOG_VARIABLE: call_log_file(self._host.image)}
        return {name: text.encode("utf-8", "surrogateescape") for name, text in variables.items()}

    def stop(self, job: NodeJob) -> None:
        """Cancel a call; its result is discarded."""
        job.done = None
        if job.child is not None:
            job.child.stop(job)

    def answer(self, job: NodeJob, reply: int, result: Json) -> None:
        """Send a call the result of another tool."""
        if job.child is not None:
            job.child.answer(job, reply, result)

    def lost(self, child: NodeProcess, unbegun: list[NodeJob], reason: str) -> None:
        """Move the unbegun calls of a lost process to another, or fail them after MAX_FAILED_STARTS failed starts."""
        self._children = {number: other for number, other in self._children.items() if other is not child}
        self._failed_starts = 0 if child.ready else self._failed_starts + 1
        if self._failed_starts < MAX_FAILED_STARTS:
            self._assign(unbegun)
            return
        self._failed_starts = 0
        for job in unbegun:
            job.finish(FunctionResult(problem=f"the tool process does not start: {reason}"))

    def _assign(self, jobs: list[NodeJob]) -> None:
        """Send calls to another process, as soon as one can be started."""
        self._unassigned += jobs
        while self._unassigned and not self._closed:
            try:
                child = self._child(self._unassigned[0].call.environment)
            except OSError:
                self._host.reactor.after(RETRY_SECONDS, lambda: self._assign([]))
                return
            job = self._unassigned.pop(0)
            if job.done is not None:
                child.send_call(job)

    def close(self) -> None:
        """Close the processes, which destroy their tools and end; the supervisor ends the rest."""
        self._closed = True
        for child in self._children.values():
            child.close()
