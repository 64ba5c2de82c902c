"""The worker: what each call and each control message makes it write, in this process and over pipes of the test."""

import asyncio
import json
import marshal
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from mcpc_runtime.handlers.python import execution
from mcpc_runtime.handlers.python.worker import coroutines, main
from mcpc_runtime.handlers.python.worker.coroutines import AsyncReply, EventLoopThread, ThreadReply
from mcpc_runtime.handlers.python.worker.frames import take_frames
from mcpc_runtime.handlers.python.worker.main import BROKEN_STATUS, Worker, WorkerCall
from support.processes import until

MODULE = "worker_main_tools"
HANDLERS = """
import asyncio, os, signal
from mcpc_runtime.handlers.python.bindings import ArgumentError
from mcpc_runtime.handlers.python.errors import Cancelled, ProtocolError, ToolError
from mcpc_runtime.handlers.python.context import port_of
seen = []
def echo(**given): return given
def fail(): raise ValueError("no good")
def tool_error(): raise ToolError("Not today.")
def protocol_error(): raise ProtocolError(-5, "no", {"a": 1})
def refuse(): raise ArgumentError("a: no date")
def leave(): raise SystemExit("bye")
def raw(): return b"\\0\\xff"
def odd(): return object()
def sized(size): return "x" * size
def facts(ctx): return [ctx.tool, ctx.meta, ctx.cancelled, ctx.answers, ctx.supports("roots")]
def say(ctx): ctx.info("one"); ctx.progress(2); return "said"
def ask(ctx): return ctx.call_tool("other", {"a": 1})
def twice(ctx): return [ctx.call_tool("one"), ctx.call_tool("two")]
def interrupt(ctx): os.kill(os.getpid(), signal.SIGINT); return [sum(range(100)) for _ in range(100000)][0]
def cancel(ctx):
    port_of(ctx).cancel()
    for _ in range(1000): ctx.info("x")
    return "not cancelled"
def late(ctx): seen.append(ctx); return "early"
async def soon(value): await asyncio.sleep(0); return value
async def soon_fail(): raise ValueError("later")
async def soon_refuse(): raise ArgumentError("a: no date")
async def soon_ask(ctx): return await ctx.call_tool("other")
async def for_ever(ctx):
    ctx.info("begun")
    await asyncio.sleep(600)
"""


class Left(BaseException):
    """Raised instead of ending this process."""


class Pipes:
    """A worker over pipes, whose calls run in the thread that receives them."""

    def __init__(self, channel: str) -> None:
        self.calls_end, self.calls = os.pipe()
        self.replies, replies_end = os.pipe()
        self.control_end, self.control = os.pipe()
        self.descriptors = self.calls_end, replies_end, self.control_end
        self.worker = Worker(channel, self.descriptors)
        self.keys: list[Any] = []
        self.worker.turns = Turns(self.keys)  # type: ignore[assignment]
        self.buffer = bytearray()
        self.registered: list[Callable[[], object]] = []

    def call(self, number: int, function: str, arguments: dict[str, Any], context: str = "", **more: Any) -> WorkerCall:
        message: Any = (f"{MODULE}.py", function, more.get("binding", []), arguments, context, {"m": 1}, "named",
                        {"client": {"roots": {}}, "answers": {"k": 1}})  # fmt: skip
        return WorkerCall(self.worker, number, message)

    def send(self, number: int, function: str, **arguments: Any) -> None:
        body = marshal.dumps((f"{MODULE}.py", function, [], arguments, "", {}, "named", {}))
        os.write(self.calls, len(body).to_bytes(4, "little") + number.to_bytes(8, "little") + body)

    def tell(self, *message: Any) -> None:
        body = marshal.dumps(message)
        os.write(self.control, len(body).to_bytes(4, "little") + body)

    def frames(self, count: int) -> list[Any]:
        """The next frames that the worker wrote, which are all."""
        found: list[bytes] = []
        while len(found) < count:
            self.buffer += os.read(self.replies, 1 << 16)
            found += take_frames(self.buffer) or []
        assert (len(found), self.buffer) == (count, b"")
        return [json.loads(frame) for frame in found]

    def close(self) -> None:
        for descriptor in (self.calls, self.replies, self.control, *self.descriptors):
            with suppress(OSError):
                os.close(descriptor)


