"""Tools of mcp-bash: what must be known before one runs, its process, what it says meanwhile, and what it leaves.

Its law: nothing here waits.  Before a call's process begins, the project's own environment is known, its policy has
allowed the tool, and the client has been asked for its roots, in this order; what was begun for a call ends with it.
"""

from __future__ import annotations

from mcpc_runtime.capture import Notes, read_some
from mcpc_runtime.commands import Reading
from mcpc_runtime.lazy import lazy
from mcpc_runtime.mcp_bash.embedding import found_below, named, steps
from mcpc_runtime.mcp_bash.environment import forbidden, of_call
from mcpc_runtime.mcp_bash.files import Folders, cancel
from mcpc_runtime.mcp_bash.preparing import Preparation, pass_over
from mcpc_runtime.mcp_bash.processes import Processes
from mcpc_runtime.mcp_bash.questions import ROOTS_KEY, answer_to, note_of, question_of, roots_question
from mcpc_runtime.mcp_bash.roots import fallbacks, of_client
from mcpc_runtime.mcp_bash.scripts import Ran
from mcpc_runtime.mcp_bash.verdicts import INVALID_PARAMS
from mcpc_runtime.reactor import READABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.commands import Completed, Found
    from mcpc_runtime.host import Host
    from mcpc_runtime.mcp_bash.files import CallFolder
    from mcpc_runtime.mcp_bash.scripts import Embedded, Roots, Script
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.runners.files import FileRunner
    from mcpc_runtime.unpacking import folder
else:
    FileRunner = lazy("mcpc_runtime.runners.files:FileRunner")
    folder = lazy("mcpc_runtime.unpacking:folder")

ROOTS_SECONDS = 5.0
LOOK_SECONDS = 0.025
"""How soon a question is seen that a script wrote without saying so on its stream."""
GONE_SECONDS = 3.0
"""After so long nothing is left of a call that was stopped."""
STREAM_LIMIT = 1 << 20
EMBEDDED_LIMIT = 16 << 20


class Job:
    """One call.  `stop_inner` ends what runs for it now, if anything does; `questions` counts what it asked."""

    __slots__ = ("done", "files", "home", "inner", "note", "questions", "roots", "script", "stop_inner")

    def __init__(self, script: Script, done: Callable[[Ran], None], note: Callable[[Any], None]) -> None:
        self.script = script
        self.done: Callable[[Ran], None] | None = done
        self.note = note
        self.home = ""
        self.files: CallFolder | None = None
        self.inner: Any = None
        self.stop_inner: Callable[[], None] | None = None
        self.roots: Roots | None = None
        self.questions = 0

    def end(self, ran: Ran) -> None:
        """Tell whoever waits, once."""
        done, self.done = self.done, None
        self.stop_inner = None
        if done is not None:
            done(ran)

    def refuse(self, code: int, message: str, data: Json = None) -> None:
        """End a call that may not be."""
        ran = Ran()
        ran.refused = code, message, data
        self.end(ran)

    def errors(self) -> bytes:
        """Return what its process has written to standard error so far; it is not told again."""
        return b"" if self.inner is None else bytes(self.inner.capture.completed(0).errors)


