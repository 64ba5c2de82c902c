"""Runner of mcp-bash tools: preparation, the process, its messages while it runs, and the files that it leaves.

Nothing here blocks.  Before a call's process starts, the project's environment is read, its policy allows the tool, and
the client's roots are requested, in this order; everything that was started for a call ends with it.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.artifact.extraction import extracted_folder
from mcpc_runtime.handlers.files.runner import FileRunner
from mcpc_runtime.handlers.invocations import FileRead, FileResult, ProcessResult
from mcpc_runtime.handlers.output_capture import NoteReader, read_some
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import Notify
from mcpc_runtime.protocol.constants import INVALID_PARAMS, MISSING_CAPABILITY
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, encode, parse
from mcpc_runtime.systems.mcp_bash.contract import find_embeddable, parse_file_list, split_below_root
from mcpc_runtime.systems.mcp_bash.environment import call_variables, forbidden_reason
from mcpc_runtime.systems.mcp_bash.files import CallFolder, CallFolders, write_cancelled
from mcpc_runtime.systems.mcp_bash.processes import ProjectEnvironment, ScriptProcesses, ScriptProcessJob, ignore_note
from mcpc_runtime.systems.mcp_bash.roots import fallback_roots, parse_client_roots
from mcpc_runtime.systems.mcp_bash.scripts import EmbeddedFile, Roots, ScriptCall, ScriptResult
from mcpc_runtime.transports.platforms.cleanup import Rollback
from mcpc_runtime.transports.platforms.scripts import forget_stream, local_path, watch_stream

ROOTS_SECONDS = 5.0
QUESTION_SECONDS = 0.025
"""The interval of checks for a question that a script wrote without a line on its stream."""
REMOVE_SECONDS = 3.0
"""Seconds after which the folder of a stopped call is removed."""
STREAM_LIMIT = 1 << 20
EMBEDDED_LIMIT = 16 << 20


class ScriptJob:
    """One call.  `stop_inner` ends what runs for it now, if anything; `questions` counts its elicitations."""

    __slots__ = ("done", "files", "home", "inner", "note", "questions", "roots", "script", "stop_inner")

    def __init__(self, script: ScriptCall, done: Callable[[ScriptResult], None], note: Notify) -> None:
        self.script = script
        self.done: Callable[[ScriptResult], None] | None = done
        self.note = note
        self.home = ""
        self.files: CallFolder | None = None
        self.inner: ScriptProcessJob | None = None
        self.stop_inner: Callable[[], None] | None = None
        self.roots: Roots | None = None
        self.questions = 0

    def end(self, ran: ScriptResult) -> None:
        """Deliver the result, once."""
        done, self.done = self.done, None
        self.stop_inner = None
        if done is not None:
            done(ran)

    def refuse(self, code: int, message: str, data: Json = None) -> None:
        """End a call that is not allowed."""
        ran = ScriptResult()
        ran.refused = code, message, data
        self.end(ran)

    def errors(self) -> bytes:
        """Return and discard what its process has written to standard error so far."""
        return b"" if self.inner is None else bytes(self.inner.capture.completed(0).errors)


class McpBashRunner:
    """Runs the tools of one server.  Memory per call: the process's output and the embedded files."""

    def __init__(self, host: RunnerContext) -> None:
        self._host = host
        self._processes = ScriptProcesses(host)
        self._environment = ProjectEnvironment(host, self._processes.alone)
        self._reader: FileRunner | None = None
        self._folders = CallFolders()

    def start(self, script: ScriptCall, done: Callable[[ScriptResult], None], note: Notify) -> ScriptJob:
        """Run a tool; `done` is called with its result."""
        job = ScriptJob(script, done, note)
        settings = script.settings
        reason = forbidden_reason(settings)
        if not reason and not settings.built.get("policy"):
            reason = settings.policy.refusal(script.name)
        if reason:
            job.refuse(INVALID_PARAMS, reason)
            return job
        job.home = local_path(extracted_folder(self._host.image))
        self._environment.environment(script, job.home, lambda: self._continue_call(job, self._with_policy))
        return job

    def stop(self, job: ScriptJob) -> None:
        """End the call: the script is notified by its cancel file, and has the supervisor's grace time to end."""
        job.done = None
        files, job.files = job.files, None
        if files is not None:
            write_cancelled(files)
            forget_stream(self._host.reactor, files.stream)
            # Not given back to be used again: the script may write to it while it ends.
            self._host.reactor.after(REMOVE_SECONDS, files.remove)
        if job.stop_inner is not None:
            job.stop_inner()

    def answer(self, job: ScriptJob, reply: int, answers: dict[str, Json]) -> None:
        """Process an answer of the client."""
        # The number 0 is that of `roots_request`; questions are counted from 1.
        if not reply:
            self._continue_call(job, lambda job: self._take_roots(job, answers))
        elif job.files is not None and reply == job.questions:
            job.files.write("answer", encode_answer(answers, reply))

    def close(self) -> None:
        """Close the runners; the supervisor ends the processes."""
        self._processes.close()
        if self._reader is not None:
            self._reader.close()

    @staticmethod
    def _continue_call(job: ScriptJob, step: Callable[[ScriptJob], None]) -> None:
        """Continue a call that was not stopped; an OSError ends it with a problem."""
        if job.done is None:
            return
        try:
            step(job)
        except OSError as problem:
            job.end(ScriptResult(problem=f"cannot run {job.script.name}: {problem.strerror}"))

    def _with_policy(self, job: ScriptJob) -> None:
        """Continue if the project's policy allows the tool."""
        if not job.script.settings.built.get("policy"):
            self._with_roots(job)
            return

        def then(refusal: tuple[int, str, Json] | None) -> None:
            job.stop_inner = None
            if refusal is None:
                self._continue_call(job, self._with_roots)
            else:
                job.refuse(*refusal)

        inner = self._environment.policy(job.script, job.home, then)
        if inner is not None:
            job.stop_inner = lambda: self._processes.alone.stop(inner)

    def _with_roots(self, job: ScriptJob) -> None:
        """Continue when the roots are known, if need be from the client."""
        script = job.script
        if script.roots is not None:
            job.roots = script.roots
        elif not script.asks_roots:
            job.roots = fallback_roots(script.settings, job.home)
        if job.roots is not None:
            self._run(job)
            return
        # Later, because the caller does not have the job, to which the note belongs, before this returns.
        self._host.reactor.after(0, lambda: self._continue_call(job, lambda job: job.note(roots_request())))
        self._host.reactor.after(ROOTS_SECONDS, lambda: self._continue_call(job, self._without_roots))

    def _without_roots(self, job: ScriptJob) -> None:
        """Continue with the fallback roots if the client does not answer in time."""
        if job.roots is None:
            job.roots = fallback_roots(job.script.settings, job.home)
            job.note({"withdraw": True})
            self._run(job)

    def _take_roots(self, job: ScriptJob, reply: dict[str, Json]) -> None:
        if job.roots is not None:
            return
        answers = reply.get("answers")
        if type(answers) is not dict:
            job.roots = fallback_roots(job.script.settings, job.home)
        else:
            job.roots = parse_client_roots(answers[ROOTS_KEY])
            if job.script.remember is not None:
                job.script.remember(job.roots)
        self._run(job)

    def _run(self, job: ScriptJob) -> None:
        """Create the call's folder, read its stream, and start the process."""
        script = job.script
        files = job.files = self._folders.take(job.home)
        notes = NoteReader(lambda note: self._on_note(job, note), ignore_note)

        def hear(data: bytes) -> None:
            if job.done is not None and is_heartbeat(data):
                job.note({"alive": True})
            notes.feed(data)

        watch_stream(self._host.reactor, files.stream, lambda: read_stream(files.stream, hear))
        with Rollback(lambda: self._release(job, files)):
            write_path = self._processes.start_of(f"{job.home}/{script.file}").write_path
            additional = call_variables(script, job.home, job.roots or [], files, write_path)
            variables = self._environment.variables(script, job.home, write_path), additional
            started = self._processes.start(
                script, job.home, variables, lambda done: self._ended(job, files, hear, done)
            )
            job.inner, job.stop_inner = started
        if script.elicits:  # later, because the caller does not have the job before this returns
            self._host.reactor.after(QUESTION_SECONDS, lambda: self._check_question_again(job))

    def _on_note(self, job: ScriptJob, note: dict[str, Json]) -> None:
        """Process a line of the stream: a notification of the protocol, or that a question was written."""
        if job.done is None:
            return
        notification = parse_notification(note)
        if notification is not None:
            job.note(notification)
        elif note.get("elicit") is True:
            self._check_question(job)

    def _check_question_again(self, job: ScriptJob) -> None:
        if job.files is not None and job.done is not None:
            self._check_question(job)
            self._host.reactor.after(QUESTION_SECONDS, lambda: self._check_question_again(job))

    def _check_question(self, job: ScriptJob) -> None:
        """Send the client the question that the script has written."""
        data = job.files.take("question") if job.files is not None and job.script.elicits else b""
        if not data or job.files is None:
            return
        job.questions += 1
        question = parse_elicitation(data, job.questions)
        if question is None:
            job.files.write("answer", encode_answer({}, job.questions))
        else:
            job.note(question)

    def _release(self, job: ScriptJob, files: CallFolder) -> None:
        job.files = None
        forget_stream(self._host.reactor, files.stream)
        self._folders.give_back(files)

    def _ended(
        self, job: ScriptJob, files: CallFolder, hear: Callable[[bytes], None], completed: ProcessResult
    ) -> None:
        """Process the end of the process, the rest of its stream, and its files."""
        ran = ScriptResult(completed)
        # What the process wrote last may still be unread.
        read_stream(files.stream, hear, STREAM_LIMIT)
        ran.error = files.read("error")
        file_list = files.read("resources") if not completed.status and not ran.error else b""
        self._release(job, files)
        if file_list:
            self._continue_call(job, lambda job: self._embed(job, ran, file_list))
        else:
            job.end(ran)

    def _embed(self, job: ScriptJob, ran: ScriptResult, file_list: bytes) -> None:
        """Read the files to embed in the result, one after the other."""
        files, ran.warnings = find_embeddable(job.roots or [], job.home, parse_file_list(file_list))
        self._read_next(job, ran, files, EMBEDDED_LIMIT)

    def _read_next(self, job: ScriptJob, ran: ScriptResult, rest: list[tuple[str, EmbeddedFile]], room: int) -> None:
        if not rest:
            job.end(ran)
            return
        (root, file), *others = rest

        def done(read: FileResult) -> None:
            left = room - len(read.data)
            if read.missing or read.problem or left < 0:
                reason = "it does not exist" if read.missing else "all of them together are too large"
                ran.warnings.append(f"{file.path!r} was left out of the answer: {read.problem or reason}")
                left = room
            else:
                file.data = read.data
                ran.embedded.append(file)
            self._continue_call(job, lambda job: self._read_next(job, ran, others, left))

        if self._reader is None:
            self._reader = FileRunner(self._host)
        reader = self._reader
        inner = reader.start(FileRead(*split_below_root(root, file.path)), done, ignore_note)
        job.stop_inner = lambda: reader.stop(inner)