class Turns:
    """Runs work at once, and records its key."""

    def __init__(self, keys: list[Any]) -> None:
        self.keys = keys

    def run(self, key: Any, work: Callable[[], object]) -> None:
        self.keys.append(key)
        work()

    def serve(self) -> None:
        raise AssertionError


@pytest.fixture(scope="module")
def loop() -> Iterator[EventLoopThread]:
    """A loop in a thread, for all asynchronous handlers."""
    running = asyncio.new_event_loop()
    thread = threading.Thread(target=running.run_forever)
    thread.start()
    used = EventLoopThread()
    assert thread.ident is not None
    used.use(running, thread.ident)
    yield used
    running.call_soon_threadsafe(running.stop)
    thread.join()
    running.close()


@pytest.fixture
def pipes(
    tmp_path_factory: pytest.TempPathFactory, loop: EventLoopThread, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Pipes]:
    folder = tmp_path_factory.mktemp("handlers")
    (folder / f"{MODULE}.py").write_text(HANDLERS)
    monkeypatch.syspath_prepend(folder)

    def leave(status: int) -> None:
        raise Left(status)

    monkeypatch.setattr(main.system, "_exit", leave)
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    made = Pipes("stream")
    made.worker.coroutines = loop
    for module in (main, execution):  # this process itself has registered something
        monkeypatch.setattr(module, "_ncallbacks", lambda: len(made.registered))
    monkeypatch.setattr(execution, "_run_exitfuncs", lambda: [function() for function in reversed(made.registered)])
    yield made
    made.close()
    for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
        signal.signal(number, handler)
    sys.modules.pop(MODULE, None)


RESULTS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("echo", {"a": [1, "é", None]}, "", {"value": {"a": [1, "é", None]}}),
    ("raw", {}, "", {"value": {"mcpc/blob": "AP8="}}),
    ("fail", {}, "", {"error": "ValueError: no good"}),
    ("tool_error", {}, "", {"error": "Not today."}),
    ("protocol_error", {}, "", {"raised": {"code": -5, "message": "no", "data": {"a": 1}}}),
    ("refuse", {}, "", {"refused": "a: no date"}),
    ("leave", {}, "", {"error": "SystemExit: bye"}),
    (
        "odd",
        {},
        "",
        {
            "error": "TypeError: the handler returned an object, which cannot be written as JSON; return texts, numbers, lists, dicts, a dataclass or a model of pydantic"
        },
    ),
    ("missing", {}, "", {"error": f"AttributeError: module '{MODULE}' has no attribute 'missing'"}),
    ("facts", {}, "ctx", {"value": ["named", {"m": 1}, False, {"k": 1}, True]}),
    ("soon", {"value": 5}, "", {"value": 5}),
    ("soon_fail", {}, "", {"error": "ValueError: later"}),
    ("soon_refuse", {}, "", {"refused": "a: no date"}),
]
TRACED = {"fail", "leave", "odd", "missing", "soon_fail"}
"""Those whose traceback the operator is shown."""


