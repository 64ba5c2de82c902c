"""What a driver over HTTP keeps: sessions, stored events, streams, leases and subscriptions, with a clock of the test."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.http import driver as drivers
from mcpc_runtime.http import sessions
from mcpc_runtime.http.driver import MESSAGE, NO_STREAMS, SESSION, HttpDriver, Lease, NoLock
from mcpc_runtime.http.memory_budget import EVENT_COST, MIB, MemoryBudget
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.http.sessions import (
    CAPABILITY_PATHS,
    HttpConversation,
    Sessions,
    has_member,
    pack_capabilities,
    principal_digest,
    session_name,
    unpack_capabilities,
)
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.http.streams import MAX_UNSENT, EventStream, SseResponse
from mcpc_runtime.protocol.effects import PublishChange
from mcpc_runtime.protocol.session import Session
from support.http_sample import quiet, sample

LINE = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'


NOW = [1000.0]


@pytest.fixture
def clock() -> list[float]:
    NOW[0] = 1000.0
    return NOW


def kept(**chosen: Any) -> Sessions:
    return Sessions(sample(), HttpSettings(**chosen), lambda: NOW[0])


def conversation(held: Sessions, name: str = "", *, has_state: bool = True) -> HttpConversation:
    """Return a session of a principal, in memory if it has state."""
    session = Session(sample())
    session.wire, session.principal = sample().revision("2025-11-25"), name
    found = held.find(held.mint(session), name)
    assert found is not None and found.session.wire is session.wire
    found.session.log_level = "error" if has_state else None
    held.retain(found)
    return found


def test_sessions_that_are_not_used_are_forgotten(clock: list[float]) -> None:
    held = kept(session_seconds=10.0)
    first, second, busy = (conversation(held, name) for name in ("a", "b", "c"))
    busy.posts[object()] = None
    assert [*held.live] == [first.token, second.token, busy.token] and len(held.by_session) == 3
    clock[0] = 1009.0
    assert held.find(first.token, "a") is first
    assert held.find(second.token, "x") is None
    clock[0] = 1010.0
    held.sweep()
    assert [*held.live] == [first.token, busy.token]
    clock[0] = 1020.5
    held.sweep()
    assert [*held.live] == [busy.token] and [*held.by_session] == [busy.session] and [*held._by_principal] == ["c"]
    busy.posts.clear()
    busy.session.log_level = None
    held.retain(busy)
    assert not held.live and not held.by_session and not held._by_principal
    conversation(held, has_state=False)
    assert not held.live


def test_of_too_many_sessions_the_oldest_of_the_largest_principal_goes() -> None:
    held = kept(max_sessions=3)
    names = ["a1", "b1", "b2"]
    found = {name: conversation(held, name[0]) for name in names}
    found["b1"].posts[object()] = None
    found["c1"] = conversation(held, "c")
    assert [name for name, one in found.items() if one.token in held.live] == ["a1", "b1", "c1"]
    assert [*held.live] == [found[name].token for name in ("a1", "b1", "c1")]


def test_a_session_that_ended_is_refused_by_its_name(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_ENDED", 2)
    held = kept()
    found = [conversation(held) for _ in range(3)]
    assert held.find_by_name(found[1].name) is found[1] and held.find_by_name("x") is None
    assert held.end(found[0]) == found[0].name == session_name(found[0].token)
    held.revoke(found[1].name)
    assert [held.find(one.token, "") is None for one in found] == [True, True, False]
    held.retain(found[0])
    assert [*held.live] == [found[2].token]
    held.revoke(found[2].name)
    assert [held.find(one.token, "") is None for one in found] == [False, True, True]
    assert held.find("x" * 257, "") is None and len(session_name("x")) == 32 and len(principal_digest("a")) == 16


def test_capabilities_are_bits() -> None:
    for bit, path in enumerate(CAPABILITY_PATHS):
        declared: Any = {path[0]: {path[1]: {}} if path[1:] else {}}
        packed = int.from_bytes(pack_capabilities(declared), "big")
        assert packed == 1 << bit | (1 << CAPABILITY_PATHS.index(path[:1]))
        assert unpack_capabilities(packed.to_bytes(2, "big")) == (
            {"roots": {"listChanged": True}} if path[1:] == ("listChanged",) else declared
        )
    members = [({}, True), (True, True), (False, False), (None, False), (1, False), ([], False)]
    assert [has_member({"a": {"b": value}}, ("a", "b")) for value, _ in members] == [is_one for _, is_one in members]
    assert not has_member({"a": 5}, ("a", "b"))


def test_events_are_stored_within_limits(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    held = kept(resume_events=2, resume_seconds=5.0, budget=MemoryBudget(64 * MIB))
    budget = held._settings.budget
    one = conversation(held, "a")
    stream = held.open_stream(one)
    for _ in range(3):
        stream.send(LINE)
    name = stream.name
    assert [number for number, _ in stream.events] == [2, 3] and name.endswith(b".1") and len(name) == 10
    assert stream.events[-1][1] == b"id: %b.3\nevent: message\ndata: %b\n\n" % (name, LINE.rstrip())
    assert budget.held == budget.held_by("a") == stream.stored_bytes == sum(len(event) for _, event in stream.events)
    assert held.resume(one, name + b".2") == (stream, 2)
    wrong = [b"", b"x.2", name, name + b".", name + b".x", name + b"." + b"1" * 10]
    assert [held.resume(one, last) for last in wrong] == [None] * 6
    assert held.resume(one, name + b"." + b"1" * 9) == (stream, 111111111)
    stream.end()
    clock[0] = 1005.0
    held.sweep()
    assert stream.name == name
    clock[0] = 1005.5
    held.sweep()
    assert (stream.name, stream.events, stream.stored_bytes, budget.held, one.resumable) == (b"", [], 0, 0, {})
    stream.send(LINE)
    assert stream.events == []
    monkeypatch.setattr(sessions, "MAX_EVENT_STREAMS", 2)
    streams = [held.open_stream(one) for _ in range(3)]
    assert [each.name != b"" for each in streams] == [False, True, True]
    other = held.open_stream(conversation(held, "b"))
    for each in (*streams, other, streams[2]):
        each.send(LINE)
    monkeypatch.setattr(sessions, "MAX_STORED_BYTES", budget.held)
    other.send(LINE)
    assert [each.stored_bytes > 0 for each in (*streams, other)] == [False, False, True, True]
    budget.charge("a", 64 * MIB - budget.held)
    while budget.charge("a", MIB) or budget.charge("a", 1 << 10) or budget.charge("a", 1):
        pass
    streams[2].send(LINE)
    assert streams[2].name == b"" and streams[2].stored_bytes == 0
    assert kept(resume_events=0).open_stream(one).name == b""
    held.remove(one)
    assert one.streams == [] and one.resumable == {}


def test_a_message_without_a_request_goes_on_the_newest_open_stream() -> None:
    held = kept()
    one = conversation(held)
    one.send(LINE)
    for _ in range(3):
        one.streams.append(held.open_stream(one))
    for stream in one.streams[:2]:
        stream.response = SseResponse()
    one.send(LINE)
    assert [stream.last_number for stream in one.streams] == [0, 1, 0]
    assert one.is_busy and one.has_state
    response = one.streams[1].response
    response.gone = True
    one.send(LINE)
    one.streams[0].response = None
    one.send(LINE)
    assert [stream.last_number for stream in one.streams] == [1, 1, 1]
    one.end_streams()
    assert [stream.ended for stream in one.streams] == [True] * 3 and response.finished
    one.streams[-1].name = b""
    one.send(LINE)
    assert one.streams[-1].last_number == 1


def test_an_event_stream_is_attached_and_trimmed() -> None:
    stored: list[int] = []
    stream = EventStream(b"n", lambda _, size: stored.append(size))
    for _ in range(3):
        stream.send(LINE)
    stream.send_retry(50)
    sizes = [len(event) for _, event in stream.events]
    assert stored == sizes and stream.events[3] == (4, b"id: n.4\nretry: 50\ndata: \n\n")
    first, second = SseResponse(), SseResponse()
    stream.attach(first, 2)
    assert [*first.chunks] == [event for _, event in stream.events[2:]] and not first.finished
    assert (stream.trim(3, 10_000), stream.trim(9, sum(sizes[2:])), stream.trim(2, 10_000)) == (sizes[0], sizes[1], 0)
    assert stream.trim(0, 0) == sizes[2] and stream.trim(0, 0) == 0 and len(stream.events) == 1
    stream.ended = True
    stream.attach(second, 0)
    assert first.finished and second.finished and len(second.chunks) == 1
    stream.close_response()
    stream.close_response()
    assert stream.response is None


def test_a_response_keeps_only_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = MemoryBudget()
    response = SseResponse(budget.account("a"))
    response.write(b"abc")
    assert (response.size, budget.held) == (3, 3 + EVENT_COST)
    response.finish()
    response.write(b"late")
    assert [*response.chunks] == [b"abc"] and MAX_UNSENT == 64 * MIB
    response.abandon()
    response.write(b"late")
    assert (response.size, budget.held, [*response.chunks], response.gone) == (0, 0, [], True)
    monkeypatch.setattr("mcpc_runtime.http.streams.MAX_UNSENT", 5)
    for size, is_gone in ((5, False), (6, True)):
        response = SseResponse()
        response.write(b"x" * size)
        assert response.gone is is_gone
    monkeypatch.setattr("mcpc_runtime.http.streams.MAX_UNSENT_NOTIFIED", 5)
    notice = b'{"jsonrpc":"2.0","method":"x"}'
    stream = EventStream()
    for size, is_sent in ((5, True), (6, False)):
        stream.response = response = SseResponse()
        response.chunks.append(b"")
        response.size = size
        stream.send(notice)
        assert (len(response.chunks) == 2 or response.gone) is is_sent


def driven(test: Callable[[HttpDriver], Awaitable[None]], **chosen: Any) -> None:
    """Run a coroutine function with a driver."""

    async def run() -> None:
        driver = HttpDriver(chosen.pop("image", None) or sample(), HttpSettings(**chosen))
        try:
            await test(driver)
        finally:
            driver.close()

    asyncio.run(run())


def test_streams_are_counted_by_principal() -> None:
    async def alone(driver: HttpDriver) -> None:
        for _ in range(4):
            assert driver.stream_refusal("") == ""
            driver.begin_stream("")
        assert (driver.streams, driver.stream_refusal("")) == (4, NO_STREAMS)
        driver.end_stream("")
        assert (driver.streams, driver.stream_refusal("")) == (3, "")
        driver.end_streams()
        assert driver.stream_refusal("") == NO_STREAMS

    async def shared(driver: HttpDriver) -> None:
        for _ in range(3):
            assert driver.stream_refusal("a") == ""
            driver.begin_stream("a")
        assert driver.stream_refusal("a") == drivers.NO_STREAMS_OF_SHARE and driver.stream_refusal("b") == ""
        session = Session(sample())
        session.principal = "b"
        driver.add_listener(session, 5.0)
        driver.add_listener(session, 6.0)
        assert driver.listening == {session: 6.0} and driver.stream_refusal("c") == NO_STREAMS
        assert [*driver.clients] == [session]
        driver.remove_listener(session)
        driver.remove_listener(session)
        assert driver.listening == {} and driver.stream_refusal("b") == ""

    driven(alone, max_streams=4)
    driven(shared, max_streams=4, authenticator=SimpleNamespace())
    driven(alone, max_streams=9, max_connections=4)


def test_a_lease_ends_with_its_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drivers, "time", lambda: 1000.0)
    ended: list[str] = []

    async def test(driver: HttpDriver) -> None:
        loop = asyncio.get_running_loop()
        seconds = [driver.call_at(expires, lambda: None).when() - loop.time() for expires in (None, 1e9, 1005.0, 990.0)]
        assert [round(each) for each in seconds] == [86400, 86400, 5, 0]
        ann, bob = Principal("a", expires=2000.0), Principal("b")
        leases = [driver.lease(each, lambda each=each: ended.append(each.name)) for each in (ann, bob, ann)]
        untimed = driver.lease(bob, lambda: ended.append("untimed"), timed=False)
        assert [*driver.leases] == [*leases, untimed] and all(isinstance(each, Lease) for each in leases)
        leases[1].cancel()
        leases[1].cancel()
        driver.end_leases([ann])
        assert ended == ["a", "a"] and [*driver.leases] == [untimed]
        untimed.cancel()
        assert not driver.leases
        driver.lease(Principal("c", expires=1000.0), lambda: ended.append("c"))
        await asyncio.sleep(0.01)
        assert ended == ["a", "a", "c"]

    driven(test)


def test_changes_go_to_clients_here_and_to_other_processes() -> None:
    async def test(driver: HttpDriver) -> None:
        published: list[Any] = []
        driver.events = SimpleNamespace(publish=published.append, close=lambda: published.append("closed"))  # type: ignore[assignment]
        one = conversation(driver.sessions)
        notice = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
        for event in (PublishChange(MESSAGE, f"{one.name} {notice}"), PublishChange(MESSAGE, f"none {notice}")):
            driver.notify_clients(event)
        driver.publish(PublishChange(SESSION, one.name))
        assert [event.kind for event in published] == [SESSION] and not driver.sessions.live
        assert driver.sessions.find(one.token, "") is None
        other = conversation(driver.sessions)
        driver.receive_change(PublishChange(SESSION, other.name))
        assert driver.sessions.live
        await asyncio.sleep(0.01)
        assert not driver.sessions.live
        driver.close()
        assert published[-1] == "closed" and driver.is_closed
        with pytest.raises(RuntimeError, match="stopped"):
            driver.prepare()
        with pytest.raises(RuntimeError, match="event loop"):
            driver.serve_in_this_thread()
        driver.events = None
        assert driver.full is False

    driven(test)


class Open:
    def __init__(self, session: Session, name: str, ended: list[str]) -> None:
        self.session, self.name, self.ended = session, name, ended

    def end_listening(self) -> None:
        self.ended.append(self.name)

    def abandon(self, reason: str) -> None:
        self.ended.append(reason)


def test_subscriptions_of_expired_tokens_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(driver: HttpDriver) -> None:
        monkeypatch.setattr(drivers, "time", lambda: 1000.0)
        ended: list[str] = []
        for name, expires in (("old", 999.5), ("now", 1000.0), ("later", 1001.0)):
            session = Session(sample())
            driver.add_listener(session, expires)
            driver.posts[Open(session, name, ended)] = None
        driver._sweep()
        assert ended == ["old"]
        driver.abandon("no")
        assert ended == ["old", "no", "no", "no"]
        driver.posts.clear()

    driven(test)


def test_the_address_of_a_client_is_what_a_proxy_says() -> None:
    forwarded = [(b"x-forwarded-for", b"192.0.2.1")]

    async def plain(driver: HttpDriver) -> None:
        assert [driver.address(client, forwarded) for client in (None, ("127.0.0.1", 5))] == ["", "127.0.0.1"]

    async def behind(driver: HttpDriver) -> None:
        assert driver.address(("127.0.0.1", 5), forwarded) == "192.0.2.1"
        assert driver.address(("127.0.0.1", 5), [(b"x-forwarded-for", b"x")]) == "127.0.0.1"

    driven(plain)
    driven(behind, proxies=("127.0.0.0/8",), image=quiet())


def test_a_lock_without_effect_is_always_had() -> None:
    lock = NoLock()
    with lock as entered:
        assert entered is lock and lock.acquire() is True
    lock.release()