def is_heartbeat(data: bytes) -> bool:
    """Tell whether an empty line was written to a stream: progress of unknown amount."""
    return data.startswith(b"\n") or b"\n\n" in data


def read_stream(stream: int, hear: Callable[[bytes], None], limit: int = 1) -> None:
    """Read what was written to a stream: once, or up to `limit` bytes."""
    while limit > 0:
        data = read_some(stream)
        if not data:
            return
        hear(data)
        limit -= len(data)


ROOTS_KEY = "roots"
EMPTY_FORM: Json = {"type": "object", "properties": {}}


def roots_request() -> dict[str, Json]:
    """Return the note that requests the client's roots."""
    return {"ask": {ROOTS_KEY: {"method": "roots/list", "params": {}}}, "reply": 0}


def request_key(number: int) -> str:
    """Return the key of a call's elicitation."""
    return f"elicit-{number}"


def parse_elicitation(data: bytes, number: int) -> dict[str, Json] | None:
    """Return the note for the elicitation that a script wrote; None if it is invalid."""
    try:
        question = parse(data)
    except ParseError:
        return None
    if type(question) is not dict or type(question.get("message")) is not str:
        return None
    params: dict[str, Json] = {"mode": "form", "message": question["message"]}
    if question.get("mode") == "url":
        params.update(mode="url", url=question.get("url"))
    else:
        params["requestedSchema"] = question.get("schema") or EMPTY_FORM
    return {"ask": {request_key(number): {"method": "elicitation/create", "params": params}}, "reply": number}


