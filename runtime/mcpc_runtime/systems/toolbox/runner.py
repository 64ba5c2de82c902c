"""Runner of ToolBox tools: one Node process per environment, started by the first call, keeps the modules' state.

When a process dies, the calls that it was running fail; the others and later calls go to a new process.

The folder where tools write and their calls are logged: one per user and server, which is never removed.

MCPC_TOOLBOX_HOME selects another folder; MCPC_TOOLBOX_LOG selects another log file, or `off`.  If no such folder can be
created, a temporary one is used and removed with the server.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.artifact.extraction import extracted_folder
from mcpc_runtime.handlers.python.contract import FunctionResult
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import Notify
from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.systems.toolbox.node_process import NodeCall, NodeJob, NodeProcess
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.processes import TEMPORARY_FOLDERS

HOME_VARIABLE, LOG_VARIABLE = b"MCPC_TOOLBOX_HOME", b"MCPC_TOOLBOX_LOG"
OFF = "off"
PRIVATE = 0o700
SAFE_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
data_folders: dict[str, str] = {}
"""The folder of each artifact."""
prepared_logs: set[str] = set()
"""The log files whose folders were created."""


def data_folder(image: Image) -> str:
    """Return the folder, created if missing."""
    if image.archive not in data_folders:
        data_folders[image.archive] = make_first_folder(image.index["toolbox"]["name"])
    return data_folders[image.archive]


def make_first_folder(server: str) -> str:
    """Return the first folder that exists or can be created."""
    for path in candidate_folders(server):
        try:
            make_folder(path)
        except OSError:
            continue
        return path
    path = f"{environment_text(b'TMPDIR') or '/tmp'}/mcpc-toolbox-{system.urandom(12).hex()}"
    system.mkdir(path, PRIVATE)
    TEMPORARY_FOLDERS.append(path)
    return path


def candidate_folders(server: str) -> tuple[str, ...]:
    """Return the folders to try, in order."""
    configured = environment_text(HOME_VARIABLE)
    if configured:
        return (absolute_path(configured),)
    # Without a dot at the beginning, so that no name is `..` or hidden.
    name = "".join(character if character in SAFE_CHARACTERS else "_" for character in server).lstrip(".") or "server"
    state = environment_text(b"XDG_STATE_HOME")
    user = environment_text(b"HOME")
    roots = (state if state.startswith("/") else "", f"{user}/.local/state" if user.startswith("/") else "")
    return tuple(f"{root.rstrip('/')}/mcpc/{name}" for root in roots if root)


def make_folder(path: str) -> None:
    """Create a folder and its parents; raise OSError if it is not writable."""
    for end in (at for at, character in enumerate(f"{path}/") if character == "/" and at):
        try:
            system.mkdir(path[:end], PRIVATE)
        except OSError:  # mostly because it exists; other failures are found below
            continue
    if not system.access(path, system.W_OK | system.X_OK):
        raise PermissionError(path)


def call_log_file(image: Image) -> str:
    """Return the file for the log of calls, its folder created; an empty string if logging is off."""
    configured = environment_text(LOG_VARIABLE)
    if configured == OFF:
        return ""
    inside = "test/log" if environment_text(b"NODE_ENV") == "test" else "log"
    file = absolute_path(configured) if configured else f"{data_folder(image)}/{inside}/ToolBox.log"
    if file not in prepared_logs:
        # Noted before it is tried, so that a failure is logged once.
        prepared_logs.add(file)
        try:
            make_folder(file.rpartition("/")[0] or "/")
        except OSError as problem:
            log_line(f"calls are not logged: {file}: {problem.strerror or 'not writable'}")
    return file


def absolute_path(path: str) -> str:
    """Return a path as absolute."""
    return path if path.startswith("/") else f"{system.getcwd()}/{path}"


def environment_text(name: bytes) -> str:
    """Return a variable of the server's environment."""
    return str(system.environ.get(name, b""), "utf-8", "surrogateescape")


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
