"""What a handler says through its context, from synchronous and asynchronous code, without a worker."""

import asyncio
import pickle

import pytest

from mcpc_runtime.handlers.python.context import Cancelled, Context, ToolError, successful_result


class Port:
    def __init__(self):
        self.cancelled = False
        self.said = []
        self.answer = {"content": []}

    def say(self, note):
        self.said.append(note)

    def ask(self, note, read):
        self.said.append(note)
        return read(self.answer)


def made():
    port = Port()
    return port, Context(port, "tool", {"m": 1})


SAYS = {
    "info": (lambda c: c.info("x"), {"log": "info", "data": "x"}),
    "logger": (lambda c: c.error({"a": 1}, "mine"), {"log": "error", "data": {"a": 1}, "logger": "mine"}),
    "named": (lambda c: c.debug("x", logger_name="mine"), {"log": "debug", "data": "x", "logger": "mine"}),
    "extra": (lambda c: c.notice("x", extra={"a": 1}), {"log": "notice", "data": {"msg": "x", "extra": {"a": 1}}}),
    "level": (lambda c: c.log("alert", [1]), {"log": "alert", "data": [1]}),
    "warning": (lambda c: c.warning("x"), {"log": "warning", "data": "x"}),
    "critical": (lambda c: c.critical("x"), {"log": "critical", "data": "x"}),
    "alert": (lambda c: c.alert("x"), {"log": "alert", "data": "x"}),
    "emergency": (lambda c: c.emergency("x"), {"log": "emergency", "data": "x"}),
    "progress": (lambda c: c.progress(1), {"progress": 1}),
    "updated": (lambda c: c.resource_updated("x://y"), {"updated": "x://y"}),
    "changed": (lambda c: c.list_changed("tools"), {"changed": "tools"}),
    "part": (lambda c: c.close_stream(2.5), {"part": 2.5}),
    "report": (lambda c: c.report_progress(0.5, 1, "half"), {"progress": 0.5, "total": 1, "message": "half"}),
}


@pytest.mark.parametrize("case", SAYS)
def test_what_is_said_at_once_or_awaited(case):
    say, note = SAYS[case]
    port, context = made()

    async def awaited():
        assert await say(context) is None

    say(context)
    asyncio.run(awaited())
    assert port.said == [note, note]


def test_what_it_knows():
    port, context = made()
    assert (context.tool, context.meta, context.cancelled) == ("tool", {"m": 1}, False)
    assert not hasattr(context, "request_id")
    context.raise_if_cancelled()
    port.cancelled = True
    assert context.cancelled
    with pytest.raises(Cancelled):
        context.raise_if_cancelled()
    assert context.call_tool("other") == {"content": []}
    assert port.said == [{"call": "other", "arguments": {}}]
    with pytest.raises(TypeError, match="unknown options of a log message: colour"):
        context.info("x", colour="red")
    with pytest.raises(TypeError):
        pickle.dumps(context)


RESULTS = [
    ({"content": []}, ""),
    ({"content": [{"type": "text", "text": "a"}], "isError": False}, ""),
    (
        {"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}], "isError": True},
        "a\nb",
    ),
    ({"content": [], "isError": True}, "the tool failed"),
    ({"isError": True}, "the tool failed"),
    ({"content": [1, {"text": 2}], "isError": True}, "the tool failed"),
    (None, ""),
]


@pytest.mark.parametrize(("result", "problem"), RESULTS)
def test_an_error_of_another_tool_is_raised(result, problem):
    if not problem:
        assert successful_result(result) is result
        return
    with pytest.raises(ToolError) as raised:
        successful_result(result)
    assert str(raised.value) == problem