class McpBashRunner:
    """Runs the tools of one server.  Memory a call: its process's, and what it wants in its answer."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._processes = Processes(host)
        self._preparation = Preparation(host, self._processes.alone)
        self._reader: Any = None
        self._folders = Folders()

    def start(self, script: Script, done: Callable[[Ran], None], note: Callable[[Any], None]) -> Job:
        """Run a tool; `done` is called with what became of it."""
        job = Job(script, done, note)
        settings = script.settings
        words = forbidden(settings)
        if not words and not settings.said.get("policy"):
            words = settings.policy.refusal(script.name)
        if words:
            job.refuse(INVALID_PARAMS, words)
            return job
        job.home = folder(self._host.image)
        self._preparation.environment(script, job.home, lambda: self._later(job, self._with_policy))
        return job

    def stop(self, job: Job) -> None:
        """End the call: the script may see that it is cancelled, and has what the supervisor gives it to end."""
        job.done = None
        files, job.files = job.files, None
        if files is not None:
            cancel(files)
            self._host.reactor.forget(files.stream)
            self._host.reactor.after(GONE_SECONDS, files.remove)
        if job.stop_inner is not None:
            job.stop_inner()

    def answer(self, job: Job, reply: int, given: dict[str, Json]) -> None:
        """Take what the client answered."""
        if not reply:
            self._later(job, lambda job: self._take_roots(job, given))
        elif job.files is not None and reply == job.questions:
            job.files.write("answer", answer_to(given, reply))

    def close(self) -> None:
        """Leave the processes to the supervisor."""
        self._processes.close()
        if self._reader is not None:
            self._reader.close()

    @staticmethod
    def _later(job: Job, step: Callable[[Job], None]) -> None:
        """Go on with a call that somebody still waits for; what goes wrong is its own problem."""
        if job.done is None:
            return
        try:
            step(job)
        except OSError as problem:
            job.end(Ran(problem=f"cannot run {job.script.name}: {problem.strerror}"))

    def _with_policy(self, job: Job) -> None:
        """Go on if the project's policy allows the tool."""
        if not job.script.settings.said.get("policy"):
            self._with_roots(job)
            return

        def then(refusal: tuple[int, str, Json] | None) -> None:
            job.stop_inner = None
            if refusal is None:
                self._later(job, self._with_roots)
            else:
                job.refuse(*refusal)

        inner = self._preparation.policy(job.script, job.home, then)
        job.stop_inner = lambda: self._processes.alone.stop(inner)

    def _with_roots(self, job: Job) -> None:
        """Go on when the client has said what its roots are, if it has any."""
        script = job.script
        if script.roots is not None:
            job.roots = script.roots
        elif not script.asks_roots:
            job.roots = fallbacks(script.settings, job.home)
        if job.roots is not None:
            self._run(job)
            return
        self._host.reactor.after(0, lambda: self._later(job, lambda job: job.note(roots_question())))
        self._host.reactor.after(ROOTS_SECONDS, lambda: self._later(job, self._without_roots))

    def _without_roots(self, job: Job) -> None:
        """Go on without the answer of a client that does not give one."""
        if job.roots is None:
            job.roots = fallbacks(job.script.settings, job.home)
            job.note({"withdraw": True})
            self._run(job)

    def _take_roots(self, job: Job, given: dict[str, Json]) -> None:
        answers: Any = given.get("answers")
        if job.roots is not None:
            return
        if answers is None:
            job.roots = fallbacks(job.script.settings, job.home)
        else:
            job.roots = of_client(answers[ROOTS_KEY])
            if job.script.remember is not None:
                job.script.remember(job.roots)
        self._run(job)

    def _run(self, job: Job) -> None:
        """Start the process, its folder made and its stream heard."""
        script = job.script
        files = job.files = self._folders.take(job.home)
        notes = Notes(lambda said: self._hear(job, said), pass_over)

        def hear(data: bytes) -> None:
            if job.done is not None and is_sign_of_life(data):
                job.note({"alive": True})
            notes.feed(data)

        self._host.reactor.watch(files.stream, READABLE, lambda: listen(files.stream, hear))
        try:
            own = of_call(script, job.home, job.roots or [], files)
            found = self._preparation.variables(script, job.home), own
            started = self._processes.start(script, job.home, found, lambda done: self._ended(job, files, hear, done))
            job.inner, job.stop_inner = started
        except BaseException:
            self._let_go(job, files)
            raise
        if script.elicits:  # not yet: whoever started this does not know the job before this returns
            self._host.reactor.after(LOOK_SECONDS, lambda: self._look_again(job))

    def _hear(self, job: Job, said: dict[str, Json]) -> None:
        """Take a line of the stream: a notification as the protocol has it, or that a question was written."""
        if job.done is None:
            return
        note = note_of(said)
        if note is not None:
            job.note(note)
        elif said.get("elicit") is True:
            self._look(job)

    def _look_again(self, job: Job) -> None:
        if job.files is not None and job.done is not None:
            self._look(job)
            self._host.reactor.after(LOOK_SECONDS, lambda: self._look_again(job))

    def _look(self, job: Job) -> None:
        """Ask the client what the script has written to be asked."""
        data = job.files.take("question") if job.files is not None and job.script.elicits else b""
        if not data or job.files is None:
            return
        job.questions += 1
        asked = question_of(data, job.questions)
        if asked is None:
            job.files.write("answer", answer_to({}, job.questions))
        else:
            job.note(asked)

    def _let_go(self, job: Job, files: CallFolder) -> None:
        job.files = None
        self._host.reactor.forget(files.stream)
        self._folders.give_back(files)

    def _ended(self, job: Job, files: CallFolder, hear: Callable[[bytes], None], completed: Completed) -> None:
        """Take the end of the process, all that it said before, and what it left in its files."""
        ran = Ran(completed)
        listen(files.stream, hear, STREAM_LIMIT)
        ran.error = files.read("error")
        wanted = files.read("resources") if not completed.status and not ran.error else b""
        self._let_go(job, files)
        if wanted:
            self._later(job, lambda job: self._embed(job, ran, wanted))
        else:
            job.end(ran)

    def _embed(self, job: Job, ran: Ran, wanted: bytes) -> None:
        """Read the files that the answer is to have, one after the other."""
        if self._reader is None:
            self._reader = FileRunner(self._host)
        found, ran.warnings = found_below(job.roots or [], job.home, named(wanted))
        self._read_next(job, ran, found, EMBEDDED_LIMIT)

    def _read_next(self, job: Job, ran: Ran, rest: list[tuple[str, Embedded]], room: int) -> None:
        if not rest:
            job.end(ran)
            return
        (root, file), *others = rest

        def done(found: Found) -> None:
            left = room - len(found.data)
            if found.missing or found.problem or left < 0:
                why = found.problem or ("it is not there" if found.missing else "all of them are too large")
                ran.warnings.append(f"{file.path!r} was left out of the answer: {why}")
                left = room
            else:
                file.data = found.data
                ran.embedded.append(file)
            self._later(job, lambda job: self._read_next(job, ran, others, left))

        inner = self._reader.start(Reading(*steps(root, file.path)), done, pass_over)
        job.stop_inner = lambda: self._reader.stop(inner)


def is_sign_of_life(data: bytes) -> bool:
    """Tell whether an empty line was written to a stream: the tool gets on, though it does not know how far it is."""
    return data.startswith(b"\n") or b"\n\n" in data


def listen(stream: int, hear: Callable[[bytes], None], limit: int = 1) -> None:
    """Take what was written to a stream; with a limit, as far as that all that is there."""
    while limit > 0:
        data = read_some(stream)
        if not data:
            return
        hear(data)
        limit -= len(data)