def encode_answer(reply: dict[str, Json], number: int) -> bytes:
    """Return an answer for a script: the user's action and content, as JSON."""
    answers, error = reply.get("answers"), reply.get("error")
    answer = answers.get(request_key(number)) if type(answers) is dict else None
    if type(answer) is dict:
        return encode({"action": answer.get("action"), "content": answer.get("content")})
    is_unable = type(error) is dict and error.get("code") == MISSING_CAPABILITY
    return encode({"action": "decline" if is_unable else "error", "content": None})


def parse_notification(message: dict[str, Json]) -> dict[str, Json] | None:
    """Return the note for a line of the stream, None if it is not a notification."""
    row, params = NOTIFICATIONS.get(str(message.get("method"))), message.get("params")
    return None if row is None or type(params) is not dict else row(params)


def progress_note(params: dict[str, Json]) -> dict[str, Json]:
    """Return the note for a progress notification."""
    return {"progress": params.get("progress"), "total": params.get("total"), "message": params.get("message")}


def log_note(params: dict[str, Json]) -> dict[str, Json]:
    """Return the note for a log message."""
    return {"log": params.get("level"), "logger": params.get("logger"), "data": params.get("data")}


NOTIFICATIONS: dict[str, Callable[[dict[str, Json]], dict[str, Json]]] = {
    "notifications/progress": progress_note,
    "notifications/message": log_note,
}
"""The conversion of each notification that scripts write, by method."""