@pytest.mark.parametrize(("function", "arguments", "context", "frame"), RESULTS, ids=[row[0] for row in RESULTS])
def test_a_call_has_one_result(
    pipes: Pipes, function: str, arguments: dict[str, Any], context: str, frame: dict[str, Any],
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    call = pipes.call(7, function, arguments, context)
    pipes.worker.calls[7] = call
    call.run()
    assert pipes.frames(1) == [{"call": 7, **frame}]
    assert (pipes.worker.calls, call.is_running) == ({}, False)
    assert (f", in {function}\n" in capfd.readouterr().err) == (function in TRACED - {"odd", "missing"})
    call.say({"late": 1})
    with pytest.raises(RuntimeError, match="already ended"):
        call.ask({"late": 1}, str)


@pytest.mark.parametrize("name", ["odd", "tool_error"])
def test_only_an_unintended_exception_has_a_traceback(
    pipes: Pipes, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    pipes.call(1, name, {}).run()
    assert ("Traceback" in capfd.readouterr().err) == (name == "odd")


def test_a_binding_calls_the_function(pipes: Pipes) -> None:
    pipes.call(1, "sized", {"size": 2, "other": 3}, binding=["named"]).run()
    assert pipes.frames(1) == [{"call": 1, "value": "xx"}]


@pytest.mark.parametrize(("size", "is_sent"), [(80, True), (81, False)])
def test_a_result_may_be_as_large_as_a_frame(
    pipes: Pipes, size: int, is_sent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "FRAME_LIMIT", 101)
    pipes.call(1, "sized", {"size": size}).run()
    frame = {"value": "x" * size} if is_sent else {"error": "ValueError: the result takes 0 MiB; the maximum is 0 MiB"}
    assert pipes.frames(1) == [{"call": 1, **frame}]
    monkeypatch.setattr(main, "FRAME_LIMIT", 3 << 20)
    with pytest.raises(ValueError, match="takes 4 MiB; the maximum is 3 MiB"):
        main.call_frame(1, b"value", "x" * (4 << 20))


def test_calls_are_received_until_their_end(pipes: Pipes) -> None:
    for number, function in ((1, "echo"), (2, "echo"), (4, "tool_error")):
        pipes.send(number, function)
    os.close(pipes.calls)
    with pytest.raises(Left, match="0"):
        pipes.worker.drive()
    assert pipes.frames(6) == [
        {"begun": 1}, {"call": 1, "value": {}}, {"begun": 2}, {"call": 2, "value": {}}, {"begun": 4},
        {"call": 4, "error": "Not today."},
    ]  # fmt: skip
    file = f"{MODULE}.py"
    assert pipes.keys == [None, (file, "echo"), (file, "tool_error")]


def test_a_broken_channel_ends_the_worker(pipes: Pipes, capfd: pytest.CaptureFixture[str]) -> None:
    os.write(pipes.calls, b"\1\0\0\0" + bytes(8) + b"?")
    with pytest.raises(Left, match=str(BROKEN_STATUS)):
        pipes.worker.drive()
    assert "Traceback" in capfd.readouterr().err


def test_control_messages_are_handled_in_order(pipes: Pipes, capfd: pytest.CaptureFixture[str]) -> None:
    pipes.send(1, "echo")
    pipes.tell("cancel", 2)
    pipes.tell("alive", 0)
    pipes.tell("nonsense", 0)
    pipes.tell("answer", 9, 1, {"for": "nobody"})
    pipes.tell("alive", 0)
    os.write(pipes.control, b"\5\0\0\0half")
    os.close(pipes.control)
    pipes.worker.listen()
    assert pipes.frames(2) == [{"alive": True}] * 2
    assert "KeyError: 'nonsense'" in capfd.readouterr().err
    for number in (2, 3):
        pipes.send(number, "echo")
    os.close(pipes.calls)
    with pytest.raises(Left):
        pipes.worker.drive()
    assert [frame for frame in pipes.frames(6) if "call" in frame] == [
        {"call": 1, "value": {}}, {"call": 2, "error": "Cancelled"}, {"call": 3, "value": {}},
    ]  # fmt: skip


def test_a_cancellation_of_an_ended_call_is_forgotten(pipes: Pipes) -> None:
    pipes.send(5, "echo")
    os.close(pipes.calls)
    with pytest.raises(Left):
        pipes.worker.drive()
    for number in (5, 4, 6):
        pipes.tell("cancel", number)
    os.close(pipes.control)
    pipes.worker.listen()
    assert pipes.worker._cancelled_early == {6}


def test_notes_come_before_the_result(pipes: Pipes) -> None:
    pipes.call(1, "say", {}, "ctx").run()
    assert pipes.frames(3) == [
        {"call": 1, "note": {"log": "info", "data": "one"}},
        {"call": 1, "note": {"progress": 2}},
        {"call": 1, "value": "said"},
    ]
    call = pipes.call(2, "late", {}, "ctx")
    call.say({"outside": 1})  # of a thread that a handler started
    call.run()
    assert pipes.frames(2) == [{"call": 2, "note": {"outside": 1}}, {"call": 2, "value": "early"}]
    sys.modules[MODULE].seen.pop().info("too late")
    pipes.worker.replies.send(b"{}")
    assert pipes.frames(1) == [{}]


def answered(pipes: Pipes, call: WorkerCall, *replies: Any) -> list[Any]:
    """Run a call in a thread while its notes are answered by control messages; return all frames."""
    pipes.worker.calls[call.number] = call
    threads = [threading.Thread(target=call.run), threading.Thread(target=pipes.worker.listen)]
    for thread in threads:
        thread.start()
    found = []
    for number, reply in enumerate(replies, 1):
        found += pipes.frames(1)
        pipes.tell("answer", call.number, 99, {"of": "no note"})
        pipes.tell("answer", call.number, number, reply)
        pipes.tell("answer", call.number, number, {"too": "late"})
    found += pipes.frames(1)
    os.close(pipes.control)
    for thread in threads:
        thread.join()
    return found


@pytest.mark.parametrize(("function", "arguments"), [("ask", {"a": 1}), ("soon_ask", {})])
@pytest.mark.parametrize("is_error", [False, True])
def test_a_handler_waits_for_the_reply_to_its_note(pipes: Pipes, function: str, arguments: Any, is_error: bool) -> None:
    reply = {"content": [{"type": "text", "text": "t"}], "isError": is_error}
    found = answered(pipes, pipes.call(3, function, {}, "ctx"), reply)
    note = {"call": "other", "arguments": arguments, "reply": 1}
    assert found == [{"call": 3, "note": note}, {"call": 3, **({"error": "t"} if is_error else {"value": reply})}]


def test_each_note_has_its_reply(pipes: Pipes) -> None:
    found = answered(pipes, pipes.call(3, "twice", {}, "ctx"), {"n": 1}, {"n": 2})
    assert [frame.get("note", {}).get("reply") for frame in found] == [1, 2, None]
    assert found[2] == {"call": 3, "value": [{"n": 1}, {"n": 2}]}


@pytest.mark.parametrize("function", ["ask", "soon_ask", "for_ever"])
def test_a_cancelled_call_waits_no_longer(pipes: Pipes, function: str) -> None:
    call = pipes.call(3, function, {}, "ctx")
    pipes.worker.calls[3] = call
    thread = threading.Thread(target=call.run)
    thread.start()
    assert len(pipes.frames(1)) == 1
    if function != "ask":
        thread.join()  # its task is known, and it is no longer interrupted in the thread
    pipes.tell("cancel", 3)
    os.close(pipes.control)
    pipes.worker.listen()
    (frame,) = pipes.frames(1)
    thread.join()
    assert frame == {"call": 3, "error": "Cancelled" if function == "ask" else "CancelledError"}
    assert call.cancelled


def test_a_call_that_cancels_itself_ends_at_its_next_note(pipes: Pipes) -> None:
    call = pipes.call(3, "cancel", {}, "ctx")
    call.run()
    assert pipes.frames(1) == [{"call": 3, "error": "Cancelled"}]
    assert call.cancelled


@pytest.mark.parametrize("running", [1, 2])
def test_an_interrupt_is_for_the_only_running_call(pipes: Pipes, running: int) -> None:
    signal.signal(signal.SIGINT, pipes.worker.interrupted)
    calls = [pipes.call(number, "interrupt", {}, "ctx") for number in range(1, running + 1)]
    pipes.worker.calls.update({call.number: call for call in calls})
    for other in calls[1:]:
        other._section.enter()
    calls[0].run()
    (frame,) = pipes.frames(1)
    assert frame == {"call": 1, **({"error": "KeyboardInterrupt"} if running == 1 else {"value": 4950})}
    assert pipes.call(9, "echo", {}).interrupt() is False


def test_a_forked_child_is_disconnected(pipes: Pipes) -> None:
    left: list[str] = []
    pipes.worker._exit_functions.append(lambda: left.append("called"))
    pipes.worker.disconnect_fork()
    pipes.worker.replies.send(b"{}")
    assert os.read(pipes.calls_end, 10) == b""
    assert os.read(pipes.control_end, 10) == b""
    call = pipes.call(1, "echo", {})
    call.say({"note": 1})
    for end in (call.run, lambda: call._end(b"{}"), pipes.worker.leave):
        with pytest.raises(Left, match="0"):
            end()
    assert left == []
    assert os.read(pipes.replies, 10) == b""


def test_what_a_child_printed_is_flushed(pipes: Pipes, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[str] = []

    class Broken:
        def flush(self) -> None:
            flushed.append("stdout")
            raise ValueError

    class Sound:
        def flush(self) -> None:
            flushed.append("stderr")

    monkeypatch.setattr(sys, "stdout", Broken())
    monkeypatch.setattr(sys, "stderr", Sound())
    with pytest.raises(Left, match="0"):
        main.exit_forked_child()
    assert flushed == ["stdout", "stderr"]


def left_first() -> None:
    LEFT.append("first")


def left_second() -> None:
    LEFT.append("second")


LEFT: list[str] = []


@pytest.mark.parametrize("rows", [{}, {"a": "left_first", "b": "missing", "c": "left_second"}])
def test_bindings_release_what_they_have_before_the_end(
    pipes: Pipes, rows: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(row: str) -> object:
        if row == "missing":
            raise ModuleNotFoundError
        return globals()[row]

    monkeypatch.setattr(main, "BEFORE_EXIT", rows)
    monkeypatch.setattr(main, "resolve", resolve)
    before = signal.getsignal(signal.SIGTERM)
    pipes.worker.prepare_to_leave()
    handler = signal.getsignal(signal.SIGTERM)
    LEFT.clear()
    monkeypatch.setattr(main, "start_new_thread", lambda function, words: function(*words))
    with pytest.raises(Left, match="0"):
        (handler if callable(handler) and rows else lambda *_: pipes.worker.leave())(signal.SIGTERM, None)
    assert (LEFT, handler is before) == ((["first", "second"], False) if rows else ([], True))


def test_what_was_registered_is_called_at_the_end_and_said_once(pipes: Pipes) -> None:
    LEFT.clear()
    pipes.call(1, "echo", {"value": 1}).run()
    pipes.registered += [left_second, left_first]
    for number in (2, 3):
        pipes.call(number, "echo", {"value": number}).run()
    assert [sorted(frame) for frame in pipes.frames(4)] == [
        ["call", "value"], ["leaves"], ["call", "value"], ["call", "value"]
    ]  # fmt: skip
    with pytest.raises(Left, match="0"):
        pipes.worker.leave()
    assert LEFT == ["first", "second"]


def test_what_was_registered_has_only_so_long(pipes: Pipes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "EXIT_SECONDS", 0.01)
    over = threading.Event()
    pipes.registered.append(over.wait)
    with pytest.raises(Left, match="0"):
        pipes.worker.leave()
    over.set()


@pytest.mark.parametrize(("folder", "known"), [("", ()), ("/unpacked", ("1", "2", "3"))])
def test_a_worker_starts_in_order(
    pipes: Pipes, folder: str, known: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    numbers = dict(zip((main.CALLS, main.REPLIES, main.CONTROL), pipes.descriptors, strict=True))
    archive = f"/proc/{os.getpid()}/fd/{main.ARCHIVE}"
    monkeypatch.setattr(main, "adopt", numbers.__getitem__)
    monkeypatch.setattr(main, "watch_archive", lambda *words: told.append(("watch", *words)))
    monkeypatch.setattr(main, "check_unchanged", lambda name: told.append(("check", name)))
    monkeypatch.setattr(
        main, "activate_packages", lambda name: told.append(("packages", name, sys.stdout is sys.stderr))
    )
    monkeypatch.setattr(main, "start_new_thread", lambda function, words: told.append(function.__qualname__))
    monkeypatch.setattr(main, "BEFORE_EXIT", {})
    monkeypatch.setattr(main, "MAIN_THREAD", {})
    monkeypatch.setattr(main.system, "set_inheritable", lambda *words: told.append(("inherit", *words)))
    monkeypatch.setattr(main.system, "register_at_fork", lambda **more: told.append(sorted(more)))
    for name, value in (("stdout", sys.stdout), ("argv", sys.argv), ("path", list(sys.path))):
        monkeypatch.setattr(sys, name, value)
    pipes.tell("alive", 0)
    os.close(pipes.control)
    with pytest.raises(Left, match="0"):
        main.main(archive, "stream", folder, *known)
    checks = [("watch", archive, (1, 2, 3)), ("check", archive), ("inherit", main.ARCHIVE, False)] if known else []
    assert told == [*checks, ["after_in_child"], ("packages", archive, True), "LeaderFollowers.serve"]
    assert (sys.argv, sys.path[0]) == ([archive], folder or f"{archive}/handlers")
    assert getattr(signal.getsignal(signal.SIGINT), "__name__", "") == "interrupted"
    assert pipes.frames(2) == [{"ready": True}, {"alive": True}]


class StopThread(BaseException):
    """Ends a loop's thread, which nothing else does."""


def test_the_first_use_starts_a_loop_that_no_task_can_end(monkeypatch: pytest.MonkeyPatch) -> None:
    started = EventLoopThread()
    started.soon(pytest.fail)  # there is no loop yet
    threads: list[threading.Thread] = []
    problems: list[str] = []
    loops: list[asyncio.AbstractEventLoop] = []

    def traced(problem: BaseException) -> None:
        problems.append(f"{type(problem).__name__}: {problem}")
        with suppress(RuntimeError):
            loops.append(asyncio.get_event_loop())
        if str(problem) == "stop":
            raise StopThread

    def start(function: Callable[..., object], words: tuple[Any, ...]) -> None:
        def run() -> None:
            with suppress(StopThread):
                function(*words)

        threads.append(threading.Thread(target=run))
        threads[-1].start()

    monkeypatch.setattr(coroutines, "start_new_thread", start)
    monkeypatch.setattr(coroutines, "print_traceback", traced)
    found: list[Any] = []

    async def ends() -> None:
        raise SystemExit("of a task")

    async def here() -> None:
        found.append((started.here, asyncio.get_running_loop()))

    async def stop() -> None:
        raise SystemExit("stop")

    assert not started.here
    tasks: list[asyncio.Task[None]] = []
    for coroutine in (ends(), here()):
        started.begin(coroutine, tasks.append)
    until(lambda: found)
    ((is_here, loop),) = found
    assert (is_here, len(threads), problems) == (True, 1, ["SystemExit: of a task"])
    reply = AsyncReply(started)
    reply.give({"a": 1})
    reply.give({"b": 2})
    assert asyncio.run_coroutine_threadsafe(reply.read(str), loop).result(10) == "{'a': 1}"
    started.begin(stop(), tasks.append)
    threads[0].join()
    assert [repr(task.exception()) for task in tasks] == ["SystemExit('of a task')", "None", "SystemExit('stop')"]
    assert loops == [loop, loop]
    loop.close()


def test_a_thread_has_its_reply_once() -> None:
    reply = ThreadReply()
    reply.give({"a": 1})
    reply.give({"b": 2})
    reply.withdraw()
    assert reply.wait() == {"a": 1}
    withdrawn = ThreadReply()
    withdrawn.withdraw()
    assert withdrawn.wait() is None
