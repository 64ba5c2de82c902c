"""Runs calls of a project's program in the worker; its files are unpacked before the first one."""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.artifact.extraction import ExtractionError, extracted_folder
from mcpc_runtime.handlers.python.contract import FunctionResult, Invocation
from mcpc_runtime.handlers.python.runner import WorkerRunner
from mcpc_runtime.handlers.python.worker.client import WorkerJob
from mcpc_runtime.interfaces import Notify


class ProgramRunner(WorkerRunner):
    """A worker runner whose invocations get the folder of the unpacked files, and the program's arguments."""

    def start(self, invocation: Invocation, done: Callable[[FunctionResult], None], note: Notify) -> WorkerJob:
        try:
            program = invocation.arguments["program"]
            if type(program) is dict:
                program["folder"] = extracted_folder(self._context.image)
                given = self._context.image.program_arguments
                program["arguments"] = None if given is None else [*given]
        except ExtractionError as problem:
            job = WorkerJob(b"", done, note)
            job.finish(FunctionResult(problem=str(problem)))
            return job
        return super().start(invocation, done, note)
